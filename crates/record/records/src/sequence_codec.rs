//! Calls in the folded sequence, as the tracer writes them and sealing reads them: flags of shapes, and how requests are
//! encoded.
//!
//! Requests have numbers, in the order in which they were begun. A call that begins one says only that it does
//! ([`REQUEST`]): its number is the next. Where numbers were left out, because other threads took them or they were not read,
//! calls say how many ([`SKIPS`], [`Numbering`]). A wait lists what it completed by how many numbers ago each was begun
//! ([`Completed`]), a start lists the persistent requests it started ([`Begun`]). So a loop that posts and completes the
//! same way has the same values each time. A list with more entries than a call has values goes on in items that are no
//! calls ([`GOES_ON`]); it may be as long as it likes.
//!
//! Nothing here allocates. Reading takes any values.

/// The call returned an error code.
pub const FAILED: u16 = 1;
/// The source was a wildcard; the first value is what was found, unless a request was begun.
pub const ANY_SOURCE: u16 = 2;
/// The tag was a wildcard; the next value is what was found, unless a request was begun.
pub const ANY_TAG: u16 = 4;
/// It is no call but a part of the one before it.
pub const PART: u16 = 8;
/// Polls that found nothing, one behind the other; a value is how many.
pub const POLLS: u16 = 16;
/// The list goes on in the next item of the sequence.
pub const GOES_ON: u16 = 32;
/// It begins a request.
pub const REQUEST: u16 = 64;
/// A value says how many numbers were left out before that of the request it begins.
pub const SKIPS: u16 = 128;

/// Values of an item of the sequence, at most.
pub const VALUES_MOST: usize = 4;
/// The most requests in a row that one entry of a list encodes.
pub const RUN_MOST: u32 = 4096;

/// In an entry instead of how many ended as posted: one was cancelled.
const CANCELLED: u32 = 0;
/// One received something else than was posted; two values with what follow.
const RECEIVED: u32 = 1 << 31;

/// Values of one item.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Values {
    list: [u64; VALUES_MOST],
    count: usize,
}

impl Values {
    /// Adds one; there is room for [`VALUES_MOST`], those beyond are left out.
    #[inline(always)]
    pub fn push(&mut self, value: u64) {
        if let Some(place) = self.list.get_mut(self.count) {
            *place = value;
            self.count += 1;
        }
    }

    /// All of them.
    #[inline(always)]
    pub fn as_slice(&self) -> &[u64] {
        // Of a call that is known to have none, nothing has to be in memory.
        if self.count == 0 { &[] } else { &self.list[..self.count.min(VALUES_MOST)] }
    }

    /// Adds an entry of a list. If there is no room for all of it, `full` takes what is here first.
    #[inline(always)]
    fn entry(&mut self, entry: &[u64], full: impl FnOnce(&Values)) {
        if self.count + entry.len() > VALUES_MOST {
            full(self);
            self.count = 0;
        }
        entry.iter().for_each(|value| self.push(*value));
    }

    /// Adds requests that a wait completed, the first of which was begun `ago` numbers before the next; `full` takes
    /// items that are full.
    #[inline(always)]
    pub fn completed(&mut self, ago: u32, ended: Ended, mut full: impl FnMut(&Values)) {
        let head = |ago: u32, what: u32| u64::from(ago) << 32 | u64::from(what);
        match ended {
            Ended::AsPosted { mut count } => {
                let mut ago = ago;
                while count > RUN_MOST {
                    self.entry(&[head(ago, RUN_MOST)], &mut full);
                    (ago, count) = (ago.wrapping_sub(RUN_MOST), count - RUN_MOST);
                }
                if count > 0 {
                    self.entry(&[head(ago, count)], full);
                }
            }
            Ended::Received { peer, tag, bytes } => {
                let from = u64::from(peer as u32) << 32 | u64::from(tag as u32);
                self.entry(&[head(ago, RECEIVED), from, bytes], full);
            }
            Ended::Cancelled => self.entry(&[head(ago, CANCELLED)], full),
        }
    }

    /// Adds persistent requests with consecutive numbers that were started; those from number 0 are none: so many numbers were
    /// left out.
    pub fn begun(&mut self, persistent: u32, count: u32, full: impl FnMut(&Values)) {
        self.entry(&[u64::from(persistent) << 32 | u64::from(count)], full);
    }
}

/// How requests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// So many with consecutive numbers, as they were posted.
    AsPosted {
        /// How many.
        count: u32,
    },
    /// A receive, with what really came.
    Received {
        /// Source, by rank in the communicator of the receive.
        peer: i32,
        /// Tag.
        tag: i32,
        /// Bytes.
        bytes: u64,
    },
    /// One that was cancelled.
    Cancelled,
}

/// The entries of a wait's list: how many numbers ago the first request was begun (less than 1 if another thread began
/// it), and how they ended.
#[derive(Clone, Debug)]
pub struct Completed<'a>(pub &'a [u64]);

impl Iterator for Completed<'_> {
    type Item = (i32, Ended);

    fn next(&mut self) -> Option<(i32, Ended)> {
        let (head, rest) = self.0.split_first()?;
        self.0 = rest;
        let ended = match *head as u32 {
            CANCELLED => Ended::Cancelled,
            RECEIVED => {
                let ([from, bytes], rest) = rest.split_first_chunk()?;
                self.0 = rest;
                Ended::Received { peer: (from >> 32) as i32, tag: *from as i32, bytes: *bytes }
            }
            count => Ended::AsPosted { count: count.min(RUN_MOST) },
        };
        Some(((head >> 32) as i32, ended))
    }
}

/// An entry of a start's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// So many numbers were left out.
    Skipped(i32),
    /// Persistent requests with consecutive numbers.
    Run {
        /// Number of the first.
        persistent: u32,
        /// How many.
        count: u32,
    },
}

impl Begun {
    /// What a value of the list says.
    pub fn of(value: u64) -> Begun {
        match ((value >> 32) as u32, value as u32) {
            (0, skipped) => Begun::Skipped(skipped as i32),
            (persistent, count) => Begun::Run { persistent, count: count.min(RUN_MOST) },
        }
    }
}

/// Which number the next request of a thread gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbering {
    next: u32,
    /// Numbers were left out before: from then on every call says how many, or shapes would change from one to the next.
    skips: bool,
}

impl Numbering {
    /// Before the first request.
    pub const FIRST: Numbering = Numbering { next: 1, skips: false };

    /// The number that is next.
    #[inline(always)]
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Numbers that are left out if the next request has this one.
    pub fn skipped(&self, request: u32) -> u32 {
        request.wrapping_sub(self.next)
    }

    /// A request was begun and has this number; returns what is to be encoded with [`SKIPS`], if anything.
    #[inline(always)]
    pub fn begin(&mut self, request: u32) -> Option<u64> {
        let skipped = self.skipped(request);
        self.next = request.wrapping_add(1);
        self.skips |= skipped != 0;
        self.skips.then_some(u64::from(skipped))
    }

    /// Requests were begun that are encoded as a list.
    pub fn begin_listed(&mut self, last: u32) {
        self.next = last.wrapping_add(1);
    }
}
