//! A finding in words: what is wrong, who causes it and where, in one sentence; and what to do about it, in another.

use crate::location::call_at;
use crate::quantity::{count, counted, duration, percent};
use crate::ranks::{named, subject};
use kizami_explain::{Cause, Diagnosis, Disease, Finding, Rows, SourceLine, Who};
use kizami_model::Length;
use kizami_trace::function_name;

/// Pattern, ranks, location and who waits; without the gain.
pub fn sentence(finding: &Finding) -> String {
    match &finding.diagnosis {
        Diagnosis::SlowRanks { who, host, factor_percent } => {
            slow_ranks(finding, who, host.as_deref(), *factor_percent)
        }
        Diagnosis::Imbalance { who } => imbalance(finding, who),
        Diagnosis::MovingImbalance { who } => moving_imbalance(finding, who),
        Diagnosis::GrowingImbalance { who } => growing_imbalance(finding, who),
        Diagnosis::RareImbalance { who, times, iterations } => {
            rare_imbalance(finding, who, *times, *iterations)
        }
        Diagnosis::RandomImbalance { who } => random_imbalance(finding, who),
        Diagnosis::TaskFarmTail { workers } => task_farm_tail(finding, *workers),
        Diagnosis::LateStart { who } => late_start(finding, who),
        Diagnosis::LateReceiver { who } => late_receiver(finding, who),
        Diagnosis::WrongOrder {} => wrong_order(finding),
        Diagnosis::PipelineFill { who } => pipeline_fill(finding, who),
        Diagnosis::SerialisedSection { most_bytes } => serialised_section(finding, *most_bytes),
        Diagnosis::NeedlessBarrier {} => needless_barrier(finding),
        Diagnosis::NeedlessCollective { of } => needless_collective(finding, *of),
        Diagnosis::SerialisedIo { who } => serialised_io(finding, who),
        Diagnosis::CollectionLoop { sends, partners, times } => {
            collection_loop(finding, *sends, *partners, *times)
        }
        Diagnosis::RepeatedCommunicator { times } => repeated_communicator(finding, *times),
        Diagnosis::LateRoot { who } => late_root(finding, who),
        Diagnosis::TinyCollectives { rows } => in_rows(finding, "Small collectives", rows),
        Diagnosis::SmallMessages { rows } => in_rows(finding, "Small messages", rows),
        Diagnosis::LockContention { who } => lock_contention(finding, who),
        Diagnosis::SystemNoise { ranks } => system_noise(finding, *ranks),
        Diagnosis::SlowCall { who } => slow_call(finding, who),
        Diagnosis::HotReceiver { who, percent } => hot_receiver(finding, who, *percent),
        Diagnosis::Alltoall {} | Diagnosis::Transfer {} => transfer(finding),
        Diagnosis::ThreadImbalance { threads } => thread_imbalance(finding, *threads),
        Diagnosis::ThreadWaits { threads } => thread_waits(finding, *threads),
        Diagnosis::ThreadLocks { threads } => thread_locks(finding, *threads),
        Diagnosis::FewThreads { threads } => few_threads(finding, *threads),
        Diagnosis::SerialPart { threads } => serial_part(finding, *threads),
        Diagnosis::TaskChain { span_ns, work_ns, threads, tasks } => {
            task_chain(finding, [*span_ns, *work_ns], *threads, tasks.as_ref())
        }
    }
}

