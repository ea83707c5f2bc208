//! What the threads of a process share: where segments go, and the segment of definitions.

use crate::cancellation::Uncancelled;
use crate::reduction::{CommunicatorOf, KeepMode, Owner};
use crate::settings::{Amount, Keep};
use crate::stream::{Stream, Writer, lock};
use crate::{clock, launcher, off_core, settings, simulator};
use kizami_model::function;
use kizami_records::{Definition, Unrecorded};
use kizami_segment::header::{DEFINITIONS_THREAD, RANK_UNKNOWN, store_text};
use kizami_segment::{Appender, Header, NamedHeader, SegmentFile, WindowShape, named};
use std::ffi::{CStr, CString, OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// The process as the tracer sees it.
pub struct Process {
    directory: Vec<u8>,
    host: String,
    boot_id: String,
    executable: String,
    pid: u32,
    /// Which launch it belongs to, 0 if unknown.
    launch: u64,
    /// Which of those that have its host and number it is: a part of the names of all its files.
    twin: u32,
    threads: AtomicU32,
    /// Streams of words so far.
    word_streams: AtomicU32,
    streams: Mutex<Vec<&'static Stream>>,
    definitions: Mutex<Option<Appender>>,
    /// The header of the segment of definitions, which is there even if nothing else had room.
    header: Option<&'static Header>,
    /// The file whose name holds what that header says, if the disk has no room even for its page.
    named: Option<NamedHeader>,
    /// Rank, size of the world and which world, after `MPI_Init`.
    world: Mutex<Option<World>>,
    /// What recording one plain call costs, in 1/1024 tick.
    call_cost: AtomicU64,
    /// A moment on both clocks, in ticks and nanoseconds.
    base: (u64, u64),
    /// Bits of the nanoseconds of a tick, as far as known.
    tick_ns: AtomicU64,
}

/// What is known after `MPI_Init`.
#[derive(Clone)]
pub struct World {
    /// Rank in the world.
    pub rank: u32,
    /// Ranks in it.
    pub size: u32,
    /// Which world, if processes were spawned: the same number on all its ranks; 0 for the first.
    pub key: u64,
    /// Which conventions its MPI follows, as headers say it.
    pub abi: u32,
    /// What the MPI library says of itself.
    pub library: String,
}

static PROCESS: OnceLock<Option<Process>> = OnceLock::new();
/// What is not recorded, as long as there is no process to write it down.
static UNRECORDED: Mutex<Vec<Definition>> = Mutex::new(Vec::new());
static FORKED: AtomicBool = AtomicBool::new(false);
/// The header of a process that has no room for any file.
// SAFETY: a header is made of integers, for all of which zero is a value.
static WITHOUT_FILE: Header = unsafe { std::mem::zeroed() };

/// The process, set up at its first MPI call; `None` where nothing is to be recorded.
pub fn get() -> Option<&'static Process> {
    let process = PROCESS.get_or_init(Process::set_up).as_ref()?;
    process.report_unrecorded();
    Some(process)
}

/// The process if it was set up already.
pub fn existing() -> Option<&'static Process> {
    PROCESS.get().and_then(Option::as_ref)
}

/// Writes down that some calls are not recorded; at once, or when the process is set up.
pub fn note_unrecorded(reason: Unrecorded, module: String) {
    lock(&UNRECORDED).push(Definition::Unrecorded { reason, module });
    existing().into_iter().for_each(Process::report_unrecorded);
}

/// The process ends: if MPI calls of it were not recorded, that is written down, even if that is all.
pub fn report_unrecorded() {
    use Unrecorded::{Mpi, MpiBefore, OtherMpi};
    let is_mpi = |definition: &Definition| {
        matches!(definition, Definition::Unrecorded { reason: Mpi | MpiBefore | OtherMpi, .. })
    };
    let has_mpi = lock(&UNRECORDED).iter().any(is_mpi);
    if has_mpi && existing().is_none() {
        get();
    }
}

/// Whether this is a child that a recorded process forked: it must leave its parent's segments alone.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// Called in a forked child.
pub fn note_fork() {
    FORKED.store(true, Ordering::Relaxed);
}

