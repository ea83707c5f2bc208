//! Measures sealing: a stencil-like run of many calls is written as raw segments and sealed.
//!
//! ```text
//! cargo run --release -p kizami-seal --example seal_speed -- [calls] [ranks] [folder] [window]
//! ```
//!
//! Each iteration of each rank is four `MPI_Irecv`, four `MPI_Isend`, an `MPI_Waitall` and an
//! `MPI_Allreduce`, with durations that scatter as real ones do. Prints events a second, bytes a call, and
//! the most memory the process ever held.

use kizami_records::{CallRecord, Completion};
use kizami_rng::SplitMix64;
use kizami_seal::{SealOptions, seal};
use kizami_testing::scattered;
use kizami_testing::segments::{SegmentOwner, SegmentWriter, call, define};
use kizami_trace::{RankSelection, Trace};
use std::path::Path;
use std::time::Instant;

const NEIGHBOURS: u32 = 4;
const CALLS_PER_ITERATION: u64 = 2 * NEIGHBOURS as u64 + 2;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let calls: u64 = arguments.next().map_or(50_000_000, |text| text.parse().expect("a number of calls"));
    let ranks: u32 = arguments.next().map_or(16, |text| text.parse().expect("a number of ranks"));
    let base = arguments.next().map_or_else(std::env::temp_dir, Into::into);
    let mut options = SealOptions::default();
    if let Some(window) = arguments.next() {
        options.window_rows = window.parse().expect("a number of rows");
    }
    let folder = tempfile::tempdir_in(base).expect("a folder to work in");
    let trace = folder.path().join("stencil.kz");
    for rank in 0..ranks {
        write_rank(&trace, rank, ranks, calls / u64::from(ranks) / CALLS_PER_ITERATION);
    }
    let before = peak_megabytes();
    let (start, cpu_before) = (Instant::now(), cpu_seconds());
    let run = seal(&trace, &options, &|_| {}).expect("a sealed trace");
    let seconds = start.elapsed().as_secs_f64();
    let cpu = cpu_seconds() - cpu_before;
    let events = run.totals.events as f64;
    let bytes: u64 = run.files.iter().filter(|file| file.path.starts_with("events")).map(|f| f.bytes).sum();
    println!(
        "sealed {events} events of {ranks} ranks in {seconds:.2} s: {:.2} M events/s",
        events / seconds / 1e6
    );
    println!(
        "{:.2} bytes a call; peak memory {} MB ({before} MB before)",
        bytes as f64 / events,
        peak_megabytes()
    );
    println!("{:.0} ns of processor time an event", cpu / events * 1e9);
    let start = Instant::now();
    let opened = Trace::open(&trace).expect("the trace");
    let mut rows = 0u64;
    for row in opened.calls(RankSelection::All).expect("rows") {
        row.expect("a row");
        rows += 1;
    }
    println!("read back {rows} rows: {:.2} M rows/s", rows as f64 / start.elapsed().as_secs_f64() / 1e6);
    if std::env::var_os("KEEP").is_some() {
        println!("kept in {}", folder.keep().display());
    }
}

fn write_rank(trace: &Path, rank: u32, ranks: u32, iterations: u64) {
    let mut random = SplitMix64::new(u64::from(rank));
    let mut who = SegmentOwner::rank(rank, ranks);
    (who.tsc, who.call_cost, who.last_ticks) = (true, 120 << 10, who.base_ticks + iterations * 200_000);
    define(trace, &who, &[]);
    let mut segment = SegmentWriter::create(trace, &who, Some(0));
    let neighbours = [1, ranks - 1, 4 % ranks, ranks - 4 % ranks].map(|step| (rank + step) % ranks);
    let (mut now, mut request) = (1000, 0);
    let receive = call("MPI_Irecv", 0, 0);
    let send = call("MPI_Isend", 0, 0);
    let wait = call("MPI_Waitall", 0, 0);
    let reduce = call("MPI_Allreduce", 0, 0);
    for _ in 0..iterations {
        now += 60_000 + scattered(&mut random, 20_000);
        let first = request + 1;
        for (index, peer) in neighbours.into_iter().chain(neighbours).enumerate() {
            request += 1;
            let posting = index < neighbours.len();
            let (like, usual) = if posting { (&receive, 300) } else { (&send, 900) };
            let bytes = if index % 4 < 2 { 8_192 } else { 32_768 };
            let duration = usual + scattered(&mut random, usual);
            let (bytes_in, bytes_out) = if posting { (bytes, 0) } else { (0, bytes) };
            let (peer, tag) = (peer as i32, 100 + index as i32 % 4);
            segment.call(&CallRecord {
                start_ticks: now,
                duration_ticks: duration,
                comm: 0,
                peer,
                tag,
                bytes_in,
                bytes_out,
                request,
                ..*like
            });
            now += duration + 80 + scattered(&mut random, 40);
        }
        let duration = 4_000 + scattered(&mut random, 30_000);
        let all = [Completion::AsPosted { request: first, count: request - first + 1 }];
        segment.completion(&CallRecord { start_ticks: now, duration_ticks: duration, ..wait }, &all);
        now += duration + 5_000 + scattered(&mut random, 3_000);
        let duration = 8_000 + scattered(&mut random, 20_000);
        let (bytes_in, bytes_out) = (8, 8);
        let times = CallRecord { start_ticks: now, duration_ticks: duration, ..reduce };
        segment.call(&CallRecord { comm: 0, bytes_in, bytes_out, ..times });
        now += duration;
    }
    segment.finish();
}

/// Processor time of all threads so far.
fn cpu_seconds() -> f64 {
    // SAFETY: all zeros are a valid `rusage`, and the call fills it in.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn peak_megabytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) >> 10
}
