//! `kizami view`: a run in a browser, or as a picture.
//!
//! The viewer itself is the `view` crate; here are the address that is printed, the browser that is opened, and the
//! files that are written.

mod arguments;
mod ranks;

pub use arguments::ViewArguments;

use crate::failure::{UsageError, must_be_new};
use crate::record::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::style::Paint;
use anyhow::{Context, Result, anyhow};
use kizami_view::layer::{Layer, Opened, Origin};
use kizami_view::picture::{self, Size};
use kizami_view::query::Selection;
use kizami_view::server::{Server, View};
use kizami_view::{Answer, Index};
use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

/// Pictures are so large.
const PICTURE: Size = Size { width: 1_920, height: 1_080 };

/// Shows traces.
pub fn run(arguments: &ViewArguments) -> Result<u8> {
    for (output, option) in [(&arguments.snapshot, "--snapshot"), (&arguments.png, "--png")] {
        if let Some(output) = output {
            must_be_new(output, option)?;
        }
    }
    let traces: Vec<Arc<Opened>> =
        arguments.traces.iter().map(|path| Ok(Opened::open(path)?)).collect::<Result<_>>()?;
    let first = traces.first().context("a trace is needed")?;
    if arguments.png.is_none() && arguments.snapshot.is_none() {
        return serve(arguments, &traces);
    }
    let index = indexed(first)?;
    if let Some(output) = &arguments.png {
        let selection = selected(arguments, &index)?;
        write_new(output, &picture::png(&index, &selection, PICTURE)?)?;
    }
    if let Some(output) = &arguments.snapshot {
        let bar = Bar::new("explaining");
        let verdict = first.verdict_now().map_err(|why| anyhow!(why))?;
        drop(bar);
        let overview = picture::png(&index, &Selection::all(&index), PICTURE)?;
        let layer = Layer { opened: Arc::clone(first), origin: Origin::Trace };
        write_new(output, picture::page(&verdict.report, layer.kind(), &overview).as_bytes())?;
    }
    Ok(0)
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
    let mut selection = Selection::all(index);
    selection.from_ns = arguments.from.map_or(selection.from_ns, |time| time.0);
    selection.to_ns = arguments.to.map_or(selection.to_ns, |time| time.0);
    if selection.to_ns <= selection.from_ns {
        return Err(UsageError("--to must be behind --from, and both within the run".to_owned()).into());
    }
    if let Some(text) = &arguments.ranks {
        selection.ranks = ranks::parse(text, index.ranks()).map_err(UsageError)?;
    }
    Ok(selection)
}

/// Writes a file that is not there yet, even if somebody makes one of that name meanwhile.
fn write_new(path: &Path, content: &[u8]) -> Result<()> {
    let write = || File::create_new(path)?.write_all(content);
    write().with_context(|| format!("cannot write {}", path.display()))?;
    writeln!(io::stdout(), "wrote {}: {}", as_typed(path), quantity::bytes(content.len() as u64))?;
    Ok(())
}

/// Answers browsers until the user ends it.
fn serve(arguments: &ViewArguments, traces: &[Arc<Opened>]) -> Result<u8> {
    // Begin at once with what the page asks for first.
    for opened in traces {
        opened.index();
    }
    let address = SocketAddr::new(arguments.listen, arguments.port.unwrap_or(0));
    let server = Server::bind(View::new(traces), address).with_context(|| match arguments.port {
        Some(port) => format!("cannot listen at port {port}; choose another one with --port"),
        None => format!("cannot listen at {}", arguments.listen),
    })?;
    let (url, address) = (server.url()?, server.address()?);
    let paint = Paint::stdout();
    let mut out = io::stdout().lock();
    writeln!(out, "{} {url}", paint.label("open     "))?;
    if address.ip().is_loopback() {
        let (host, port) = (host_name(), address.port());
        writeln!(
            out,
            "{} ssh -L {port}:127.0.0.1:{port} {host}   (from another machine, then open the address there)",
            paint.label("from afar")
        )?;
    }
    writeln!(out, "{} Ctrl-C", paint.label("end with "))?;
    out.flush()?;
    drop(out);
    if !arguments.no_open && has_display() {
        open_browser(&url);
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

/// Asks the desktop to open an address; whoever has none opens it by hand.
fn open_browser(url: &str) {
    let mut command = Command::new("xdg-open");
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}
