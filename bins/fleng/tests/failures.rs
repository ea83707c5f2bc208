//! What goes wrong is told with its line, its goal and what to do; and nothing goes wrong by a panic.

use kizami_rng::SplitMix64;
mod common;

use common::{EXAMPLES, orders, query, text};
use kizami_fleng::{Order, Program, RunError, Settings, TextLimits};

fn failure(program: &str, goals: &str) -> String {
    let settings = Settings { budget: 100_000, ..Settings::default() };
    let errors: Vec<String> = orders(3)
        .map(|order| query(program, goals).run(&Settings { order, ..settings }, &mut ()))
        .map(|outcome| outcome.expect_err("it goes wrong").to_string())
        .collect();
    assert!(errors.iter().all(|error| *error == errors[0]), "{errors:?}");
    errors[0].clone()
}

#[test]
fn a_goal_that_fits_no_clause() {
    let message = failure("a(1, []).\nb(X) :-\n  a(X, [c(X), 'A b' | Y]).", "b(1)");
    let expected = "line 3: no clause matches a(1, [c(1), 'A b' | Y]); add a clause for this case, or check what created the goal";
    assert_eq!(message, expected);
}

#[test]
fn a_second_value() {
    let message = failure("a(X) :- X = 1.", "a(X), a(X)");
    assert!(
        message
            .starts_with("line 1: 1 = 1 binds a variable that already has a value; bind each variable once"),
        "{message}"
    );
    assert!(failure("a.", "X = 1, X = 2").starts_with("the query: 1 = 2 binds"));
    let message = failure("a(X, Y) :- X = Y, Y = X.", "a(X, Y)");
    assert!(message.starts_with("line 1: Y = X binds"), "{message}");
    let message = failure("a(X) :- X := 1 + 1.", "a(f)");
    assert!(message.starts_with("line 1: f := 1 + 1 binds"), "{message}");
}

#[test]
fn arithmetic() {
    let program = "a(X, Y, Z) :- Z := (X - 1) // Y.";
    assert!(failure(program, "a(1, 0, Z)").starts_with("line 1: Z := (1 - 1) // 0 divides by 0"));
    assert!(failure(program, "a(1, b, Z)").starts_with("line 1: Z := (1 - 1) // b needs a number but has b"));
    let large = format!("a({}, 1, Z)", -(1_i64 << 60) + 1);
    assert_eq!(
        query(program, &large).run(&Settings::default(), &mut ()).unwrap().answer("Z"),
        Some("-1152921504606846976")
    );
    assert!(failure("a(X, Z) :- Z := X * X.", "a(9999999999, Z)").contains("61 bits"));
    assert!(
        failure("a(X, Z) :- X = X1 + 1, X1 = X2 + X, X2 = 1, Z := X.", "a(X, Z)").contains("contains itself")
    );
}

#[test]
fn a_run_without_end() {
    let message = failure("a(N) :-\n a(N).", "a(0)");
    assert_eq!(
        message,
        "stopped after 100000 tasks, at a(0) of line 2; raise --budget if the program should end"
    );
    let settings = Settings { memory: 10_000_000, ..Settings::default() };
    let outcome = query("a :- a, a.", "a").run(&settings, &mut ());
    assert!(matches!(outcome, Err(RunError::Memory { memory: 10_000_000, .. })), "{outcome:?}");
}

#[test]
fn goals_that_wait_for_ever() {
    let program = "rev([H | T], R) :- rev(T, S), app(S, [H], R).\nrev([], R) :- none(R).\nnone(_).\n\
        app([], Y, Z) :- Z = Y.\napp([H | T], Y, Z) :- Z = [H | W], app(T, Y, W).";
    let query = query(program, "rev([1, 2], R), less(R, Q, B)");
    for order in orders(8) {
        let outcome = query.run(&Settings { order, ..Settings::default() }, &mut ()).unwrap();
        assert_eq!(outcome.answers[0], ("R".to_owned(), "R".to_owned()));
        let message: Vec<String> = outcome.stuck.iter().map(ToString::to_string).collect();
        assert_eq!(
            message,
            [
                "the query: less(R, Q, B) waits for R, a variable of the query that is never bound",
                "line 1: app(S, [1], R) waits for S, a variable of the clause at line 1 that is never bound",
                "line 1: app(S, [2], S_2) waits for S, a variable of the clause at line 1 that is never bound",
            ]
        );
        assert_eq!((outcome.stuck_count, outcome.tasks), (3, 4));
    }
}