/// How the program came to the place of a finding, from the call to the outermost function. None if that says no more than the
/// sentence.
pub fn path(finding: &Finding) -> Option<String> {
    /// Functions that are named before the middle is left out.
    const MOST: usize = 8;
    let (place, callers) = finding.path.split_first()?;
    let callers: Vec<&SourceLine> = callers.iter().filter(|call| call.has_name()).collect();
    if callers.is_empty() {
        return None;
    }
    let caller = |call: &SourceLine| match (&call.file, call.line) {
        (Some(file), Some(line)) => format!("{} ({file}:{line})", function_name::shown(&call.function)),
        _ => function_name::shown(&call.function),
    };
    let own = [finding.function.clone(), function_name::shown(&place.function)];
    let mut names: Vec<String> = own.into_iter().chain(callers.into_iter().map(caller)).collect();
    if names.len() > MOST {
        let outer = names.len() - MOST / 2 + 1;
        names.splice(MOST / 2..outer, ["...".to_owned()]);
    }
    Some(format!("Call path: {}", names.join(" <- ")))
}

/// What to do about it, in one sentence.
pub fn advice(disease: Disease) -> &'static str {
    match disease {
        Disease::SlowRanks => {
            "Compare clock speed, temperature and load of their nodes with the others; if they have more work, give them less."
        }
        Disease::Imbalance => "Give these ranks less work, or make their work as fast as on the others.",
        Disease::MovingImbalance => "Rebalance dynamically: repartition the work every few iterations.",
        Disease::GrowingImbalance => {
            "Repartition the work from time to time; the initial partition is no longer balanced."
        }
        Disease::RareImbalance => {
            "Find out what these iterations do in addition; do it while no rank waits, or divide it among all ranks."
        }
        Disease::RandomImbalance => {
            "Synchronise less often, so that long and short iterations average out, or schedule smaller pieces of work dynamically."
        }
        Disease::TaskFarmTail => "Hand out the longest tasks first, or smaller ones towards the end.",
        Disease::LateStart => "Check what the rank reads or sets up before its first MPI call.",
        Disease::LateReceiver => {
            "Post the receive before the computation (MPI_Irecv, with MPI_Wait after it), or send without blocking (MPI_Isend)."
        }
        Disease::WrongOrder => {
            "Receive messages in the order of arrival: MPI_Waitany on receives posted early, or MPI_ANY_SOURCE."
        }
        Disease::PipelineFill => "Use smaller blocks, so that later ranks start earlier.",
        Disease::SerialisedSection => {
            "Do this work on all ranks at once and combine the results in a collective (MPI_Reduce, MPI_Scan)."
        }
        Disease::NeedlessBarrier => "Remove the barrier: the messages already enforce the order of the data.",
        Disease::NeedlessCollective => {
            "If its result is not needed at once, leave it out, or start it without waiting (MPI_Iallreduce, MPI_Ibarrier)."
        }
        Disease::SerialisedIo => {
            "Use collective I/O (MPI_File_write_at_all), or write on one rank while the others continue."
        }
        Disease::CollectionLoop => {
            "Use a collective (MPI_Gather, MPI_Reduce, MPI_Scatter): it takes log P steps instead of P."
        }
        Disease::RepeatedCommunicator => {
            "Create the communicator once, before the loop: its creation synchronises all ranks."
        }
        Disease::LateRoot => "Move the root's computation behind the call, or to a rank that is idle.",
        Disease::TinyCollectives => "Combine the values in one array and call the collective once.",
        Disease::SmallMessages => "Combine them in one message (an array, or a derived datatype).",
        Disease::LockContention => {
            "Hold the lock for a shorter time, use a shared lock, or atomic operations (MPI_Fetch_and_op)."
        }
        Disease::SystemNoise => {
            "Leave a core of each host to the system, bind ranks to cores, and see what else runs there."
        }
        Disease::HotReceiver => {
            "Divide the data so that all ranks receive about the same amount; all wait for those that receive most."
        }
        Disease::Alltoall => {
            "Send less data or to fewer ranks (neighbours, rows and columns), or start the exchange early (MPI_Ialltoall)."
        }
        Disease::SlowCall => "Check why this call takes long: other ranks wait for it.",
        Disease::Transfer => {
            "Send less or less often, start early and wait late (MPI_Isend, MPI_Iallreduce), or use a faster network."
        }
        Disease::ThreadImbalance => {
            "Divide the work evenly: schedule(dynamic) or schedule(guided), or smaller pieces of work."
        }
        Disease::ThreadWaits => {
            "Create tasks earlier and more of them, remove barriers (nowait), and do less in ordered or single sections."
        }
        Disease::ThreadLocks => {
            "Hold locks for a shorter time, use atomic operations or a reduction, or one lock for each part of the data."
        }
        Disease::FewThreads => {
            "Raise or remove its num_threads clause, or collapse loops so that all threads get work."
        }
        Disease::SerialPart => "Parallelise this computation, or do it while the other threads work.",
        Disease::TaskChain => {
            "Shorten or split the tasks on the critical path, or remove dependences between them: kizami tasks lists them."
        }
    }
}

