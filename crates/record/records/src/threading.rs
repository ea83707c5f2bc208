//! What a thread does in a threading runtime, OpenMP above all: regions, shares of them, tasks, waits.
//!
//! A stream of words, one for each thread. The first word of a record is
//!
//! ```text
//! kind (4 bits) | ticks since the record before (28 bits) | payload (32 bits)
//! ```
//!
//! and never zero. Some are followed by words of their own. Each chunk begins with [`ThreadEvent::Anew`], so that a chunk that
//! is lost takes nothing else with it; it also comes where the ticks do not fit.
//!
//! A task has no number in the stream that makes it: its index is the order of creation there, from 0. Others name it by
//! that stream and that number ([`TaskName`]); the stream itself, which most tasks run on, by how many it has made since. What
//! runs on a thread is a stack: a task that begins runs until it ends, and then what was there before goes on. Words say
//! nothing of a thread's first task, which is there when its stream begins.

use kizami_segment::word_at;

const KIND_SHIFT: u32 = 60;
const TICKS_SHIFT: u32 = 32;
const TICKS_LIMIT: u64 = 1 << (KIND_SHIFT - TICKS_SHIFT);
const TIME_MASK: u64 = (1 << KIND_SHIFT) - 1;
/// Bits of a dependence that say what for; the rest is the address.
const PURPOSE_SHIFT: u32 = 56;
/// Bits of a region's number; those above say who runs it.
const RUNTIME_SHIFT: u32 = 56;
/// In the payload of a wait: why, and from here on the place.
const WAIT_BITS: u32 = 4;

/// The words a record takes at most, if it lists no dependences.
pub const MOST_WORDS: usize = 3;

/// A task, by the stream of the thread that made it and how many that had made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName {
    /// The thread index of the stream.
    pub stream: u32,
    /// How many tasks were made there before.
    pub number: u64,
}

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u32)]
pub enum WaitFor {
    /// A barrier inside a region, explicit or at the end of a loop: all threads of the region, and all its tasks.
    Barrier = 1,
    /// The barrier at the end of the region.
    EndOfRegion = 2,
    /// The tasks that the running task made.
    Children = 3,
    /// All tasks of the group that the running task opened last.
    Group = 4,
    /// A lock, a critical or ordered section.
    Lock = 5,
}

impl WaitFor {
    const ALL: [WaitFor; 5] =
        [WaitFor::Barrier, WaitFor::EndOfRegion, WaitFor::Children, WaitFor::Group, WaitFor::Lock];

    fn from_number(number: u32) -> Option<WaitFor> {
        WaitFor::ALL.into_iter().find(|wait| *wait as u32 == number)
    }
}

/// Who runs a region: whose tasks are scheduled in its own way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
pub enum Runtime {
    /// Nobody said.
    #[default]
    Unknown = 0,
    /// GNU's.
    Gnu = 1,
    /// LLVM's, which is Intel's as well.
    Llvm = 2,
}

impl Runtime {
    /// A later one that is not known here is unknown.
    fn from_number(number: u64) -> Runtime {
        [Runtime::Gnu, Runtime::Llvm]
            .into_iter()
            .find(|runtime| *runtime as u64 == number)
            .unwrap_or_default()
    }
}

/// What a task does with what is at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u64)]
pub enum Purpose {
    /// It reads it: after its last writer.
    In = 1,
    /// It writes it: after all who read or wrote it.
    Out = 2,
    /// It writes it together with others that are mutually exclusive: those in any order, one at a time.
    Exclusive = 3,
    /// It writes it together with others, at once.
    Set = 4,
}

impl Purpose {
    const ALL: [Purpose; 4] = [Purpose::In, Purpose::Out, Purpose::Exclusive, Purpose::Set];
}

/// A dependence of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependence {
    /// What on.
    pub address: u64,
    /// What for.
    pub purpose: Purpose,
}

impl Dependence {
    /// As a word.
    pub fn pack(self) -> u64 {
        self.address & ((1 << PURPOSE_SHIFT) - 1) | (self.purpose as u64) << PURPOSE_SHIFT
    }

    fn unpack(word: u64) -> Option<Dependence> {
        let purpose = Purpose::ALL.into_iter().find(|purpose| *purpose as u64 == word >> PURPOSE_SHIFT)?;
        Some(Dependence { address: word & ((1 << PURPOSE_SHIFT) - 1), purpose })
    }
}

