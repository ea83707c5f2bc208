//! Replaying each idea, the best first.

use super::arguments::WhatifArguments;
use super::show;
use crate::commands::replay::{regions_of, threads_of};
use crate::distributed::{self, Together};
use crate::input;
use crate::live;
use crate::show::json::{self, Versioned};
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::text;
use anyhow::Result;
use kizami_explain::{ThreadCount, what_if};
use kizami_phrases::idea::in_words;

/// Ranks possible changes.
pub fn run(arguments: &WhatifArguments) -> Result<u8> {
    distributed::by_threads(arguments, arguments.threads, |together| rank_ideas(arguments, together))
}

fn rank_ideas(arguments: &WhatifArguments, together: Together) -> Result<u8> {
    let trace = input::open_together(&live::readable(&arguments.trace)?, together, arguments)?;
    let followed = input::follow_together(trace, arguments.threads, arguments.memory, together)?;
    let analysis = input::analyse(&followed, together.workers(arguments.threads))?;
    // Times of a reconstructed run are not those at which its regions were recorded.
    let threads = match followed.is_reconstructed() {
        true => None,
        false => threads_of(&followed.trace)?,
    };
    if !arguments.omp_threads.is_empty() && threads.is_none() {
        regions_of(&followed.trace)?;
    }
    let counts = match &arguments.omp_threads[..] {
        [] => &[ThreadCount::Times(2.0)][..],
        counts => counts,
    };
    let bar = Bar::new("replaying");
    let events = followed.trace.run().totals.events;
    let results = what_if(&analysis, threads.as_ref().map(|threads| (threads, counts)), &|steps| {
        bar.set(steps % events.max(1), events, || quantity::counted(steps, "event"));
    });
    drop(bar);
    if !together.is_first() {
        return Ok(0);
    }
    let results = in_words(results);
    let mut out = text::stdout();
    if arguments.json {
        let results: Vec<_> = results.iter().map(|result| Versioned::new(json::WHATIF, result)).collect();
        json::print_as_is(&results)?;
        return Ok(0);
    }
    show::print(&mut out, &results, Paint::stdout(), arguments.all)?;
    Ok(0)
}
