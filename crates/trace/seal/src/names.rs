//! What numbers mean: the definitions of all processes, turned from each process's own numbers into the run's.
//!
//! Ranks of one program mostly say the same, so their tables of numbers are shared: memory grows with how
//! different the ranks are, not with how many there are. Definitions that were lost leave holes: a number
//! without a definition becomes a null in rows, its peers become unknown.

use super::align::Question;
use super::communicators::{Claim, Communicators, LocalComm};
use super::discover::{Process, Recorded};
use super::segment_file::SegmentInfo;
use super::source::MappedSegment;
use super::under_way::Handles;
use kizami_model::{ObjectKind, Rank};
use kizami_records::{Definition, Record, Unrecorded};
use kizami_reduced::{Importance, Keep, ReduceOptions};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

/// Ranks whose definitions are in memory at a time.
const BATCH_RANKS: usize = 4096;
/// Local numbers count up, so one far beyond the number of definitions is damage.
const SPARE_NUMBERS: usize = 4096;
/// Stands for a number without a definition.
pub(crate) const UNDEFINED: u32 = u32::MAX;

/// The run's number for one of the process, if it was defined.
pub(crate) fn known(numbers: &[u32], local: u32) -> Option<u32> {
    numbers.get(local as usize).copied().filter(|index| *index != UNDEFINED)
}

/// The numbers of one process.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProcessNames {
    pub comms: Arc<[Option<LocalComm>]>,
    /// Call-site index by local number.
    pub sites: Arc<[u32]>,
    /// Object index and communicator by local number.
    pub objects: Arc<[(u32, Option<LocalComm>)]>,
    /// Region index by local number.
    pub regions: Arc<[u32]>,
    /// Index of the name of an amount of work by local number.
    pub counts: Arc<[u32]>,
    /// Numbers of the counters it had, in the order of its records.
    pub counters: Arc<[usize]>,
    /// Cores its process might use, if it was recorded how long threads had none.
    pub cores: Option<String>,
    /// What its MPI library calls things, if it was inside a call at the end.
    pub handles: Handles,
}

/// A place in the program before its name is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Place {
    /// Index in [`Names::modules`].
    pub module: Option<u32>,
    /// Return address within the module, or as it was if the module is not known.
    pub offset: u64,
    /// The call that led there, if it is known: index in [`Names::frames`].
    pub caller: Option<u32>,
    /// Function, file and line, if it is a script's.
    pub script: Option<(String, String, u32)>,
}

/// An executable or library.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Module {
    pub path: String,
    pub build_id: Vec<u8>,
}

/// An object of one rank.
#[derive(Clone, Debug)]
pub(crate) struct ObjectEntry {
    pub rank: Rank,
    pub kind: ObjectKind,
    pub name: String,
    pub bytes: u64,
    pub comm: Option<u32>,
}

/// Neighbours of one rank in one communicator, as ranks in that communicator.
#[derive(Clone, Debug)]
pub(crate) struct NeighbourEntry {
    pub comm: LocalComm,
    pub rank: u32,
    pub sources: Vec<i32>,
    pub destinations: Vec<i32>,
}

/// What became of a counter that was asked for.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CounterUse {
    pub ranks: u32,
    /// The error with which some kernel refused it.
    pub refused: Option<u32>,
}

/// Everything all processes define.
pub(crate) struct Names {
    pub communicators: Communicators,
    pub places: Vec<Place>,
    /// Calls that led to places and to each other, callers first.
    pub frames: Vec<Place>,
    pub modules: Vec<Module>,
    pub objects: Vec<ObjectEntry>,
    pub regions: Vec<String>,
    /// Names of amounts of work.
    pub counts: Vec<String>,
    pub neighbours: Vec<NeighbourEntry>,
    /// Counters asked for, by number: ranks that had them, and why others had not.
    pub counters: BTreeMap<usize, CounterUse>,
    /// What processes asked each other about their clocks.
    pub questions: Vec<Question>,
    /// Command line of the lowest rank that stored it.
    pub command: Vec<String>,
    /// What was not recorded, and of which ranks.
    pub unrecorded: BTreeMap<(Unrecorded, String), Vec<u32>>,
    /// What was asked for, if not all calls were to be kept; all ranks were asked the same.
    pub requested: Option<ReduceOptions>,
    /// Every call of a reduced thread has a record all the same: the run is sealed as if nothing had been reduced.
    pub all_recorded: bool,
    /// Calls were sampled while they were recorded, by an older version.
    pub sampled: bool,
    /// By rank; empty tables for ranks without definitions.
    pub processes: Vec<ProcessNames>,
    /// What could not be believed, by rank.
    pub damage: Vec<(u32, String)>,
}

