//! What a finding says: what is wrong, in one sentence, and what to do about it, in another.

use crate::quantity::percent;
use crate::ranks::{named, subject};
use kizami_explain::{Cause, Diagnosis, Disease, Finding, Rows, Who};

/// The whole of it in a sentence, without its gain.
pub fn sentence(finding: &Finding) -> String {
    match &finding.diagnosis {
        Diagnosis::Imbalance { who } => imbalance(finding, who),
        Diagnosis::MovingImbalance { who } => moving_imbalance(finding, who),
        Diagnosis::GrowingImbalance { who } => growing_imbalance(finding, who),
        Diagnosis::RareImbalance { who, times, iterations } => {
            rare_imbalance(finding, who, *times, *iterations)
        }
        Diagnosis::RandomImbalance { who } => random_imbalance(finding, who),
        Diagnosis::LateStart { who } => late_start(finding, who),
        Diagnosis::LateReceiver { who } => late_receiver(finding, who),
        Diagnosis::WrongOrder {} => wrong_order(finding),
        Diagnosis::PipelineFill { who } => pipeline_fill(finding, who),
        Diagnosis::NeedlessBarrier {} => needless_barrier(finding),
        Diagnosis::SerialisedIo { who } => serialised_io(finding, who),
        Diagnosis::CollectionLoop { sends, partners, times } => {
            collection_loop(finding, *sends, *partners, *times)
        }
        Diagnosis::RepeatedCommunicator { times } => repeated_communicator(finding, *times),
        Diagnosis::LateRoot { who } => late_root(finding, who),
        Diagnosis::TinyCollectives { rows } => in_rows(finding, "collectives", rows),
        Diagnosis::SmallMessages { rows } => in_rows(finding, "messages", rows),
        Diagnosis::LockContention { who } => lock_contention(finding, who),
        Diagnosis::SlowCall { who } => slow_call(finding, who),
        Diagnosis::Alltoall {} | Diagnosis::Transfer {} => transfer(finding),
    }
}

/// What to do about it, in one sentence.
pub fn advice(disease: Disease) -> &'static str {
    match disease {
        Disease::Imbalance => {
            "Give those ranks less of the work, or make what they do as quick as on the others."
        }
        Disease::MovingImbalance => "Spread the work anew as it moves: divide it again every few steps.",
        Disease::GrowingImbalance => {
            "Divide the work again from time to time; what was even at the start is not any more."
        }
        Disease::RareImbalance => {
            "Find out what that rank does now and then, and let it do so while nobody waits, or all do a part."
        }
        Disease::RandomImbalance => {
            "Let ranks meet less often, so that long and short steps even out, or divide the work into smaller pieces that whoever is free takes."
        }
        Disease::LateStart => "Look at what that rank reads or sets up before its first call.",
        Disease::LateReceiver => {
            "Post the receive before the computation (MPI_Irecv, and wait for it afterwards), or send without waiting (MPI_Isend)."
        }
        Disease::WrongOrder => {
            "Take messages as they come: MPI_Waitany over receives posted before, or MPI_ANY_SOURCE."
        }
        Disease::PipelineFill => "Hand on smaller blocks, so that those behind begin earlier.",
        Disease::NeedlessBarrier => "Take the barrier out: messages keep the order that data needs.",
        Disease::SerialisedIo => {
            "Let all ranks write their part (MPI_File_write_at_all), or one rank write while the others go on."
        }
        Disease::CollectionLoop => {
            "Use a collective (MPI_Gather, MPI_Reduce, MPI_Scatter): it takes log P steps where the loop takes P."
        }
        Disease::RepeatedCommunicator => {
            "Create the communicator once, before the loop, and keep it: all its ranks synchronise to create one."
        }
        Disease::LateRoot => {
            "Let the root do its work behind the call, or give that work to a rank that has time."
        }
        Disease::TinyCollectives => "Put the values into one array and call the collective once.",
        Disease::SmallMessages => "Put them into one message (an array, or a derived type).",
        Disease::LockContention => {
            "Hold the lock for less time, use a shared lock, or atomic operations (MPI_Fetch_and_op)."
        }
        Disease::Alltoall => {
            "Send less, or to fewer: exchange among neighbours or in rows and columns, or begin it early (MPI_Ialltoall)."
        }
        Disease::SlowCall => "Look at what the call does: it holds up the others.",
        Disease::Transfer => {
            "Send less or less often, begin early and wait late (MPI_Isend, MPI_Iallreduce), or use a faster network."
        }
    }
}

fn imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let computes = computes(one);
    format!("{ranks} {computes} longer than the others {}{}", stretch(finding), waiting(finding))
}

fn moving_imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, _) = subject(who);
    let (stretch, waiting) = (stretch(finding), waiting(finding));
    format!("{ranks} computes longer than the others for some time, {stretch}{waiting}")
}

fn growing_imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    format!("{ranks} {} longer and longer {}{}", computes(one), stretch(finding), waiting(finding))
}

