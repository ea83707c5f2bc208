//! The files `kizami view` writes instead of opening a browser: a picture of the timeline, and a snapshot of the
//! overview. Both are of the first trace that is given.

use super::arguments::ViewArguments;
use super::ranks;
use crate::output::write_new;
use crate::page::{Curve, Snapshot, Timeline, snapshot};
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::{quantity, text};
use anyhow::{Result, anyhow};
use kizami_phrases::program;
use kizami_terminal::failure::UsageError;
use kizami_view::layer::{Layer, Opened, Origin};
use kizami_view::picture::{self, Caption, Size, Theme};
use kizami_view::query::Selection;
use kizami_view::query::parallelism::parallelism;
use kizami_view::{Answer, Index};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// How large the picture in a snapshot is: twice what most screens show of it.
const IN_A_PAGE: Size = Size { width: 1_920, height: 1_080 };
/// Stretches of the curve in a snapshot: one for about two pixels.
const STRETCHES: usize = 500;

/// Writes what was asked for.
pub fn write(arguments: &ViewArguments, opened: &Arc<Opened>) -> Result<()> {
    let index = indexed(opened)?;
    let layer = Layer { opened: Arc::clone(opened), origin: Origin::Trace };
    let run = opened.trace.run();
    let trace = opened.trace.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let program = program::name(&run.executable, &run.command);
    let caption = Caption { program: &program, trace: &trace, kind: layer.kind() };
    if let Some(output) = &arguments.png {
        let selection = selected(arguments, &index)?;
        let size = Size { width: arguments.width, height: arguments.height };
        write_and_report(output, &picture::png(&index, &selection, caption, size, &Theme::light())?)?;
    }
    if let Some(output) = &arguments.snapshot {
        let bar = Bar::new("explaining");
        let verdict = opened.verdict_now().map_err(|why| anyhow!(why))?;
        drop(bar);
        let parts = parts(arguments.all, &index);
        let shown = |(part, selection): &(&'static str, Selection)| -> Result<Timeline> {
            let picture = |theme| picture::png(&index, selection, caption, IN_A_PAGE, &theme);
            Ok(Timeline { part, light: picture(Theme::light())?, dark: picture(Theme::dark())? })
        };
        let page = snapshot(&Snapshot {
            report: &verdict.report,
            word: layer.kind().word(),
            timelines: &parts.iter().map(shown).collect::<Result<Vec<_>>>()?,
            curve: curve(opened, &index, &parts[0].1),
        });
        write_and_report(output, page.as_bytes())?;
    }
    Ok(())
}

/// What a snapshot shows: the part in which the program works; behind it the whole run, if starting and ending MPI
/// take longer than that, as in short runs.
fn parts(only_all: bool, index: &Index) -> Vec<(&'static str, Selection)> {
    let (all, work) = (Selection::all(index), Selection::at_work(index));
    if only_all || work == all {
        return vec![("whole run", all)];
    }
    let is_short = work.length() < all.length() / 2;
    let parts = [("between MPI_Init and MPI_Finalize", work), ("whole run", all)];
    parts.into_iter().take(if is_short { 2 } else { 1 }).collect()
}

/// How many ranks compute over time, also on an ideal network if that can be worked out.
fn curve(opened: &Opened, index: &Index, part: &Selection) -> Curve {
    let bar = Bar::new("replaying");
    let ideal = opened.ideal_now().ok().map(|ideal| parallelism(&ideal, part, STRETCHES));
    drop(bar);
    let (from, to, ranks) = (part.from, part.to, index.ranks());
    Curve { from, to, ranks, computing: parallelism(index, part, STRETCHES), ideal }
}

/// The index of a trace, with a progress bar while it is made.
fn indexed(opened: &Arc<Opened>) -> Result<Arc<Index>> {
    let bar = Bar::new("indexing");
    loop {
        match opened.index() {
            Answer::Ready(index) => return Ok(index),
            Answer::Failed(why) => return Err(anyhow!(why)),
            Answer::Pending(part) => {
                bar.set((part * 1e3) as u64, 1_000, || format!("{:.0} %", part * 100.0));
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}

/// What a picture is to show.
fn selected(arguments: &ViewArguments, index: &Index) -> Result<Selection> {
    // Who names a moment means the whole run beyond it.
    let of_all = arguments.all || arguments.from.is_some() || arguments.to.is_some();
    let mut selection = if of_all { Selection::all(index) } else { Selection::at_work(index) };
    selection.from = arguments.from.unwrap_or(selection.from);
    selection.to = arguments.to.unwrap_or(selection.to);
    if selection.to <= selection.from {
        return Err(UsageError("--to must be after --from, and both within the run".to_owned()).into());
    }
    if let Some(text) = &arguments.ranks {
        selection.ranks = ranks::parse(text, index.ranks()).map_err(UsageError)?;
    }
    Ok(selection)
}

/// Writes a file that is not there yet, and says so.
fn write_and_report(path: &Path, content: &[u8]) -> Result<()> {
    write_new(path, content)?;
    writeln!(text::stdout(), "wrote {}: {}", as_typed(path), quantity::bytes(content.len() as u64))?;
    Ok(())
}