impl Names {
    /// Numbers of the counters that any rank had.
    pub(crate) fn counted(&self) -> Vec<usize> {
        self.counters.iter().filter(|(_, used)| used.ranks > 0).map(|(number, _)| *number).collect()
    }
}

/// Reads the definitions of all processes.
pub(crate) fn collect(recorded: &Recorded) -> Names {
    let firsts: Vec<u32> = recorded.worlds.values().copied().collect();
    let ends = firsts.iter().skip(1).copied().chain([recorded.ranks.len() as u32]);
    let worlds: Vec<(u32, u32)> = firsts.iter().copied().zip(ends).map(|(a, b)| (a, b - a)).collect();
    let mut collector = Collector::new(Communicators::new(worlds.iter().copied()));
    for (batch, ranks) in recorded.ranks.chunks(BATCH_RANKS).enumerate() {
        let read: Vec<(Vec<Definition>, Option<String>)> = ranks.par_iter().map(read_definitions).collect();
        for ((definitions, damage), rank) in read.into_iter().zip((batch * BATCH_RANKS) as u32..) {
            let process = ranks.get(rank as usize - batch * BATCH_RANKS).and_then(Option::as_ref);
            collector.inside_call = process.is_some_and(Process::is_inside_call);
            let world = worlds.iter().rposition(|(first, _)| *first <= rank).unwrap_or(0);
            let first_rank = worlds.get(world).map_or(0, |(first, _)| *first);
            collector.process(rank, (world as u32, first_rank), definitions);
            collector.names.damage.extend(damage.map(|damage| (rank, damage)));
        }
    }
    collector.names
}

fn read_definitions(process: &Option<Process>) -> (Vec<Definition>, Option<String>) {
    let Some(process) = process else { return (Vec::new(), None) };
    let Some(segment) = &process.definitions else {
        return (
            Vec::new(),
            Some("the segment with its definitions is missing or cannot be read".to_owned()),
        );
    };
    match read_segment(segment) {
        Ok(read) => read,
        Err(problem) => (Vec::new(), Some(problem)),
    }
}

fn read_segment(segment: &SegmentInfo) -> Result<(Vec<Definition>, Option<String>), String> {
    let mapped = MappedSegment::open(segment)?;
    let mut records = mapped.records()?;
    let mut nonsense = 0usize;
    let mut definitions = Vec::new();
    for record in records.by_ref() {
        if let Record::Definition(bytes) = record {
            match Definition::decode(bytes) {
                Some(definition) => definitions.push(definition),
                None => nonsense += 1,
            }
        }
    }
    let mut damage = mapped.damage_text(&records);
    if nonsense > 0 {
        let text = format!("{}: {nonsense} definitions make no sense", segment.file_name());
        damage = Some(damage.map_or(text.clone(), |damage| format!("{damage}; {text}")));
    }
    Ok((definitions, damage))
}

struct Collector {
    names: Names,
    place_index: HashMap<Place, u32>,
    frame_index: HashMap<Place, u32>,
    module_index: HashMap<Module, u32>,
    region_index: HashMap<String, u32>,
    count_index: HashMap<String, u32>,
    shared: Shared,
    /// The process whose definitions come next was inside a call at the end.
    inside_call: bool,
}

/// Tables of numbers that several processes have in common.
#[derive(Default)]
struct Shared {
    comms: HashSet<Arc<[Option<LocalComm>]>>,
    numbers: HashSet<Arc<[u32]>>,
}

fn share<T: Eq + Hash + Clone>(known: &mut HashSet<Arc<[T]>>, table: Vec<T>) -> Arc<[T]> {
    if let Some(same) = known.get(table.as_slice()) {
        return same.clone();
    }
    let table: Arc<[T]> = table.into();
    known.insert(table.clone());
    table
}

/// Tables of one process while they are filled.
struct Filling {
    rank: u32,
    world: u32,
    /// The run's rank of that world's rank 0.
    first_rank: u32,
    limit: usize,
    comms: Vec<Option<LocalComm>>,
    sites: Vec<u32>,
    objects: Vec<(u32, Option<LocalComm>)>,
    regions: Vec<u32>,
    counts: Vec<u32>,
    /// Load address and index of each module.
    modules: Vec<Option<(u64, u32)>>,
    /// Indices of the calls that led to others.
    frames: Vec<u32>,
    by_identity: HashMap<u64, u32>,
    handles: Handles,
}

