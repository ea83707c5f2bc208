//! Sharing: what many ranks have in common is stored once.
//!
//! Ranks whose sequences have the same loops are a group. Within it, what distinguishes shapes on different ranks
//! (peers, mostly) is stored by rules over the ranks ([`super::column`]); side streams are stored once for all
//! ranks that have the same; what differs is stored for each. Each rank's folded sequence comes back exactly.
//!
//! ```text
//! magic, number of contents, each with its length; number of groups, each with its length; number of ranks
//! content   bytes that several ranks may refer to: a program, a side stream; content 0 is empty
//! group     its ranks (a set), the content that is its program, number of shapes, values of each (128 more if its peers vary), for each shape which
//!           of its fields (bits) are not stored as for the shape before it, and the columns of those;
//!           columns of contents: calls without symbol (packed), counts (their number first), values (their number first);
//!           column of how many calls were lost
//! program   number of parts; each: number of loops, each with its length and items; number of items, the items
//! ```

use super::column::{self, CommPosition, Set};
use super::folded::{FoldedSequence, Part, Shape};
use super::literals;
use super::read::Damage;
use super::record::{Token, loop_of};
use super::signature::{Signature, VALUES_MOST};
use kizami_wire::varint::{Input, put, put_bytes};
use std::collections::{BTreeMap, HashMap};

const MAGIC: &[u8; 8] = b"KZSHAR01";
/// The same where calls without symbol are packed ([`super::literals`]). Where there are none, older readers read what is written.
const MAGIC_PACKED: &[u8; 8] = b"KZSHAR02";
const FIELDS: usize = 9;
/// Peer and source of a send-receive: fields that may follow from the rank's place.
const PEERS: std::ops::Range<usize> = 5..7;

fn fields(signature: &Signature) -> [i64; FIELDS] {
    [
        i64::from(signature.op),
        i64::from(signature.flags),
        i64::from(signature.site),
        i64::from(signature.comm),
        i64::from(signature.object),
        i64::from(signature.peer),
        i64::from(signature.recv_peer),
        i64::from(signature.tag),
        i64::from(signature.recv_tag),
    ]
}

fn signature(fields: [i64; FIELDS]) -> Option<Signature> {
    Some(Signature {
        op: fields[0].try_into().ok()?,
        flags: fields[1].try_into().ok()?,
        site: fields[2].try_into().ok()?,
        comm: fields[3].try_into().ok()?,
        object: fields[4].try_into().ok()?,
        peer: fields[5].try_into().ok()?,
        recv_peer: fields[6].try_into().ok()?,
        tag: fields[7].try_into().ok()?,
        recv_tag: fields[8].try_into().ok()?,
    })
}

/// What is kept of a rank until all are there.
struct Member {
    rank: usize,
    signatures: Vec<Signature>,
    /// By shape: where this rank is in its communicator.
    places: Vec<Option<CommPosition>>,
    literals: usize,
    counts: Vec<usize>,
    values: Vec<usize>,
    lost: u64,
}

/// Collects folded sequences, rank after rank.
#[derive(Default)]
pub struct Sharing {
    contents: HashMap<Vec<u8>, usize>,
    /// By program and numbers of values.
    groups: BTreeMap<(usize, Vec<u8>), Vec<Member>>,
    ranks: usize,
}

impl Sharing {
    /// Begins with no rank.
    pub fn new() -> Sharing {
        let mut sharing = Sharing::default();
        sharing.content(&[]);
        sharing
    }

    fn content(&mut self, bytes: &[u8]) -> usize {
        let next = self.contents.len();
        match self.contents.get(bytes) {
            Some(&content) => content,
            None => *self.contents.entry(bytes.to_vec()).or_insert(next),
        }
    }

    /// Adds the next rank. `place` says where it is in a communicator; peers of communicators of which it says nothing
    /// are shared only where they are the same.
    pub fn add(&mut self, folded: &FoldedSequence, place: impl Fn(u32) -> Option<CommPosition>) {
        let program = self.content(&write_program(&folded.parts));
        let literals = self.content(&literals::pack(&folded.literals));
        let counts = folded.counts.iter().map(|lane| self.content(lane)).collect();
        let values = folded.values.iter().map(|lane| self.content(lane)).collect();
        let signatures: Vec<Signature> = folded.shapes.iter().map(|shape| shape.signature).collect();
        let places = signatures.iter().map(|signature| place(signature.comm)).collect();
        let member =
            Member { rank: self.ranks, signatures, places, literals, counts, values, lost: folded.lost };
        let numbers = folded.shapes.iter().map(|shape| shape.values | u8::from(shape.varies) << 7).collect();
        self.groups.entry((program, numbers)).or_default().push(member);
        self.ranks += 1;
    }

