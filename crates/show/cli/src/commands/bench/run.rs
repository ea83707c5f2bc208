//! Measuring, importing and exporting.

use super::arguments::{BenchArguments, Exported, Files, Imported};
use super::{algorithms, show, simulator};
use crate::cores::all_cores;
use crate::launch::command_line;
use crate::output::must_be_new;
use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::text;
use anyhow::{Context, Result};
use kizami_machine::measure::{Budget, Progress, measure};
use kizami_machine::{Machine, export, import};
use kizami_terminal::failure::UsageError;
use std::io::Write;
use std::path::Path;

/// Stands for the number of ranks in the launcher's words.
const RANKS: &str = "{P}";
/// The hidden command that measures, as one rank.
const MEASURING_RANK: &str = "measuring-rank";

/// Measures, imports or exports.
pub fn run(arguments: &BenchArguments) -> Result<u8> {
    match (&arguments.files, &arguments.output) {
        (Some(Files::Import { kind, files, ranks, output }), _) => {
            must_be_new(output, "-o")?;
            let machine = match kind {
                Imported::Osu => import::osu(files, *ranks)?,
                Imported::Imb => import::imb(files)?,
            };
            keep(machine, output)
        }
        (Some(Files::Export { kind, machine }), _) => {
            let machine = Machine::open(machine)?;
            let text = match kind {
                Exported::OmpiRules => export::ompi_rules(&machine)?,
                Exported::Loggops => export::loggops(&machine)?,
                Exported::Extrap => export::extrap(&machine)?,
            };
            std::io::stdout().write_all(text.as_bytes())?;
            Ok(0)
        }
        (None, Some(output)) => measured(arguments, output),
        (None, None) => Err(UsageError("no output given: add -o here.kzm".to_owned()).into()),
    }
}

/// Measures this machine.
fn measured(arguments: &BenchArguments, output: &Path) -> Result<u8> {
    must_be_new(output, "-o")?;
    command_line::refuse_option(&arguments.launcher, "bench")?;
    let launcher: Vec<String> =
        arguments.launcher.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some(first) = launcher.first() else {
        return Err(UsageError("no launcher given: add -- mpirun -n {P}".to_owned()).into());
    };
    if !launcher.iter().any(|word| word.contains(RANKS)) {
        return Err(UsageError(format!(
            "the launcher's command line must contain {RANKS} for the number of ranks, as in: -- mpirun -n {RANKS}"
        ))
        .into());
    }
    let scratch = tempfile::tempdir().context("cannot create a directory for the measuring program")?;
    let program: Vec<String> = if simulator::is_simulator(first) {
        vec![simulator::build(scratch.path())?.display().to_string()]
    } else {
        let own = std::env::current_exe().context("cannot determine the path of kizami")?;
        vec![own.display().to_string(), MEASURING_RANK.to_owned()]
    };
    let words = |ranks: u32| {
        let launch = launcher.iter().map(|word| word.replace(RANKS, &ranks.to_string()));
        launch.chain(program.iter().cloned()).collect::<Vec<String>>()
    };
    let ranks = match &arguments.ranks {
        Some(ranks) => ranks.0.clone(),
        None => std::iter::successors(Some(2), |ranks: &u32| ranks.checked_mul(2))
            .take_while(|ranks| *ranks as usize <= all_cores().max(2))
            .collect(),
    };
    let bar = Bar::new("measuring");
    // Half of the time is for algorithms, if they are to be told apart.
    let part = if arguments.algorithms { 0.5 } else { 1.0 };
    let budget = Budget { seconds: part * arguments.seconds, largest_bytes: arguments.largest };
    let report = |begin: f64, progress: Progress| {
        bar.set((1_000.0 * (begin + part * progress.share)) as u64, 1_000, || {
            let (ranks, rows) = (u64::from(progress.ranks), progress.rows as u64);
            format!("{}, {}", quantity::counted(ranks, "rank"), quantity::counted(rows, "row"))
        });
    };
    let mut machine = measure(&ranks, budget, words, &|progress| report(0.0, progress))?;
    if arguments.algorithms {
        let algorithms = algorithms::of(&machine.about.mpi, first)?;
        let mut found = algorithms.measure(&ranks, budget, words, &|progress| report(part, progress));
        mark_like(&machine, &mut found);
        machine.add(found);
    }
    drop(bar);
    machine.about.name = arguments.name.clone().unwrap_or_else(|| machine.about.host.clone());
    machine.about.command = launcher.join(" ");
    keep(machine, output)
}

/// What disturbed a number of ranks disturbed its algorithms as well: they were measured at the same time.
fn mark_like(machine: &Machine, algorithms: &mut Machine) {
    for row in &mut algorithms.collectives {
        let plain = machine.collectives.iter().find(|plain| plain.ranks == row.ranks);
        row.disturbed = plain.and_then(|plain| plain.disturbed.clone());
    }
}

fn keep(mut machine: Machine, output: &Path) -> Result<u8> {
    if machine.about.name.is_empty() {
        let stem = output.file_stem().unwrap_or(output.as_os_str());
        machine.about.name = stem.to_string_lossy().into_owned();
    }
    machine.write(output)?;
    let mut out = text::stdout();
    show::print(&mut out, &machine)?;
    writeln!(out, "next: kizami predict RUN.kz --machine {}", as_typed(output))?;
    Ok(0)
}
