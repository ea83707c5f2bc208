//! What ranks did, or why they could not, as bytes: from the process that they run in to the one that writes the trace.
//!
//! The first of the two runs code of a skeleton, so the second believes nothing: lengths are held against what came, and every
//! number that later stands for a rank, a loop, a function or a place in a list is held against how many there are. What
//! does not fit is refused as a whole.

use crate::ExecuteError;
use crate::runner::{Gathered, Plan};
use kizami_model::meaning::meaning;
use kizami_model::{CommKind, Shape};
use kizami_mpi_stub::communicator::{Communicator, Identity};
use kizami_mpi_stub::event::{Entry, Partner, Stream, flag};
use kizami_mpi_stub::group::Group;
use kizami_mpi_stub::topology::{Grid, Neighbours, Topology};
use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

/// What comes first: what ranks did, or which error.
mod tag {
    pub const GATHERED: u64 = 0;
    pub const COMPILE: u64 = 1;
    pub const MEMORY: u64 = 2;
    pub const RANK: u64 = 3;
    pub const NEEDS_OTHERS: u64 = 4;
    pub const HANG: u64 = 5;
    pub const UNSETTLED: u64 = 6;
    pub const OTHER: u64 = 7;
}

const KINDS: [CommKind; 11] = [
    CommKind::World,
    CommKind::SelfOnly,
    CommKind::Duplicate,
    CommKind::Split,
    CommKind::Create,
    CommKind::Cartesian,
    CommKind::Graph,
    CommKind::DistributedGraph,
    CommKind::Inter,
    CommKind::Merge,
    CommKind::Other,
];

struct Encoder<W>(W);

impl<W: Write> Encoder<W> {
    fn number(&mut self, number: u64) -> io::Result<()> {
        self.0.write_all(&number.to_le_bytes())
    }

    fn numbers(&mut self, numbers: impl ExactSizeIterator<Item = u64>) -> io::Result<()> {
        self.number(numbers.len() as u64)?;
        numbers.into_iter().try_for_each(|number| self.number(number))
    }

    fn ranks(&mut self, ranks: &[u32]) -> io::Result<()> {
        self.number(ranks.len() as u64)?;
        ranks.iter().try_for_each(|rank| self.0.write_all(&rank.to_le_bytes()))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.number(text.len() as u64)?;
        self.0.write_all(text.as_bytes())
    }

    fn group(&mut self, group: &Group) -> io::Result<()> {
        match group {
            Group::All(size) => self.numbers([u64::from(*size)].into_iter()),
            Group::List(ranks) => {
                self.number(0)?;
                self.ranks(ranks)
            }
        }
    }

    fn topology(&mut self, topology: &Topology) -> io::Result<()> {
        match topology {
            Topology::Cartesian(grid) => {
                self.number(0)?;
                self.ranks(&grid.dims)?;
                self.numbers(grid.periodic.iter().map(|ring| u64::from(*ring)))
            }
            Topology::Graph { index, edges } => {
                self.number(1)?;
                self.numbers(index.iter().map(|end| *end as u64))?;
                self.numbers(edges.iter().map(|to| *to as u64))
            }
            Topology::Distributed(own) => {
                self.number(2)?;
                self.ranks(&own.sources)?;
                self.ranks(&own.destinations)
            }
        }
    }

    fn communicator(&mut self, comm: &Communicator, [group, topology]: [u64; 2]) -> io::Result<()> {
        self.number(comm.identity.0)?;
        self.numbers(comm.parent.iter().map(|parent| parent.0))?;
        for number in [comm.kind as u64, group, u64::from(comm.rank), topology] {
            self.number(number)?;
        }
        self.number(u64::from(comm.name.is_some()))?;
        comm.name.as_ref().map_or(Ok(()), |name| self.text(name))
    }
}

/// Lists that many ranks share, by where they are: each is told once.
#[derive(Default)]
struct Shared<'a> {
    groups: Vec<&'a Group>,
    topologies: Vec<&'a Topology>,
    known: HashMap<(usize, u64), u64>,
}

