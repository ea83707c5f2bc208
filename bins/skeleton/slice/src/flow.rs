//! How control flows: which blocks a run that ends well can pass, what decides whether a block runs, and loops.
//!
//! Paths that cannot end well (they end in `abort`, `exit` with a code other than 0, `MPI_Abort`, an exception that nobody
//! catches) are left out of everything: a skeleton stands for runs that end. Post-dominators, control dependence and loops
//! are worked out on what remains.

use crate::program::*;

/// The flow of control of all functions.
pub struct Flow {
    /// Whether a run that ends well can pass a block.
    pub passable: Vec<bool>,
    /// Where a block goes, without what is not passable.
    pub successors: Vec<Vec<BlockId>>,
    /// The inverse.
    pub predecessors: Vec<Vec<BlockId>>,
    /// The blocks whose end decides directly whether a block runs.
    pub controllers: Vec<Vec<BlockId>>,
    /// The successor that leads to the end by the fewest blocks.
    pub onward: Vec<Option<BlockId>>,
    /// The block that dominates a block most closely.
    pub dominator: Vec<Option<BlockId>>,
    /// All loops, outer ones before inner ones.
    pub loops: Vec<Loop>,
    /// The innermost loop of each block.
    pub loop_of: Vec<Option<usize>>,
}

/// A loop with one way in.
pub struct Loop {
    /// Where it is entered.
    pub header: BlockId,
    /// The only block outside that leads to the header, if there is only one.
    pub preheader: Option<BlockId>,
    /// Blocks inside that lead to the header.
    pub latches: Vec<BlockId>,
    /// All its blocks.
    pub blocks: Vec<BlockId>,
    /// The loop around it.
    pub outer: Option<usize>,
}

impl Loop {
    /// Whether a block is in it.
    pub fn contains(&self, block: BlockId) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

impl Flow {
    /// Works out the flow of a program.
    pub fn of(program: &Program) -> Flow {
        let count = program.blocks.len();
        let passable = passable_blocks(program);
        let mut successors = vec![Vec::new(); count];
        let mut predecessors = vec![Vec::new(); count];
        for (at, block) in program.blocks.iter().enumerate().filter(|(at, _)| passable[*at]) {
            let mut next: Vec<BlockId> =
                block.successors.iter().copied().filter(|next| passable[*next as usize]).collect();
            next.sort_unstable();
            next.dedup();
            next.iter().for_each(|to| predecessors[*to as usize].push(at as BlockId));
            successors[at] = next;
        }
        let mut flow = Flow {
            passable,
            successors,
            predecessors,
            controllers: vec![Vec::new(); count],
            onward: vec![None; count],
            dominator: vec![None; count],
            loops: Vec::new(),
            loop_of: vec![None; count],
        };
        for function in &program.functions {
            if function.blocks.first().is_some_and(|entry| flow.passable[*entry as usize]) {
                flow.analyse(function);
            }
        }
        flow
    }

    fn analyse(&mut self, function: &Function) {
        let blocks: Vec<BlockId> =
            function.blocks.iter().copied().filter(|block| self.passable[*block as usize]).collect();
        let place = |block: BlockId| blocks.binary_search(&block).expect("a passable block of the function");
        let forward: Vec<Vec<usize>> = blocks
            .iter()
            .map(|block| self.successors[*block as usize].iter().map(|next| place(*next)).collect())
            .collect();
        let (dominators, _) = dominators(&forward, place(function.blocks[0]));
        for (at, block) in blocks.iter().enumerate() {
            self.dominator[*block as usize] = dominators[at].map(|number| blocks[number]);
        }
        self.control_dependence(&blocks, &forward);
        self.find_loops(&blocks);
    }

