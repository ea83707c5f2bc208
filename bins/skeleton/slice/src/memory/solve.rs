//! Solves the constraints: a work list, with pieces of memory made as they are written.

use super::constraints::{Constraints, Move, Variable};
use super::{Memory, ObjectId, Place, gcd};
use crate::effects::EffectTable;
use crate::memory::Object;
use crate::program::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// From how many places in one object on a variable points to a repeated place instead.
const MOST_PLACES: usize = 64;
/// From how many pieces on an object has only one more, for everything else.
const MOST_PIECES: usize = 256;
/// A pointer has so many bytes.
const POINTER: u64 = 8;

/// Places, by their object: only those of one object can stand for each other.
#[derive(Default)]
struct Places(FxHashMap<ObjectId, Vec<Place>>);

impl Places {
    fn all(&self) -> Vec<Place> {
        self.0.values().flatten().copied().collect()
    }

    /// Adds a place, unless one is there that stands for it too; gives what was added.
    fn add(&mut self, place: Place) -> Option<Place> {
        let same = self.0.entry(place.object).or_default();
        if same.iter().any(|other| *other == place || covers(*other, place)) {
            return None;
        }
        if same.len() < MOST_PLACES {
            same.push(place);
            return Some(place);
        }
        // One place that stands for all: the largest stride that fits them.
        let stride = same.iter().fold(place.stride, |stride, other| {
            gcd(gcd(stride, other.stride), (other.offset - place.offset).unsigned_abs())
        });
        let width = same.iter().map(|other| other.width).max().unwrap_or(0).max(place.width);
        let all = Place { width: 0, ..place }.moved(Move { bytes: 0, stride: stride.max(1), width });
        same.clear();
        same.push(all);
        Some(all)
    }
}

#[derive(Default)]
struct Node {
    targets: Places,
    fresh: Vec<Place>,
    flows: Vec<(Variable, Move)>,
    loads: Vec<Variable>,
    stores: Vec<Variable>,
    copies_from: Vec<Variable>,
    copies_to: Vec<Variable>,
    calls: Vec<ValueId>,
    queued: bool,
}

/// What an object contains, and who wants to know.
#[derive(Default)]
struct Contents {
    pieces: Vec<(Place, Variable)>,
    readers: Vec<(Place, Variable)>,
    reading: FxHashSet<(Place, Variable)>,
    /// Copies of this object: from where, to where.
    copies: FxHashSet<(Place, Place)>,
}

struct Solver<'a> {
    program: &'a Program,
    effects: &'a EffectTable,
    constraints: Constraints,
    nodes: Vec<Node>,
    contents: Vec<Contents>,
    flows: FxHashSet<(Variable, Variable, Move)>,
    open: Vec<Variable>,
    indirect: FxHashMap<ValueId, Vec<FunctionId>>,
}

impl Constraints {
    pub(super) fn solve(self, program: &Program, effects: &EffectTable) -> Memory {
        let mut nodes = Vec::new();
        nodes.resize_with(self.variables as usize, Node::default);
        let mut solver = Solver {
            program,
            effects,
            constraints: self,
            nodes,
            contents: Vec::new(),
            flows: FxHashSet::default(),
            open: Vec::new(),
            indirect: FxHashMap::default(),
        };
        solver.take_over();
        while let Some(variable) = solver.open.pop() {
            solver.visit(variable);
        }
        let sorted = |node: &Node| {
            let mut places = node.targets.all();
            places.sort_unstable();
            places
        };
        let targets = solver.nodes.iter().take(program.values.len()).map(sorted).collect();
        let Constraints { objects, numbers, described, .. } = solver.constraints;
        let array = |(call, argument, array): (ValueId, u32, Variable)| {
            ((call, argument), sorted(&solver.nodes[array as usize]))
        };
        let described = described.into_iter().map(array).collect();
        Memory { objects, numbers, targets, described, indirect: solver.indirect }
    }
}