    /// The shared form of all ranks that were added.
    pub fn finish(self) -> Vec<u8> {
        let has_literals = self.groups.values().flatten().any(|member| member.literals > 0);
        let mut bytes = if has_literals { MAGIC_PACKED } else { MAGIC }.to_vec();
        let mut contents: Vec<(&Vec<u8>, &usize)> = self.contents.iter().collect();
        contents.sort_by_key(|&(_, index)| index);
        put(&mut bytes, contents.len() as u64);
        contents.iter().for_each(|(content, _)| put_bytes(&mut bytes, content));
        put(&mut bytes, self.groups.len() as u64);
        for ((program, numbers), members) in &self.groups {
            put_bytes(&mut bytes, &write_group(*program, numbers, members));
        }
        put(&mut bytes, self.ranks as u64);
        bytes
    }
}

fn write_program(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put(&mut bytes, parts.len() as u64);
    let list = |bytes: &mut Vec<u8>, tokens: &[Token]| {
        put(bytes, tokens.len() as u64);
        tokens.iter().for_each(|&token| put(bytes, u64::from(token)));
    };
    for part in parts {
        put(&mut bytes, part.loops() as u64);
        (0..part.loops()).for_each(|number| list(&mut bytes, part.body(number).unwrap_or_default()));
        list(&mut bytes, &part.items);
    }
    bytes
}

fn write_group(program: usize, numbers: &[u8], members: &[Member]) -> Vec<u8> {
    let mut bytes = Vec::new();
    column::write_set(&mut bytes, &members.iter().map(|member| member.rank).collect::<Vec<_>>());
    put(&mut bytes, program as u64);
    put(&mut bytes, numbers.len() as u64);
    bytes.extend_from_slice(numbers);
    let mut before: [Vec<u8>; FIELDS] = Default::default();
    for shape in 0..numbers.len() {
        let places: Vec<Option<CommPosition>> = members.iter().map(|member| member.places[shape]).collect();
        let columns: [Vec<u8>; FIELDS] = std::array::from_fn(|field| {
            let of = members.iter().map(|member| fields(&member.signatures[shape])[field]);
            let mut column = Vec::new();
            let places: &[_] = if PEERS.contains(&field) { &places } else { &[] };
            column::write(&mut column, &of.collect::<Vec<_>>(), places);
            column
        });
        let changed: Vec<usize> = (0..FIELDS).filter(|&field| columns[field] != before[field]).collect();
        put(&mut bytes, changed.iter().map(|&field| 1 << field).sum());
        changed.iter().for_each(|&field| bytes.extend_from_slice(&columns[field]));
        before = columns;
    }
    let mut column = |number: &dyn Fn(&Member) -> usize| {
        let numbers: Vec<i64> = members.iter().map(|member| number(member) as i64).collect();
        column::write(&mut bytes, &numbers, &[]);
    };
    column(&|member| member.literals);
    for lanes in [(|member| &member.counts) as fn(&Member) -> &Vec<usize>, |member| &member.values] {
        let most = members.iter().map(|member| lanes(member).len()).max().unwrap_or(0);
        column(&|_| most);
        (0..most).for_each(|lane| column(&|member| lanes(member).get(lane).copied().unwrap_or(0)));
    }
    column(&|member| member.lost as usize);
    bytes
}

/// Shared sequences, to be read.
pub struct Shared<'a> {
    /// Whether calls without symbol are packed.
    packed: bool,
    contents: Vec<&'a [u8]>,
    groups: Vec<(Set, Input<'a>)>,
    ranks: usize,
}

const CUT_OFF: Damage = Damage::Nonsense("shared sequences are cut off or damaged");

