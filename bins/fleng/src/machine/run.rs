//! The loop: take a goal, look at its arguments, commit to a clause, make the goals of its body.
//!
//! A goal that starts at time `s` commits at `s + commit`. The `k`-th goal of the body is made, or the variable
//! bound, `k * goal` later, and the task ends with the last of them. A goal of the language itself ends and
//! binds at `s + commit`. The query's goals are made at time 0.

use super::blocked;
use super::goals::{Goal, Goals};
use super::heap::{Heap, Origin};
use super::look::{Looks, Stop};
use super::profile::Profile;
use super::text::Writer;
use super::word::{View, Word};
use crate::code::{Builtin, MakeStep};
use crate::observer::{Binder, Observer, Task};
use crate::outcome::{Outcome, RunError};
use crate::program::{Action, BodyStep, Callee, Clause, Program, Query};
use crate::settings::{Settings, TextLimits};

/// No garbage is collected while there are fewer words than this: a heap that fits into a cache.
const FEW_WORDS: usize = 1 << 17;

/// How much of a goal an error shows.
pub(super) const SHORT: TextLimits = TextLimits { depth: 6, parts: 40 };

/// What of a clause a task needs, or of a goal of the language.
struct Ending {
    line: u32,
    kind: u32,
    start: u64,
    end: u64,
}

struct Machine<'a, O> {
    program: &'a Program,
    settings: &'a Settings,
    observer: &'a mut O,
    heap: Heap,
    goals: Goals,
    looks: Looks,
    profile: Profile,
    /// By number: what a clause's variables stand for.
    kept: Vec<Word>,
    stack: Vec<Word>,
    woken: Vec<u32>,
    tasks: u64,
    most_words: usize,
    answers: Vec<Word>,
}

/// Runs a query to its end.
pub(crate) fn run<O: Observer>(
    query: &Query,
    settings: &Settings,
    observer: &mut O,
) -> Result<Outcome, RunError> {
    let program = &query.program;
    let most = program.clauses.iter().map(|clause| clause.variables.len()).max().unwrap_or(0);
    let looks = Looks::new(observer.wants_needs());
    let mut machine = Machine {
        program,
        settings,
        observer,
        heap: Heap::default(),
        goals: Goals::new(settings.order),
        looks,
        profile: Profile::new(),
        kept: vec![Word::UNBOUND; most],
        stack: Vec::new(),
        woken: Vec::new(),
        tasks: 0,
        most_words: FEW_WORDS.min(settings.memory / size_of::<Word>()),
        answers: Vec::new(),
    };
    machine.begin(query.clause())?;
    while let Some((number, goal)) = machine.goals.next() {
        machine.reduce(number, goal)?;
        if machine.heap.len() > machine.most_words {
            machine.collect()?;
        }
        if machine.profile.is_full() {
            machine.profile.settle(machine.goals.earliest());
            machine.check_memory()?;
        }
    }
    Ok(machine.outcome(query.clause()))
}

