//! Arguments of `kizami platform`.

use crate::show::quantity::parse_size;
use clap::Args;
use kizami_platform::GRAMMAR;
use std::sync::LazyLock;

static HELP: LazyLock<String> = LazyLock::new(|| {
    format!(
        "\
Examples:
  kizami platform fat-tree:64x16,2:1
  kizami platform torus:8x8x8 --halo 128k --ranks 512
  kizami platform dragonfly:8x16x8 --xml > dragonfly.xml
  kizami platform cluster.xml --hosts > hosts

Short forms:
{}

Messages of a phase share the links of their routes fairly. For halo exchanges this is within one per
cent of SimGrid; if messages of many sizes and start times mix, run SimGrid on the XML.",
        indented(GRAMMAR)
    )
});

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Describe a network, convert it to SimGrid XML, or time a message exchange on it.
#[derive(Debug, Args)]
#[command(after_help = HELP.as_str())]
pub struct PlatformArguments {
    /// Short form, or SimGrid XML file
    #[arg(value_name = "PLATFORM")]
    pub platform: String,

    /// Time a 3D halo exchange: each rank sends SIZE bytes to each of its six neighbours
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub halo: Option<u64>,

    /// Time an all-to-all exchange: each rank sends SIZE bytes to every other rank
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub alltoall: Option<u64>,

    /// Number of ranks, one per host [default: all hosts]
    #[arg(long, value_name = "N")]
    pub ranks: Option<u32>,

    /// Apply SMPI's correction factors for message sizes
    #[arg(long)]
    pub smpi: bool,

    /// Print SimGrid XML
    #[arg(long, conflicts_with = "json")]
    pub xml: bool,

    /// Print the host names, one per line
    #[arg(long, conflicts_with_all = ["json", "xml"])]
    pub hosts: bool,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