/// The clock by which a thread's absence was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum AwayBy {
    /// `CLOCK_MONOTONIC`, in nanoseconds: the system took the thread off its processor.
    System = 0,
    /// The process's own, in ticks: the tracer was busy with itself.
    Tracer = 1,
    /// `CLOCK_MONOTONIC`, in nanoseconds: the thread slept, or waited for something in the system.
    Asleep = 2,
}

impl AwayBy {
    /// All of them.
    const ALL: [AwayBy; 3] = [AwayBy::System, AwayBy::Tracer, AwayBy::Asleep];
}

/// A record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ThreadEvent {
    /// It counts from here on: `at_ticks` is the process's clock (not since the segment's base), `created` how many tasks the stream has made before.
    Anew {
        /// Now.
        at_ticks: u64,
        /// Tasks made before.
        created: u64,
    },
    /// The running task makes one.
    Create {
        /// Where.
        site: u32,
    },
    /// What the task made last depends on.
    Depend(Vec<Dependence>),
    /// A task begins to run here, or goes on here.
    Begin(TaskName),
    /// The running task has ended.
    End,
    /// The running task waits from here on. Other tasks may run meanwhile, on top of it.
    Wait {
        /// For what.
        what: WaitFor,
        /// Where; 0 if that is not known.
        site: u32,
    },
    /// It has waited.
    Waited(WaitFor),
    /// The running task opens a group: what it and its descendants make belongs to it.
    Group,
    /// The thread's share of a region begins to run.
    Share {
        /// Which thread of the region it is.
        index: u32,
        /// The region.
        region: u64,
    },
    /// It ends.
    ShareEnd,
    /// The running task begins a parallel region, and waits until it ends.
    Region {
        /// Where.
        site: u32,
        /// Its number in the process, from 1.
        region: u64,
        /// Who runs it.
        runtime: Runtime,
    },
    /// It has ended: the one that the running task began.
    RegionEnd,
    /// The thread was not working for the program, from then to then; both lie before this record.
    Away {
        /// Who says so, and on what clock.
        by: AwayBy,
        /// From.
        from: u64,
        /// To.
        to: u64,
    },
    /// Tasks that were only counted, since the last such record.
    Counted {
        /// How many this thread has made.
        tasks: u64,
        /// How many ticks they ran on this thread while whatever is recorded there waited.
        running: u64,
    },
    /// The thread ends, or the process does.
    Leave,
}

/// What is too seldom for a kind of its own: the payload says what.
const SELDOM: u64 = 0;
const SELDOM_COUNTED: u32 = 1;

const CREATE: u64 = 1;
const DEPEND: u64 = 2;
const BEGIN: u64 = 3;
const END: u64 = 4;
const WAIT: u64 = 5;
const WAITED: u64 = 6;
const GROUP: u64 = 7;
const SHARE: u64 = 8;
const SHARE_END: u64 = 9;
const REGION: u64 = 10;
const REGION_END: u64 = 11;
const AWAY: u64 = 12;
const LEAVE: u64 = 13;
const BEGIN_OWN: u64 = 14;
const ANEW: u64 = 15;

/// A record's first word, without its ticks, and the words behind it.
#[derive(Clone, Copy, Debug)]
pub struct Packed<const WORDS: usize> {
    /// To be given the ticks by [`Packed::after`].
    words: [u64; WORDS],
}

impl<const WORDS: usize> Packed<WORDS> {
    /// The words of the record that comes so many ticks after the one before; `None` if they do not fit, and a
    /// [`anew`] must come before it.
    #[inline(always)]
    pub fn after(mut self, ticks: u64) -> Option<[u64; WORDS]> {
        if ticks >= TICKS_LIMIT {
            return None;
        }
        self.words[0] |= ticks << TICKS_SHIFT;
        Some(self.words)
    }

    /// The words of the record that comes at the moment of the one before.
    #[inline(always)]
    pub fn at_once(self) -> [u64; WORDS] {
        self.words
    }
}

#[inline(always)]
const fn first(kind: u64, payload: u32) -> u64 {
    kind << KIND_SHIFT | payload as u64
}

/// [`ThreadEvent::Anew`].
#[inline(always)]
pub fn anew(at_ticks: u64, created: u64) -> [u64; 2] {
    [ANEW << KIND_SHIFT | at_ticks & TIME_MASK, created]
}

/// [`ThreadEvent::Create`].
#[inline(always)]
pub fn create(site: u32) -> Packed<1> {
    Packed { words: [first(CREATE, site)] }
}

/// The first word of [`ThreadEvent::Depend`]; so many words follow.
#[inline(always)]
pub fn depend(count: u32) -> Packed<1> {
    Packed { words: [first(DEPEND, count)] }
}