    /// Control dependence by post-dominators, with one more block behind all ends.
    fn control_dependence(&mut self, blocks: &[BlockId], forward: &[Vec<usize>]) {
        let end = blocks.len();
        let mut backward = vec![Vec::new(); end + 1];
        for (at, next) in forward.iter().enumerate() {
            if next.is_empty() {
                backward[end].push(at);
            }
            next.iter().for_each(|to| backward[*to].push(at));
        }
        let (post, steps) = dominators(&backward, end);
        for (at, next) in forward.iter().enumerate() {
            let nearest = next.iter().min_by_key(|to| steps[**to]);
            self.onward[blocks[at] as usize] = nearest.map(|to| blocks[*to]);
            if next.len() < 2 {
                continue;
            }
            for to in next {
                let mut runner = Some(*to);
                while let Some(dependent) = runner
                    && runner != post[at]
                    && dependent != end
                {
                    let controllers = &mut self.controllers[blocks[dependent] as usize];
                    if !controllers.contains(&blocks[at]) {
                        controllers.push(blocks[at]);
                    }
                    runner = post[dependent];
                }
            }
        }
    }

    fn dominates(&self, above: BlockId, mut below: BlockId) -> bool {
        loop {
            if above == below {
                return true;
            }
            match self.dominator[below as usize] {
                Some(next) if next != below => below = next,
                _ => return false,
            }
        }
    }

