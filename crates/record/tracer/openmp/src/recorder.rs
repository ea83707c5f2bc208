//! The recorder of one thread: where its words go.

use crate::budget::{self, Budget};
use crate::clock;
use crate::lacked::Lacked;
use crate::running::{Running, Tally};
use crate::stolen::Stolen;
use crate::switches::Switches;
use kizami_records::threading::{self, AwayBy, Dependence, MOST_WORDS, Packed, TaskName, WaitFor};
use kizami_segment::{Header, WordCursor};
use kizami_tracer_core::cancellation::Uncancelled;
use kizami_tracer_core::process::Process;
use kizami_tracer_core::stream::{Room, Writer, lock};
use kizami_tracer_mpi::outside;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Call sites a thread remembers.
const SITES: usize = 256;
/// The write position of a system that reports nothing.
static NOTHING_WRITTEN: AtomicU64 = AtomicU64::new(0);
/// Tasks that a thread makes before it looks what recording has cost, and records that one has: where it is made, begins and
/// ends, and every other time a wait.
const TASKS_A_LOOK: u64 = 256;
const RECORDS_A_TASK: u64 = 4;
/// Ticks of counted tasks that are recorded as soon as there are so many: some tens of microseconds. A thread that waits at the
/// end of a region may record nothing else before the region is over.
const RECORD_TICKS: u64 = 50_000;
/// Ticks without a record after which it is looked whether the thread ran all the time: some hundred microseconds, against which
/// looking takes little.
const LONG_TICKS: u64 = 500_000;

/// Everything a thread needs to record without other data. What every record needs comes first, in one cache line.
#[repr(C, align(64))]
pub struct Recorder {
    words: WordCursor,
    /// When the last record was.
    last_ticks: u64,
    /// Tasks made so far, by all threads that had the stream.
    created: u64,
    /// Where the system says how far it has written the thread's absences, and how far that was read.
    written: *const AtomicU64,
    read: u64,
    stream: u32,
    running: Running,
    tally: Tally,
    sites: [(usize, u32); SITES],
    /// Whether it was recorded that tasks are only counted.
    has_counted: bool,
    /// Where chunks come from; none where words are discarded.
    source: Option<Source>,
    switches: Option<Switches>,
    /// Where switches are known.
    stolen: Option<Stolen>,
    lacked: Lacked,
    budget: Budget,
}

/// See [`Recorder::mark`].
#[derive(Clone, Copy)]
pub struct Mark {
    last_ticks: u64,
}

struct Source {
    writer: Writer,
    header: &'static Header,
}

/// What a thread that has ended leaves to one that begins.
struct Spare {
    words: WordCursor,
    source: Source,
    created: u64,
    stream: u32,
}

static SPARES: Mutex<Vec<Spare>> = Mutex::new(Vec::new());