fn slow_ranks(finding: &Finding, who: &Who, host: Option<&str>, factor_percent: u32) -> String {
    let (ranks, one) = subject(who);
    let host = host.map_or(String::new(), |host| format!(" (host {host})"));
    format!(
        "Slow ranks: {ranks}{host} {} {:.2} times as long as the others at the same places, most {}{}",
        computes(one),
        f64::from(factor_percent) / 100.0,
        stretch(finding),
        waiting(finding)
    )
}

fn imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let computes = computes(one);
    format!(
        "Load imbalance: {ranks} {computes} longer than the others {}{}",
        stretch(finding),
        waiting(finding)
    )
}

fn moving_imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, _) = subject(who);
    let (stretch, waiting) = (stretch(finding), waiting(finding));
    format!("Moving load imbalance: {ranks} compute longer than the rest for a while, {stretch}{waiting}")
}

fn growing_imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    format!(
        "Growing load imbalance: {ranks} {} longer and longer {}{}",
        computes(one),
        stretch(finding),
        waiting(finding)
    )
}

fn rare_imbalance(finding: &Finding, who: &Who, times: usize, iterations: usize) -> String {
    let (ranks, one) = subject(who);
    let (computes, stretch, waiting) = (computes(one), stretch(finding), waiting(finding));
    format!(
        "Intermittent load imbalance: {ranks} {computes} longer than the others in {times} of {iterations} iterations, \
         {stretch}{waiting}"
    )
}

fn random_imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, _) = subject(who);
    format!(
        "Random load imbalance: {ranks} compute longer than the rest {}{}",
        stretch(finding),
        waiting(finding)
    )
}

fn task_farm_tail(finding: &Finding, workers: usize) -> String {
    format!(
        "Long tail of a task farm: the last tasks, {}, keep some of the {workers} workers busy while the others are idle, \
         {} of all ranks' time",
        stretch(finding),
        percent(finding.share)
    )
}

fn late_start(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let reaches = if one { "reaches its" } else { "reach their" };
    format!("Late start: {ranks} {reaches} first MPI call late{}", waiting(finding))
}

fn late_receiver(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let post = if one { "posts its receive" } else { "post their receives" };
    let waiting = finding.waiting_in.as_ref().map_or(String::new(), |(function, place)| {
        let wait = match finding.waiting_ranks {
            1 => "1 rank waits".to_owned(),
            many => format!("{many} ranks wait"),
        };
        format!("; {wait} in {}", call_at(function, place))
    });
    format!("Late receiver: {ranks} {post} late, in {}{waiting}", call(finding))
}

fn wrong_order(finding: &Finding) -> String {
    let ranks = &finding.ranks;
    let wait = if ranks.len() == 1 { "waits" } else { "wait" };
    let ranks = named(ranks);
    format!(
        "Late sender, wrong order: {ranks} {wait} in {} for a late message while messages received after it have \
         arrived",
        call(finding)
    )
}

fn pipeline_fill(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (computes, stretch, waiting) = (computes(one), stretch(finding), waiting(finding));
    format!(
        "Pipeline fill: {ranks} {computes} a whole block {stretch} before the next rank can start{waiting}"
    )
}