impl Solver<'_> {
    /// Moves constraints into nodes: all at the start, and what calls through pointers add later.
    fn take_over(&mut self) {
        self.nodes.resize_with(self.nodes.len().max(self.constraints.variables as usize), Node::default);
        self.contents.resize_with(self.constraints.objects.len(), Contents::default);
        for (pointer, into) in std::mem::take(&mut self.constraints.loads) {
            self.nodes[pointer as usize].loads.push(into);
            self.again(pointer);
        }
        for (pointer, from) in std::mem::take(&mut self.constraints.stores) {
            self.nodes[pointer as usize].stores.push(from);
            self.again(pointer);
        }
        for (to, from) in std::mem::take(&mut self.constraints.copies) {
            self.nodes[from as usize].copies_to.push(to);
            self.nodes[to as usize].copies_from.push(from);
            self.again(from);
        }
        for (pointer, call) in std::mem::take(&mut self.constraints.calls) {
            self.nodes[pointer as usize].calls.push(call);
            self.again(pointer);
        }
        for (place, variable) in std::mem::take(&mut self.constraints.initial) {
            let piece = self.piece(place);
            self.flow(variable, piece, Move::NONE);
        }
        for (from, to, by) in std::mem::take(&mut self.constraints.flows) {
            self.flow(from, to, by);
        }
        for (variable, place) in std::mem::take(&mut self.constraints.given) {
            self.add(variable, place);
        }
    }

    /// Looks at all targets of a variable again, since something about it is new.
    fn again(&mut self, variable: Variable) {
        let node = &mut self.nodes[variable as usize];
        node.fresh = node.targets.all();
        self.queue(variable);
    }

    fn queue(&mut self, variable: Variable) {
        let node = &mut self.nodes[variable as usize];
        if !node.fresh.is_empty() && !std::mem::replace(&mut node.queued, true) {
            self.open.push(variable);
        }
    }

    fn add(&mut self, variable: Variable, place: Place) {
        let code = matches!(self.constraints.objects[place.object as usize], Object::Code(_));
        let place = if code { Place { offset: 0, stride: 0, width: 0, ..place } } else { place };
        let node = &mut self.nodes[variable as usize];
        if let Some(added) = node.targets.add(place) {
            node.fresh.push(added);
            self.queue(variable);
        }
    }

    fn flow(&mut self, from: Variable, to: Variable, by: Move) {
        if from == to && by == Move::NONE || !self.flows.insert((from, to, by)) {
            return;
        }
        self.nodes[from as usize].flows.push((to, by));
        let known = self.nodes[from as usize].targets.all();
        known.into_iter().for_each(|place| self.add(to, place.moved(by)));
    }

    fn visit(&mut self, variable: Variable) {
        self.nodes[variable as usize].queued = false;
        let fresh = std::mem::take(&mut self.nodes[variable as usize].fresh);
        let node = &self.nodes[variable as usize];
        let (flows, loads, stores) = (node.flows.clone(), node.loads.clone(), node.stores.clone());
        let (to, from, calls) = (node.copies_to.clone(), node.copies_from.clone(), node.calls.clone());
        for place in fresh {
            for (next, by) in &flows {
                self.add(*next, place.moved(*by));
            }
            for into in &loads {
                self.read(place, *into);
            }
            for value in &stores {
                let piece = self.piece(place);
                self.flow(*value, piece, Move::NONE);
            }
            for target in &to {
                let places = self.nodes[*target as usize].targets.all();
                places.into_iter().for_each(|there| self.copy(place, there));
            }
            for source in &from {
                let places = self.nodes[*source as usize].targets.all();
                places.into_iter().for_each(|here| self.copy(here, place));
            }
            for call in &calls {
                self.call(*call, place);
            }
        }
    }

    fn read(&mut self, place: Place, into: Variable) {
        let contents = &mut self.contents[place.object as usize];
        if !contents.reading.insert((place, into)) {
            return;
        }
        contents.readers.push((place, into));
        let pieces: Vec<Variable> = contents
            .pieces
            .iter()
            .filter(|(at, _)| place.overlaps(POINTER, *at, POINTER))
            .map(|(_, piece)| *piece)
            .collect();
        pieces.into_iter().for_each(|piece| self.flow(piece, into, Move::NONE));
    }

    /// The variable for what is at a place.
    fn piece(&mut self, place: Place) -> Variable {
        let contents = &self.contents[place.object as usize];
        let place = if contents.pieces.len() >= MOST_PIECES { place.anywhere() } else { place };
        if let Some((_, known)) = contents.pieces.iter().find(|(at, _)| *at == place) {
            return *known;
        }
        let piece = self.nodes.len() as Variable;
        self.nodes.push(Node::default());
        self.constraints.variables = self.nodes.len() as u32;
        let contents = &mut self.contents[place.object as usize];
        contents.pieces.push((place, piece));
        let readers: Vec<Variable> = contents
            .readers
            .iter()
            .filter(|(at, _)| place.overlaps(POINTER, *at, POINTER))
            .map(|(_, into)| *into)
            .collect();
        let copies: Vec<(Place, Place)> = contents.copies.iter().copied().collect();
        readers.into_iter().for_each(|into| self.flow(piece, into, Move::NONE));
        copies.into_iter().for_each(|(from, to)| self.copy_piece(place, piece, from, to));
        piece
    }

    fn copy(&mut self, from: Place, to: Place) {
        if from == to || !self.contents[from.object as usize].copies.insert((from, to)) {
            return;
        }
        let pieces = self.contents[from.object as usize].pieces.clone();
        pieces.into_iter().for_each(|(at, piece)| self.copy_piece(at, piece, from, to));
    }

    fn copy_piece(&mut self, at: Place, piece: Variable, from: Place, to: Place) {
        let stride = gcd(gcd(at.stride, from.stride), to.stride);
        let offset = to.offset.wrapping_add(at.offset.wrapping_sub(from.offset));
        let target = Place { object: to.object, offset, stride: 0, width: 0 }.moved(Move {
            bytes: 0,
            stride,
            width: at.width + from.width + to.width,
        });
        let copied = self.piece(target);
        self.flow(piece, copied, Move::NONE);
    }

    fn call(&mut self, call: ValueId, place: Place) {
        let Object::Code(function) = self.constraints.objects[place.object as usize] else { return };
        let known = self.indirect.entry(call).or_default();
        let expects = self.program.function(function).arguments.len();
        if known.contains(&function) || expects > self.program.call_arguments(call).len() {
            return;
        }
        known.push(function);
        match self.effects.get(function) {
            Some(outside) => self.constraints.of_outside(self.program, call, outside),
            None => self.constraints.link(self.program, call, function),
        }
        self.take_over();
    }
}

/// Whether one place stands for another as well.
fn covers(all: Place, one: Place) -> bool {
    all.stride != 0
        && one.width <= all.width
        && one.stride.is_multiple_of(all.stride)
        && (one.offset - all.offset).rem_euclid(all.stride as i64) == 0
}