/// A recorder for one more thread; none where there is no room for it. Recording costs so much, in 1/1024 tick.
pub fn of_process(process: &Process, cost: u64) -> Option<Box<Recorder>> {
    let spare = lock(&SPARES).pop();
    let mut recorder = Recorder::for_calibration(WordCursor::EMPTY);
    recorder.budget = Budget::new(cost);
    match spare {
        Some(spare) => {
            (recorder.words, recorder.created, recorder.stream) = (spare.words, spare.created, spare.stream);
            recorder.source = Some(spare.source);
        }
        None => match process.new_word_stream() {
            Ok((writer, stream)) => {
                let header = writer.stream().file().header();
                header.call_cost.store(cost, Ordering::Relaxed);
                (recorder.source, recorder.stream) = (Some(Source { writer, header }), stream);
            }
            Err(error) => {
                process.losses(error)?.lost_calls.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        },
    }
    // The system may take long to start reporting: that is no task's running time.
    recorder.switches = Switches::open();
    if let Some(switches) = &recorder.switches {
        recorder.written = switches.written();
        recorder.stolen = Some(Stolen::begin());
        recorder.lacked = Lacked::begin();
    }
    recorder.last_ticks = clock::now();
    recorder.take_over();
    Some(recorder)
}

/// Takes back what is left of a thread's stream.
pub fn give_back(mut recorder: Box<Recorder>) {
    let words = std::mem::replace(&mut recorder.words, WordCursor::EMPTY);
    if let Some(source) = recorder.source.take() {
        source.writer.stream().note_clock();
        lock(&SPARES).push(Spare { words, source, created: recorder.created, stream: recorder.stream });
    }
}

impl Recorder {
    /// A recorder that fills these words, which are discarded.
    pub fn for_calibration(words: WordCursor) -> Box<Recorder> {
        Box::new(Recorder {
            words,
            last_ticks: clock::now(),
            created: 0,
            written: &raw const NOTHING_WRITTEN,
            read: 0,
            stream: 0,
            running: Running::default(),
            tally: Tally::default(),
            sites: [(0, 0); SITES],
            has_counted: false,
            source: None,
            switches: None,
            stolen: None,
            lacked: Lacked::default(),
            budget: Budget::new(0),
        })
    }

    /// A thread takes the stream over, whatever is in it. A new chunk says so itself.
    fn take_over(&mut self) {
        if self.words.push(threading::anew(self.last_ticks, self.created)) {
            return;
        }
        self.make_room(MOST_WORDS);
    }

    /// Records something that happens now.
    #[inline(always)]
    pub fn put<const WORDS: usize>(&mut self, record: Packed<WORDS>) {
        let now = clock::now();
        // SAFETY: a static, or of the switches, which live as long as the recorder.
        let written = unsafe { (*self.written).load(Ordering::Relaxed) };
        let since = now.wrapping_sub(self.last_ticks);
        if written == self.read
            && since < LONG_TICKS
            && let Some(words) = record.after(since)
            && self.words.push(words)
        {
            self.last_ticks = now;
        } else {
            self.put_slowly(record, now);
        }
    }

    #[cold]
    fn put_slowly<const WORDS: usize>(&mut self, record: Packed<WORDS>, now: u64) {
        let since = now.wrapping_sub(self.last_ticks);
        if !self.record_time(now, WORDS) {
            return self.lose();
        }
        // What it reports lies before the present, which the words have said by now.
        self.look(false, since);
        if self.words.room() < WORDS && !self.make_room(WORDS) {
            return self.lose();
        }
        self.words.push(record.at_once());
    }

    /// Records that the running task makes one here; returns its name.
    #[inline(always)]
    pub fn create(&mut self, site: u32) -> TaskName {
        self.put(threading::create(site));
        let task = TaskName { stream: self.stream, number: self.created };
        self.created += 1;
        self.running.has_made = true;
        if self.created.is_multiple_of(TASKS_A_LOOK) {
            self.budget.spend(TASKS_A_LOOK * RECORDS_A_TASK);
        }
        task
    }

    /// The running task makes one here, or so many at once, that are only counted.
    #[cold]
    pub fn count(&mut self, tasks: u64) {
        self.running.has_made = true;
        self.tally.tasks += tasks;
        if !self.has_counted {
            // So that it is known since when.
            self.has_counted = true;
            self.record_counted();
        }
    }

    /// Records that a task begins or goes on.
    #[inline(always)]
    pub fn begin(&mut self, task: TaskName) {
        match u32::try_from(self.created.wrapping_sub(task.number).wrapping_sub(1)) {
            Ok(since) if task.stream == self.stream => self.put(threading::begin_own(since)),
            _ => self.put(threading::begin(task)),
        }
    }

    /// What runs.
    #[inline(always)]
    pub fn running(&self) -> Running {
        self.running
    }

    /// Something else runs from now on.
    #[inline(always)]
    pub fn set_running(&mut self, running: Running) {
        self.running = running;
    }

    /// Whatever was recorded last has begun to run; returns what ran before.
    #[inline(always)]
    pub fn enter(&mut self) -> Running {
        let below = self.running;
        self.running = self.tally.begin_recorded(below, self.last_ticks);
        below
    }

    /// It has ended with the record made last, and what ran before goes on.
    #[inline(always)]
    pub fn leave(&mut self, below: Running) {
        self.tally.end_recorded(below, self.last_ticks);
        self.running = below;
    }

    /// A counted task begins; returns what ran before.
    pub fn enter_counted(&mut self) -> Running {
        let below = self.running;
        self.running = self.tally.begin_counted(below, clock::now);
        below
    }

    /// It has ended, and what ran before goes on.
    pub fn leave_counted(&mut self, below: Running) {
        self.tally.end_counted(self.running, below, clock::now);
        self.running = below;
        if self.tally.ticks > RECORD_TICKS {
            self.record_counted();
        }
    }

    /// Records that the running task waits from here on.
    #[inline(always)]
    pub fn wait(&mut self, what: WaitFor, site: u32) {
        self.put(threading::wait(what, site));
        self.running.waits = what != WaitFor::Lock;
    }

    /// Records that it has waited.
    #[inline(always)]
    pub fn waited(&mut self, what: WaitFor) {
        self.running.waits = false;
        if budget::is_spent() {
            self.record_counted();
        }
        self.put(threading::waited(what));
    }

    /// Records what was counted since it was last recorded.
    #[cold]
    pub fn record_counted(&mut self) {
        let (tasks, ticks) = (std::mem::take(&mut self.tally.tasks), std::mem::take(&mut self.tally.ticks));
        if tasks > 0 || ticks > 0 {
            self.put(threading::counted(tasks, ticks));
        }
    }

    /// Records what the task made last depends on.
    pub fn depend(&mut self, count: usize, dependences: impl ExactSizeIterator<Item = Dependence>) {
        let words = count + 1 + MOST_WORDS;
        if self.words.room() < words && !self.make_room(words) {
            return self.lose();
        }
        let [first] = threading::depend(count as u32).at_once();
        self.words.push_list(first, dependences.map(Dependence::pack));
    }

    /// The number of a call site.
    #[inline(always)]
    pub fn site(&mut self, return_address: usize) -> u32 {
        let known = self.sites[Recorder::place(return_address)];
        if known.0 == return_address { known.1 } else { self.look_up(return_address) }
    }

    #[inline(always)]
    fn place(address: usize) -> usize {
        (address ^ address >> 8) % SITES
    }

    #[cold]
    fn look_up(&mut self, return_address: usize) -> u32 {
        let number = outside::unseen(|| outside::site(return_address));
        self.sites[Recorder::place(return_address)] = (return_address, number);
        number
    }

    /// Where things stand before a function of the runtime that may wait for a lock of its own.
    #[inline(always)]
    pub fn mark(&self) -> Mark {
        Mark { last_ticks: self.last_ticks }
    }

    /// That function has returned. If nothing was recorded meanwhile, the program did nothing there: while the thread was off its
    /// processor, whyever, it did not run.
    #[inline(always)]
    pub fn returned(&mut self, mark: Mark) {
        // SAFETY: as in `put`.
        let written = unsafe { (*self.written).load(Ordering::Relaxed) };
        if written != self.read && self.last_ticks == mark.last_ticks {
            self.was_off();
        }
    }

    #[cold]
    fn was_off(&mut self) {
        let now = clock::now();
        let since = now.wrapping_sub(self.last_ticks);
        if !self.record_time(now, 0) {
            return self.lose();
        }
        self.look(true, since);
    }

    /// Says the time in full, with room for so many words behind it, in a new chunk if need be; false if there is none.
    fn record_time(&mut self, now: u64, needed: usize) -> bool {
        const ANEW: usize = 2;
        if self.words.room() < needed + ANEW {
            return self.make_room(needed);
        }
        self.words.push(threading::anew(now, self.created));
        self.last_ticks = now;
        true
    }

    /// Records when the thread was off its processor since it last looked, or did not run on it in the ticks since the last record.
    fn look(&mut self, also_willingly: bool, since: u64) {
        let Some((mut switches, mut stolen)) = self.switches.take().zip(self.stolen.take()) else { return };
        while let Some(off) = switches.next() {
            stolen.was_off(off.from, off.to);
            let is_recorded = match also_willingly || off.preempted {
                true => self.push_away(AwayBy::System, off.from, off.to),
                // When it could go on it may have had to wait for a processor: that is no longer its own doing.
                false => {
                    let woken = off.to - self.lacked.behind(&off);
                    self.push_away(AwayBy::Asleep, off.from, woken)
                        && (woken == off.to || self.push_away(AwayBy::System, woken, off.to))
                }
            };
            if off.preempted {
                self.lacked.was_preempted(&off);
            } else if also_willingly {
                self.lacked.was_not_asked();
            }
            if !is_recorded {
                break;
            }
        }
        self.read = switches.read();
        stolen.each(since, |from, to| {
            self.push_away(AwayBy::System, from, to);
        });
        (self.switches, self.stolen) = (Some(switches), Some(stolen));
    }

    fn push_away(&mut self, by: AwayBy, from: u64, to: u64) -> bool {
        let has_room = self.words.room() >= MOST_WORDS || self.make_room(MOST_WORDS);
        has_room && self.words.push(threading::away(by, from, to).at_once())
    }

    /// Finds room for so many words; false if there is none.
    #[cold]
    fn make_room(&mut self, needed: usize) -> bool {
        let _uncancelled = Uncancelled::new();
        let Some(source) = &mut self.source else { return false };
        let start = clock::now();
        let taken = match source.writer.next(self.words.give_up()) {
            Room::Ready(chunk) | Room::Prepared(chunk) => chunk.begin(),
            Room::None => return false,
        };
        self.words = WordCursor::of(taken);
        let now = clock::now();
        self.words.push(threading::anew(now, self.created));
        self.words.push(threading::away(AwayBy::Tracer, start, now).at_once());
        self.last_ticks = now;
        source.writer.stream().note_clock();
        self.words.room() >= needed
    }

    fn lose(&self) {
        if let Some(source) = &self.source {
            source.header.lost_calls.fetch_add(1, Ordering::Relaxed);
        }
    }
}
