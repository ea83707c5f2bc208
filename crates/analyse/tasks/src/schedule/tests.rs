//! Runtimes on programs whose schedules are known, and on made-up ones.

use super::*;
use crate::graph::{Part, Role};
use crate::{Need, Task};
use kizami_model::Moment;
use kizami_rng::SplitMix64;

/// A program as it is written: what a task does.
enum Does {
    Work(i64),
    Makes(Vec<Does>),
    /// After the siblings of these numbers, counted from the first.
    MakesAfter(Vec<usize>, Vec<Does>),
    Waits,
    GroupBegins,
    GroupEnds,
}

/// Makes pieces of it, in virtual time.
#[derive(Default)]
struct Writer {
    graph: TaskGraph,
    clock: i64,
    groups: u32,
}

impl Writer {
    fn piece(&mut self, parent: Option<u32>, created: Moment, needs: &[Need], part: Part, group: u32) -> u32 {
        let start = needs.iter().map(|need| need.at).fold(created, Moment::max);
        let task = Task { parent, place: None, created, start, end: start, continued: part.goes_on() };
        self.graph.push(task, needs);
        self.clock += 1;
        self.graph.push_role(Role { made: Moment(self.clock), group, part });
        self.graph.len() as u32 - 1
    }

    /// Returns the last piece.
    fn task(&mut self, first: u32, does: &[Does], inherited: u32) -> u32 {
        let mut now = first;
        // Last pieces of what it made, and the groups of those.
        let mut made: Vec<(u32, u32)> = Vec::new();
        let mut open = Vec::new();
        let end = |writer: &Writer, piece: u32| writer.graph.tasks()[piece as usize].end;
        for act in does {
            match act {
                Does::Work(length) => self.graph.lengthen(now, Length(*length)),
                Does::Makes(_) | Does::MakesAfter(..) => {
                    let (needs, inner) = match act {
                        Does::MakesAfter(after, inner) => (after.clone(), inner),
                        Does::Makes(inner) => (Vec::new(), inner),
                        _ => unreachable!(),
                    };
                    let of = |sibling: &usize| {
                        let of = made[*sibling].0;
                        Need { of, at: end(self, of) }
                    };
                    let needs: Vec<Need> = needs.iter().map(of).collect();
                    let group = open.last().copied().unwrap_or(inherited);
                    let child = self.piece(Some(now), end(self, now), &needs, Part::Explicit, group);
                    made.push((self.task(child, inner, group), group));
                }
                Does::GroupBegins => {
                    self.groups += 1;
                    open.push(self.groups);
                }
                Does::Waits | Does::GroupEnds => {
                    let group = if matches!(act, Does::GroupEnds) { open.pop().unwrap_or(0) } else { 0 };
                    let part = if group > 0 { Part::AfterGroup } else { Part::AfterChildren };
                    let waited = made.iter().filter(|(_, of)| group == 0 || *of == group);
                    let needs: Vec<Need> =
                        waited.map(|(of, _)| Need { of: *of, at: end(self, *of) }).collect();
                    now = self.piece(Some(now), end(self, now), &needs, part, group);
                }
            }
        }
        now
    }

    /// The program is run by one thread of a region of two.
    fn program(does: &[Does]) -> TaskGraph {
        let mut writer = Writer { graph: TaskGraph::new(), ..Writer::default() };
        let initial = writer.piece(None, Moment::START, &[], Part::Initial, 0);
        let share = writer.piece(Some(initial), Moment::START, &[], Part::Share, 0);
        let other = writer.piece(Some(initial), Moment::START, &[], Part::Share, 0);
        let last = writer.task(share, does, 0);
        let end = writer.graph.tasks()[last as usize].end;
        let needs = [Need { of: last, at: end }, Need { of: other, at: Moment::START }];
        writer.piece(Some(initial), Moment::START, &needs, Part::AfterRegion, 0);
        writer.graph
    }
}

fn leaf(length: i64) -> Does {
    Does::Makes(vec![Does::Work(length)])
}

