//! The arguments of `kizami view`.

use crate::memory::MemoryArguments;
use crate::show::quantity;
use clap::Args;
use kizami_model::Moment;
use kizami_view::picture::Size;
use std::net::IpAddr;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami view run.kz
  kizami view run.kz faster.kz
  kizami view --port 8123 --no-open run.kz
  kizami view run.kz --prediction prediction.json
  kizami view run.kz --snapshot run.html
  kizami view run.kz --png timeline.png --from 1.2s --to 1.4s --ranks 0-63
  kizami view run.kz --png timeline.png --width 1200 --height 500

Prints an address with a token that is valid until the command ends, and opens a browser if there is
a display. For a remote machine, run the printed ssh command locally and open the address there.
The first view of a trace writes an index to its derived/ directory; later views start at once.
The page loads nothing from the network; only this machine can connect unless --listen is given.";

/// Show one or more runs in a browser, or write the timeline as a picture.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ViewArguments {
    /// Traces; the first is shown first
    #[arg(required = true, value_name = "RUN.kz")]
    pub traces: Vec<PathBuf>,

    /// Port to listen on [default: any free port]
    #[arg(long, value_name = "PORT")]
    pub port: Option<u16>,

    /// Address to listen on; anyone who can reach it and has the token can connect
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1")]
    pub listen: IpAddr,

    /// Do not open a browser
    #[arg(long)]
    pub no_open: bool,

    /// Show this prediction next to the run (output of `kizami predict --json`)
    #[arg(long, value_name = "FILE.json")]
    pub prediction: Option<PathBuf>,

    /// Write overview, findings and main tables as one HTML file; must not exist
    #[arg(long, value_name = "OUT.html")]
    pub snapshot: Option<PathBuf>,

    /// Write the timeline as a picture with title, legend and axes; must not exist
    #[arg(long, value_name = "OUT.png")]
    pub png: Option<PathBuf>,

    /// Show the whole run, including MPI startup and shutdown [default: from MPI_Init to MPI_Finalize]
    #[arg(long, conflicts_with_all = ["from", "to"])]
    pub all: bool,

    /// With --png: start of the time range
    #[arg(long, value_name = "TIME", requires = "png", value_parser = quantity::parse_moment)]
    pub from: Option<Moment>,

    /// With --png: end of the time range
    #[arg(long, value_name = "TIME", requires = "png", value_parser = quantity::parse_moment)]
    pub to: Option<Moment>,

    /// With --png: these ranks, such as 0-63 or 1,5,9
    #[arg(long, value_name = "RANKS", requires = "png")]
    pub ranks: Option<String>,

    /// With --png: width; text scales with it
    #[arg(long, value_name = "PIXELS", requires = "png", default_value = "1920",
        value_parser = pixels::<{ Size::SMALLEST.width }, { Size::LARGEST.width }>)]
    pub width: usize,

    /// With --png: maximum height; few ranks need less
    #[arg(long, value_name = "PIXELS", requires = "png", default_value = "1080",
        value_parser = pixels::<{ Size::SMALLEST.height }, { Size::LARGEST.height }>)]
    pub height: usize,

    #[command(flatten)]
    pub memory: MemoryArguments,
}

/// A size of a picture, in pixels.
fn pixels<const LEAST: usize, const MOST: usize>(text: &str) -> Result<usize, String> {
    let number = text.trim().parse::<usize>().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.ok_or_else(|| format!("give a number of pixels from {LEAST} to {MOST}"))
}