impl<O: Observer> Machine<'_, O> {
    /// Makes the query's goals, all at time 0.
    fn begin(&mut self, number: u32) -> Result<(), RunError> {
        let clause = &self.program.clauses[number as usize];
        for step in &clause.body {
            self.make(step, number);
            self.act(step, Binder { time: 0, task: 0 })?;
        }
        self.answers = self.kept[..clause.variables.len()].to_vec();
        Ok(())
    }

    #[inline]
    fn reduce(&mut self, number: u32, goal: Goal) -> Result<(), RunError> {
        self.looks.begin(goal.born);
        let stop = match self.program.sites[goal.site as usize].callee {
            Callee::Predicate(kind) => match self.choose(kind, goal) {
                Ok(Some(clause)) => return self.commit(number, goal, kind, clause),
                Ok(None) => {
                    let (line, goal) = self.whereabouts(goal);
                    return Err(RunError::NoClause { line, goal });
                }
                Err(stop) => stop,
            },
            Callee::Builtin(builtin) => match self.heap.compute(builtin, goal.place(), &mut self.looks) {
                Ok((to, value)) => return self.give(number, goal, builtin, to, value),
                Err(stop) => stop,
            },
        };
        if let Stop::Unbound(variable) = stop {
            self.heap.wait(variable, number);
            return Ok(());
        }
        Err(self.failure(stop, goal))
    }

    /// The first clause that fits.
    #[inline]
    fn choose(&mut self, kind: u32, goal: Goal) -> Result<Option<u32>, Stop> {
        for number in &self.program.predicates[kind as usize].clauses {
            let head = &self.program.clauses[*number as usize].head;
            if self.heap.fits(head, goal.place(), &mut self.kept, &mut self.looks)? {
                return Ok(Some(*number));
            }
        }
        Ok(None)
    }

    #[inline]
    fn commit(&mut self, number: u32, goal: Goal, kind: u32, chosen: u32) -> Result<(), RunError> {
        self.count(goal)?;
        let clause: &Clause = &self.program.clauses[chosen as usize];
        let start = self.looks.latest;
        let mut now = start.saturating_add(u64::from(self.settings.costs.commit));
        for step in &clause.body {
            now = now.saturating_add(u64::from(self.settings.costs.goal));
            self.make(step, chosen);
            self.act(step, Binder { time: now, task: self.tasks })?;
        }
        self.finish(number, goal, Ending { line: clause.line, kind, start, end: now });
        Ok(())
    }

    /// Counts a task, unless the budget is spent. Goals that are tried and wait do not count: how often that
    /// happens depends on the order.
    #[inline]
    fn count(&mut self, goal: Goal) -> Result<(), RunError> {
        let budget = self.settings.budget;
        if self.tasks >= budget {
            let (line, goal) = self.whereabouts(goal);
            return Err(RunError::Budget { budget, line, goal });
        }
        self.tasks += 1;
        Ok(())
    }

    /// Pushes the terms of a body's goal.
    #[inline]
    fn make(&mut self, step: &BodyStep, clause: u32) {
        self.stack.clear();
        for make in &step.make {
            let word = match *make {
                MakeStep::Constant(word) => word,
                MakeStep::Kept(number) => self.kept[number as usize],
                MakeStep::New(number) => {
                    let variable = self.heap.variable(Origin { clause, number });
                    self.kept[number as usize] = variable;
                    variable
                }
                MakeStep::Structure(header) => {
                    let View::Header(_, arity) = header.view() else { continue };
                    let from = self.stack.len() - arity;
                    let whole = self.heap.structure(header, &self.stack[from..]);
                    self.stack.truncate(from);
                    whole
                }
            };
            self.stack.push(word);
        }
    }

    /// Does what a body's goal says with the terms on the stack.
    #[inline]
    fn act(&mut self, step: &BodyStep, by: Binder) -> Result<(), RunError> {
        match step.action {
            Action::Call(site) => {
                let term = self.heap.structure(self.program.sites[site as usize].header, &self.stack);
                self.goals.add(Goal { term, site, born: by.time, parent: by.task, earliest: by.time });
                Ok(())
            }
            Action::Bind => {
                let (left, right) = (self.stack[0], self.stack[1]);
                self.bind(left, right, by).map_err(|()| {
                    let mut writer = Writer::new(self.program, &self.heap);
                    let goal = format!("{} = {}", writer.text(left, SHORT), writer.text(right, SHORT));
                    RunError::BoundTwice { line: step.line, goal }
                })
            }
        }
    }

    #[inline]
    fn bind(&mut self, left: Word, right: Word, by: Binder) -> Result<(), ()> {
        let bound = self.heap.bind(left, right, by, &mut self.woken);
        self.goals.wake(&mut self.woken, by.time);
        bound.map_err(|_| ())
    }

    /// A goal of the language gives its result.
    #[inline]
    fn give(
        &mut self,
        number: u32,
        goal: Goal,
        builtin: Builtin,
        to: Word,
        value: Word,
    ) -> Result<(), RunError> {
        self.count(goal)?;
        let start = self.looks.latest;
        let end = start.saturating_add(u64::from(self.settings.costs.commit));
        if self.bind(to, value, Binder { time: end, task: self.tasks }).is_err() {
            let (line, goal) = self.whereabouts(goal);
            return Err(RunError::BoundTwice { line, goal });
        }
        let kind = self.program.predicates.len() as u32 + builtin as u32;
        let line = self.program.sites[goal.site as usize].line;
        self.finish(number, goal, Ending { line, kind, start, end });
        Ok(())
    }

    #[inline]
    fn finish(&mut self, number: u32, goal: Goal, ending: Ending) {
        let Ending { line, kind, start, end } = ending;
        self.goals.finish(number);
        self.profile.add(start, end);
        let binders = &mut self.looks.binders;
        if binders.len() > 1 {
            binders.sort_unstable();
            binders.dedup();
        }
        let site = &self.program.sites[goal.site as usize];
        self.observer.finished(&Task {
            number: self.tasks,
            parent: goal.parent,
            kind,
            name: self.program.symbols.name(site.name),
            arity: site.arity,
            line,
            born: goal.born,
            start,
            end,
            thread: 0,
            needs: binders,
        });
    }

    fn collect(&mut self) -> Result<(), RunError> {
        self.heap.collect(self.answers.iter_mut().chain(self.goals.terms()));
        let room = self.check_memory()? / size_of::<Word>();
        // While garbage is collected there are two heaps.
        self.most_words = (3 * self.heap.len()).max(FEW_WORDS).min(self.heap.len() + room / 2);
        Ok(())
    }

    /// How many bytes are left of those allowed.
    fn check_memory(&self) -> Result<usize, RunError> {
        let memory = self.settings.memory;
        let terms = self.heap.len() * size_of::<Word>();
        let used = terms + self.goals.count() * size_of::<Goal>() + self.profile.bytes();
        memory.checked_sub(used).ok_or(RunError::Memory { memory, goals: self.goals.count() })
    }

    /// The line of a goal, and its text.
    fn whereabouts(&self, goal: Goal) -> (u32, String) {
        let text = Writer::new(self.program, &self.heap).text(goal.term, SHORT);
        (self.program.sites[goal.site as usize].line, text)
    }

    fn failure(&self, stop: Stop, goal: Goal) -> RunError {
        let (line, text) = self.whereabouts(goal);
        match stop {
            Stop::NotANumber(found) => {
                let found = Writer::new(self.program, &self.heap).text(found, SHORT);
                RunError::NotANumber { line, goal: text, found }
            }
            Stop::DividedByZero => RunError::DividedByZero { line, goal: text },
            Stop::TooLarge => RunError::TooLarge { line, goal: text },
            Stop::Unbound(_) | Stop::Endless => RunError::Endless { line, goal: text },
        }
    }

    fn outcome(mut self, query: u32) -> Outcome {
        let names = &self.program.clauses[query as usize].variables;
        let mut writer = Writer::new(self.program, &self.heap);
        let named = names.iter().zip(&self.answers).filter(|(name, _)| *name != "_");
        let answers = named.map(|(name, word)| (name.clone(), writer.text(*word, self.settings.text)));
        let answers = answers.collect();
        let waiting: Vec<Goal> = self.goals.alive().copied().collect();
        Outcome {
            answers,
            end: self.profile.end,
            work: self.profile.work,
            peak: self.profile.peak(),
            tasks: self.tasks,
            stuck_count: waiting.len(),
            stuck: blocked::list(self.program, &self.heap, waiting),
        }
    }
}