impl<'a> Shared<'a> {
    fn group(&mut self, group: &'a Group) -> u64 {
        let key = match group {
            Group::All(size) => (0, u64::from(*size)),
            Group::List(ranks) => (1, ranks.as_ptr() as u64),
        };
        let groups = &mut self.groups;
        *self.known.entry(key).or_insert_with(|| {
            groups.push(group);
            groups.len() as u64 - 1
        })
    }

    /// One more than its number: 0 is none.
    fn topology(&mut self, topology: Option<&'a Topology>) -> u64 {
        let Some(topology) = topology else { return 0 };
        let address = match topology {
            Topology::Cartesian(grid) => Arc::as_ptr(grid) as usize,
            Topology::Graph { index, .. } => index.as_ptr() as usize,
            Topology::Distributed(own) => Arc::as_ptr(own) as usize,
        };
        let topologies = &mut self.topologies;
        *self.known.entry((2, address as u64)).or_insert_with(|| {
            topologies.push(topology);
            topologies.len() as u64
        })
    }
}

/// Writes what came of a run.
pub fn encode(outcome: &Result<Gathered, ExecuteError>, into: impl Write) -> io::Result<()> {
    let mut to = Encoder(into);
    match outcome {
        Ok(gathered) => encode_gathered(gathered, &mut to)?,
        Err(error) => encode_error(error, &mut to)?,
    }
    to.0.flush()
}

fn encode_gathered<W: Write>(gathered: &Gathered, to: &mut Encoder<W>) -> io::Result<()> {
    to.number(tag::GATHERED)?;
    for number in [
        gathered.calls,
        u64::from(gathered.passes),
        u64::from(gathered.together),
        u64::from(gathered.failed),
        gathered.kinds.len() as u64,
    ] {
        to.number(number)?;
    }
    for stream in &gathered.kinds {
        to.number(stream.calls)?;
        to.numbers(stream.words.iter().copied())?;
    }
    to.ranks(&gathered.kind_of)?;
    let mut shared = Shared::default();
    let places: Vec<Vec<[u64; 2]>> = gathered
        .comms
        .iter()
        .map(|comms| {
            let of = |comm| -> [u64; 2] {
                let comm: &Communicator = comm;
                [shared.group(&comm.group), shared.topology(comm.topology.as_ref())]
            };
            comms.iter().map(of).collect()
        })
        .collect();
    to.number(shared.groups.len() as u64)?;
    shared.groups.iter().try_for_each(|group| to.group(group))?;
    to.number(shared.topologies.len() as u64)?;
    shared.topologies.iter().try_for_each(|topology| to.topology(topology))?;
    to.number(gathered.comms.len() as u64)?;
    for (comms, places) in gathered.comms.iter().zip(places) {
        to.number(comms.len() as u64)?;
        comms.iter().zip(places).try_for_each(|(comm, place)| to.communicator(comm, place))?;
    }
    Ok(())
}

fn encode_error<W: Write>(error: &ExecuteError, to: &mut Encoder<W>) -> io::Result<()> {
    let (tag, numbers, text) = match error {
        ExecuteError::Compile { what, .. } => (tag::COMPILE, [0, 0], what.clone()),
        ExecuteError::Memory { ranks, why } => (
            tag::MEMORY,
            [u64::from(*ranks), why.raw_os_error().unwrap_or(libc::ENOMEM) as u64],
            String::new(),
        ),
        ExecuteError::Rank { rank, what, .. } => (tag::RANK, [u64::from(*rank), 0], what.clone()),
        ExecuteError::NeedsOthers { rank, what } => (tag::NEEDS_OTHERS, [u64::from(*rank), 0], what.clone()),
        ExecuteError::Hang { waiting, what, .. } => (tag::HANG, [u64::from(*waiting), 0], what.clone()),
        ExecuteError::Unsettled { passes } => (tag::UNSETTLED, [u64::from(*passes), 0], String::new()),
        other => (tag::OTHER, [0, 0], other.to_string()),
    };
    to.number(tag)?;
    numbers.into_iter().try_for_each(|number| to.number(number))?;
    to.text(&text)
}

struct Decoder<'a> {
    left: &'a [u8],
    ranks: u32,
}

