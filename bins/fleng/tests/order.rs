//! The key property: answers, virtual times, parents and needs of all tasks are the same in all orders.

use kizami_rng::SplitMix64;
mod common;

use common::{EXAMPLES, Notes, Whole, orders, query, text};
use kizami_fleng::{Costs, Order, Outcome, Query, RunError, Settings};

const COSTS: [Costs; 5] = [
    Costs { commit: 1, goal: 1 },
    Costs { commit: 0, goal: 0 },
    Costs { commit: 0, goal: 1 },
    Costs { commit: 7, goal: 2 },
    Costs { commit: 1, goal: 100_000 },
];

fn run(query: &Query, order: Order, costs: Costs) -> (Result<Outcome, RunError>, Vec<Whole>) {
    let mut notes = Notes::default();
    let outcome = query.run(&Settings { costs, order, ..Settings::default() }, &mut notes);
    (outcome, notes.wholes())
}

#[test]
fn examples_are_the_same_in_all_orders_and_at_all_costs() {
    for (file, goals, ..) in EXAMPLES {
        let query = query(&text(file), goals);
        for costs in COSTS {
            let expected = run(&query, Order::Fifo, costs);
            assert!(expected.0.as_ref().is_ok_and(|outcome| outcome.stuck_count == 0));
            for order in orders(if costs == Costs::default() { 60 } else { 6 }) {
                assert!(run(&query, order, costs) == expected, "{file} {goals} {order:?} {costs:?}");
            }
        }
    }
}

#[test]
fn collecting_garbage_often_changes_nothing() {
    for (file, goals, ..) in EXAMPLES {
        let query = query(&text(file), goals);
        let expected = run(&query, Order::Fifo, Costs::default());
        let mut enough = 0;
        // The less memory, the more often: below some limit it is not enough.
        for memory in (10_000..300_000).step_by(10_000) {
            for order in orders(2) {
                let mut notes = Notes::default();
                match query.run(&Settings { order, memory, ..Settings::default() }, &mut notes) {
                    Err(RunError::Memory { .. }) => {}
                    outcome => {
                        enough += 1;
                        assert!((outcome, notes.wholes()) == expected, "{file} {goals} {order:?} {memory}");
                    }
                }
            }
        }
        assert!(enough > 30, "{file} {goals}: {enough}");
    }
}

#[test]
fn a_budget_is_enough_in_all_orders_or_in_none() {
    let query = query(&text("reverse.fl"), "numbers(5, L), naive(L, R), naive(Q, S)");
    let tasks = query.run(&Settings::default(), &mut ()).unwrap().tasks;
    for order in orders(20) {
        let with = |budget| query.run(&Settings { order, budget, ..Settings::default() }, &mut ());
        assert!(with(tasks).is_ok_and(|outcome| outcome.stuck_count == 1));
        assert!(matches!(with(tasks - 1), Err(RunError::Budget { .. })));
    }
}

#[test]
fn times_follow_from_needs() {
    for (file, goals, ..) in EXAMPLES {
        let mut notes = Notes::default();
        let settings = Settings { order: Order::Random(4), ..Settings::default() };
        query(&text(file), goals).run(&settings, &mut notes).unwrap();
        for (place, task) in notes.tasks.iter().enumerate() {
            let latest = notes.needs[place].last().map_or(0, |need| need.time);
            assert_eq!(task.start, latest.max(task.born), "{task:?}");
            assert!(task.end > task.start);
            for need in &notes.needs[place] {
                assert!(need.task <= place as u64, "who bound it ended before");
                let binder = notes.task(need.task);
                assert!(binder.is_none_or(|binder| binder.start < need.time && need.time <= binder.end));
            }
            let parent = notes.task(notes.parents[place]);
            assert!(parent.is_none_or(|parent| parent.start < task.born && task.born <= parent.end));
        }
    }
}

/// Goals that look at their arguments in all ways there are.
const PIECES: &str = "
    after([], X, V) :- X = V.
    after([_ | T], X, V) :- after(T, X, V).
    backwards([], X, V) :- V = X.
    backwards([_ | T], X, V) :- backwards(T, X, V).
    pick(a, b, R) :- R = c.
    pick(X, X, R) :- R = b.
    pick(_, c, R) :- R = f(_).
    pick(f(a), _, R) :- R = a.
    pick(f(X), f(X), R) :- R = a.
    pick(X, 1, R) :- R = f(X).
    pick(b, Y, R) :- R = Y.
    pick(X, Y, R) :- after([1, 2], R, f(Z)), after([X], Z, Y).
    truth(true, R) :- R = a.
    truth(false, R) :- R = b.
    whether(X, Y, R) :- same(X, Y, B), truth(B, R).
    whether_not(X, Y, R) :- B := X \\== f(Y), truth(B, R).
    pair(X, Y, R) :- R = f(Z), pick(X, Y, Z).
";

/// A query in which each variable has at most one goal that binds it, from others or from a constant.
fn made_up(random: &mut SplitMix64) -> String {
    let count = 3 + random.index(10);
    let mut goals = Vec::new();
    for own in 0..count {
        // Mostly earlier ones; with later ones goals may wait in circles, which must be told alike too.
        let mut other = || {
            let limit = if random.index(12) == 0 || own == 0 { count } else { own };
            format!("V{}", random.index(limit))
        };
        let (x, y) = (other(), other());
        let delay = ["[]", "[1]", "[1, 2, 3]", "[1, 2, 3, 4, 5, 6]"][random.index(4)];
        let constant = ["a", "b", "c", "1", "f(a)", "f(b)", "f(f(a))", "[a]"][random.index(8)];
        let earlier =
            own > 0 && x != format!("V{own}") && x[1..].parse().is_ok_and(|number: usize| number < own);
        goals.push(match random.index(13) {
            0..3 => format!("after({delay}, V{own}, {constant})"),
            3..5 if earlier => format!("after({delay}, V{own}, {x})"),
            5..7 if earlier => format!("backwards({delay}, V{own}, {x})"),
            7 => format!("whether({x}, {y}, V{own})"),
            8 => format!("whether_not({x}, {y}, V{own})"),
            9 => format!("pair({x}, {y}, V{own})"),
            10 if own > 2 => "pick(1, 1, _)".to_owned(),
            _ => format!("pick({x}, {y}, V{own})"),
        });
    }
    for place in (1..goals.len()).rev() {
        goals.swap(place, random.index(place + 1));
    }
    goals.join(", ")
}

#[test]
fn made_up_programs_are_the_same_in_all_orders() {
    let mut random = SplitMix64::new(0x1234_5678_9abc_def1);
    let (mut ended, mut stuck) = (0, 0);
    for _ in 0..1500 {
        let goals = made_up(&mut random);
        let query = query(PIECES, &goals);
        let expected = run(&query, Order::Fifo, Costs::default());
        match &expected.0 {
            Ok(outcome) if outcome.stuck_count == 0 => ended += 1,
            Ok(_) => stuck += 1,
            Err(RunError::Endless { .. }) => {
                // A variable may become a term that contains itself. Who compares it then ends the run, in any order.
                let ends =
                    |order| matches!(run(&query, order, Costs::default()).0, Err(RunError::Endless { .. }));
                assert!(orders(2).all(ends), "{goals}");
                continue;
            }
            Err(error) => panic!("{error}: {goals}"),
        }
        for order in orders(10) {
            let got = run(&query, order, Costs::default());
            assert!(got == expected, "{order:?}: {goals}\n{:#?}\n{:#?}", got.0, expected.0);
        }
    }
    assert!(ended > 200 && stuck > 200, "both kinds are tried: {ended} {stuck}");
}