#[test]
fn many_waiting_goals_are_counted_and_some_are_listed() {
    let program = "a([], _).\na([_ | T], X) :- b(X), a(T, X).\nb(1).";
    let list = format!("[{}1]", "1, ".repeat(99));
    let query = query(program, &format!("a({list}, X)"));
    let expected = query.run(&Settings::default(), &mut ()).unwrap();
    assert_eq!((expected.stuck_count, expected.stuck.len()), (100, 20));
    assert!(expected.stuck.is_sorted_by_key(|stuck| stuck.born));
    let order = Order::Random(1);
    assert_eq!(query.run(&Settings { order, ..Settings::default() }, &mut ()), Ok(expected));
}

#[test]
fn answers_are_cut_at_the_given_length() {
    let program = "a(X) :- X = f(f(f(f(1)))).\nb(X) :- X = [1 | X].\nc(X) :- X = g(1, X, Y, Y).";
    let query = query(program, "a(X), b(Y), c(Z)");
    let text = TextLimits { depth: 3, parts: 10 };
    let outcome = query.run(&Settings { text, ..Settings::default() }, &mut ()).unwrap();
    let answers: Vec<&str> = outcome.answers.iter().map(|(_, value)| value.as_str()).collect();
    assert_eq!(answers[0], "f(f(f(...)))");
    assert_eq!(answers[1], "[1, 1, 1, 1, 1, 1, 1, 1, 1, ...]");
    assert_eq!(answers[2], "g(1, g(1, g(1, ..., Y, Y), Y, ...), ..., ...)");
}

#[test]
fn memory_follows_what_is_needed() {
    let program = "count(N, R) :- done(N, D), M := N - 1, count(D, M, R), last(R, _).\n\
        done(0, D) :- D = true.\ndone(_, D) :- D = false.\n\
        count(true, _, R) :- R = [].\ncount(false, N, R) :- again(N, R).\nlast([], X) :- X = 1.\n\
        again(N, R) :- done(N, D), M := N - 1, count(D, M, R).";
    let settings = Settings { memory: 6_000_000, ..Settings::default() };
    for order in orders(1) {
        let outcome = query(program, "count(400000, R)").run(&Settings { order, ..settings }, &mut ());
        assert!(
            outcome.as_ref().is_ok_and(|outcome| outcome.answer("R") == Some("[]")),
            "{order:?}: {outcome:?}"
        );
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    let mut random = SplitMix64::new(99);
    let pieces = [
        "a", "X", "(", ")", "[", "]", ",", "|", ".", ":-", "=", ":=", "1", "-", "mod", "'", "%", "/*", "*/",
        " ", "\n", "é", "_",
    ];
    for _ in 0..20_000 {
        let bytes: Vec<u8> = (0..random.index(60)).map(|_| random.index(256) as u8).collect();
        let soup: String = (0..random.index(40)).map(|_| pieces[random.index(pieces.len())]).collect();
        for text in [String::from_utf8_lossy(&bytes).into_owned(), soup] {
            if let Ok(program) = Program::parse(&text) {
                let _ = program.query(&text);
            }
        }
    }
}

#[test]
fn damaged_examples_neither_parse_nor_run_into_a_panic() {
    let mut random = SplitMix64::new(7);
    let settings = Settings { budget: 3000, ..Settings::default() };
    let mut ran = 0;
    for (file, goals, ..) in EXAMPLES {
        let whole = text(file);
        for _ in 0..400 {
            let mut bytes = whole.clone().into_bytes();
            for _ in 0..1 + random.index(3) {
                let (from, to) = (random.index(bytes.len()), random.index(bytes.len()));
                match random.index(3) {
                    0 => bytes[from] = bytes[to],
                    1 => bytes.swap(from, to),
                    _ => drop(bytes.remove(from)),
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            if let Ok(query) = Program::parse(&text).and_then(|program| program.query(goals)) {
                ran += 1;
                let order = Order::Random(random.bits());
                let _ = query.run(&Settings { order, ..settings }, &mut ());
            }
        }
    }
    assert!(ran > 300, "enough of them still run: {ran}");
}
