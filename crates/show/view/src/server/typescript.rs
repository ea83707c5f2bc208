//! The page's types of answers, `ui/src/answers.ts`, are what Rust says they are.
//!
//! `just types` writes the file again.

use super::answers::{
    CallSite, Collectives, Health, HistogramCalls, IndexState, Layer, MatrixLabels, Parallelism, Path,
    Phases, Run, Stops, Tree,
};
use super::task_answers::{
    FlowNeed, FlowTask, TaskCurve, TaskCurves, TaskFlow, TaskLengths, TaskNode, TaskPlace, TaskSchedule,
    TaskTree,
};
use crate::layer::LayerKind;
use crate::look::Look;
use crate::query::{collectives, flow, histogram, links, path, phases, stops, threads, tree};
use kizami_explain as explain;
use ts_rs::{Config, TS};

/// Where the file is.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../ui/src/answers.ts");
const HEAD: &str = "// Made from the Rust types of the answers by a test of crates/show/view; see crates/show/view/src/server/typescript.rs.\n";

/// What the page reads of something in a report, with the types it has there: else this does not compile. What comes
/// behind `and` is added by the server.
macro_rules! read {
    ($(#[$about:meta])* $name:ident of $whole:ty {
        $($(#[$how:meta])* $field:ident: $type:ty,)*
    } $(and { $($(#[$how_added:meta])* $added:ident: $type_added:ty,)* })?) => {
        $(#[$about])*
        #[derive(TS)]
        #[allow(dead_code, reason = "only its type is of interest")]
        struct $name {
            $($(#[$how])* $field: $type,)*
            $($($(#[$how_added])* $added: $type_added,)*)?
        }
        const _: fn(&$whole) = |whole| {
            $(let _: &$type = &whole.$field;)*
        };
    };
}

read! {
    /// What is said about a run: of a whole report what the page reads.
    Verdict of explain::Report {
        executable: String,
        ranks: u32,
        run_ns: i64,
        #[ts(as = "Efficiency")]
        efficiency: explain::Efficiency,
        #[ts(as = "Vec<Finding>")]
        findings: Vec<explain::Finding>,
        #[ts(as = "Vec<Wait>")]
        waits: Vec<explain::WaitTotal>,
        /// Where calls take longest.
        #[ts(as = "Vec<CallTotal>")]
        places: Vec<explain::CallTotal>,
        /// Where computation takes longest.
        #[ts(as = "Vec<ComputationTotal>")]
        computation: Vec<explain::ComputationTotal>,
        #[ts(as = "NotUnderstood")]
        not_understood: explain::NotUnderstood,
    } and {
        kind: LayerKind,
        /// What must be known before anything else.
        warnings: Vec<String>,
        /// What threads lose, most first.
        thread_losses: Vec<String>,
        /// What is said where there is no finding.
        nothing_found: String,
    }
}

read! {
    /// Parallel efficiency, and what it is made of.
    Efficiency of explain::Efficiency {
        parallel: f64,
        #[ts(optional)]
        cores: Option<f64>,
        #[ts(optional)]
        own_cores_ns: Option<i64>,
        load_balance: f64,
        serialisation: f64,
        transfer: f64,
        average_computation_ns: i64,
        longest_computation_ns: i64,
        ideal_ns: i64,
    }
}

read! {
    /// Something that costs time.
    Finding of explain::Finding {
        #[ts(type = "'computation' | 'call' | 'start'")]
        cause: explain::Cause,
        /// None if many take turns, or cannot be named shortly.
        ranks: Vec<u32>,
        #[ts(as = "Place")]
        place: explain::SourceLine,
        function: String,
        waiting_ranks: usize,
    } and {
        /// All of it in a sentence.
        sentence: String,
        /// How the program came there.
        #[ts(optional)]
        call_path: Option<String>,
        /// The gain that is to be expected.
        #[ts(as = "Option<Gain>")]
        expected: Option<explain::Gain>,
        /// How long others waited for it, and what fixing it would gain, as in the report.
        cost: String,
        /// Of a typical instance, if one shows it: who was waited for, from when to when, and who waited where.
        #[ts(optional)]
        rank: Option<u32>,
        #[ts(optional = nullable)]
        callsite: Option<u32>,
        #[ts(optional)]
        from: Option<i64>,
        #[ts(optional)]
        to: Option<i64>,
        #[ts(optional = nullable)]
        waiting_rank: Option<u32>,
        #[ts(optional = nullable)]
        waiting_callsite: Option<u32>,
        #[ts(optional = nullable)]
        waiting_start: Option<i64>,
    }
}

read! {
    /// A place in the source.
    Place of explain::SourceLine {
        file: Option<String>,
        line: Option<u32>,
        function: String,
    }
}

read! {
    /// What fixing it would gain.
    Gain of explain::Gain {
        ns: i64,
        error_ns: i64,
        share: f64,
        share_error: f64,
    }
}

read! {
    /// Waiting of one kind.
    Wait of explain::WaitTotal {
        #[ts(type = "string")]
        pattern: explain::Pattern,
        count: u64,
        ns: i64,
        share: f64,
        worst_rank: u32,
    }
}

read! {
    /// Calls of one function at one place.
    CallTotal of explain::CallTotal {
        function: String,
        #[ts(as = "Option<Place>")]
        place: Option<explain::SourceLine>,
        ns: i64,
        share: f64,
    }
}

read! {
    /// Computation before the calls at one place.
    ComputationTotal of explain::ComputationTotal {
        function: String,
        #[ts(as = "Place")]
        place: explain::SourceLine,
        ns: i64,
        share: f64,
    }
}

read! {
    /// What was not understood of a run.
    NotUnderstood of explain::NotUnderstood {
        unmatched: u64,
        not_followed: u64,
        problems: Vec<String>,
    }
}

fn declared<T: TS>(config: &Config) -> String {
    let declaration = format!("\n{}export {}\n", T::docs().unwrap_or_default(), T::decl(config));
    declaration.split_inclusive('\n').map(|line| format!("{}\n", line.trim_end())).collect()
}

fn all() -> String {
    // Numbers of the page are those of JSON; nothing here is larger than it can hold exactly.
    let config = Config::new().with_large_int("number");
    macro_rules! declare {
        ($($answer:ty),* $(,)?) => { [$(declared::<$answer>(&config)),*].concat() };
    }
    let answers = declare![
        Run,
        Layer,
        LayerKind,
        CallSite,
        Look,
        Health,
        IndexState,
        Parallelism,
        Collectives,
        collectives::Collective,
        Path,
        path::Segment,
        Tree,
        tree::Node,
        tree::NodeKind,
        Phases,
        phases::Phase,
        phases::PhaseKind,
        Stops,
        stops::Gap,
        histogram::Histogram,
        histogram::Bucket,
        HistogramCalls,
        histogram::Located,
        MatrixLabels,
        links::BusyLinks,
        links::BusyLink,
        links::LinkCall,
        threads::ThreadRows,
        threads::RankRows,
        threads::ThreadRow,
        threads::ThreadSubject,
        flow::Flow,
        flow::Stage,
        flow::StageKind,
        Verdict,
        Efficiency,
        Finding,
        Place,
        Gain,
        Wait,
        CallTotal,
        ComputationTotal,
        NotUnderstood,
        TaskCurves,
        TaskCurve,
        TaskTree,
        TaskNode,
        TaskFlow,
        FlowTask,
        FlowNeed,
        TaskLengths,
        TaskPlace,
        TaskSchedule,
    ];
    format!("{HEAD}{answers}")
}

#[test]
fn the_types_of_the_page_are_those_of_the_answers() {
    let made = all();
    if std::env::var_os("KIZAMI_WRITE_TYPES").is_some() {
        std::fs::write(FILE, &made).expect("the page's folder");
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(kept == made, "ui/src/answers.ts is stale: `just types` writes it again");
}