/// [`ThreadEvent::Begin`].
#[inline(always)]
pub fn begin(task: TaskName) -> Packed<2> {
    Packed { words: [first(BEGIN, task.stream), task.number] }
}

/// [`ThreadEvent::Begin`] of a task that this stream has made, and so many since.
#[inline(always)]
pub fn begin_own(since: u32) -> Packed<1> {
    Packed { words: [first(BEGIN_OWN, since)] }
}

/// [`ThreadEvent::End`].
#[inline(always)]
pub fn end() -> Packed<1> {
    Packed { words: [first(END, 0)] }
}

/// [`ThreadEvent::Wait`].
#[inline(always)]
pub fn wait(what: WaitFor, site: u32) -> Packed<1> {
    Packed { words: [first(WAIT, what as u32 | site << WAIT_BITS)] }
}

/// [`ThreadEvent::Waited`].
#[inline(always)]
pub fn waited(what: WaitFor) -> Packed<1> {
    Packed { words: [first(WAITED, what as u32)] }
}

/// [`ThreadEvent::Group`].
#[inline(always)]
pub fn group() -> Packed<1> {
    Packed { words: [first(GROUP, 0)] }
}

/// [`ThreadEvent::Share`].
#[inline(always)]
pub fn share(index: u32, region: u64) -> Packed<2> {
    Packed { words: [first(SHARE, index), region] }
}

/// [`ThreadEvent::ShareEnd`].
#[inline(always)]
pub fn share_end() -> Packed<1> {
    Packed { words: [first(SHARE_END, 0)] }
}

/// [`ThreadEvent::Region`].
#[inline(always)]
pub fn region(site: u32, region: u64, runtime: Runtime) -> Packed<2> {
    Packed { words: [first(REGION, site), region | (runtime as u64) << RUNTIME_SHIFT] }
}

/// [`ThreadEvent::RegionEnd`].
#[inline(always)]
pub fn region_end() -> Packed<1> {
    Packed { words: [first(REGION_END, 0)] }
}

/// [`ThreadEvent::Away`].
#[inline(always)]
pub fn away(by: AwayBy, from: u64, to: u64) -> Packed<3> {
    Packed { words: [first(AWAY, by as u32), from, to] }
}

/// [`ThreadEvent::Counted`].
pub fn counted(tasks: u64, running: u64) -> Packed<3> {
    Packed { words: [first(SELDOM, SELDOM_COUNTED), tasks, running] }
}

/// [`ThreadEvent::Leave`].
#[inline(always)]
pub fn leave() -> Packed<1> {
    Packed { words: [first(LEAVE, 0)] }
}

/// The records of a chunk, each with its time in ticks of the process's clock. Takes any bytes; ends at the first record
/// that makes no sense.
#[derive(Clone, Debug)]
pub struct ThreadEvents<'a> {
    bytes: &'a [u8],
    /// Index of the next word.
    next: usize,
    /// Whose chunk it is.
    stream: u32,
    at_ticks: u64,
    /// Tasks that the stream has made.
    created: u64,
    damaged: bool,
}

impl<'a> ThreadEvents<'a> {
    /// Reads a chunk of a stream, as [`kizami_segment::Committed::next_words`] gives it.
    pub fn of(bytes: &'a [u8], stream: u32) -> ThreadEvents<'a> {
        ThreadEvents { bytes, next: 0, stream, at_ticks: 0, created: 0, damaged: false }
    }

    /// Whether it ended at something that is no record.
    pub fn is_damaged(&self) -> bool {
        self.damaged
    }

    fn decode(&mut self, word: u64) -> Option<ThreadEvent> {
        let payload = word as u32;
        let mut more = 0;
        let mut follow = || {
            more += 1;
            word_at(self.bytes, self.next + more)
        };
        let event = match word >> KIND_SHIFT {
            ANEW => {
                let created = follow()?;
                (self.at_ticks, self.created) = (word & TIME_MASK, created);
                self.next += 2;
                return Some(ThreadEvent::Anew { at_ticks: self.at_ticks, created });
            }
            CREATE => {
                self.created = self.created.wrapping_add(1);
                ThreadEvent::Create { site: payload }
            }
            DEPEND => {
                let count = payload as usize;
                let left = self.bytes.len() / size_of::<u64>() - self.next - 1;
                if count > left {
                    return None;
                }
                ThreadEvent::Depend((0..count).map(|_| Dependence::unpack(follow()?)).collect::<Option<_>>()?)
            }
            BEGIN => ThreadEvent::Begin(TaskName { stream: payload, number: follow()? }),
            BEGIN_OWN => {
                let number = self.created.checked_sub(u64::from(payload) + 1)?;
                ThreadEvent::Begin(TaskName { stream: self.stream, number })
            }
            END => ThreadEvent::End,
            WAIT => ThreadEvent::Wait {
                what: WaitFor::from_number(payload % (1 << WAIT_BITS))?,
                site: payload >> WAIT_BITS,
            },
            WAITED => ThreadEvent::Waited(WaitFor::from_number(payload)?),
            GROUP => ThreadEvent::Group,
            SHARE => ThreadEvent::Share { index: payload, region: follow()? },
            SHARE_END => ThreadEvent::ShareEnd,
            REGION => {
                let word = follow()?;
                let region = word & ((1 << RUNTIME_SHIFT) - 1);
                let runtime = Runtime::from_number(word >> RUNTIME_SHIFT);
                ThreadEvent::Region { site: payload, region, runtime }
            }
            REGION_END => ThreadEvent::RegionEnd,
            AWAY => {
                let by = AwayBy::ALL.into_iter().find(|by| *by as u32 == payload)?;
                ThreadEvent::Away { by, from: follow()?, to: follow()? }
            }
            LEAVE => ThreadEvent::Leave,
            SELDOM if payload == SELDOM_COUNTED => {
                ThreadEvent::Counted { tasks: follow()?, running: follow()? }
            }
            _ => return None,
        };
        self.next += 1 + more;
        self.at_ticks = self.at_ticks.wrapping_add(word >> TICKS_SHIFT & (TICKS_LIMIT - 1));
        Some(event)
    }
}

impl Iterator for ThreadEvents<'_> {
    type Item = (u64, ThreadEvent);