fn rare_imbalance(finding: &Finding, who: &Who, times: usize, iterations: usize) -> String {
    let (ranks, one) = subject(who);
    let (computes, stretch, waiting) = (computes(one), stretch(finding), waiting(finding));
    format!("{ranks} {computes} longer than the others in {times} of {iterations} steps, {stretch}{waiting}")
}

fn random_imbalance(finding: &Finding, who: &Who) -> String {
    let (ranks, _) = subject(who);
    format!("{ranks} computes longer than the others {}{}", stretch(finding), waiting(finding))
}

fn late_start(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let starts = if one { "starts" } else { "start" };
    format!("{ranks} {starts} late{}", waiting(finding))
}

fn late_receiver(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let post = if one { "posts its receive" } else { "post their receives" };
    let waiting = finding.waiting_in.as_ref().map_or(String::new(), |(function, place)| {
        let wait = match finding.waiting_ranks {
            1 => "1 rank waits".to_owned(),
            many => format!("{many} ranks wait"),
        };
        format!("; {wait} for that in {function} at {place}")
    });
    format!("{ranks} {post} late, in {} at {}{waiting}", finding.function, finding.place)
}

fn wrong_order(finding: &Finding) -> String {
    let Finding { ranks, function, place, .. } = finding;
    let wait = if ranks.len() == 1 { "waits" } else { "wait" };
    let ranks = named(ranks);
    format!(
        "{ranks} {wait} in {function} at {place} for messages that come late, while others that are taken afterwards are there"
    )
}

fn pipeline_fill(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (computes, stretch, waiting) = (computes(one), stretch(finding), waiting(finding));
    format!("{ranks} {computes} a whole block {stretch} before the next rank gets any of it{waiting}")
}

fn needless_barrier(finding: &Finding) -> String {
    let Finding { waiting_ranks, function, place, .. } = finding;
    let wait = if *waiting_ranks == 1 { "rank waits for the others" } else { "ranks wait for each other" };
    format!("{waiting_ranks} {wait} in {function} at {place}; no message depends on it")
}

fn serialised_io(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    format!("{ranks} {} alone with files, most {}{}", is(one), stretch(finding), waiting(finding))
}

fn collection_loop(finding: &Finding, sends: bool, partners: usize, times: u64) -> String {
    let Finding { ranks, function, place, .. } = finding;
    let does = if sends { "sends messages to" } else { "takes messages from" };
    let ranks = named(ranks);
    format!("{ranks} {does} {partners} ranks one by one in {function} at {place}, {times} times")
}

fn repeated_communicator(finding: &Finding, times: u64) -> String {
    let Finding { function, place, share, .. } = finding;
    format!(
        "{function} at {place} creates a communicator {times} times on each rank: {} of all time",
        percent(*share)
    )
}

fn late_root(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (computes, stretch, waiting) = (computes(one), stretch(finding), waiting(finding));
    format!("{ranks}, the root, {computes} {stretch} before the others get anything{waiting}")
}

fn in_rows(finding: &Finding, what: &str, rows: &Rows) -> String {
    let Finding { function, place, .. } = finding;
    let Rows { most_bytes, calls, rows } = *rows;
    let each = calls as f64 / rows.max(1) as f64;
    format!(
        "{what} of at most {most_bytes} B follow each other closely in {function} at {place}: {calls} calls, about {each:.0} in a row"
    )
}

fn lock_contention(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    let (stretch, waiting) = (stretch(finding), waiting(finding));
    match finding.cause {
        Cause::Call => format!("{ranks} {} {stretch}{waiting}", is(one)),
        _ => format!("{ranks} {} {stretch} while holding a lock{waiting}", computes(one)),
    }
}

fn slow_call(finding: &Finding, who: &Who) -> String {
    let (ranks, one) = subject(who);
    format!("{ranks} {} {}{}", is(one), stretch(finding), waiting(finding))
}

fn transfer(finding: &Finding) -> String {
    let Finding { function, place, share, .. } = finding;
    format!("{function} at {place} takes {} of all time though nobody is waited for", percent(*share))
}

fn computes(one: bool) -> &'static str {
    if one { "computes" } else { "compute" }
}

fn is(one: bool) -> &'static str {
    if one { "is" } else { "are" }
}

/// Where it is done: between which lines, in which function, in which region.
fn stretch(finding: &Finding) -> String {
    let place = &finding.place;
    let lines = match (&finding.after, finding.cause) {
        (_, Cause::Call) => format!("in {} at {place}", finding.function),
        (Some(after), _) if after.line.is_some() && after != place => format!("between {after} and {place}"),
        _ => format!("before {place}"),
    };
    let inside = match place.function == "main" || place.line.is_none() {
        true => String::new(),
        false => format!(" in {}", place.function),
    };
    let region = finding.region.as_ref().map_or(String::new(), |name| format!(", region {name}"));
    format!("{lines}{inside}{region}")
}

/// Who waits for it, and where.
fn waiting(finding: &Finding) -> String {
    match (&finding.waiting_in, finding.waiting_ranks) {
        (Some((function, place)), 1) => format!("; 1 rank waits for that in {function} at {place}"),
        (Some((function, place)), many) => {
            format!("; {many} ranks wait for that, most in {function} at {place}")
        }
        (None, _) => String::new(),
    }
}
