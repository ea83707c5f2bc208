//! Exporting, and saying what to do with the result.

use super::arguments::{ExportArguments, ExportFormat};
use crate::live;
use crate::output::must_be_new;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::provenance;
use crate::show::{quantity, say, text};
use anyhow::Result;
use kizami_export as export;
use kizami_trace::Trace;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Exports and says what to do with the result.
pub fn run(arguments: &ExportArguments) -> Result<u8> {
    let trace = Trace::open(&live::readable(&arguments.trace)?)?;
    arguments.memory.stay_within(&trace)?;
    provenance::report_times(&trace);
    let output = arguments.output.clone().unwrap_or_else(|| default_output(&arguments.trace, arguments.to));
    let to_stdout = output == Path::new("-");
    if !to_stdout {
        must_be_new(&output, "-o")?;
    }
    let bar = Bar::new("exporting");
    let progress = |done, total| bar.set(done, total, || quantity::counted(done, "row"));
    let summary = match arguments.to {
        ExportFormat::Otf2 => export::otf2::export(&trace, &output, &progress)?,
        ExportFormat::Perfetto => export::perfetto::export(&trace, &output, &progress)?,
        ExportFormat::Csv => export::csv::export(&trace, &output, &progress)?,
    };
    drop(bar);
    let name = as_typed(&output);
    if !to_stdout {
        let mut out = text::stdout();
        writeln!(out, "wrote {name}: {}{}", quantity::counted(summary.rows, "row"), messages(&summary))?;
        writeln!(out, "next: {}", next_step(arguments.to, &name))?;
    }
    if let Some(reduced) = &trace.run().reduced {
        say(&[format!(
            "warning: this trace has {} for {}; other tools see only the rows, so totals are too small. {}, and most messages have one end only",
            quantity::counted(reduced.rows_kept, "row"),
            quantity::counted(reduced.calls, "call"),
            match arguments.to {
                _ if reduced.is_sampled() => "Rows were sampled without weights".to_owned(),
                ExportFormat::Csv => with_weights("a column"),
                ExportFormat::Otf2 => with_weights("an attribute"),
                ExportFormat::Perfetto => with_weights("an annotation"),
            }
        )]);
    }
    if summary.left_out > 0 {
        say(&[format!(
            "left out: {} whose partner or communicator is unknown",
            quantity::counted(summary.left_out, "send or receive record")
        )]);
    }
    Ok(0)
}

fn with_weights(how: &str) -> String {
    format!("Weights are exported ({how}); exact sums, quantiles and the order of calls are not")
}

/// What formats with messages of their own hold of them.
fn messages(summary: &export::Summary) -> String {
    if summary.sends + summary.receives == 0 {
        return String::new();
    }
    let sends = quantity::counted(summary.sends, "send");
    format!(", {sends}, {}", quantity::counted(summary.receives, "receive"))
}

/// CSV goes to standard output, where the next program reads it; the others get the trace's name.
fn default_output(trace: &Path, format: ExportFormat) -> PathBuf {
    let stem = trace.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    match format {
        ExportFormat::Csv => "-".into(),
        ExportFormat::Otf2 => format!("{stem}-otf2").into(),
        ExportFormat::Perfetto => format!("{stem}.pftrace").into(),
    }
}

fn next_step(format: ExportFormat, name: &str) -> String {
    match format {
        ExportFormat::Otf2 => format!("otf2-print {name}/traces.otf2"),
        ExportFormat::Perfetto => format!("open {name} at https://ui.perfetto.dev"),
        ExportFormat::Csv => format!("head {name}"),
    }
}