#[test]
fn one_that_waits_for_its_children_takes_no_other_task() {
    // The first child has children of its own, and the second is short.
    let first = vec![leaf(10), leaf(10), leaf(10), Does::Waits];
    let graph = Writer::program(&[Does::Makes(first), leaf(1), Does::Waits]);
    assert_eq!(graph.work(), Length(31));
    for (strategy, expected) in [(Strategy::Oldest, 20), (Strategy::Gnu, 30), (Strategy::Llvm, 20)] {
        // With GNU's runtime one thread runs the first child and its children alone; with LLVM's the other helps.
        assert_eq!(schedule(&graph, 2, strategy).length, Length(expected), "{}", strategy.name());
    }
}

#[test]
fn too_many_tasks_run_on_the_thread_that_creates_them() {
    // One thread makes 300 tasks, and the last is long. GNU's runtime has room for 128 with two threads: the maker runs some
    // of those that come later itself.
    let mut does: Vec<Does> = (0..300).map(|_| leaf(1)).collect();
    does.push(leaf(100));
    let graph = Writer::program(&does);
    for strategy in [Strategy::Gnu, Strategy::Llvm] {
        let length = schedule(&graph, 2, strategy).length;
        assert!(length >= Length(200) && length <= Length(300), "{}: {length:?}", strategy.name());
        assert_eq!(schedule(&graph, 1, strategy).length, graph.work());
    }
}

/// Any program.
fn made_up(random: &mut SplitMix64, depth: u32) -> Vec<Does> {
    let mut does = Vec::new();
    let (mut made, mut in_group) = (0, false);
    for _ in 0..random.below(6) {
        match random.below(if depth == 0 { 1 } else { 6 }) {
            0 => does.push(Does::Work(random.below(20) as i64)),
            1 | 2 => {
                does.push(Does::Makes(made_up(random, depth - 1)));
                made += 1;
            }
            3 if made > 0 => {
                let after = vec![random.index(made)];
                does.push(Does::MakesAfter(after, made_up(random, depth - 1)));
                made += 1;
            }
            4 if in_group => {
                does.push(Does::GroupEnds);
                in_group = false;
            }
            4 => {
                does.push(Does::GroupBegins);
                in_group = true;
            }
            _ => does.push(Does::Waits),
        }
    }
    if in_group {
        does.push(Does::GroupEnds);
    }
    does
}

#[test]
fn runtimes_do_all_work_and_keep_the_bounds() {
    for seed in 1..300 {
        let mut random = SplitMix64::new(seed);
        let graph = Writer::program(&made_up(&mut random, 5));
        for strategy in [Strategy::Gnu, Strategy::Llvm] {
            let program = Program::of(&graph).expect("it tells what it waited for");
            let at = |processors| Some(follow(&[&program], processors, Notice::NONE, strategy)?.0);
            assert_eq!(at(1), Some(graph.work()), "seed {seed}");
            for processors in [2, 3, 8, 64] {
                let hung = || panic!("seed {seed}: some of {} tasks are stuck", program.len());
                let length = at(processors).unwrap_or_else(hung);
                assert!(length.0 * i64::from(processors) >= graph.work().0, "seed {seed}");
                assert!(length <= graph.work(), "seed {seed}: nobody waits while nobody runs");
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn schedules_of_runtimes_lie_within_their_bounds(seed: u64, task in 0i64..400, over in 0i64..400, begin in 0i64..400) {
        let mut random = SplitMix64::new(seed);
        let graph = Writer::program(&made_up(&mut random, 5));
        let program = Program::of(&graph).expect("it tells what it waited for");
        let [task, over, begin] = [task, over, begin].map(Length);
        let notice = Notice { task, over, begin, pass: over, ..Notice::NONE };
        let bounds = Bounds::of(&graph);
        for strategy in [Strategy::Gnu, Strategy::Llvm] {
            for processors in [1, 2, 3, 8, 64] {
                // Neither shaken nor put within its bounds.
                let (length, _) = follow(&[&program], processors, notice, strategy).expect("it ends");
                proptest::prop_assert!(length >= bounds.at_least(processors), "{strategy:?} {processors}: {length:?}");
                proptest::prop_assert!(length <= one_by_one(&graph, notice), "{strategy:?} {processors}: {length:?}");
                let told = schedule(&graph, processors, strategy);
                let (low, high) = told.range.unwrap_or((told.length, told.length));
                let in_order = [told.at_least, low, told.length, high, told.at_most];
                proptest::prop_assert!(in_order.is_sorted(), "{strategy:?} {processors}: {told:?}");
            }
        }
    }
}
