//! The small tables: everything of a trace that is not rows.

use super::clock::RunClock;
use super::clock_table;
use super::communicators::Communicators;
use super::discover::Recorded;
use super::names::{Names, NeighbourEntry, ObjectEntry};
use crate::StoreError;
use crate::columns::{Table, Values, WrittenFile};
use crate::definitions::{CallSite, Communicator, HostInfo, Neighbours, Object, RankInfo, Repair, Stop};
use crate::schema::{CLOCKS, DEFS_FOLDER, REPAIRS, STOPS};
use crate::symbols::ModuleSymbols;
use kizami_model::{Peer, Rank, function};
use rayon::prelude::*;
use std::path::Path;

/// What the small tables are made from.
pub(crate) struct TableInput<'a> {
    pub recorded: &'a Recorded,
    pub clock: &'a RunClock,
    pub names: &'a Names,
    pub ranks: &'a [RankInfo],
    pub stops: &'a [Stop],
    pub repairs: &'a [Repair],
}

/// Writes all small tables below `folder`.
pub(crate) fn write_tables(folder: &Path, input: &TableInput<'_>) -> Result<Vec<WrittenFile>, StoreError> {
    let defs = folder.join(DEFS_FOLDER);
    let mut tables = vec![
        (defs.join("ranks.parquet"), ranks(input.ranks)),
        (defs.join("hosts.parquet"), hosts(&hosts_of(input.clock))),
        (defs.join("communicators.parquet"), communicators(&input.names.communicators.table())),
        (defs.join("callsites.parquet"), callsites(&resolve(input.names))),
        (defs.join("objects.parquet"), objects(input.names)),
        (defs.join("regions.parquet"), regions(&input.names.regions)),
        (defs.join("ops.parquet"), ops()),
        (folder.join(CLOCKS), clock_table::table(input.recorded, input.clock)),
        (folder.join(STOPS), stops(input.stops)),
    ];
    if !input.names.neighbours.is_empty() {
        let list = input.names.neighbours.iter().map(|entry| named(entry, &input.names.communicators));
        tables.push((defs.join("neighbours.parquet"), neighbours(&list.collect::<Vec<_>>())));
    }
    if !input.repairs.is_empty() {
        tables.push((folder.join(REPAIRS), repairs(input.repairs)));
    }
    tables.iter().map(|(path, table)| table.write(path)).collect()
}