fn serialised_section(finding: &Finding, most_bytes: u64) -> String {
    let (stretch, waiting) = (stretch(finding), waiting(finding));
    format!(
        "Serialised section: one rank after the other computes {stretch} and sends at most {most_bytes} B on{waiting}"
    )
}

fn needless_barrier(finding: &Finding) -> String {
    let waiting_ranks = &finding.waiting_ranks;
    let wait = if *waiting_ranks == 1 { "rank waits for the others" } else { "ranks wait for each other" };
    format!("Unnecessary barrier: {waiting_ranks} {wait} in {}; no message depends on it", call(finding))
}

fn needless_collective(finding: &Finding, of: usize) -> String {
    format!(
        "Unnecessary synchronisation: {} ranks wait {} of the time in {} and similar calls, but over {of} such calls in a \
         row all ranks compute equally long",
        finding.waiting_ranks,
        percent(finding.share),
        call(finding)
    )
}

fn serialised_io(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (stretch, waiting) = (stretch(finding), waiting(finding));
    let accesses = if one { "accesses" } else { "access" };
    match who {
        Who::InTurns => {
            format!("Serialised I/O: ranks access files one at a time, mostly {stretch}{waiting}")
        }
        _ => format!("Serialised I/O: only {ranks} {accesses} files, mostly {stretch}{waiting}"),
    }
}

fn collection_loop(finding: &Finding, sends: bool, partners: usize, times: u64) -> String {
    let ranks = &finding.ranks;
    let does = if sends { "sends to" } else { "receives from" };
    let ranks = named(ranks);
    format!(
        "Serialised collective: {ranks} {does} {partners} ranks one by one in {}, {times} times",
        call(finding)
    )
}

fn repeated_communicator(finding: &Finding, times: u64) -> String {
    let share = &finding.share;
    format!(
        "Repeated communicator creation: {}, {times} times on each rank, {} of the time",
        call(finding),
        percent(*share)
    )
}

fn late_root(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (computes, stretch, waiting) = (computes(one), stretch(finding), waiting(finding));
    format!("Late root: {ranks}, the root, {computes} {stretch} before the others receive data{waiting}")
}

fn in_rows(finding: &Finding, what: &str, rows: &Rows) -> String {
    let Rows { most_bytes, calls, rows } = *rows;
    let each = calls as f64 / rows.max(1) as f64;
    format!(
        "{what}: {} calls of at most {most_bytes} B in {}, about {each:.0} in a row",
        count(calls),
        call(finding)
    )
}

fn lock_contention(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (stretch, waiting) = (stretch(finding), waiting(finding));
    match finding.cause {
        Cause::Call => format!("Lock contention: {ranks} {} {stretch}{waiting}", is(one)),
        _ => format!("Lock contention: {ranks} {} {stretch} while holding a lock{waiting}", computes(one)),
    }
}

fn system_noise(finding: &Finding, ranks: usize) -> String {
    format!(
        "System noise: {} lose their core for short times, {} of their time, mostly before {}",
        counted(ranks as u64, "rank"),
        percent(finding.share),
        call(finding)
    )
}

fn slow_call(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let spends = if one { "spends" } else { "spend" };
    format!("Slow call: {ranks} {spends} long {}{}", stretch(finding), waiting(finding))
}

fn hot_receiver(finding: &Finding, who: &Who, percent: u32) -> String {
    let (ranks, one) = subject(who);
    let receives = if one { "receives" } else { "receive" };
    format!("Hot receiver: {ranks} {receives} {percent} % of all bytes in {}", call(finding))
}

fn transfer(finding: &Finding) -> String {
    format!("{}: {} of the time is data transfer, not waiting", call(finding), percent(finding.share))
}

fn thread_imbalance(finding: &Finding, threads: u32) -> String {
    format!(
        "Load imbalance between threads: in {}, threads wait for the slowest one{}",
        parallel_region(finding),
        of_threads(finding, threads)
    )
}

