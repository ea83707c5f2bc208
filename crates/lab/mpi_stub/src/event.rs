//! What a rank did, as words: so few that a call costs nanoseconds, and the same for ranks that do the same.
//!
//! A call is a head word and, as its flags say, words for peers and tags, bytes, a root, completed requests. Peers are encoded
//! by their distance from the rank (0 and null peers apart), roots by their place in the communicator, requests by number in
//! the order in which they began. So ranks with equal words are of one class, and the words of a class stand for all its ranks.

use kizami_model::Op;

/// Which of a call's words follow its head.
pub mod flag {
    /// Peer and tag.
    pub const MESSAGE: u16 = 1;
    /// Peer and tag of the receiving half of a send-receive.
    pub const RECEIVE: u16 = 1 << 1;
    /// Bytes given.
    pub const OUT: u16 = 1 << 2;
    /// Bytes obtained; of a receive that has only been posted, bytes there is room for.
    pub const IN: u16 = 1 << 3;
    /// The root.
    pub const ROOT: u16 = 1 << 4;
    /// It begins a request: the next number.
    pub const BEGINS: u16 = 1 << 5;
    /// Requests that it completes, or persistent ones that it starts.
    pub const REQUESTS: u16 = 1 << 6;
    /// The source was left open.
    pub const ANY_SOURCE: u16 = 1 << 7;
    /// The tag was left open.
    pub const ANY_TAG: u16 = 1 << 8;
    /// It has no communicator.
    pub const NO_COMM: u16 = 1 << 9;
    /// It is no call: how often loops ran since the last one.
    pub const TRIPS: u16 = 1 << 10;
    /// It is no call: what really came for a receive.
    pub const CAME: u16 = 1 << 11;
    /// A datatype or window.
    pub const OBJECT: u16 = 1 << 12;
    /// Polls that found nothing.
    pub const POLL: u16 = 1 << 13;
}

/// No place in the source is known.
pub const NO_SITE: u16 = u16::MAX;

/// The other side of a call, as a word encodes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Partner {
    /// So many ranks further, around the end.
    Distance(u32),
    /// Rank 0, which all ranks may mean alike.
    First,
    /// Nobody.
    Null,
    /// Whoever sends.
    Any,
}

const FIRST: u32 = 1 << 31;
const NULL: u32 = FIRST | 1;
const ANY: u32 = FIRST | 2;

impl Partner {
    /// A world rank, seen from another.
    #[inline]
    pub fn of(peer: u32, rank: u32, size: u32) -> Partner {
        match peer {
            0 => Partner::First,
            peer if peer >= rank => Partner::Distance(peer - rank),
            peer => Partner::Distance(peer + size - rank),
        }
    }

    /// The world rank that it is for this one; none for null peers and wildcards.
    #[inline]
    pub fn rank(self, rank: u32, size: u32) -> Option<u32> {
        match self {
            Partner::Distance(distance) => {
                let peer = u64::from(rank) + u64::from(distance);
                Some(if peer >= u64::from(size) { (peer - u64::from(size)) as u32 } else { peer as u32 })
            }
            Partner::First => Some(0),
            Partner::Null | Partner::Any => None,
        }
    }

    #[inline]
    fn word(self) -> u32 {
        match self {
            Partner::Distance(distance) => distance,
            Partner::First => FIRST,
            Partner::Null => NULL,
            Partner::Any => ANY,
        }
    }

    #[inline]
    fn from_word(word: u32) -> Partner {
        match word {
            FIRST => Partner::First,
            NULL => Partner::Null,
            ANY => Partner::Any,
            distance => Partner::Distance(distance),
        }
    }
}

/// What a rank did.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    /// The words.
    pub words: Vec<u64>,
    /// How many calls they encode.
    pub calls: u64,
}

impl Stream {
    /// Begins a call; what its flags promise must follow in the order of this type's methods.
    #[inline]
    pub fn call(&mut self, op: Op, flags: u16, comm: u16, site: u16) {
        self.calls += 1;
        self.words.push(head(op, flags, comm, site));
    }