impl<'a> Shared<'a> {
    /// Takes what [`Sharing::finish`] gave. Takes any bytes.
    pub fn open(bytes: &'a [u8]) -> Result<Shared<'a>, Damage> {
        Shared::parse(bytes).ok_or(CUT_OFF)
    }

    fn parse(bytes: &'a [u8]) -> Option<Shared<'a>> {
        let packed = bytes.starts_with(MAGIC_PACKED);
        let mut input = Input::new(bytes.strip_prefix(if packed { MAGIC_PACKED } else { MAGIC })?);
        let contents = (0..input.length()?).map(|_| input.bytes()).collect::<Option<Vec<_>>>()?;
        let group = |input: &mut Input<'a>| {
            let mut group = Input::new(input.bytes()?);
            Some((Set::read(&mut group)?, group))
        };
        let groups = (0..input.length()?).map(|_| group(&mut input)).collect::<Option<Vec<_>>>()?;
        let ranks = usize::try_from(input.number()?).ok()?;
        let members = groups.iter().fold(0u64, |sum, (set, _)| sum.saturating_add(set.count()));
        (members == ranks as u64).then_some(Shared { packed, contents, groups, ranks })
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// How many groups of ranks with the same loops.
    pub fn groups(&self) -> usize {
        self.groups.len()
    }

    /// The sequence of a rank, by the order in which ranks were added. `place` must say what it said then.
    pub fn folded(
        &self,
        rank: usize,
        place: impl Fn(u32) -> Option<CommPosition>,
    ) -> Result<FoldedSequence, Damage> {
        let found = self.groups.iter().find_map(|(set, group)| Some((set.position_of(rank)?, *group)));
        let (position, group) = found.ok_or(Damage::Nonsense("this rank is in no group"))?;
        self.member(group, position, &place)
    }

    fn member(
        &self,
        mut input: Input<'a>,
        position: usize,
        place: &dyn Fn(u32) -> Option<CommPosition>,
    ) -> Result<FoldedSequence, Damage> {
        let program = input.index(self.contents.len()).ok_or(CUT_OFF)?;
        let count = input.length().ok_or(CUT_OFF)?;
        let numbers = input.take(count).ok_or(CUT_OFF)?;
        let shapes = read_shapes(&mut input, numbers, position, place).ok_or(CUT_OFF)?;
        let parts = read_program(self.contents[program], shapes.len())?;
        let mut lanes = || -> Option<[Vec<Vec<u8>>; 3]> {
            let content = |input: &mut Input<'a>| {
                let index = usize::try_from(column::read(input, position, None)?).ok()?;
                Some(self.contents.get(index)?.to_vec())
            };
            let literals = vec![content(&mut input)?];
            let list = |input: &mut Input<'a>| {
                let count = usize::try_from(column::read(input, position, None)?).ok()?;
                let mut lanes = (0..count).map(|_| content(input)).collect::<Option<Vec<_>>>()?;
                let last = lanes.iter().rposition(|lane| !lane.is_empty());
                lanes.truncate(last.map_or(0, |last| last + 1));
                Some(lanes)
            };
            Some([literals, list(&mut input)?, list(&mut input)?])
        };
        let [mut literals, counts, values] = lanes().ok_or(CUT_OFF)?;
        let lost = column::read(&mut input, position, None).ok_or(CUT_OFF)? as u64;
        let mut literals = literals.swap_remove(0);
        if self.packed {
            literals = literals::unpack(&literals).ok_or(CUT_OFF)?;
        }
        Ok(FoldedSequence { shapes, parts, counts, values, literals, lost })
    }
}

fn read_shapes(
    input: &mut Input<'_>,
    numbers: &[u8],
    position: usize,
    place: &dyn Fn(u32) -> Option<CommPosition>,
) -> Option<Vec<Shape>> {
    let mut columns: [Option<Input<'_>>; FIELDS] = [None; FIELDS];
    let shape = |&values: &u8| {
        let changed = input.number()?;
        for (field, column) in columns.iter_mut().enumerate() {
            if changed >> field & 1 == 1 {
                *column = Some(*input);
                column::skip(input)?;
            }
        }
        let mut fields = [0; FIELDS];
        for (field, column) in columns.into_iter().enumerate() {
            // Communicators come before peers.
            let place = if PEERS.contains(&field) { place(u32::try_from(fields[3]).ok()?) } else { None };
            fields[field] = column::read(&mut column?, position, place)?;
        }
        let (values, varies) = (values & 0x7f, values >> 7 == 1);
        (usize::from(values) <= VALUES_MOST).then_some(Shape {
            signature: signature(fields)?,
            values,
            varies,
        })
    };
    numbers.iter().map(shape).collect()
}

fn read_program(bytes: &[u8], symbols: usize) -> Result<Vec<Part>, Damage> {
    let mut input = Input::new(bytes);
    let list = |input: &mut Input<'_>| {
        (0..input.length()?).map(|_| input.number()?.try_into().ok()).collect::<Option<Vec<Token>>>()
    };
    let mut parts = Vec::new();
    for _ in 0..input.length().ok_or(CUT_OFF)? {
        let mut part = Part::default();
        for _ in 0..input.length().ok_or(CUT_OFF)? {
            let body = list(&mut input).ok_or(CUT_OFF)?;
            part.add_loop(&body, symbols).map_err(Damage::Nonsense)?;
        }
        part.items = list(&mut input).ok_or(CUT_OFF)?;
        let known = |&token: &Token| match loop_of(token) {
            Some(number) => number < part.loops(),
            None => token as usize / 2 <= symbols,
        };
        if !part.items.iter().all(known) {
            return Err(CUT_OFF);
        }
        parts.push(part);
    }
    Ok(parts)
}
