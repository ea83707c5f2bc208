//! The small tables: everything of a trace that is not rows.

use super::clock::RunClock;
use super::clock_table;
use super::communicators::Communicators;
use super::discover::Recorded;
use super::names::{Module, Names, NeighbourEntry, ObjectEntry, Place, UNDEFINED};
use super::rank::RankOutcome;
use crate::symbols::{ModuleSymbols, Symbol};
use kizami_model::Rank;
use kizami_trace::TraceError;
use kizami_trace::columns::WrittenFile;
use kizami_trace::definitions::{
    CallSite, ClockRow, Definitions, HostInfo, Neighbours, Object, PathFrame, RankInfo, Region, Repair, Stop,
    UnderWay, WorkCount,
};
use kizami_trace::schema::Record;
use kizami_trace::write::write_definitions;
use rayon::prelude::*;
use std::collections::HashMap;
use std::path::Path;

/// What the small tables are made from.
pub(crate) struct TableInput<'a> {
    pub recorded: &'a Recorded,
    pub clock: &'a RunClock,
    pub names: &'a Names,
    pub ranks: &'a [RankInfo],
    pub stops: &'a [Stop],
    pub repairs: &'a [Repair],
    pub under_way: Vec<UnderWay>,
    pub outcomes: &'a [RankOutcome],
}

/// Writes all small tables below `folder`.
pub(crate) fn write_tables(folder: &Path, input: TableInput<'_>) -> Result<Vec<WrittenFile>, TraceError> {
    let TableInput { names, clock, .. } = input;
    let neighbours = names.neighbours.iter().map(|entry| named(entry, &names.communicators));
    let (callsites, paths) = resolve(names);
    let definitions = Definitions {
        ranks: input.ranks.to_vec(),
        hosts: hosts_of(clock),
        communicators: names.communicators.table(),
        callsites,
        paths,
        objects: objects_of(names),
        regions: regions_of(&names.regions),
        neighbours: neighbours.collect(),
        under_way: input.under_way,
        counts: counts_of(input.outcomes, &names.counts),
        ..Definitions::default()
    };
    let mut files = write_definitions(&definitions, folder)?;
    files.push(ClockRow::write(&clock_table::rows(input.recorded, clock), folder)?);
    files.push(Stop::write(input.stops, folder)?);
    if !input.repairs.is_empty() {
        files.push(Repair::write(input.repairs, folder)?);
    }
    Ok(files)
}

/// The hosts a clock was made for.
pub(crate) fn hosts_of(clock: &RunClock) -> Vec<HostInfo> {
    let info = |(host, index): (&super::host::Host, u32)| HostInfo {
        index,
        name: host.name.clone(),
        boot_id: host.boot_id.clone(),
        clock: host.clock_name().to_owned(),
    };
    clock.hosts.iter().zip(0..).map(info).collect()
}

/// Names all call sites and the calls that led there.
fn resolve(names: &Names) -> (Vec<CallSite>, Vec<PathFrame>) {
    let places: Vec<&Place> = names.places.iter().chain(&names.frames).collect();
    let mut named = named_places(&places, &names.modules).into_iter();
    let sites = named.by_ref().take(names.places.len()).zip(&names.places).zip(0..);
    let sites = sites.map(|((Named { module, function, symbol }, place), index)| CallSite {
        index,
        offset: place.offset,
        module,
        function,
        file: symbol.file,
        line: symbol.line,
        inlined_into: symbol.inlined_into,
        path: place.caller,
    });
    let sites = sites.collect();
    let frames = named.zip(&names.frames).zip(0..);
    let frames = frames.map(|((Named { module, function, symbol }, place), index)| PathFrame {
        index,
        caller: place.caller,
        offset: place.offset,
        module,
        function,
        file: symbol.file,
        line: symbol.line,
        inlined_into: symbol.inlined_into,
    });
    (sites, frames.collect())
}

/// A place with its names.
struct Named {
    module: Option<String>,
    function: String,
    symbol: Symbol,
}

/// Looks places up; modules are independent of each other.
fn named_places(places: &[&Place], modules: &[Module]) -> Vec<Named> {
    let mut by_module: Vec<Vec<usize>> = vec![Vec::new(); modules.len()];
    for (index, place) in places.iter().enumerate() {
        if let Some(list) = place.module.and_then(|module| by_module.get_mut(module as usize)) {
            list.push(index);
        }
    }
    let found = by_module.par_iter().zip(modules).flat_map_iter(|(list, module)| {
        let symbols = ModuleSymbols::open(Path::new(&module.path), &module.build_id);
        // The same place may be reached by many paths.
        let mut known: HashMap<u64, Symbol> = HashMap::new();
        list.iter().map(move |index| {
            let offset = places[*index].offset;
            (*index, known.entry(offset).or_insert_with(|| symbols.look_up(offset)).clone())
        })
    });
    let mut symbols = vec![Symbol::default(); places.len()];
    for (index, symbol) in found.collect::<Vec<_>>() {
        symbols[index] = symbol;
    }
    let named = |(place, symbol): (&&Place, Symbol)| {
        if let Some((function, file, line)) = &place.script {
            let symbol = Symbol { file: Some(file.clone()), line: Some(*line), ..Symbol::default() };
            return Named { module: None, function: function.clone(), symbol };
        }
        let module = place.module.and_then(|module| modules.get(module as usize));
        let module = module.map(|module| module.path.clone());
        let file = module.as_deref().and_then(|path| Path::new(path).file_name()?.to_str());
        let unnamed = || format!("{}+{:#x}", file.unwrap_or(""), place.offset);
        Named { function: symbol.function.clone().unwrap_or_else(unnamed), module, symbol }
    };
    places.iter().zip(symbols).map(named).collect()
}

/// Windows, files and datatypes as readers of the trace will have them.
pub(crate) fn objects_of(names: &Names) -> Vec<Object> {
    let object = |(index, object): (u32, &ObjectEntry)| Object {
        index,
        rank: object.rank,
        kind: object.kind,
        name: object.name.clone(),
        bytes: object.bytes,
        comm: object.comm,
    };
    (0..).zip(&names.objects).map(object).collect()
}

fn regions_of(names: &[String]) -> Vec<Region> {
    (0..).zip(names).map(|(index, name)| Region { index, name: name.clone() }).collect()
}

/// The work that ranks counted.
fn counts_of(outcomes: &[RankOutcome], names: &[String]) -> Vec<WorkCount> {
    let mut counts = Vec::new();
    for outcome in outcomes {
        for ((place, name), (times, amount)) in &outcome.counts {
            counts.push(WorkCount {
                rank: Rank(outcome.rank),
                name: names.get(*name as usize).cloned().unwrap_or_default(),
                callsite: (*place != UNDEFINED).then_some(*place),
                times: *times,
                amount: *amount,
            });
        }
    }
    counts
}

fn named(entry: &NeighbourEntry, communicators: &Communicators) -> Neighbours {
    let world = |ranks: &[i32]| {
        let cells = ranks.iter().map(|rank| communicators.peer(Some(entry.comm), *rank, entry.rank as i32));
        cells.map(|cell| u32::try_from(cell).ok().map(Rank)).collect()
    };
    let (sources, destinations) = (world(&entry.sources), world(&entry.destinations));
    Neighbours { comm: entry.comm.index, rank: Rank(entry.rank), sources, destinations }
}
