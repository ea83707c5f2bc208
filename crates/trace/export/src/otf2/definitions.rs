//! The global definitions of an archive: what the numbers in its events stand for.
//!
//! What events refer to has its number before the first event is written: a location is `thread << 32 | rank`,
//! a communicator and a region of the program keep their index, functions follow the regions in the order they
//! are first called, and the strings of call sites and call paths come first. Readers expect every range without gaps.

use super::archive::{Global, GlobalDefinitions, UNDEFINED};
use super::roles;
use crate::ExportError;
use crate::call_site::{path_text, site_text};
use crate::unfold::Place;
use kizami_model::{CommKind, Op, Rank, ThreadIndex};
use kizami_trace::{Communicator, Definitions};
use std::collections::HashMap;

pub(super) const CALLSITE_ATTRIBUTE: u32 = 0;
pub(super) const CALLS_ATTRIBUTE: u32 = 1;
pub(super) const WEIGHT_ATTRIBUTE: u32 = 2;
pub(super) const PATH_ATTRIBUTE: u32 = 3;

const EMPTY_STRING: u32 = 0;

const PARADIGM_UNKNOWN: u8 = 0;
const PARADIGM_USER: u8 = 1;
const PARADIGM_MPI: u8 = 4;
const CLASS_PROCESS: u8 = 0;
const TYPE_UINT32: u8 = 3;
const TYPE_DOUBLE: u8 = 10;
const TYPE_STRING: u8 = 11;
const DOMAIN_MACHINE: u8 = 0;
const DOMAIN_SHARED_MEMORY: u8 = 1;
const GROUP_PROCESS: u8 = 1;
const LOCATION_CPU_THREAD: u8 = 1;
const COMM_LOCATIONS: u8 = 4;
const COMM_GROUP: u8 = 5;
const COMM_SELF: u8 = 6;
const GLOBAL_MEMBERS: u32 = 1;
const UNKNOWN_MEMBER: u64 = u64::MAX;
const MACHINE_NODE: u32 = 0;

/// Number of a thread's location.
pub(super) fn location(place: Place) -> u64 {
    u64::from(place.thread.0) << 32 | u64::from(place.rank.0)
}

/// Number of a call site's string.
pub(super) fn callsite_string(site: u32) -> u32 {
    EMPTY_STRING + 1 + site
}

/// One thread that was written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Location {
    pub place: Place,
    pub events: u64,
}

/// What the events refer to and only writing them shows.
#[derive(Debug)]
pub(super) struct Used {
    pub locations: Vec<Location>,
    /// Functions in the order of their first call.
    functions: Vec<Op>,
    /// Number of the string of each call site's path.
    paths: Vec<Option<u32>>,
    /// Number of each function's region.
    regions: HashMap<Op, u32>,
    first_function: u32,
}

impl Used {
    /// Nothing yet, in a trace with these tables.
    pub fn new(definitions: &Definitions) -> Used {
        let first_function = definitions.regions.len() as u32;
        // Behind those of the call sites themselves.
        let mut behind = callsite_string(definitions.callsites.len() as u32)..;
        let paths = definitions.callsites.iter().map(|site| site.path.and_then(|_| behind.next())).collect();
        Used { locations: Vec::new(), functions: Vec::new(), paths, regions: HashMap::new(), first_function }
    }

    /// Number of the string of a call site's path.
    pub fn path_of(&self, site: u32) -> Option<u32> {
        *self.paths.get(site as usize)?
    }

    /// Number of the region of a function that is called.
    pub fn region_of(&mut self, op: Op) -> u32 {
        *self.regions.entry(op).or_insert_with(|| {
            self.functions.push(op);
            self.first_function + self.functions.len() as u32 - 1
        })
    }
}

/// A length of the trace within which all events lie.
pub(super) fn length(definitions: &Definitions, span_ns: i64) -> u64 {
    let last = definitions.ranks.iter().filter_map(|rank| rank.last).max().map_or(0, |last| last.0);
    span_ns.max(last).max(0) as u64 + 1
}