impl<'a> Decoder<'a> {
    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (these, rest) = self.left.split_at_checked(count)?;
        self.left = rest;
        Some(these)
    }

    fn number(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.bytes(8)?.try_into().ok()?))
    }

    fn small(&mut self) -> Option<u32> {
        self.number()?.try_into().ok()
    }

    /// How many follow of what takes at least so many bytes.
    fn count(&mut self, each: usize) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        (count <= self.left.len() / each).then_some(count)
    }

    fn several<T>(&mut self, each: usize, mut one: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.count(each)?;
        (0..count).map(|_| one(self)).collect()
    }

    fn words(&mut self) -> Option<Vec<u64>> {
        let count = self.count(8)?;
        let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        Some(self.bytes(count * 8)?.chunks_exact(8).map(word).collect())
    }

    /// Numbers below a bound.
    fn below(&mut self, bound: u32) -> Option<Vec<u32>> {
        let count = self.count(4)?;
        let number = |bytes: &[u8]| u32::from_le_bytes(bytes.try_into().unwrap_or_default());
        let numbers: Vec<u32> = self.bytes(count * 4)?.chunks_exact(4).map(number).collect();
        numbers.iter().all(|number| *number < bound).then_some(numbers)
    }

    fn text(&mut self) -> Option<String> {
        let count = self.count(1)?;
        let text = String::from_utf8_lossy(self.bytes(count)?).into_owned();
        // It may go to a terminal.
        Some(text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect())
    }

    fn stream(&mut self, loops: usize) -> Option<Stream> {
        let stream = Stream { calls: self.number()?, words: self.words()? };
        is_sound(&stream, self.ranks, loops).then_some(stream)
    }

    fn group(&mut self) -> Option<Group> {
        match self.number()? {
            0 => {
                let ranks = self.below(self.ranks)?;
                (ranks.len() <= self.ranks as usize).then(|| Group::of(ranks))
            }
            _ => (self.number()? == u64::from(self.ranks)).then_some(Group::All(self.ranks)),
        }
    }

    fn topology(&mut self) -> Option<Topology> {
        let integer = |from: &mut Self| Some(from.number()? as i64 as i32);
        match self.number()? {
            0 => {
                let dims = self.below(u32::MAX)?;
                let periodic = self.several(8, |from| Some(from.number()? != 0))?;
                let places = dims.iter().try_fold(1u32, |places, length| places.checked_mul(*length));
                let fits = places.is_some_and(|places| (1..=self.ranks).contains(&places));
                let sound = fits && periodic.len() == dims.len();
                sound.then(|| Topology::Cartesian(Arc::new(Grid { dims, periodic })))
            }
            1 => {
                let index: Arc<[i32]> = self.several(8, integer)?.into();
                let edges: Arc<[i32]> = self.several(8, integer)?.into();
                let within = edges.iter().all(|to| u32::try_from(*to).is_ok_and(|to| to < self.ranks));
                (within && index.iter().all(|end| *end >= 0)).then_some(Topology::Graph { index, edges })
            }
            2 => {
                let (sources, destinations) = (self.below(self.ranks)?, self.below(self.ranks)?);
                let own = Neighbours { sources, destinations, ..Neighbours::default() };
                Some(Topology::Distributed(Arc::new(own)))
            }
            _ => None,
        }
    }

    fn communicator(&mut self, groups: &[Group], topologies: &[Topology]) -> Option<Communicator> {
        let identity = Identity(self.number()?);
        let parent = self.several(8, Self::number)?.first().map(|parent| Identity(*parent));
        let kind = *KINDS.get(self.small()? as usize)?;
        let group = groups.get(self.small()? as usize)?.clone();
        let rank = self.small()?;
        let topology = self.small()? as usize;
        let name = if self.number()? != 0 { Some(self.text()?) } else { None };
        if rank >= group.size() {
            return None;
        }
        let mut comm = Communicator::new(identity, parent, kind, group, rank);
        comm.topology = match topology {
            0 => None,
            number => Some(topologies.get(number - 1)?.clone()),
        };
        comm.name = name;
        Some(comm)
    }
}

