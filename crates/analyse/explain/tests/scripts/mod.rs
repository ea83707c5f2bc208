//! Scripts that loop, with places that have names, and what is said about them.

use kizami_explain::{Analysis, Report, WhatIf, what_if};
use kizami_graph::Builder;
use kizami_model::Call;
use kizami_testing::{Act, Costs, Script};
use kizami_trace::{CallSite, Definitions, Region, RegionSpan, RunInfo};
use std::path::PathBuf;

/// Places of one rank or file.
const PLACES: u32 = 64;

/// How places are named.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Places {
    /// `rankR.c:N`: each rank has code of its own; N is the number of the act, from 1.
    OfEachRank,
    /// `shared.c:N`: all run the same.
    Shared,
}

/// A barrier, and then the same acts over and over.
pub struct Looped {
    pub bodies: Vec<Vec<Act>>,
    pub iterations: usize,
    pub places: Places,
}

impl Looped {
    fn rows(&self) -> Vec<Call> {
        let whole = |body: &Vec<Act>| {
            let mut acts = vec![Act::Together("MPI_Barrier")];
            (0..self.iterations).for_each(|_| acts.extend(body.iter().cloned()));
            acts
        };
        let script = Script { acts: self.bodies.iter().map(whole).collect(), costs: Costs::default() };
        let mut rows = script.run();
        for row in &mut rows {
            let body = self.bodies[row.rank.0 as usize].len() as u32;
            let act = row.callsite.map_or(0, |act| if act == 0 { 0 } else { (act - 1) % body + 1 });
            let file = if self.places == Places::Shared { 0 } else { row.rank.0 };
            row.callsite = Some(file * PLACES + act);
        }
        rows
    }

    pub fn definitions(&self) -> Definitions {
        let ranks = self.bodies.len() as u32;
        let site = |index: u32| CallSite {
            index,
            offset: u64::from(index),
            module: None,
            function: "main".to_owned(),
            file: Some(match self.places {
                Places::OfEachRank => format!("/src/rank{}.c", index / PLACES),
                Places::Shared => "/src/shared.c".to_owned(),
            }),
            line: Some(index % PLACES),
            inlined_into: Vec::new(),
            path: None,
        };
        Definitions {
            callsites: (0..ranks * PLACES).map(site).collect(),
            regions: (0..4).map(|index| Region { index, name: format!("region{index}") }).collect(),
            ..kizami_testing::definitions_with_windows(&[(0..ranks).collect()], 1)
        }
    }

    pub fn report(&self) -> Report {
        self.report_with(1)
    }

    pub fn report_with(&self, threads: usize) -> Report {
        let definitions = self.definitions();
        report_of(&self.rows(), definitions, threads)
    }

    /// With stays in regions, whose names are `region0`, `region1` and so on.
    pub fn report_in_regions(&self, spans: &[RegionSpan]) -> Report {
        analysis(&self.rows(), self.definitions(), spans, 1).report_of("script", &run_info(self.bodies.len()))
    }

    /// What is said, and what could be done, if the places are others.
    pub fn explained_with(&self, places: impl Fn(&mut Definitions)) -> (Report, Vec<WhatIf>) {
        let mut definitions = self.definitions();
        places(&mut definitions);
        let analysis = analysis(&self.rows(), definitions, &[], 1);
        (analysis.report_of("script", &run_info(self.bodies.len())), what_if(&analysis, None, &|_| {}))
    }

    /// What could be done, the best first.
    pub fn what_if(&self) -> Vec<WhatIf> {
        what_if(&analysis(&self.rows(), self.definitions(), &[], 1), None, &|_| {})
    }
}

/// A loop whose iterations differ: all ranks run the same code, `shared.c:N`, where N is the number of the act in its
/// iteration, from 1. A barrier comes first.
pub struct Stepped {
    /// By iteration, then by rank; all of one rank have as many acts.
    pub steps: Vec<Vec<Vec<Act>>>,
}

impl Stepped {
    pub fn report(&self) -> Report {
        let ranks = self.steps[0].len();
        let whole = |rank: usize| {
            let mut acts = vec![Act::Together("MPI_Barrier")];
            self.steps.iter().for_each(|step| acts.extend(step[rank].iter().cloned()));
            acts
        };
        let mut rows = Script { acts: (0..ranks).map(whole).collect(), costs: Costs::default() }.run();
        for row in &mut rows {
            let acts = self.steps[0][row.rank.0 as usize].len() as u32;
            row.callsite = row.callsite.map(|act| if act == 0 { 0 } else { (act - 1) % acts + 1 });
        }
        let bodies = vec![Vec::new(); ranks];
        let definitions = Looped { bodies, iterations: 0, places: Places::Shared }.definitions();
        report_of(&rows, definitions, 1)
    }
}

fn analysis(rows: &[Call], definitions: Definitions, spans: &[RegionSpan], threads: usize) -> Analysis {
    let mut builder = Builder::new(&definitions, &[]);
    rows.iter().for_each(|call| builder.call(call));
    Analysis::of_graph(builder.finish(), definitions, spans, threads)
}

/// What is said about a program whose calls are made at these lines of `shared.c`.
pub fn report_with_lines(acts: Vec<Vec<Act>>, line: impl Fn(&Call) -> u32) -> Report {
    let bodies = vec![Vec::new(); acts.len()];
    let mut rows = Script { acts, costs: Costs::default() }.run();
    rows.iter_mut().for_each(|row| row.callsite = Some(line(row)));
    report_of(&rows, Looped { bodies, iterations: 0, places: Places::Shared }.definitions(), 1)
}

/// What is said about these rows.
pub fn report_of(rows: &[Call], definitions: Definitions, threads: usize) -> Report {
    let ranks = definitions.communicators[0].members.len();
    analysis(rows, definitions, &[], threads).report_of("script", &run_info(ranks))
}

/// What `run.json` would say.
fn run_info(ranks: usize) -> RunInfo {
    let text = format!(
        r#"{{"schema": "kizami-trace/1", "executable": "script", "command": [], "hosts": [], "mpi_library": "",
            "started_unix_ns": 0, "started_utc": "", "ranks": {ranks}, "threads": {ranks}, "span_ns": 0,
            "totals": {{"events": 0, "calls": 0, "bytes_out": 0, "bytes_in": 0, "mpi_ns": 0, "overhead_ns": 0,
                "lost_calls": 0}},
            "health": {{"complete": true, "problems": []}}, "clocks": {{}}, "functions": [], "rank_summaries": [],
            "files": []}}"#
    );
    RunInfo::parse(text.as_bytes(), PathBuf::from("run.json")).unwrap()
}