fn thread_waits(finding: &Finding, threads: u32) -> String {
    format!(
        "Idle threads: in {}, threads wait for tasks, barriers or ordered sections{}",
        parallel_region(finding),
        of_threads(finding, threads)
    )
}

fn thread_locks(finding: &Finding, threads: u32) -> String {
    format!(
        "Lock contention between threads: in {}, threads wait for locks{}",
        parallel_region(finding),
        of_threads(finding, threads)
    )
}

fn few_threads(finding: &Finding, threads: u32) -> String {
    format!(
        "Unused threads: {} has fewer threads than others{}",
        parallel_region(finding),
        of_threads(finding, threads)
    )
}

fn serial_part(finding: &Finding, threads: u32) -> String {
    let place = match finding.place.is_unknown() {
        true => "after the last parallel region".to_owned(),
        false => format!("before {}", parallel_region(finding)),
    };
    format!(
        "Serial part: one thread computes {place} while the others are idle{}",
        of_threads(finding, threads)
    )
}

fn task_chain(
    finding: &Finding,
    [span_ns, work_ns]: [i64; 2],
    threads: u32,
    tasks: Option<&SourceLine>,
) -> String {
    let mostly = tasks.map_or(String::new(), |place| format!(", mostly those created at {place}"));
    let [span, work, even] =
        [span_ns, work_ns, work_ns / i64::from(threads.max(1))].map(|ns| duration(Length(ns)));
    format!(
        "Critical path of tasks: in {}, tasks that follow each other take {span}{mostly}; no number of threads makes it \
         faster, while all tasks take {work}, or {even} on each of {threads} threads",
        parallel_region(finding)
    )
}

fn parallel_region(finding: &Finding) -> String {
    format!("the parallel region at {}", finding.place)
}

/// The part of the threads' time.
fn of_threads(finding: &Finding, threads: u32) -> String {
    format!(", {} of the time of {}", percent(finding.share), counted(u64::from(threads), "thread"))
}

/// The call that the finding is about, and where it is made.
fn call(finding: &Finding) -> String {
    call_at(&finding.function, &finding.place)
}

fn computes(one: bool) -> &'static str {
    if one { "computes" } else { "compute" }
}

fn is(one: bool) -> &'static str {
    if one { "is" } else { "are" }
}

/// Where it happens: between which lines, in which function, in which region.
fn stretch(finding: &Finding) -> String {
    let (after, place) = match &finding.within {
        Some([after, place]) => (Some(after), place),
        None => (finding.after.as_ref(), &finding.place),
    };
    let lines = match (after, finding.cause) {
        (_, Cause::Call) => format!("in {}", call(finding)),
        (Some(after), _) if after.line.is_some() && place.line.is_some() && after != place => {
            format!("between {after} and {place}")
        }
        _ if place.line.is_none() => format!("before {}", call(finding)),
        _ => format!("before {place}"),
    };
    let is_said_already = match place.line {
        Some(_) => place.function == "main",
        None => {
            let caller = finding.place.caller.as_ref();
            finding.within.is_none() || caller.is_some_and(|caller| caller.function == place.function)
        }
    };
    let inside = match is_said_already {
        true => String::new(),
        false => format!(" in {}", function_name::shown(&place.function)),
    };
    let region = finding.region.as_ref().map_or(String::new(), |name| format!(", region {name}"));
    format!("{lines}{inside}{region}")
}

/// Who waits for it, and where.
fn waiting(finding: &Finding) -> String {
    match (&finding.waiting_in, finding.waiting_ranks) {
        (Some((function, place)), 1) => format!("; 1 rank waits in {}", call_at(function, place)),
        (Some((function, place)), many) => {
            format!("; {many} ranks wait, mostly in {}", call_at(function, place))
        }
        (None, _) => String::new(),
    }
}