impl Filling {
    fn comm(&self, local: u32) -> Option<LocalComm> {
        self.comms.get(local as usize).copied().flatten()
    }

    fn put<T: Clone>(limit: usize, table: &mut Vec<T>, local: u32, value: T, hole: T) {
        let local = local as usize;
        if local >= limit {
            return;
        }
        if table.len() <= local {
            table.resize(local + 1, hole);
        }
        table[local] = value;
    }
}

impl Collector {
    fn new(communicators: Communicators) -> Collector {
        Collector {
            names: Names {
                communicators,
                places: Vec::new(),
                frames: Vec::new(),
                modules: Vec::new(),
                objects: Vec::new(),
                regions: Vec::new(),
                counts: Vec::new(),
                neighbours: Vec::new(),
                counters: BTreeMap::new(),
                questions: Vec::new(),
                command: Vec::new(),
                unrecorded: BTreeMap::new(),
                requested: None,
                all_recorded: false,
                sampled: false,
                processes: Vec::new(),
                damage: Vec::new(),
            },
            place_index: HashMap::new(),
            frame_index: HashMap::new(),
            module_index: HashMap::new(),
            region_index: HashMap::new(),
            count_index: HashMap::new(),
            shared: Shared::default(),
            inside_call: false,
        }
    }

    fn process(&mut self, rank: u32, (world, first_rank): (u32, u32), definitions: Vec<Definition>) {
        let mut filling = Filling {
            rank,
            world,
            first_rank,
            limit: definitions.len() + SPARE_NUMBERS,
            comms: Vec::new(),
            sites: Vec::new(),
            objects: Vec::new(),
            regions: Vec::new(),
            counts: Vec::new(),
            modules: Vec::new(),
            frames: Vec::new(),
            by_identity: HashMap::new(),
            handles: Handles::default(),
        };
        let (mut command, mut counters, mut cores) = (Vec::new(), Vec::new(), None);
        for definition in definitions {
            match definition {
                Definition::Argument { text } => command.push(text),
                Definition::Cores { allowed } => cores = Some(allowed),
                Definition::Counter { number, errno } => {
                    let counter = self.names.counters.entry(usize::from(number)).or_default();
                    if errno == 0 {
                        counter.ranks += 1;
                        counters.push(usize::from(number));
                    } else {
                        counter.refused = Some(errno);
                    }
                }
                Definition::Unrecorded { reason, module } => {
                    let ranks = self.names.unrecorded.entry((reason, module)).or_default();
                    if ranks.last() != Some(&rank) {
                        ranks.push(rank);
                    }
                }
                Definition::Keep { sampled, .. } => {
                    self.names.sampled |= sampled;
                    self.names.requested = self.names.requested.or_else(|| requested(&definition));
                }
                other => self.define(&mut filling, other),
            }
        }
        if self.names.command.is_empty() {
            self.names.command = command;
        }
        let names = ProcessNames {
            comms: share(&mut self.shared.comms, filling.comms),
            sites: share(&mut self.shared.numbers, filling.sites),
            objects: filling.objects.into(),
            regions: share(&mut self.shared.numbers, filling.regions),
            counts: share(&mut self.shared.numbers, filling.counts),
            counters: counters.into(),
            cores,
            handles: if self.inside_call { filling.handles } else { Handles::default() },
        };
        self.names.processes.push(names);
    }