    fn find_loops(&mut self, blocks: &[BlockId]) {
        let mut found: Vec<Loop> = Vec::new();
        for header in blocks.iter().copied() {
            let latches: Vec<BlockId> = self.predecessors[header as usize]
                .iter()
                .copied()
                .filter(|from| self.dominates(header, *from))
                .collect();
            if latches.is_empty() {
                continue;
            }
            let mut inside = vec![header];
            let mut open = latches.clone();
            while let Some(block) = open.pop() {
                if !inside.contains(&block) {
                    inside.push(block);
                    open.extend(&self.predecessors[block as usize]);
                }
            }
            inside.sort_unstable();
            let outside: Vec<BlockId> = self.predecessors[header as usize]
                .iter()
                .copied()
                .filter(|from| inside.binary_search(from).is_err())
                .collect();
            let preheader = (outside.len() == 1).then(|| outside[0]);
            found.push(Loop { header, preheader, latches, blocks: inside, outer: None });
        }
        found.sort_by_key(|a| std::cmp::Reverse(a.blocks.len()));
        for mut of in found {
            of.outer = self.loop_of[of.header as usize];
            let number = self.loops.len();
            of.blocks.iter().for_each(|block| self.loop_of[*block as usize] = Some(number));
            self.loops.push(of);
        }
    }
}

/// Immediate dominators from `root`, and the number of steps to each node; by Cooper, Harvey and Kennedy.
fn dominators(forward: &[Vec<usize>], root: usize) -> (Vec<Option<usize>>, Vec<usize>) {
    let count = forward.len();
    let mut order = Vec::new();
    let mut seen = vec![false; count];
    let mut open = vec![(root, 0)];
    seen[root] = true;
    while let Some((node, next)) = open.pop() {
        match forward[node].get(next) {
            Some(to) => {
                open.push((node, next + 1));
                if !std::mem::replace(&mut seen[*to], true) {
                    open.push((*to, 0));
                }
            }
            None => order.push(node),
        }
    }
    order.reverse();
    let mut rank = vec![usize::MAX; count];
    order.iter().enumerate().for_each(|(at, node)| rank[*node] = at);
    let mut backward = vec![Vec::new(); count];
    for node in &order {
        forward[*node].iter().for_each(|to| backward[*to].push(*node));
    }
    let mut dominator: Vec<Option<usize>> = vec![None; count];
    dominator[root] = Some(root);
    let mut changed = true;
    while changed {
        changed = false;
        for node in order.iter().copied().skip(1) {
            let known = backward[node].iter().copied().filter(|from| dominator[*from].is_some());
            let new = known.reduce(|mut left, mut right| {
                while left != right {
                    while rank[left] > rank[right] {
                        left = dominator[left].expect("known");
                    }
                    while rank[right] > rank[left] {
                        right = dominator[right].expect("known");
                    }
                }
                left
            });
            if dominator[node] != new {
                dominator[node] = new;
                changed = true;
            }
        }
    }
    dominator[root] = None;
    (dominator, steps_from(forward, root))
}

fn steps_from(forward: &[Vec<usize>], root: usize) -> Vec<usize> {
    let mut steps = vec![usize::MAX; forward.len()];
    steps[root] = 0;
    let mut open = std::collections::VecDeque::from([root]);
    while let Some(node) = open.pop_front() {
        for to in &forward[node] {
            if steps[*to] == usize::MAX {
                steps[*to] = steps[node] + 1;
                open.push_back(*to);
            }
        }
    }
    steps
}

/// Blocks that lie on a way from a function's entry to an end that is no failure.
fn passable_blocks(program: &Program) -> Vec<bool> {
    let mut returns: Vec<bool> = program
        .functions
        .iter()
        .map(|function| !function.blocks.is_empty() || !function.never_returns)
        .collect();
    loop {
        let passable: Vec<bool> = ends_well(program, &returns);
        let mut changed = false;
        for (number, function) in program.functions.iter().enumerate() {
            let comes_back = function.blocks.first().is_none_or(|entry| {
                passable[*entry as usize]
                    && (function.name == "main" || can_return(program, function, &passable))
            });
            if returns[number] && !comes_back {
                returns[number] = false;
                changed = true;
            }
        }
        if !changed {
            return passable;
        }
    }
}

fn can_return(program: &Program, function: &Function, passable: &[bool]) -> bool {
    function.blocks.iter().any(|block| {
        passable[*block as usize]
            && matches!(
                program.instruction(program.terminator(*block)),
                Some((_, Action::End(Ending::Return)))
            )
    })
}

fn ends_well(program: &Program, returns: &[bool]) -> Vec<bool> {
    let mut reaches_end = vec![false; program.blocks.len()];
    let mut predecessors = vec![Vec::new(); program.blocks.len()];
    let mut open = Vec::new();
    let blocked: Vec<Option<bool>> =
        (0..program.blocks.len()).map(|block| stops(program, block as BlockId, returns)).collect();
    for (at, block) in program.blocks.iter().enumerate() {
        block.successors.iter().for_each(|to| predecessors[*to as usize].push(at as BlockId));
        let last = program.instruction(program.terminator(at as BlockId));
        let is_return = matches!(last, Some((_, Action::End(Ending::Return))));
        if blocked[at] == Some(true) || blocked[at].is_none() && is_return {
            reaches_end[at] = true;
            open.push(at as BlockId);
        }
    }
    while let Some(block) = open.pop() {
        for from in &predecessors[block as usize] {
            let at = *from as usize;
            if !reaches_end[at] && blocked[at].is_none() {
                reaches_end[at] = true;
                open.push(*from);
            }
        }
    }
    let mut reached = vec![false; program.blocks.len()];
    let mut open: Vec<BlockId> = program.functions.iter().filter_map(|f| f.blocks.first().copied()).collect();
    while let Some(block) = open.pop() {
        if reaches_end[block as usize] && !std::mem::replace(&mut reached[block as usize], true) {
            open.extend(&program.block(block).successors);
        }
    }
    reached
}

/// Whether the run ends in a block: well (`exit(0)`) or badly; nothing if it goes on or returns.
fn stops(program: &Program, block: BlockId, returns: &[bool]) -> Option<bool> {
    for id in &program.block(block).instructions {
        let Some(called) = program.called(*id) else { continue };
        let function = program.function(called);
        match function.name.as_str() {
            "exit" | "_exit" | "_FortranAStopStatement" => {
                let code = program.call_arguments(*id).first().and_then(|code| program.number(*code));
                // A code that is not known may be 0.
                return Some(code.is_none_or(|code| code == 0));
            }
            "_FortranAProgramEndStatement" => return Some(true),
            "MPI_Abort" | "PMPI_Abort" | "mpi_abort_" => return Some(false),
            _ if !returns[called as usize] => return Some(false),
            _ => {}
        }
    }
    None
}
