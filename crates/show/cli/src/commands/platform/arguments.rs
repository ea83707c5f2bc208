//! What can be asked of `kizami platform`.

use crate::show::quantity::parse_size;
use clap::Args;
use clap::builder::FalseyValueParser;
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

A phase of messages gets fair shares of the links on its routes. That is within
a per cent of SimGrid for halos; where messages of many sizes and times mix, run
SimGrid on the XML.",
        indented(GRAMMAR)
    )
});

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n")
}

/// Describe a network, write it for SimGrid, or tell what an exchange of messages takes on it.
#[derive(Debug, Args)]
#[command(after_help = HELP.as_str())]
pub struct PlatformArguments {
    /// A short form, or a file of SimGrid's XML
    #[arg(value_name = "PLATFORM")]
    pub platform: String,

    /// Time an exchange in three dimensions: each rank sends so many bytes to each of its six neighbours at once
    #[arg(long, value_name = "SIZE", value_parser = parse_size, env = "KIZAMI_PLATFORM_HALO")]
    pub halo: Option<u64>,

    /// Time an exchange in which each rank sends so many bytes to each other rank
    #[arg(long, value_name = "SIZE", value_parser = parse_size, env = "KIZAMI_PLATFORM_ALLTOALL")]
    pub alltoall: Option<u64>,

    /// How many ranks, one on each host [default: all hosts]
    #[arg(long, value_name = "N", env = "KIZAMI_PLATFORM_RANKS")]
    pub ranks: Option<u32>,

    /// Correct for the size of messages as SimGrid's SMPI does
    #[arg(long, env = "KIZAMI_PLATFORM_SMPI", value_parser = FalseyValueParser::new())]
    pub smpi: bool,

    /// Print SimGrid's XML
    #[arg(long, env = "KIZAMI_PLATFORM_XML", value_parser = FalseyValueParser::new(), conflicts_with = "json")]
    pub xml: bool,

    /// Print the names of the hosts, a line each
    #[arg(long, env = "KIZAMI_PLATFORM_HOSTS", value_parser = FalseyValueParser::new(), conflicts_with_all = ["json", "xml"])]
    pub hosts: bool,

    /// Print JSON
    #[arg(long, env = "KIZAMI_JSON", value_parser = FalseyValueParser::new())]
    pub json: bool,
}
