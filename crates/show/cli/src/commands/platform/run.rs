//! A network, described or put to work.

use super::arguments::PlatformArguments;
use crate::show::json;
use crate::show::quantity;
use crate::show::text;
use anyhow::{Context, Result};
use kizami_model::Length;
use kizami_platform::shares::{Message, phase};
use kizami_platform::{MOST_FILE_BYTES, Platform, SizeFactors};
use kizami_predict::structure::Grid;
use kizami_terminal::failure::UsageError;
use serde::Serialize;
use std::io::{Read, Write};

/// Beyond one hop, an exchange of all with all is known to be off by more than this.
const ALLTOALL_HINT: &str =
    "on multi-hop networks all-to-all times may be 20 % off; run SimGrid on the XML to be sure";

/// Ranks that may send to all others: sixteen million messages.
const MOST_TO_ALL: usize = 1 << 12;

/// What `--json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Described {
    /// The short form, or a description of the file.
    platform: String,
    /// Number of hosts.
    hosts: usize,
    /// Number of links per direction: a cable is two, unless both directions share it.
    links: usize,
    /// Ranks in the exchanges.
    ranks: usize,
    /// Duration of the halo exchange; null if it was not requested.
    halo_s: Option<f64>,
    /// Duration of the all-to-all exchange; null if it was not requested.
    alltoall_s: Option<f64>,
}

/// Describes it, prints it for SimGrid, or times exchanges on it.
pub fn run(arguments: &PlatformArguments) -> Result<u8> {
    let platform = open(&arguments.platform)?;
    let mut out = std::io::stdout().lock();
    if arguments.xml {
        out.write_all(platform.to_simgrid_xml().as_bytes())?;
        return Ok(0);
    }
    if arguments.hosts {
        for name in (0..platform.hosts()).filter_map(|host| platform.host_name(host)) {
            writeln!(out, "{name}")?;
        }
        return Ok(0);
    }
    drop(out);
    let ranks = arguments.ranks.map_or(platform.hosts(), |ranks| ranks as usize);
    if ranks > platform.hosts() || ranks == 0 {
        let hosts = platform.hosts();
        return Err(UsageError(format!(
            "--ranks {ranks}: the platform has only {hosts} hosts, one per rank"
        ))
        .into());
    }
    if arguments.alltoall.is_some() && ranks > MOST_TO_ALL {
        return Err(UsageError(format!(
            "--alltoall with {ranks} ranks: more than {MOST_TO_ALL} ranks exchange too many messages; give --ranks"
        ))
        .into());
    }
    let factors = if arguments.smpi { SizeFactors::SMPI } else { SizeFactors::NONE };
    let time_s = |messages: Vec<Message>| -> Result<f64> {
        Ok(phase(&platform, &messages, &factors)?.all_done_ns * 1e-9)
    };
    let halo_s = arguments.halo.map(|bytes| time_s(halo(ranks, bytes))).transpose()?;
    let alltoall_s = arguments.alltoall.map(|bytes| time_s(alltoall(ranks, bytes))).transpose()?;
    let described = Described {
        platform: platform.to_string(),
        hosts: platform.hosts(),
        links: platform.links(),
        ranks,
        halo_s,
        alltoall_s,
    };
    if arguments.json {
        json::print(json::PLATFORM, &described)?;
        return Ok(0);
    }
    let mut out = text::stdout();
    writeln!(out, "platform     {}", described.platform)?;
    writeln!(
        out,
        "             {}, {}",
        quantity::counted(described.hosts as u64, "host"),
        quantity::counted(described.links as u64, "link")
    )?;
    let seconds = |seconds: f64| quantity::duration(Length::from_nanos_f64(seconds * 1e9));
    if let Some(halo_s) = halo_s {
        writeln!(out, "halo         {} with {ranks} ranks", seconds(halo_s))?;
    }
    if let Some(alltoall_s) = alltoall_s {
        writeln!(out, "alltoall     {} with {ranks} ranks", seconds(alltoall_s))?;
        writeln!(out, "             {ALLTOALL_HINT}")?;
    }
    Ok(0)
}

/// A platform by its short form, or from a file.
pub fn open(text: &str) -> Result<Platform> {
    if !text.ends_with(".xml") {
        return Ok(Platform::parse(text)?);
    }
    let mut content = String::new();
    // A file without an end is none of a platform.
    std::fs::File::open(text)
        .and_then(|file| file.take(MOST_FILE_BYTES + 1).read_to_string(&mut content))
        .with_context(|| format!("cannot read {text}"))?;
    Platform::from_simgrid_xml(&content).with_context(|| format!("cannot parse {text}"))
}

/// Each rank to its neighbours in a grid of three dimensions with joined sides.
fn halo(ranks: usize, bytes: u64) -> Vec<Message> {
    let grid = Grid { dimensions: 3, periodic: true };
    let all = ranks as u32;
    let sides = (0..3).flat_map(|dimension| [(dimension, -1), (dimension, 1)]);
    (0..all)
        .flat_map(|from| {
            let there = move |(dimension, by)| grid.neighbour(from, all, dimension, by);
            sides.clone().filter_map(there).map(move |to| Message {
                from: from as usize,
                to: to as usize,
                bytes,
            })
        })
        .filter(|message| message.from != message.to)
        .collect()
}

/// Each rank to each other.
fn alltoall(ranks: usize, bytes: u64) -> Vec<Message> {
    let others =
        move |from: usize| (1..ranks).map(move |by| Message { from, to: (from + by) % ranks, bytes });
    (0..ranks).flat_map(others).collect()
}