    #[inline]
    fn next(&mut self) -> Option<(u64, ThreadEvent)> {
        let word = word_at(self.bytes, self.next).filter(|word| *word != 0 && !self.damaged)?;
        let event = self.decode(word);
        self.damaged |= event.is_none();
        event.map(|event| (self.at_ticks, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn packed_events_survive_a_round_trip() {
        let name = TaskName { stream: 7, number: 1 << 40 };
        let dependence = Dependence { address: 0x7fff_1234_5678, purpose: Purpose::Out };
        let words: Vec<u64> = [
            anew(1_000, 5).to_vec(),
            create(3).after(10).expect("fits").to_vec(),
            depend(1).at_once().to_vec(),
            vec![dependence.pack()],
            begin(name).after(20).expect("fits").to_vec(),
            begin_own(2).at_once().to_vec(),
            wait(WaitFor::Group, 9).after(1).expect("fits").to_vec(),
            away(AwayBy::Tracer, 0, 5).at_once().to_vec(),
            away(AwayBy::Asleep, 1, 6).at_once().to_vec(),
            region(4, 11, Runtime::Llvm).at_once().to_vec(),
            counted(7, 0).at_once().to_vec(),
            vec![0, 1, 2],
        ]
        .concat();
        let bytes = bytes(&words);
        let mut events = ThreadEvents::of(&bytes, 4);
        let read: Vec<(u64, ThreadEvent)> = events.by_ref().collect();
        let expected = vec![
            (1_000, ThreadEvent::Anew { at_ticks: 1_000, created: 5 }),
            (1_010, ThreadEvent::Create { site: 3 }),
            (1_010, ThreadEvent::Depend(vec![dependence])),
            (1_030, ThreadEvent::Begin(name)),
            (1_030, ThreadEvent::Begin(TaskName { stream: 4, number: 3 })),
            (1_031, ThreadEvent::Wait { what: WaitFor::Group, site: 9 }),
            (1_031, ThreadEvent::Away { by: AwayBy::Tracer, from: 0, to: 5 }),
            (1_031, ThreadEvent::Away { by: AwayBy::Asleep, from: 1, to: 6 }),
            (1_031, ThreadEvent::Region { site: 4, region: 11, runtime: Runtime::Llvm }),
            (1_031, ThreadEvent::Counted { tasks: 7, running: 0 }),
        ];
        assert_eq!(read, expected);
        assert!(!events.is_damaged());
        assert!(create(3).after(TICKS_LIMIT).is_none());
    }

    #[test]
    fn nonsense_ends_a_chunk() {
        for words in [
            &[first(BEGIN_OWN, 0)][..],
            &[first(DEPEND, u32::MAX)],
            &[first(BEGIN, 1)],
            &[first(WAIT, 15)],
            &[first(SELDOM, 9)],
        ] {
            let bytes = bytes(words);
            let mut events = ThreadEvents::of(&bytes, 4);
            assert_eq!(events.next(), None);
            assert!(events.is_damaged());
        }
    }
}