    /// Adds a peer and a tag.
    #[inline]
    pub fn message(&mut self, partner: Partner, tag: i32) {
        self.words.push(u64::from(partner.word()) | u64::from(tag as u32) << 32);
    }

    /// Adds bytes, a root or an object.
    #[inline]
    pub fn number(&mut self, number: u64) {
        self.words.push(number);
    }

    /// Adds runs of request numbers: each a first one and how many.
    #[inline]
    pub fn requests(&mut self, runs: &[(u32, u32)]) {
        self.words.push(runs.len() as u64);
        self.words.extend(runs.iter().map(|(first, count)| u64::from(*first) | u64::from(*count) << 32));
    }

    /// Says how often loops ran since the last call.
    pub fn trips(&mut self, trips: &[(u32, i64)]) {
        self.words.push(head(Op(0), flag::TRIPS, 0, 0));
        self.words.push(trips.len() as u64);
        for (loop_number, count) in trips {
            self.words.push(u64::from(*loop_number));
            self.words.push(*count as u64);
        }
    }

    /// Says what came for a receive, if it is not what was posted.
    pub fn came(&mut self, request: u32, partner: Partner, tag: i32, bytes: u64) {
        self.words.push(head(Op(0), flag::CAME, 0, 0));
        self.words.push(u64::from(request));
        self.message(partner, tag);
        self.words.push(bytes);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.words.clear();
        self.calls = 0;
    }

    /// A number that different words have not in common, but for one case in 2^128.
    pub fn fingerprint(&self) -> u128 {
        const KEYS: [u64; 4] =
            [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xd6e8_feb8_6659_fd93];
        let mut lanes = KEYS;
        let chunks = self.words.chunks_exact(4);
        let rest = chunks.remainder();
        for chunk in chunks {
            for (lane, word) in lanes.iter_mut().zip(chunk) {
                *lane = fold(*lane ^ word, KEYS[1]);
            }
        }
        for (lane, word) in lanes.iter_mut().zip(rest) {
            *lane = fold(*lane ^ word, KEYS[2]);
        }
        let length = self.words.len() as u64;
        let low = fold(lanes[0] ^ lanes[1].rotate_left(17), KEYS[0] ^ length) ^ fold(lanes[2], lanes[3] | 1);
        let high = fold(lanes[2] ^ lanes[3].rotate_left(29), KEYS[3] ^ length) ^ fold(lanes[0], lanes[1] | 1);
        u128::from(low) | u128::from(high) << 64
    }

    /// What the words say, one entry after another.
    pub fn entries(&self) -> Entries<'_> {
        Entries { words: &self.words }
    }
}

#[inline]
fn head(op: Op, flags: u16, comm: u16, site: u16) -> u64 {
    u64::from(op.0) | u64::from(flags) << 16 | u64::from(comm) << 32 | u64::from(site) << 48
}

#[inline]
fn fold(one: u64, two: u64) -> u64 {
    let product = u128::from(one) * u128::from(two);
    // A rotation keeps a factor of zero from swallowing what came before.
    product as u64 ^ (product >> 64) as u64 ^ one.rotate_left(31)
}

/// One entry of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry<'a> {
    /// A call.
    Call(StreamCall<'a>),
    /// How often loops ran since the last call: pairs of words.
    Trips(&'a [u64]),
    /// What came for a receive.
    Came {
        /// Its request.
        request: u32,
        /// Who sent it.
        partner: Partner,
        /// Its tag.
        tag: i32,
        /// Its size.
        bytes: u64,
    },
}

/// A call decoded from a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamCall<'a> {
    /// The function.
    pub op: Op,
    /// See [`flag`].
    pub flags: u16,
    /// Number of the communicator on this rank.
    pub comm: u16,
    /// Where it was called.
    pub site: u16,
    /// Peer and tag.
    pub message: Option<(Partner, i32)>,
    /// Those of the receiving half.
    pub receive: Option<(Partner, i32)>,
    /// Bytes given.
    pub bytes_out: Option<u64>,
    /// Bytes obtained or expected.
    pub bytes_in: Option<u64>,
    /// Place of the root in the communicator.
    pub root: Option<u32>,
    /// Number of the datatype or window on this rank.
    pub object: Option<u32>,
    /// Runs of request numbers.
    pub requests: &'a [u64],
}