impl Process {
    fn set_up() -> Option<Process> {
        let directory = std::env::var_os("KIZAMI_RAW").filter(|value| !value.is_empty())?;
        if simulator::is_without_rank() {
            return None;
        }
        clock::choose();
        // A rank with a clock of its own is a host of its own.
        let host = match clock::distortion() {
            Some(_) => format!("{}-clock{}", host_name(), launcher::place().map_or(0, |(rank, _)| rank)),
            None => host_name(),
        };
        let mut process = Process {
            directory: directory.as_bytes().to_vec(),
            host,
            boot_id: read_line("/proc/sys/kernel/random/boot_id"),
            executable: executable().map_or_else(String::new, |path| path.display().to_string()),
            pid: std::process::id(),
            launch: launch(),
            threads: AtomicU32::new(0),
            word_streams: AtomicU32::new(0),
            streams: Mutex::new(Vec::new()),
            definitions: Mutex::new(None),
            header: None,
            named: None,
            twin: 0,
            world: Mutex::new(None),
            call_cost: AtomicU64::new(0),
            base: clock::reading(),
            tick_ns: AtomicU64::new(1f64.to_bits()),
        };
        process.make_definitions();
        for text in command_line() {
            process.define(&Definition::Argument { text: text.to_string_lossy().into_owned() });
        }
        if let Some(keep) = settings::get().keep {
            process.define(&keep_definition(keep));
        }
        if let Some(allowed) = off_core::allowed_cores() {
            process.define(&Definition::Cores { allowed });
        }
        Some(process)
    }

    /// Makes the segment of definitions, or as much of it as there is room for. Without a place for definitions records mean
    /// little, but the program runs on either way.
    fn make_definitions(&mut self) {
        let appender = self.make_first("defs", |path| Appender::create(path, WindowShape::DEFINITIONS)).ok();
        let header = appender.as_ref().map(Appender::header).or_else(|| {
            let alone = |path: &CStr| SegmentFile::create(path, WindowShape::NONE).map(|file| file.header());
            self.make_first("defs", alone).ok()
        });
        self.fill_header(header.unwrap_or(&WITHOUT_FILE), DEFINITIONS_THREAD);
        if header.is_none() {
            let name = |path: &CStr| NamedHeader::create(path, &WITHOUT_FILE);
            self.named = self.make_first(named::EXTENSION, name).ok();
        }
        self.header = header.or(self.named.as_ref().map(|_| &WITHOUT_FILE));
        *lock(&self.definitions) = appender;
    }

    /// A stream for one more thread, and what becomes of the calls there. The error is an `errno`.
    pub fn new_stream(&self, communicator_of: CommunicatorOf) -> Result<(Writer, KeepMode), i32> {
        let thread = self.threads.fetch_add(1, Ordering::Relaxed);
        let (file, path) = self.new_file(thread)?;
        self.fill_header(file.header(), thread);
        let keep = settings::get().keep.map_or(KeepMode::All, |keep| {
            let key = u64::from(self.pid) << 32 ^ self.base.0 ^ u64::from(thread);
            let owner = Owner { key, ticks_per_second: self.ticks_per_second(), communicator_of };
            KeepMode::create(&path, keep, owner)
        });
        let writer = Stream::create(file);
        lock(&self.streams).push(writer.stream());
        Ok((writer, keep))
    }

    /// A stream of words for one more thread, and its number among those. The error is an `errno`.
    pub fn new_word_stream(&self) -> Result<(Writer, u32), i32> {
        let number = self.word_streams.fetch_add(1, Ordering::Relaxed);
        let create = |path: &CStr| SegmentFile::create(path, WindowShape::CALLS);
        let file = self.make_segment(&format!("{number}.tasks"), create)?;
        self.fill_header(file.header(), number);
        let writer = Stream::create(file);
        lock(&self.streams).push(writer.stream());
        Ok((writer, number))
    }