/// Writes all global definitions.
pub(super) fn define(
    writer: &GlobalDefinitions,
    clock: Global,
    definitions: &Definitions,
    used: &Used,
) -> Result<(), ExportError> {
    writer.write(clock)?;
    writer.write(Global::String { number: EMPTY_STRING, text: "" })?;
    for site in &definitions.callsites {
        writer.write(Global::String { number: callsite_string(site.index), text: &site_text(site) })?;
    }
    for site in &definitions.callsites {
        if let (Some(number), Some(text)) = (used.path_of(site.index), path_text(definitions, site)) {
            writer.write(Global::String { number, text: &text })?;
        }
    }
    let next = callsite_string((definitions.callsites.len() + used.paths.iter().flatten().count()) as u32);
    let mut names = Names { writer, next, next_group: 0 };
    names.attributes()?;
    names.paradigms()?;
    names.regions(definitions, used)?;
    names.system_tree(definitions)?;
    names.locations(definitions, used)?;
    names.communicators(definitions)
}

/// Writes definitions and the strings they need.
struct Names<'a> {
    writer: &'a GlobalDefinitions<'a>,
    next: u32,
    next_group: u32,
}

impl Names<'_> {
    fn string(&mut self, text: &str) -> Result<u32, ExportError> {
        if text.is_empty() {
            return Ok(EMPTY_STRING);
        }
        let number = self.next;
        self.next += 1;
        self.writer.write(Global::String { number, text })?;
        Ok(number)
    }

    fn attributes(&mut self) -> Result<(), ExportError> {
        for (number, name, description, kind) in [
            (CALLSITE_ATTRIBUTE, "call site", "where the program made the call", TYPE_STRING),
            (CALLS_ATTRIBUTE, "calls", "how many failed polls this entry stands for", TYPE_UINT32),
            (WEIGHT_ATTRIBUTE, "weight", "how many calls this one stands for after sampling", TYPE_DOUBLE),
            (PATH_ATTRIBUTE, "call path", "the functions that led to the call site", TYPE_STRING),
        ] {
            let (name, description) = (self.string(name)?, self.string(description)?);
            self.writer.write(Global::Attribute { number, name, description, kind })?;
        }
        Ok(())
    }

    fn paradigms(&mut self) -> Result<(), ExportError> {
        let name = self.string("MPI")?;
        self.writer.write(Global::Paradigm { paradigm: PARADIGM_MPI, name, class: CLASS_PROCESS })
    }

    fn regions(&mut self, definitions: &Definitions, used: &Used) -> Result<(), ExportError> {
        for region in &definitions.regions {
            let name = self.string(&region.name)?;
            let (number, role) = (region.index, roles::CODE);
            self.writer.write(Global::Region { number, name, role, paradigm: PARADIGM_USER })?;
        }
        for (op, number) in used.functions.iter().zip(used.first_function..) {
            let name = self.string(op.name())?;
            let role = roles::role(*op);
            // The standard has no paradigm for files of the C library.
            let is_mpi = op.function().is_none_or(|function| function.is_mpi());
            let paradigm = if is_mpi { PARADIGM_MPI } else { PARADIGM_UNKNOWN };
            self.writer.write(Global::Region { number, name, role, paradigm })?;
        }
        Ok(())
    }

    fn system_tree(&mut self, definitions: &Definitions) -> Result<(), ExportError> {
        let (name, class) = (self.string("machine")?, self.string("machine")?);
        self.node(MACHINE_NODE, name, class, UNDEFINED, DOMAIN_MACHINE)?;
        let class = self.string("node")?;
        for host in &definitions.hosts {
            let name = self.string(&host.name)?;
            self.node(node_of_host(host.index), name, class, MACHINE_NODE, DOMAIN_SHARED_MEMORY)?;
        }
        Ok(())
    }

    fn node(
        &mut self,
        number: u32,
        name: u32,
        class: u32,
        parent: u32,
        domain: u8,
    ) -> Result<(), ExportError> {
        self.writer.write(Global::TreeNode { number, name, class, parent, domain })
    }

    fn locations(&mut self, definitions: &Definitions, used: &Used) -> Result<(), ExportError> {
        for info in &definitions.ranks {
            let name = self.string(&format!("MPI Rank {}", info.rank))?;
            let node = info.host.map_or(MACHINE_NODE, node_of_host);
            self.writer.write(Global::LocationGroup {
                number: info.rank.0,
                name,
                kind: GROUP_PROCESS,
                node,
            })?;
        }
        // As measurement systems do, threads are named alike in every process. Only those that are there have a name: their
        // numbers come from the trace.
        let mut thread_names: HashMap<ThreadIndex, u32> = HashMap::new();
        for &Location { place, events } in &used.locations {
            let name = match (thread_names.get(&place.thread), place.thread) {
                (Some(name), _) => *name,
                (None, ThreadIndex(0)) => self.string("Master thread")?,
                (None, thread) => self.string(&format!("Thread {thread}"))?,
            };
            thread_names.insert(place.thread, name);
            self.writer.write(Global::Location {
                number: location(place),
                name,
                kind: LOCATION_CPU_THREAD,
                events,
                group: place.rank.0,
            })?;
        }
        Ok(())
    }

    fn communicators(&mut self, definitions: &Definitions) -> Result<(), ExportError> {
        let everybody: Vec<u64> = definitions
            .ranks
            .iter()
            .map(|info| location(Place { rank: info.rank, thread: ThreadIndex(0) }))
            .collect();
        self.group("", COMM_LOCATIONS, 0, &everybody)?;
        let mut self_group = None;
        for communicator in &definitions.communicators {
            let given = communicator.name.as_deref().unwrap_or(match communicator.kind {
                CommKind::World => "MPI_COMM_WORLD",
                CommKind::SelfOnly => "MPI_COMM_SELF",
                _ => "",
            });
            let (number, name) = (communicator.index, self.string(given)?);
            // A definition may refer only to earlier ones.
            let parent = communicator.parent.filter(|parent| *parent < number).unwrap_or(UNDEFINED);
            if !communicator.remote_members.is_empty() {
                let groups =
                    [self.members(&communicator.members)?, self.members(&communicator.remote_members)?];
                self.writer.write(Global::InterComm { number, name, groups, common: parent })?;
                continue;
            }
            let group = match (communicator.kind, self_group) {
                (CommKind::SelfOnly, Some(group)) => group,
                (CommKind::SelfOnly, None) => *self_group.insert(self.group("", COMM_SELF, 0, &[])?),
                _ => self.group_of(communicator, definitions.ranks.len())?,
            };
            self.writer.write(Global::Comm { number, name, group, parent })?;
        }
        Ok(())
    }

    /// The group of a communicator; one of all ranks in their order says so, and needs no translation.
    fn group_of(&mut self, communicator: &Communicator, ranks: usize) -> Result<u32, ExportError> {
        let members = &communicator.members;
        let same = members.iter().zip(0..).all(|(member, rank)| *member == Some(Rank(rank)));
        match same && members.len() == ranks {
            true => {
                let members: Vec<u64> = (0..ranks as u64).collect();
                self.group("", COMM_GROUP, GLOBAL_MEMBERS, &members)
            }
            false => self.members(members),
        }
    }

    fn members(&mut self, members: &[Option<Rank>]) -> Result<u32, ExportError> {
        let members: Vec<u64> =
            members.iter().map(|member| member.map_or(UNKNOWN_MEMBER, |rank| u64::from(rank.0))).collect();
        self.group("", COMM_GROUP, 0, &members)
    }

    fn group(&mut self, name: &str, kind: u8, flags: u32, members: &[u64]) -> Result<u32, ExportError> {
        let (number, name) = (self.next_group, self.string(name)?);
        self.next_group += 1;
        self.writer.write(Global::Group { number, name, kind, paradigm: PARADIGM_MPI, flags, members })?;
        Ok(number)
    }
}

fn node_of_host(host: u32) -> u32 {
    MACHINE_NODE + 1 + host
}