/// What came of a run, as it was told; nothing if it cannot be true.
pub fn decode(bytes: &[u8], plan: &Plan) -> Option<Result<Gathered, ExecuteError>> {
    let mut from = Decoder { left: bytes, ranks: plan.ranks };
    let tag = from.number()?;
    let outcome = if tag == tag::GATHERED {
        Ok(decode_gathered(&mut from, plan)?)
    } else {
        Err(decode_error(tag, &mut from, plan)?)
    };
    from.left.is_empty().then_some(outcome)
}

fn decode_gathered(from: &mut Decoder, plan: &Plan) -> Option<Gathered> {
    let ranks = plan.ranks as usize;
    let mut gathered = Gathered {
        calls: from.number()?,
        passes: from.small()?,
        together: from.number()? != 0,
        failed: from.small()?,
        ..Gathered::default()
    };
    let loops = plan.skeleton.manifest.loops.len();
    gathered.kinds = from.several(16, |from| from.stream(loops))?;
    gathered.kind_of = from.below(gathered.kinds.len() as u32)?;
    let groups = from.several(16, Decoder::group)?;
    let topologies = from.several(16, Decoder::topology)?;
    let communicators = |from: &mut Decoder| {
        from.several(48, |from| from.communicator(&groups, &topologies)).map(Vec::into_boxed_slice)
    };
    gathered.comms = from.several(8, communicators)?;
    let calls = gathered.kind_of.iter().map(|kind| gathered.kinds[*kind as usize].calls);
    let sound = gathered.kind_of.len() == ranks
        && gathered.comms.len() == if plan.for_rows { ranks } else { 0 }
        && calls.fold(0u64, u64::wrapping_add) == gathered.calls;
    sound.then_some(gathered)
}

fn decode_error(tag: u64, from: &mut Decoder, plan: &Plan) -> Option<ExecuteError> {
    let [first, second] = [from.number()?, from.number()?];
    let (small, ranks, what) = (u32::try_from(first).ok()?, plan.ranks, from.text()?);
    Some(match tag {
        tag::COMPILE => ExecuteError::Compile { path: plan.skeleton.bitcode.clone(), what },
        tag::MEMORY => {
            ExecuteError::Memory { ranks: small, why: io::Error::from_raw_os_error(second as i32) }
        }
        tag::RANK => ExecuteError::Rank { rank: small, ranks, what },
        tag::NEEDS_OTHERS => ExecuteError::NeedsOthers { rank: small, what },
        tag::HANG => ExecuteError::Hang { waiting: small, ranks, what },
        tag::UNSETTLED => ExecuteError::Unsettled { passes: small },
        _ => ExecuteError::Process { what },
    })
}