/// Walks through a stream.
pub struct Entries<'a> {
    words: &'a [u64],
}

impl<'a> Entries<'a> {
    /// Whether all words were read, and none is left that makes no entry.
    pub fn is_at_end(&self) -> bool {
        self.words.is_empty()
    }

    fn word(&mut self) -> Option<u64> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(*first)
    }

    fn several(&mut self, count: usize) -> Option<&'a [u64]> {
        let (these, rest) = self.words.split_at_checked(count)?;
        self.words = rest;
        Some(these)
    }

    fn pair(&mut self) -> Option<(Partner, i32)> {
        let word = self.word()?;
        Some((Partner::from_word(word as u32), (word >> 32) as u32 as i32))
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let head = self.word()?;
        let flags = (head >> 16) as u16;
        let has = |flag: u16| flags & flag != 0;
        if has(flag::TRIPS) {
            let count = self.word()? as usize;
            return Some(Entry::Trips(self.several(count.saturating_mul(2))?));
        }
        if has(flag::CAME) {
            let request = self.word()? as u32;
            let (partner, tag) = self.pair()?;
            return Some(Entry::Came { request, partner, tag, bytes: self.word()? });
        }
        let message = if has(flag::MESSAGE) { Some(self.pair()?) } else { None };
        let receive = if has(flag::RECEIVE) { Some(self.pair()?) } else { None };
        let bytes_out = if has(flag::OUT) { Some(self.word()?) } else { None };
        let bytes_in = if has(flag::IN) { Some(self.word()?) } else { None };
        let root = if has(flag::ROOT) { Some(self.word()? as u32) } else { None };
        let object = if has(flag::OBJECT) { Some(self.word()? as u32) } else { None };
        let requests = if has(flag::REQUESTS) {
            let count = self.word()? as usize;
            self.several(count)?
        } else {
            &[]
        };
        Some(Entry::Call(StreamCall {
            op: Op(head as u16),
            flags,
            comm: (head >> 32) as u16,
            site: (head >> 48) as u16,
            message,
            receive,
            bytes_out,
            bytes_in,
            root,
            object,
            requests,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut stream = Stream::default();
        stream.trips(&[(3, 17)]);
        stream.call(Op(7), flag::MESSAGE | flag::OUT | flag::REQUESTS, 2, 5);
        stream.message(Partner::of(4, 3, 8), 99);
        stream.number(1024);
        stream.requests(&[(1, 2)]);
        stream.came(1, Partner::Null, -1, 8);
        let entries: Vec<Entry> = stream.entries().collect();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0], Entry::Trips(&[3, 17]));
        let Entry::Call(call) = &entries[1] else { panic!("a call") };
        assert_eq!((call.op, call.comm, call.site), (Op(7), 2, 5));
        assert_eq!(call.message, Some((Partner::Distance(1), 99)));
        assert_eq!((call.bytes_out, call.bytes_in, call.requests), (Some(1024), None, &[1 | 2 << 32][..]));
        assert_eq!(entries[2], Entry::Came { request: 1, partner: Partner::Null, tag: -1, bytes: 8 });
    }

    #[test]
    fn a_null_peer_is_not_rank_minus_one() {
        let (null, before) = (Partner::Null, Partner::of(4, 5, 8));
        assert_ne!(null.word(), before.word());
        assert_eq!(before.rank(5, 8), Some(4));
        assert_eq!(Partner::of(0, 5, 8).rank(3, 8), Some(0));
        assert_eq!(null.rank(5, 8), None);
        let of = |partner: Partner| {
            let mut stream = Stream::default();
            stream.message(partner, 0);
            stream.fingerprint()
        };
        assert_ne!(of(null), of(before));
    }
}