    /// Where calls of threads without a segment are counted: what they have in common is the segment of definitions.
    pub fn losses(&self, error: i32) -> Option<&'static Header> {
        let header = self.header?;
        let _ = header.lost_errno.compare_exchange(0, error as u32, Ordering::Relaxed, Ordering::Relaxed);
        Some(header)
    }

    fn new_file(&self, thread: u32) -> Result<(SegmentFile, CString), i32> {
        let shape = settings::get().window(thread);
        let create = |path: &CStr| SegmentFile::create(path, shape).map(|file| (file, path.to_owned()));
        self.make_segment(&format!("{thread}.calls"), create)
    }

    /// How many ticks are a second: measured for a moment if nothing better is known yet.
    fn ticks_per_second(&self) -> u64 {
        const LONG_ENOUGH_NS: u64 = 500_000;
        if !clock::is_time_stamp() {
            return 1_000_000_000;
        }
        while clock::monotonic_ns().saturating_sub(self.base.1) < LONG_ENOUGH_NS {
            std::hint::spin_loop();
        }
        self.recalibrate();
        (1e9 / self.tick_ns()).round() as u64
    }

    /// Makes the first file of the process under a name that is not taken: by the program this process was before it
    /// called exec, by a process with the same number in another container, or by other ranks that a simulator runs in it.
    /// The files that follow have the same name but for their endings, which is how they are known to belong together.
    fn make_first<T>(&mut self, ending: &str, create: impl Fn(&CStr) -> Result<T, i32>) -> Result<T, i32> {
        const MOST_RANKS_OF_A_PROCESS: u32 = 1 << 20;
        for twin in 0..MOST_RANKS_OF_A_PROCESS {
            self.twin = twin;
            match self.make_segment(ending, &create) {
                Err(libc::EEXIST) => {}
                made => return made,
            }
        }
        Err(libc::EEXIST)
    }

    /// Creates a file for a segment.
    fn make_segment<T>(&self, ending: &str, create: impl Fn(&CStr) -> Result<T, i32>) -> Result<T, i32> {
        let twin = if self.twin == 0 { String::new() } else { format!("-{}", self.twin) };
        let mut path = self.directory.clone();
        path.extend(format!("/{}.{}{twin}.{ending}", self.host, self.pid).into_bytes());
        create(&CString::new(path).map_err(|_| libc::EINVAL)?)
    }

    fn fill_header(&self, header: &Header, thread: u32) {
        let (ticks, monotonic) = clock::reading();
        header.table.store(function::fingerprint(), Ordering::Relaxed);
        header.pid.store(self.pid, Ordering::Relaxed);
        header.thread.store(thread, Ordering::Relaxed);
        header.rank.store(RANK_UNKNOWN, Ordering::Relaxed);
        header.clock_is_tsc.store(clock::is_time_stamp().into(), Ordering::Relaxed);
        header.base_ticks.store(ticks, Ordering::Relaxed);
        for pair in [&header.first_reading, &header.last_reading] {
            pair.ticks.store(ticks, Ordering::Relaxed);
            pair.monotonic_ns.store(monotonic, Ordering::Relaxed);
        }
        header.realtime_ns.store(clock::realtime_ns(), Ordering::Relaxed);
        header.call_cost.store(self.call_cost.load(Ordering::Relaxed), Ordering::Relaxed);
        header.launch.store(self.launch, Ordering::Relaxed);
        // SAFETY: a plain system call.
        header.os_thread.store(unsafe { libc::gettid() } as u32, Ordering::Relaxed);
        store_text(&header.host, &self.host);
        store_text(&header.boot_id, &self.boot_id);
        store_text(&header.executable, &self.executable);
        if let Some(world) = &*lock(&self.world) {
            fill_world(header, world);
        }
    }

    /// Stores the identity of this process, after `MPI_Init`.
    pub fn enter_world(&self, world: World) {
        *lock(&self.world) = Some(world.clone());
        self.for_each_header(|header| fill_world(header, &world));
    }

    /// Writes down what recording one call costs.
    pub fn set_call_cost(&self, cost: u64) {
        self.call_cost.store(cost, Ordering::Relaxed);
        self.for_each_header(|header| header.call_cost.store(cost, Ordering::Relaxed));
    }

    /// Does something to the headers of all segments of the process.
    pub fn for_each_header(&self, act: impl Fn(&Header)) {
        self.header.into_iter().for_each(&act);
        for stream in lock(&self.streams).iter() {
            act(stream.file().header());
        }
        self.report_losses();
    }

    /// Reports how many calls were lost, where the count in the segment does not show it.
    pub fn report_losses(&self) {
        if let Some((named, header)) = self.named.as_ref().zip(self.header) {
            let (ticks, monotonic) = clock::reading();
            header.last_reading.ticks.store(ticks, Ordering::Relaxed);
            header.last_reading.monotonic_ns.store(monotonic, Ordering::Relaxed);
            // If refused, the number that was reported before stays.
            let _ = named.update(header);
        }
    }

    /// Writes down what is known not to be recorded.
    fn report_unrecorded(&self) {
        let definitions = std::mem::take(&mut *lock(&UNRECORDED));
        definitions.iter().for_each(|definition| self.define(definition));
    }

    /// Notes the clock in all segments.
    pub fn note_clock(&self) {
        for stream in lock(&self.streams).iter() {
            stream.note_clock();
        }
    }

    /// Which clock this is: processes with the same share one.
    pub fn clock_identity(&self) -> (&str, &str) {
        (&self.boot_id, &self.host)
    }

    /// Measures once more how long a tick is; the longer the process runs, the better it is known.
    pub fn recalibrate(&self) {
        let (ticks, nanoseconds) = clock::reading();
        if clock::is_time_stamp() && ticks > self.base.0 {
            let tick_ns = (nanoseconds - self.base.1) as f64 / (ticks - self.base.0) as f64;
            self.tick_ns.store(tick_ns.to_bits(), Ordering::Relaxed);
        }
    }

    fn tick_ns(&self) -> f64 {
        f64::from_bits(self.tick_ns.load(Ordering::Relaxed))
    }

    /// A moment in nanoseconds of the host's clock.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        let since = ticks.wrapping_sub(self.base.0) as i64;
        self.base.1.wrapping_add_signed((since as f64 * self.tick_ns()) as i64)
    }

    /// A stretch in nanoseconds.
    pub fn nanoseconds_of(&self, ticks: u64) -> u64 {
        (ticks as f64 * self.tick_ns()) as u64
    }

    /// A stretch in ticks.
    pub fn ticks_of(&self, nanoseconds: u64) -> u64 {
        (nanoseconds as f64 / self.tick_ns()) as u64
    }

    /// Bytes of records waiting to be written out.
    pub fn filled_bytes(&self) -> u64 {
        lock(&self.streams).iter().map(|stream| stream.filled_bytes()).sum()
    }

    /// Bytes of records there is room for.
    pub fn window_bytes(&self) -> u64 {
        let bytes = |stream: &&Stream| stream.file().window_chunks() * stream.file().chunk_bytes();
        lock(&self.streams).iter().map(|stream| bytes(stream) as u64).sum()
    }

    /// Writes out all records that are not being written to.
    pub fn write_out(&self) {
        for stream in lock(&self.streams).iter() {
            stream.write_out();
        }
    }

    /// Whether this is the process that was set up, and not a child made without notice.
    pub fn is_this_one(&self) -> bool {
        self.pid == std::process::id()
    }

    /// Rank in the world, if known.
    pub fn world_rank(&self) -> Option<u32> {
        lock(&self.world).as_ref().map(|world| world.rank)
    }

    /// Ranks in the world, 0 before it is known.
    pub fn world_size(&self) -> u32 {
        lock(&self.world).as_ref().map_or(0, |world| world.size)
    }

    /// Writes a definition, before the first record that needs it.
    pub fn define(&self, definition: &Definition) {
        let _uncancelled = Uncancelled::new();
        if let Some(definitions) = &mut *lock(&self.definitions)
            && let Err(error) = definition.append_to(definitions)
        {
            definitions.header().lost_errno.store(error as u32, Ordering::Relaxed);
        }
    }
}