/// Whether a stream can be told as rows of so many ranks: its words end where they should, and name what there is.
fn is_sound(stream: &Stream, ranks: u32, loops: usize) -> bool {
    let within = |partner: Partner| !matches!(partner, Partner::Distance(distance) if distance >= ranks);
    let (mut entries, mut calls, mut begun) = (stream.entries(), 0u64, 0u64);
    for entry in entries.by_ref() {
        let sound = match entry {
            Entry::Trips(trips) => trips.chunks_exact(2).all(|pair| pair[0] < loops as u64),
            Entry::Came { partner, .. } => within(partner),
            Entry::Call(call) => {
                calls += 1;
                begun += u64::from(call.flags & flag::BEGINS != 0);
                let requests: u64 = call.requests.iter().map(|run| run >> 32).fold(0, u64::saturating_add);
                let sound = requests <= begun;
                if meaning(call.op).shape == Shape::Start {
                    begun = begun.saturating_add(requests);
                }
                let peers = [call.message, call.receive].into_iter().flatten();
                sound
                    && call.op.function().is_some()
                    && call.root.is_none_or(|root| root < ranks)
                    && peers.into_iter().all(|(partner, _)| within(partner))
            }
        };
        if !sound {
            return false;
        }
    }
    entries.is_at_end() && calls == stream.calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::RankMode;
    use crate::skeleton::Skeleton;
    use kizami_entry::{Library, Observed};
    use kizami_model::Op;

    fn skeleton() -> Skeleton {
        Skeleton::open("none.bc".as_ref(), Some(Library::Mpich)).expect("nothing is read yet")
    }

    fn plan(skeleton: &Skeleton) -> Plan<'_> {
        Plan {
            skeleton,
            oracles: Observed::default(),
            ranks: 4,
            arguments: Vec::new(),
            mode: RankMode::Auto,
            ranks_per_node: 4,
            threads: 1,
            for_rows: true,
            memory: None,
        }
    }

    fn gathered() -> Gathered {
        let mut stream = Stream::default();
        stream.call(Op::by_name("MPI_Send").expect("it is known"), flag::MESSAGE | flag::OUT, 0, 3);
        stream.message(Partner::of(1, 0, 4), 7);
        stream.number(8);
        let half = Group::of(vec![0, 2]);
        let made = |rank: u32| {
            let mut comm = Communicator::world(rank, 4).child(1, CommKind::Split, half.clone(), rank / 2);
            comm.name = Some("half".to_owned());
            comm.topology = Some(Topology::Cartesian(Arc::new(Grid { dims: vec![2], periodic: vec![true] })));
            vec![comm].into_boxed_slice()
        };
        Gathered {
            kinds: vec![stream],
            kind_of: vec![0; 4],
            comms: (0..4).map(made).collect(),
            calls: 4,
            passes: 2,
            ..Gathered::default()
        }
    }

    #[test]
    fn what_is_sent_arrives() {
        let skeleton = skeleton();
        let mut bytes = Vec::new();
        encode(&Ok(gathered()), &mut bytes).expect("there is room");
        let came = decode(&bytes, &plan(&skeleton)).expect("it is sound").expect("no error");
        assert_eq!((came.calls, came.passes, came.kind_of), (4, 2, vec![0; 4]));
        assert_eq!(came.kinds[0].words, gathered().kinds[0].words);
        let comm = &came.comms[3][0];
        assert_eq!((comm.rank, comm.kind, comm.name.as_deref()), (1, CommKind::Split, Some("half")));
        assert_eq!(comm.group, Group::of(vec![0, 2]));
        let mut bytes = Vec::new();
        encode(&Err(ExecuteError::Rank { rank: 2, ranks: 4, what: "a\x1b[2J".to_owned() }), &mut bytes)
            .expect("room");
        let error = decode(&bytes, &plan(&skeleton)).expect("it is sound").expect_err("an error");
        assert_eq!(error.to_string(), "rank 2 of 4: a [2J");
    }

    /// Every byte changed, and every length: what comes through is still about four ranks and one loop less.
    #[test]
    fn what_cannot_be_is_refused_and_nothing_crashes() {
        let skeleton = skeleton();
        let plan = plan(&skeleton);
        let mut bytes = Vec::new();
        encode(&Ok(gathered()), &mut bytes).expect("there is room");
        for end in 0..bytes.len() {
            assert!(decode(&bytes[..end], &plan).is_none(), "cut at {end}");
        }
        for at in 0..bytes.len() {
            for value in [0x00, 0x01, 0x7f, 0xff] {
                let mut forged = bytes.clone();
                forged[at] = value;
                let Some(Ok(came)) = decode(&forged, &plan) else { continue };
                assert_eq!((came.kind_of.len(), came.comms.len()), (4, 4));
                came.rounds(0);
                let communicators = crate::rows::Communicators::of(4, &came.comms);
                let sites = std::collections::HashMap::new();
                for rank in 0..4u32 {
                    let (comms, stream) =
                        (&came.comms[rank as usize], &came.kinds[came.kind_of[rank as usize] as usize]);
                    let rows = crate::rows::RankRows {
                        rank,
                        ranks: 4,
                        comms,
                        communicators: &communicators,
                        sites: &sites,
                    };
                    for row in rows.expand(stream, &mut crate::rows::NoTime) {
                        assert!(!matches!(row.peer, kizami_model::Peer::Rank(peer) if peer.0 >= 4));
                    }
                }
            }
        }
    }
}
