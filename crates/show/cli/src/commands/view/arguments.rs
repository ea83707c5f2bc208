//! The arguments of `kizami view`.

use crate::memory::MemoryArguments;
use crate::show::quantity;
use clap::Args;
use clap::builder::FalseyValueParser;
use kizami_model::Moment;
use kizami_view::picture::Size;
use std::net::IpAddr;
use std::path::PathBuf;

const HELP: &str = "\
Examples:
  kizami view run.kz
  kizami view run.kz faster.kz
  kizami view --port 8123 --no-open run.kz
  kizami view run.kz --prediction foretold.json
  kizami view run.kz --snapshot run.html
  kizami view run.kz --png timeline.png --from 1.2s --to 1.4s --ranks 0-63
  kizami view run.kz --png timeline.png --width 1200 --height 500

Prints an address with a token, good until the command ends, and opens a browser if there is a
display. On another machine, run the printed ssh command at home and open the address there.
The first view of a trace makes an index in its derived/ folder; later ones begin at once.
Nothing is loaded from the network, and only this machine can ask unless --listen says otherwise.";

/// Look at one or several runs in a browser.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct ViewArguments {
    /// The traces; the first is shown first
    #[arg(required = true, value_name = "RUN.kz")]
    pub traces: Vec<PathBuf>,

    /// Port to listen at [default: any that is free]
    #[arg(long, value_name = "PORT", env = "KIZAMI_VIEW_PORT")]
    pub port: Option<u16>,

    /// Address to listen at; anybody who can reach it and knows the token can look
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1", env = "KIZAMI_VIEW_LISTEN")]
    pub listen: IpAddr,

    /// Open no browser
    #[arg(long, env = "KIZAMI_VIEW_NO_OPEN", value_parser = FalseyValueParser::new())]
    pub no_open: bool,

    /// Show this prediction beside the run: what `kizami predict --json` has printed
    #[arg(long, value_name = "FILE.json", env = "KIZAMI_VIEW_PREDICTION")]
    pub prediction: Option<PathBuf>,

    /// Write the overview, the verdict and the main tables as one HTML file; it must not exist
    #[arg(long, value_name = "OUT.html", env = "KIZAMI_VIEW_SNAPSHOT")]
    pub snapshot: Option<PathBuf>,

    /// Write the timeline as a picture, with title, legend and axes; it must not exist
    #[arg(long, value_name = "OUT.png", env = "KIZAMI_VIEW_PNG")]
    pub png: Option<PathBuf>,

    /// Begin with the whole run, also with what starting and ending MPI takes [default: from MPI_Init to MPI_Finalize]
    #[arg(long, conflicts_with_all = ["from", "to"], env = "KIZAMI_VIEW_ALL", value_parser = FalseyValueParser::new())]
    pub all: bool,

    /// With --png: from this moment of the run on
    #[arg(long, value_name = "TIME", requires = "png", value_parser = quantity::parse_moment, env = "KIZAMI_VIEW_FROM")]
    pub from: Option<Moment>,

    /// With --png: up to this moment
    #[arg(long, value_name = "TIME", requires = "png", value_parser = quantity::parse_moment, env = "KIZAMI_VIEW_TO")]
    pub to: Option<Moment>,

    /// With --png: these ranks, such as 0-63 or 1,5,9
    #[arg(long, value_name = "RANKS", requires = "png", env = "KIZAMI_VIEW_RANKS")]
    pub ranks: Option<String>,

    /// With --png: pixels across; text grows with it
    #[arg(long, value_name = "PIXELS", requires = "png", default_value = "1920", env = "KIZAMI_VIEW_WIDTH",
        value_parser = pixels::<{ Size::SMALLEST.width }, { Size::LARGEST.width }>)]
    pub width: usize,

    /// With --png: pixels down at most; few ranks make a lower picture
    #[arg(long, value_name = "PIXELS", requires = "png", default_value = "1080", env = "KIZAMI_VIEW_HEIGHT",
        value_parser = pixels::<{ Size::SMALLEST.height }, { Size::LARGEST.height }>)]
    pub height: usize,

    #[command(flatten)]
    pub memory: MemoryArguments,
}

/// A number of pixels pictures can have.
fn pixels<const LEAST: usize, const MOST: usize>(text: &str) -> Result<usize, String> {
    let number = text.trim().parse::<usize>().ok().filter(|number| (LEAST..=MOST).contains(number));
    number.ok_or_else(|| format!("give a number of pixels from {LEAST} to {MOST}"))
}