/// The launch of this process. All ranks of a simulation are in one process.
fn launch() -> u64 {
    match simulator::get() {
        Some(_) => u64::from(std::process::id()),
        None => launcher::launch(),
    }
}

/// The requested amount, for readers of the trace.
fn keep_definition(keep: Keep) -> Definition {
    let (per_second, amount) = match keep.amount {
        Amount::Fraction(part) => (false, part),
        Amount::BytesPerSecond(bytes) => (true, bytes),
    };
    Definition::Keep {
        per_second,
        amount_bits: amount.to_bits(),
        seed: keep.seed,
        sampled: false,
        all_below: keep.all_below,
    }
}

fn fill_world(header: &Header, world: &World) {
    header.rank.store(world.rank, Ordering::Relaxed);
    header.world_size.store(world.size, Ordering::Relaxed);
    header.world_key.store(world.key, Ordering::Relaxed);
    header.abi.store(world.abi, Ordering::Relaxed);
    store_text(&header.library, &world.library);
}

/// The program that is run, be it by the system or by a simulator.
fn executable() -> Option<std::path::PathBuf> {
    match simulator::get() {
        Some(_) => simulator::copies::program(),
        None => std::env::current_exe().ok(),
    }
}

/// What that program was called with.
fn command_line() -> Vec<OsString> {
    if simulator::get().is_some() {
        return simulator::copies::command_line();
    }
    let known: Vec<OsString> = std::env::args_os().collect();
    // A library's constructor may call MPI before ours has run, and the standard library knows no arguments until then.
    if known.is_empty() {
        std::fs::read("/proc/self/cmdline").map(|line| arguments(&line)).unwrap_or_default()
    } else {
        known
    }
}

/// The arguments in a line of the kernel's, which ends each with a zero.
fn arguments(line: &[u8]) -> Vec<OsString> {
    let words = line.strip_suffix(&[0]).unwrap_or(line);
    let argument = |word: &[u8]| OsStr::from_bytes(word).to_owned();
    if line.is_empty() { Vec::new() } else { words.split(|byte| *byte == 0).map(argument).collect() }
}

fn host_name() -> String {
    let name = read_line("/proc/sys/kernel/hostname");
    // It becomes part of a file name.
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' }).collect()
}

fn read_line(path: &str) -> String {
    std::fs::read_to_string(path).map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_and_the_standard_library_give_the_same_arguments() {
        let line = std::fs::read("/proc/self/cmdline").unwrap();
        assert_eq!(arguments(&line), std::env::args_os().collect::<Vec<_>>());
        assert_eq!(arguments(b"a\0\0b c\0"), ["a", "", "b c"]);
        assert_eq!(arguments(b""), <[&str; 0]>::default());
    }
}
