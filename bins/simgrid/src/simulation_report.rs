//! What is told of a simulation, to people and as JSON.

use crate::Arguments;
use crate::links::LinkUse;
use anyhow::Result;
use kizami_terminal::{json, text};
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The form of the JSON.
const SCHEMA: &str = "kizami-simgrid/1";
/// Links that people are told of.
const LISTED_LINKS: usize = 5;

/// What is told.
#[derive(serde::Serialize)]
pub struct SimulationReport {
    /// How long the run was.
    pub recorded_ns: i64,
    /// How long it is there.
    pub simulated_ns: i64,
    /// Whose algorithms collectives followed.
    pub collectives: String,
    /// Calls that were played.
    pub calls: u64,
    /// How long that took.
    pub seconds: f64,
    /// Calls that kept their length, by function.
    pub kept: BTreeMap<&'static str, u64>,
    /// Of the loop that was played in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// How links were used, the busiest first.
    pub links: Vec<LinkUse>,
}

/// Of a loop.
#[derive(serde::Serialize)]
pub struct Rounds {
    /// How often ranks go round.
    pub all: usize,
    /// How many rounds were played.
    pub played: usize,
}

impl SimulationReport {
    /// Prints it.
    pub fn print(&self, arguments: &Arguments) -> Result<()> {
        if arguments.json {
            return Ok(json::print(SCHEMA, self)?);
        }
        let mut out = text::stdout();
        let ms = |ns: i64| ns as f64 / 1e6;
        writeln!(out, "recorded   {:.3} ms", ms(self.recorded_ns))?;
        writeln!(
            out,
            "simulated  {:.3} ms  on {}, {} calls in {:.1} s",
            ms(self.simulated_ns),
            arguments.platform,
            self.calls,
            self.seconds
        )?;
        if let Some(Rounds { all, played }) = &self.rounds {
            writeln!(
                out,
                "rounds     simulated {played} of {all} iterations; the others take as long as the last of these"
            )?;
        }
        for (function, count) in &self.kept {
            writeln!(out, "kept       {count} calls of {function} keep their recorded duration")?;
        }
        for used in self.links.iter().take(LISTED_LINKS) {
            print_link(&mut out, used)?;
        }
        if let Some(output) = &arguments.output {
            writeln!(out, "written    {}", output.display())?;
        }
        Ok(())
    }
}

fn print_link(out: &mut impl Write, used: &LinkUse) -> io::Result<()> {
    let (link, share, most) = (&used.link, used.share * 100.0, used.most_share * 100.0);
    let at_ms = used.most_at_ns as f64 / 1e6;
    let by = used.call.as_ref().map_or(String::new(), |call| {
        let place = call.place.as_ref().map(|place| format!(" at {place}")).unwrap_or_default();
        format!("; {:.0} % of the traffic: {}{place}", call.share * 100.0, call.function)
    });
    writeln!(
        out,
        "link       {link}: {share:.1} % of its bandwidth used, peak {most:.1} % at {at_ms:.3} ms{by}"
    )
}