/// `defs/ranks`.
pub(crate) fn ranks(ranks: &[RankInfo]) -> Table {
    let table = Table::default()
        .int32("rank", ranks.iter().map(|rank| Some(rank.rank.0 as i32)))
        .int32("host", ranks.iter().map(|rank| rank.host.map(|host| host as i32)))
        .int64("pid", ranks.iter().map(|rank| rank.pid.map(i64::from)))
        .int32("threads", ranks.iter().map(|rank| Some(rank.threads as i32)))
        .text("ending", ranks.iter().map(|rank| Some(rank.ending.name().to_owned())))
        .int32("abort_code", ranks.iter().map(|rank| rank.abort_code))
        .text("last_call", ranks.iter().map(|rank| rank.last_call.clone()))
        .int64("lost_calls", ranks.iter().map(|rank| Some(signed(rank.lost_calls))))
        .text("lost_reason", ranks.iter().map(|rank| rank.lost_reason.clone()));
    table
        .int64("first_ns", ranks.iter().map(|rank| rank.first.map(|first| first.0)))
        .int64("last_ns", ranks.iter().map(|rank| rank.last.map(|last| last.0)))
        .int64("calls", ranks.iter().map(|rank| Some(signed(rank.calls))))
        .int64("mpi_ns", ranks.iter().map(|rank| Some(rank.mpi.0)))
        .text("damage", ranks.iter().map(|rank| rank.damage.clone()))
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The hosts a clock was made for.
pub(crate) fn hosts_of(clock: &RunClock) -> Vec<HostInfo> {
    let info = |(host, index): (&super::clock::Host, u32)| HostInfo {
        index,
        name: host.name.clone(),
        boot_id: host.boot_id.clone(),
        clock: host.clock_name().to_owned(),
    };
    clock.hosts.iter().zip(0..).map(info).collect()
}

fn hosts(hosts: &[HostInfo]) -> Table {
    Table::default()
        .int32("index", hosts.iter().map(|host| Some(host.index as i32)))
        .text("name", hosts.iter().map(|host| Some(host.name.clone())))
        .text("boot_id", hosts.iter().map(|host| Some(host.boot_id.clone())))
        .text("clock", hosts.iter().map(|host| Some(host.clock.clone())))
}

fn communicators(comms: &[Communicator]) -> Table {
    let members = |members: &[Option<Rank>]| members.iter().map(|member| member_cell(*member)).collect();
    Table::default()
        .int32("index", comms.iter().map(|comm| Some(comm.index as i32)))
        .text("identity", comms.iter().map(|comm| Some(format!("{:016x}", comm.identity))))
        .int32("parent", comms.iter().map(|comm| comm.parent.map(|parent| parent as i32)))
        .text("kind", comms.iter().map(|comm| Some(comm.kind.name().to_owned())))
        .text("name", comms.iter().map(|comm| comm.name.clone()))
        .int32("size", comms.iter().map(|comm| Some(comm.size as i32)))
        .with("members", Values::Int32List(comms.iter().map(|comm| members(&comm.members)).collect()))
        .with(
            "remote_members",
            Values::Int32List(comms.iter().map(|comm| members(&comm.remote_members)).collect()),
        )
        .with(
            "dims",
            Values::Int32List(
                comms.iter().map(|comm| comm.dims.iter().map(|dim| *dim as i32).collect()).collect(),
            ),
        )
        .with("periodic", Values::BoolList(comms.iter().map(|comm| comm.periodic.clone()).collect()))
}

/// A member as an integer: -3 for one that cannot be named, as for peers.
fn member_cell(member: Option<Rank>) -> i32 {
    member.map_or(Peer::Unknown, Peer::Rank).to_table().unwrap_or_default()
}

/// Names all call sites; modules are independent of each other.
fn resolve(names: &Names) -> Vec<CallSite> {
    let mut sites: Vec<CallSite> = names
        .places
        .iter()
        .zip(0..)
        .map(|(place, index)| {
            let module = place.module.and_then(|module| names.modules.get(module as usize));
            let module = module.map(|module| module.path.clone());
            let name = module.as_deref().and_then(|path| Path::new(path).file_name()?.to_str());
            let function = format!("{}+{:#x}", name.unwrap_or(""), place.offset);
            let (file, line, inlined_into) = (None, None, Vec::new());
            CallSite { index, offset: place.offset, module, function, file, line, inlined_into }
        })
        .collect();
    let mut by_module: Vec<Vec<usize>> = vec![Vec::new(); names.modules.len()];
    for (index, place) in names.places.iter().enumerate() {
        if let Some(list) = place.module.and_then(|module| by_module.get_mut(module as usize)) {
            list.push(index);
        }
    }
    let found: Vec<_> = by_module
        .par_iter()
        .zip(&names.modules)
        .map(|(list, module)| {
            let symbols = ModuleSymbols::open(Path::new(&module.path), &module.build_id);
            list.iter()
                .map(|index| (*index, symbols.look_up(names.places[*index].offset)))
                .collect::<Vec<_>>()
        })
        .collect();
    for (index, symbol) in found.into_iter().flatten() {
        let site = &mut sites[index];
        if let Some(function) = symbol.function {
            site.function = function;
        }
        (site.file, site.line, site.inlined_into) = (symbol.file, symbol.line, symbol.inlined_into);
    }
    sites
}

fn callsites(sites: &[CallSite]) -> Table {
    Table::default()
        .int32("index", sites.iter().map(|site| Some(site.index as i32)))
        .int64("offset", sites.iter().map(|site| Some(site.offset as i64)))
        .text("module", sites.iter().map(|site| site.module.clone()))
        .text("function", sites.iter().map(|site| Some(site.function.clone())))
        .text("file", sites.iter().map(|site| site.file.clone()))
        .int32("line", sites.iter().map(|site| site.line.map(|line| line as i32)))
        .with("inlined_into", Values::TextList(sites.iter().map(|site| site.inlined_into.clone()).collect()))
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

fn objects(names: &Names) -> Table {
    let objects = &names.objects;
    Table::default()
        .int32("index", (0..objects.len()).map(|index| Some(index as i32)))
        .int32("rank", objects.iter().map(|object| Some(object.rank.0 as i32)))
        .text("kind", objects.iter().map(|object| Some(object.kind.name().to_owned())))
        .text("name", objects.iter().map(|object| Some(object.name.clone())))
        .int64("bytes", objects.iter().map(|object| Some(signed(object.bytes))))
        .int32("comm", objects.iter().map(|object| object.comm.map(|comm| comm as i32)))
}

fn regions(names: &[String]) -> Table {
    Table::default()
        .int32("index", (0..names.len()).map(|index| Some(index as i32)))
        .text("name", names.iter().map(|name| Some(name.clone())))
}

fn ops() -> Table {
    let functions = function::functions();
    Table::default()
        .text("name", functions.iter().map(|function| Some(function.name.to_owned())))
        .text("family", functions.iter().map(|function| Some(function.family.name().to_owned())))
}

fn named(entry: &NeighbourEntry, communicators: &Communicators) -> Neighbours {
    let world = |ranks: &[i32]| {
        let cells = ranks.iter().map(|rank| communicators.peer(Some(entry.comm), *rank, entry.rank as i32));
        cells.map(|cell| u32::try_from(cell).ok().map(Rank)).collect()
    };
    let (sources, destinations) = (world(&entry.sources), world(&entry.destinations));
    Neighbours { comm: entry.comm.index, rank: Rank(entry.rank), sources, destinations }
}

fn neighbours(list: &[Neighbours]) -> Table {
    let cells = |ranks: &[Option<Rank>]| ranks.iter().map(|rank| member_cell(*rank)).collect();
    Table::default()
        .int32("comm", list.iter().map(|entry| Some(entry.comm as i32)))
        .int32("rank", list.iter().map(|entry| Some(entry.rank.0 as i32)))
        .with("sources", Values::Int32List(list.iter().map(|entry| cells(&entry.sources)).collect()))
        .with(
            "destinations",
            Values::Int32List(list.iter().map(|entry| cells(&entry.destinations)).collect()),
        )
}

fn repairs(repairs: &[Repair]) -> Table {
    Table::default()
        .int32("rank", repairs.iter().map(|repair| Some(repair.rank.0 as i32)))
        .int64("at_ns", repairs.iter().map(|repair| Some(repair.at.0)))
        .int64("shift_ns", repairs.iter().map(|repair| Some(repair.shift.0)))
}

/// `stops.parquet`.
pub(crate) fn stops(stops: &[Stop]) -> Table {
    Table::default()
        .int32("rank", stops.iter().map(|stop| Some(stop.rank.0 as i32)))
        .int32("thread", stops.iter().map(|stop| Some(stop.thread.0 as i32)))
        .int64("start_ns", stops.iter().map(|stop| Some(stop.start.0)))
        .int64("end_ns", stops.iter().map(|stop| Some(stop.end.0)))
        .text("reason", stops.iter().map(|stop| Some(stop.reason.clone())))
        .int64("late_ns", stops.iter().map(|stop| stop.late.map(|late| late.0)))
        .int64("lost_calls", stops.iter().map(|stop| Some(signed(stop.lost_calls))))
}
