//! What a reader can tell of call sites: recursion and inlining make many of one, callers make several of one line.

use kizami_trace::{CallSite, Definitions, PathFrame, SourceLine};

/// Functions as `name:line`, or `name` without debug information; several with `>` between them were inlined, the innermost
/// first.
fn named(text: &str) -> (String, Option<u32>, Vec<String>) {
    let mut names = text.split('>');
    let innermost = names.next().unwrap_or_default();
    let (function, line) = match innermost.split_once(':') {
        Some((function, line)) => (function, Some(line.parse().expect("a line"))),
        None => (innermost, None),
    };
    (function.to_owned(), line, names.map(str::to_owned).collect())
}

/// A call site for each path: the functions that led to the call, the innermost first.
fn definitions(paths: &[&str]) -> Definitions {
    let mut definitions = Definitions::default();
    let module = || Some("/bin/solver".to_owned());
    for (index, path) in (0..).zip(paths) {
        let mut outermost_first = path.split(" < ").collect::<Vec<_>>().into_iter().rev();
        let mut frames: Vec<&str> = outermost_first.by_ref().collect();
        let site = frames.pop().expect("a call");
        let mut caller = None;
        for text in frames {
            let (function, line, inlined_into) = named(text);
            let known = definitions
                .paths
                .iter()
                .find(|frame| (&frame.function, frame.line, frame.caller) == (&function, line, caller));
            caller = Some(known.map(|frame| frame.index).unwrap_or_else(|| {
                let index = definitions.paths.len() as u32;
                definitions.paths.push(PathFrame {
                    index,
                    caller,
                    offset: u64::from(index),
                    module: module(),
                    file: line.map(|_| format!("/src/{function}.c")),
                    function,
                    line,
                    inlined_into,
                });
                index
            }));
        }
        let (function, line, inlined_into) = named(site);
        definitions.callsites.push(CallSite {
            index,
            offset: 100 + u64::from(index),
            module: module(),
            file: line.map(|_| format!("/src/{function}.c")),
            function,
            line,
            inlined_into,
            path: caller,
        });
    }
    definitions
}

fn places(definitions: &Definitions) -> Vec<String> {
    let sites = 0..definitions.callsites.len() as u32;
    sites.map(|site| SourceLine::of(definitions, Some(site)).to_string()).collect()
}

#[test]
fn a_line_is_told_apart_by_the_innermost_caller_that_differs() {
    let several = definitions(&[
        "sum:5 < dot:8 < solve:20 < main:3",
        "sum:5 < dot:8 < solve:30 < main:3",
        "halo:7 < main:3",
    ]);
    assert_eq!(places(&several), ["sum.c:5 <- solve.c:20", "sum.c:5 <- solve.c:30", "halo.c:7"]);
    let one = definitions(&["sum:5 < dot:8 < solve:20 < main:3"]);
    assert_eq!(places(&one), ["sum.c:5"]);
    let of_main = definitions(&["sum:5", "sum:5 < main:3"]);
    assert_eq!(places(&of_main), ["sum.c:5", "sum.c:5 <- main.c:3"]);
    let inlined = definitions(&["sum:5>solve", "sum:5>check"]);
    assert_eq!(places(&inlined), ["sum.c:5 <- solve", "sum.c:5 <- check"]);
}

#[test]
fn the_depth_of_recursion_tells_nothing_apart() {
    let recursive = definitions(&[
        "halo:7 < cycle:10 < main:3",
        "halo:7 < cycle:10 < cycle:12 < main:3",
        "halo:7 < cycle:14 < cycle:12 < cycle:12 < main:3",
    ]);
    assert_eq!(
        places(&recursive),
        ["halo.c:7 <- cycle.c:10", "halo.c:7 <- cycle.c:10", "halo.c:7 <- cycle.c:14"]
    );
    assert_eq!(recursive.alike_sites(), [0, 0, 2]);
}

#[test]
fn copies_of_a_call_are_alike_and_calls_without_lines_are_not() {
    let copies = definitions(&["sum:5>solve < main:3", "sum:5>solve < main:3", "sum:5>solve < main:9"]);
    assert_eq!(copies.alike_sites(), [0, 0, 2]);
    let nameless = definitions(&["sum < main", "sum < main"]);
    assert_eq!(nameless.alike_sites(), [0, 1]);
}

#[test]
fn two_calls_lie_in_the_innermost_function_that_leads_to_both() {
    let definitions = definitions(&[
        "halo:7 < solve:20 < main:3",
        "sum:5 < dot:8 < solve:30 < main:3",
        "sum:5 < dot:8 < check:9 < main:4",
        "copy:2>pack>solve < main:3",
        "wait",
    ]);
    let between = |first: u32, second: u32| {
        SourceLine::between(&definitions, first, second).map(|[from, to]| {
            assert_eq!(from.function, to.function);
            format!("{}: {from} to {to}", to.function)
        })
    };
    assert_eq!(between(0, 1).as_deref(), Some("solve: solve.c:20 to solve.c:30"));
    assert_eq!(between(1, 2).as_deref(), Some("main: main.c:3 to main.c:4"));
    assert_eq!(between(1, 1).as_deref(), Some("sum: sum.c:5 to sum.c:5"));
    // Where an inlined function calls, its line stands for that of the function it was inlined into.
    assert_eq!(between(0, 3).as_deref(), Some("solve: solve.c:20 to copy.c:2"));
    assert_eq!(between(0, 4), None);
}
