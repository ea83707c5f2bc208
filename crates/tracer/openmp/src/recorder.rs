//! The recorder of one thread: where its words go.

use crate::clock;
use crate::switches::Switches;
use kizami_records::threading::{self, AwayBy, Dependence, MOST_WORDS, Packed, TaskName};
use kizami_segment::{Header, WordCursor};
use kizami_tracer_core::process::Process;
use kizami_tracer_core::stream::{Room, Writer, lock};
use kizami_tracer_mpi::outside;
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// Call sites a thread remembers.
const SITES: usize = 256;
/// Records after which it is looked whether the thread was off its processor.
const LOOK_EVERY: u32 = 512;

/// Everything a thread needs to record without asking anybody. What every record needs comes first, in one cache line.
#[repr(C, align(64))]
pub struct Recorder {
    words: WordCursor,
    /// When the last record was.
    last_ticks: u64,
    /// Tasks made so far, by all threads that had the stream.
    created: u64,
    /// Records until it looks after the thread's absences.
    until_look: u32,
    stream: u32,
    /// Whether the running task has made others: one that has not, waits for none.
    has_made: bool,
    sites: [(usize, u32); SITES],
    /// Where chunks come from; none where words count for nobody.
    source: Option<Source>,
    switches: Option<Switches>,
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
    let mut recorder = Recorder::for_nobody(WordCursor::EMPTY);
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
    recorder.take_over();
    recorder.switches = Switches::open();
    Some(recorder)
}

/// Takes back what is left of a thread's stream.
pub fn give_back(mut recorder: Box<Recorder>) {
    recorder.look();
    let words = std::mem::replace(&mut recorder.words, WordCursor::EMPTY);
    if let Some(source) = recorder.source.take() {
        source.writer.stream().note_clock();
        lock(&SPARES).push(Spare { words, source, created: recorder.created, stream: recorder.stream });
    }
}

impl Recorder {
    /// A recorder that fills these words, which count for nobody.
    pub fn for_nobody(words: WordCursor) -> Box<Recorder> {
        Box::new(Recorder {
            words,
            last_ticks: clock::now(),
            created: 0,
            until_look: LOOK_EVERY,
            stream: 0,
            has_made: false,
            sites: [(0, 0); SITES],
            source: None,
            switches: None,
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
        self.until_look -= 1;
        if self.until_look > 0
            && let Some(words) = record.after(now.wrapping_sub(self.last_ticks))
            && self.words.push(words)
        {
            self.last_ticks = now;
        } else {
            self.put_slowly(record, now);
        }
    }

    #[cold]
    fn put_slowly<const WORDS: usize>(&mut self, record: Packed<WORDS>, now: u64) {
        self.look();
        const ANEW: usize = 2;
        if self.words.room() < WORDS + ANEW && !self.make_room(WORDS + ANEW) {
            return self.lose();
        }
        self.words.push(threading::anew(now, self.created));
        self.words.push(record.at_once());
        self.last_ticks = now;
    }

    /// Records that the running task makes one here; gives its name.
    #[inline(always)]
    pub fn create(&mut self, site: u32) -> TaskName {
        self.put(threading::create(site));
        let task = TaskName { stream: self.stream, number: self.created };
        self.created += 1;
        self.has_made = true;
        task
    }

    /// Records that a task begins or goes on.
    #[inline(always)]
    pub fn begin(&mut self, task: TaskName) {
        match u32::try_from(self.created.wrapping_sub(task.number).wrapping_sub(1)) {
            Ok(since) if task.stream == self.stream => self.put(threading::begin_own(since)),
            _ => self.put(threading::begin(task)),
        }
    }

    /// Whether the running task has made others.
    #[inline(always)]
    pub fn has_made(&self) -> bool {
        self.has_made
    }

    /// Another task runs from now on, which has made others or not. Gives whether the one before had.
    #[inline(always)]
    pub fn switch(&mut self, has_made: bool) -> bool {
        std::mem::replace(&mut self.has_made, has_made)
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

    /// Records when the thread was off its processor since it last looked.
    #[cold]
    fn look(&mut self) {
        self.until_look = LOOK_EVERY;
        let Some(mut switches) = self.switches.take() else { return };
        while let Some((from, to)) = switches.next() {
            if self.words.room() < MOST_WORDS && !self.make_room(MOST_WORDS) {
                break;
            }
            self.words.push(threading::away(AwayBy::System, from, to).at_once());
        }
        self.switches = Some(switches);
    }

    /// Finds room for so many words; false if there is none.
    #[cold]
    fn make_room(&mut self, needed: usize) -> bool {
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