    fn define(&mut self, filling: &mut Filling, definition: Definition) {
        let limit = filling.limit;
        match definition {
            Definition::Communicator { local, identity, parent, kind, rank, size, remote } => {
                let known = || self.names.communicators.by_identity(parent);
                let parent = filling.by_identity.get(&parent).copied().or_else(known);
                let claim = Claim { identity, parent, kind, rank, size, remote };
                let comm = self.names.communicators.add(claim, filling.rank, filling.world);
                filling.by_identity.insert(identity, comm.index);
                Filling::put(limit, &mut filling.comms, local, Some(comm), None);
            }
            Definition::CommunicatorName { local, name } => {
                if let Some(comm) = filling.comm(local) {
                    self.names.communicators.set_name(comm.index, name);
                }
            }
            Definition::Cartesian { local, dims, periodic } => {
                if let Some(comm) = filling.comm(local) {
                    self.names.communicators.set_shape(comm.index, dims, periodic);
                }
            }
            Definition::Neighbours { local, sources, destinations } => {
                if let Some(comm) = filling.comm(local) {
                    let rank = filling.rank;
                    self.names.neighbours.push(NeighbourEntry { comm, rank, sources, destinations });
                }
            }
            Definition::Module { local, bias, path, build_id } => {
                let module = self.module(Module { path, build_id });
                Filling::put(limit, &mut filling.modules, local, Some((bias, module)), None);
            }
            Definition::Site { local, address, module, caller } => {
                let place = numbered(
                    place_of(filling, address, module, caller),
                    &mut self.names.places,
                    &mut self.place_index,
                );
                Filling::put(limit, &mut filling.sites, local, place, UNDEFINED);
            }
            Definition::Frame { local, address, module, caller } => {
                let frame = numbered(
                    place_of(filling, address, module, caller),
                    &mut self.names.frames,
                    &mut self.frame_index,
                );
                Filling::put(limit, &mut filling.frames, local, frame, UNDEFINED);
            }
            Definition::ScriptFrame { local, function, file, line, caller } => {
                let script = Some((function, file, line));
                let frame = numbered(
                    Place { script, ..place_of(filling, 0, 0, caller) },
                    &mut self.names.frames,
                    &mut self.frame_index,
                );
                Filling::put(limit, &mut filling.frames, local, frame, UNDEFINED);
            }
            Definition::Object { local, kind, comm, name, bytes } => {
                let comm = filling.comm(comm);
                let index = self.names.objects.len() as u32;
                let rank = Rank(filling.rank);
                let entry = ObjectEntry { rank, kind, name, bytes, comm: comm.map(|comm| comm.index) };
                self.names.objects.push(entry);
                Filling::put(limit, &mut filling.objects, local, (index, comm), (UNDEFINED, None));
            }
            Definition::Region { local, name } => {
                let region = self.region(name);
                Filling::put(limit, &mut filling.regions, local, region, UNDEFINED);
            }
            Definition::Count { local, name } => {
                let count = self.count(name);
                Filling::put(limit, &mut filling.counts, local, count, UNDEFINED);
            }
            Definition::ClockSample { round, reference, sent_ticks, reference_ticks, received_ticks } => {
                let reference = filling.first_rank.saturating_add(reference);
                let rank = filling.rank;
                let question =
                    Question { rank, reference, round, sent_ticks, reference_ticks, received_ticks };
                self.names.questions.push(question);
            }
            Definition::CommunicatorHandle { local, handle } => {
                filling.handles.communicators.push((handle, local));
            }
            Definition::ObjectHandle { local, handle } => filling.handles.objects.push((handle, local)),
            Definition::Argument { .. }
            | Definition::Cores { .. }
            | Definition::Counter { .. }
            | Definition::Keep { .. }
            | Definition::Unrecorded { .. } => {}
        }
    }

    fn module(&mut self, module: Module) -> u32 {
        let modules = &mut self.names.modules;
        *self.module_index.entry(module).or_insert_with_key(|module| {
            modules.push(module.clone());
            modules.len() as u32 - 1
        })
    }

    fn count(&mut self, name: String) -> u32 {
        let counts = &mut self.names.counts;
        *self.count_index.entry(name).or_insert_with_key(|name| {
            counts.push(name.clone());
            counts.len() as u32 - 1
        })
    }

    fn region(&mut self, name: String) -> u32 {
        let regions = &mut self.names.regions;
        *self.region_index.entry(name).or_insert_with_key(|name| {
            regions.push(name.clone());
            regions.len() as u32 - 1
        })
    }
}

/// The place of a return address, with numbers of its process.
fn place_of(filling: &Filling, address: u64, module: u32, caller: u32) -> Place {
    let caller = filling.frames.get(caller as usize).copied().filter(|caller| *caller != UNDEFINED);
    let script = None;
    match filling.modules.get(module as usize).copied().flatten() {
        Some((bias, module)) => {
            Place { module: Some(module), offset: address.wrapping_sub(bias), caller, script }
        }
        None => Place { module: None, offset: address, caller, script },
    }
}

/// The index of a place among those that are known.
fn numbered(place: Place, places: &mut Vec<Place>, index: &mut HashMap<Place, u32>) -> u32 {
    *index.entry(place).or_insert_with_key(|place| {
        places.push(place.clone());
        places.len() as u32 - 1
    })
}

/// What a definition says was asked for.
fn requested(definition: &Definition) -> Option<ReduceOptions> {
    let Definition::Keep { per_second, amount_bits, seed, all_below, .. } = *definition else {
        return None;
    };
    let amount = f64::from_bits(amount_bits);
    let keep = if per_second { Keep::BytesPerSecond(amount) } else { Keep::Fraction(amount) };
    Some(ReduceOptions { keep, seed, importance: Importance::Classes, all_below: u64::from(all_below) })
}
