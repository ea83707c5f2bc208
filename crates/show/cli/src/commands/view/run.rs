//! Serving traces to browsers, and telling where.

use super::arguments::ViewArguments;
use super::files;
use crate::distributed::{self, Together};
use crate::input;
use crate::memory::MemoryArguments;
use crate::output::must_be_new;
use crate::show::json;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::style::Paint;
use crate::show::text;
use anyhow::{Context, Result};
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;
use kizami_trace::derived::Scratch;
use kizami_trace::run::RUN_JSON;
use kizami_view::Index;
use kizami_view::layer::Opened;
use kizami_view::server::{Server, View};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

/// Shows traces.
pub fn run(arguments: &ViewArguments) -> Result<u8> {
    let prepare = |together: Together| {
        together.share_cores();
        arguments.traces.iter().try_for_each(|path| index_together(path, together))
    };
    distributed::then_alone(arguments, prepare, || show(arguments))
}

/// Has all processes make the index of a trace, if there is none and it can be kept: the one who shows it finds it there.
/// Traces that are made for this process alone are left to it.
fn index_together(path: &Path, together: Together) -> Result<()> {
    let is_needed = |path: &Path| -> Result<bool> {
        if !path.join(RUN_JSON).is_file() {
            return Ok(false);
        }
        let trace = Trace::open(path)?;
        let can_be_kept = trace.run().reduced.is_none() && Scratch::beside(&trace).is_beside();
        Ok(can_be_kept && Index::kept(&trace).is_none())
    };
    let is_needed = together.is_first() && is_needed(path)?;
    if together.said_by_first(u8::from(is_needed)) == 0 {
        return Ok(());
    }
    let trace = input::open_together(path, together, &path)?;
    let bar = Bar::new("indexing");
    Index::build_together(&trace, together.group(), &|part| {
        bar.set((part * 1e3) as u64, 1_000, || format!("{:.0} %", part * 100.0));
    })?;
    Ok(())
}

fn show(arguments: &ViewArguments) -> Result<u8> {
    for (output, option) in [(&arguments.snapshot, "--snapshot"), (&arguments.png, "--png")] {
        if let Some(output) = output {
            must_be_new(output, option)?;
        }
    }
    let traces: Vec<Arc<Opened>> =
        arguments.traces.iter().map(|path| opened(path, arguments.memory)).collect::<Result<_>>()?;
    let first = traces.first().context("no trace given")?;
    if arguments.png.is_none() && arguments.snapshot.is_none() {
        return serve(arguments, &traces);
    }
    files::write(arguments, first)?;
    Ok(0)
}

/// Opens a trace; what is not in a reduced one is reconstructed, and told to be.
fn opened(path: &Path, memory: MemoryArguments) -> Result<Arc<Opened>> {
    let followed = input::open_to_follow(path, None, memory)?;
    Ok(Opened::reconstructed(followed.trace, followed.exact)?)
}

/// Reads what `kizami predict --json` has printed.
fn read_prediction(path: &Path) -> Result<serde_json::Value> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    if value["schema"] != json::PREDICT {
        let path = as_typed(path);
        return Err(UsageError(format!(
            "{path} is not output of `kizami predict --json` ({}); create it with: kizami predict RUNS --ranks 64..1024 --json > {path}",
            json::PREDICT
        ))
        .into());
    }
    Ok(value)
}

/// Answers browsers until the user ends it.
fn serve(arguments: &ViewArguments, traces: &[Arc<Opened>]) -> Result<u8> {
    // Begin at once with what the page asks for first.
    for opened in traces {
        opened.index();
    }
    let address = SocketAddr::new(arguments.listen, arguments.port.unwrap_or(0));
    let mut view = View::new(traces);
    view.prediction = arguments.prediction.as_deref().map(read_prediction).transpose()?;
    let server = Server::bind(view, address).with_context(|| match arguments.port {
        Some(port) => format!("cannot listen on port {port}; choose another with --port"),
        None => format!("cannot listen on {}", arguments.listen),
    })?;
    let (mut url, address) = (server.url()?, server.address()?);
    if let Some(first) = traces.first().filter(|_| arguments.all) {
        url.push_str(&format!("#view=0-{}", first.trace.run().span_ns.max(1)));
    }
    let paint = Paint::stdout();
    let mut out = text::stdout();
    writeln!(out, "{} {url}", paint.label("open     "))?;
    if address.ip().is_loopback() {
        let (host, port) = (host_name(), address.port());
        writeln!(
            out,
            "{} ssh -L {port}:127.0.0.1:{port} {host}   (run this on your machine, then open the address there)",
            paint.label("from afar")
        )?;
    }
    writeln!(out, "{} Ctrl-C", paint.label("end with "))?;
    out.flush()?;
    drop(out);
    if !arguments.no_open && has_display() {
        // Where it leads to keeps what stands behind the hash.
        let selection = url.find('#').map_or("", |at| &url[at..]);
        open_browser(&format!("{}{selection}", server.url_for_once()?));
    }
    server.run()?;
    Ok(0)
}

fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "HOST".to_owned(),
        name => name.to_owned(),
    }
}

/// A browser in a terminal would not help.
fn has_display() -> bool {
    ["DISPLAY", "WAYLAND_DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()))
}

/// Asks the desktop to open an address; whoever has none opens it by hand. Other users can read it.
fn open_browser(url: &str) {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}
