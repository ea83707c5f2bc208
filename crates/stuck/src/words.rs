//! What is said about a run that does not go on.

use super::needs::{Need, Needs, What};
use super::{CauseState, Found, StuckCause, StuckKind, Wait, interrupted};
use kizami_model::{Ending, Moment, Op};
use kizami_trace::SourceLine;
use kizami_trace::{RankInfo, UnderWay};

/// Ranks of a cycle, groups of waiting ranks and causes that are told one by one.
const MOST_TOLD: usize = 4;
/// Needs of one call that are told.
const MOST_NEEDS: usize = 3;
/// Ranges of ranks that are told.
const MOST_RANGES: usize = 6;

/// The sentences, the most important first.
pub(super) fn sentences(
    found: &Found<'_>,
    kind: StuckKind,
    cycle: &[u32],
    causes: &[StuckCause],
    calls: &[UnderWay],
) -> Vec<String> {
    let mut told = Vec::new();
    match kind {
        StuckKind::Deadlock => told.push(deadlock(found, cycle)),
        StuckKind::WaitsForEnded | StuckKind::WaitsForBusy => {
            told.extend(causes.iter().take(MOST_TOLD).map(|cause| waited_for(found, cause)));
            if causes.len() > MOST_TOLD {
                told.push(format!("So are {} more ranks.", causes.len() - MOST_TOLD));
            }
        }
        StuckKind::Inside => told.extend(inside(found, calls).into_iter().chain(ended(found, calls))),
        StuckKind::Ended => told.extend(ended(found, calls)),
    }
    told.extend(groups(found, cycle, kind));
    told
}

/// The one that died first.
pub(super) fn died(found: &Found<'_>, rank: u32, calls: &[UnderWay]) -> String {
    let named = |op: Op, site| at(op.name(), &SourceLine::of(found.definitions, site));
    let inside = calls
        .iter()
        .find(|call| call.rank.0 == rank)
        .map(|call| format!("inside {}", named(call.op, call.callsite)));
    let after = found.ledger.ranks[rank as usize]
        .last
        .map(|last| format!("outside MPI, after {}", named(last.op, last.callsite)));
    let place = inside.or(after).unwrap_or_else(|| "before its first call".to_owned());
    let when = found.definitions.ranks[rank as usize].ended.map_or(0, |ended| ended.0);
    format!(
        "Rank {rank} was the first to end, {} after the start, {place}: it crashed or was killed.",
        seconds(when)
    )
}

fn deadlock(found: &Found<'_>, cycle: &[u32]) -> String {
    let of = |rank: &u32| found.waits.iter().find(|wait| wait.call.rank.0 == *rank);
    let waits: Vec<&Wait> = cycle.iter().filter_map(of).collect();
    let mut parts: Vec<String> = waits.iter().take(MOST_TOLD).map(|wait| waits_for(found, &[wait])).collect();
    if waits.len() > MOST_TOLD {
        parts.push(format!("and so on around {} ranks", waits.len()));
    }
    let since = waits.iter().map(|wait| wait.call.start).max().unwrap_or(Moment::START);
    format!("Deadlock: {}; {}.", parts.join("; "), since_when(found, since))
}

/// One whom others wait for.
fn waited_for(found: &Found<'_>, cause: &StuckCause) -> String {
    let all = found.definitions.ranks.len();
    let who = match cause.waiting_ranks {
        1 => "1 rank waits".to_owned(),
        others if others + 1 == all && all > 2 => "All others wait".to_owned(),
        others => format!("{others} ranks wait"),
    };
    format!("{who} for rank {}, which {}.", cause.rank, state(found, cause))
}

fn state(found: &Found<'_>, cause: &StuckCause) -> String {
    let call = |word: &str| match (&cause.function, &cause.place) {
        (Some(function), Some(place)) => format!(" {word} {}", at(function, place)),
        _ => String::new(),
    };
    let after = call("after");
    let since = Moment(cause.since_ns.unwrap_or(0));
    match cause.state {
        CauseState::Outside => outside(found, cause, &after, since),
        CauseState::Inside => format!("is{}, {}", call("inside"), since_when(found, since)),
        CauseState::Finalized => format!("ended by MPI_Finalize, {} after the start", seconds(since.0)),
        CauseState::Exited => format!("left by exit without MPI_Finalize{after}"),
        CauseState::Aborted => {
            let code = found.definitions.ranks[cause.rank as usize].abort_code.unwrap_or(0);
            let place = cause.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
            format!("called MPI_Abort with code {code}{place}")
        }
        CauseState::Absent => "left nothing: it never started, or was not recorded".to_owned(),
    }
}

fn outside(found: &Found<'_>, cause: &StuckCause, after: &str, since: Moment) -> String {
    if found.died_first == Some(cause.rank) {
        return "died".to_owned();
    }
    let info = &found.definitions.ranks[cause.rank as usize];
    let interrupted = found.watched.and_then(interrupted);
    if let Some(ended) = info.ended.filter(|ended| interrupted.is_some_and(|at| *ended >= at)) {
        // It was seen to live until then.
        return format!(
            "was outside MPI for {}{after}, until it was interrupted",
            seconds((ended - since).0)
        );
    }
    let runs = info.ending == Ending::Running;
    let for_so_long = found.watched.map(|watched| seconds(watched.until_ns - since.0));
    match (runs, for_so_long) {
        (true, Some(long)) if after.is_empty() => format!("has been outside MPI for {long}"),
        (true, Some(long)) => format!("has been outside MPI for {long},{after}"),
        (_, Some(long)) => {
            format!("did not come back to MPI{after}, {long} before the end: it computed on, or died")
        }
        (_, None) => {
            format!("did not come back to MPI{after} (at {}): it computed on, or died", seconds(since.0))
        }
    }
}

/// Those who wait, put together by what they wait in and for; without the ranks of the cycle.
fn groups(found: &Found<'_>, cycle: &[u32], kind: StuckKind) -> Vec<String> {
    if kind == StuckKind::Inside {
        return Vec::new();
    }
    let for_them = kind == StuckKind::Deadlock;
    let mut groups: Vec<(String, Vec<&Wait>)> = Vec::new();
    for wait in found.waits.iter().filter(|wait| !cycle.contains(&wait.call.rank.0)) {
        let what = if for_them { String::new() } else { needs(&wait.needs) };
        let key = format!("{} {:?} {what}", wait.call.op.name(), wait.call.callsite);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, waits)) => waits.push(wait),
            None => groups.push((key, vec![wait])),
        }
    }
    groups.sort_by_key(|(_, waits)| std::cmp::Reverse(waits.len()));
    let more: usize = groups.iter().skip(MOST_TOLD).map(|(_, waits)| waits.len()).sum();
    let sentence = |(_, waits): &(String, Vec<&Wait>)| {
        let since = waits.iter().map(|wait| wait.call.start).min().unwrap_or(Moment::START);
        let text = match for_them {
            true => {
                let ranks = ranks_of(waits);
                let place = SourceLine::of(found.definitions, waits[0].call.callsite);
                let verb = if ranks.len() == 1 { "waits" } else { "wait" };
                format!("{} {verb} for them in {}", rank_list(&ranks), at(waits[0].call.op.name(), &place))
            }
            false => waits_for(found, waits),
        };
        capital(&format!("{text}, {}.", since_when(found, since)))
    };
    let mut told: Vec<String> = groups.iter().take(MOST_TOLD).map(sentence).collect();
    if more > 0 {
        told.push(format!("{more} more ranks wait in other calls."));
    }
    told
}

fn ranks_of(waits: &[&Wait]) -> Vec<u32> {
    let mut ranks: Vec<u32> = waits.iter().map(|wait| wait.call.rank.0).collect();
    ranks.dedup();
    ranks
}

/// `rank 0 waits in MPI_Recv at dead.c:9 for a message from rank 1 (tag 7)`; of several ranks, the needs of the first.
fn waits_for(found: &Found<'_>, waits: &[&Wait]) -> String {
    let first = waits[0];
    let ranks = ranks_of(waits);
    let one = ranks.len() == 1;
    let place = SourceLine::of(found.definitions, first.call.callsite);
    let call = at(first.call.op.name(), &place);
    let what = needs(&first.needs);
    let (waits, is) = if one { ("waits", "is") } else { ("wait", "are") };
    let how = if first.polls { format!("{waits} by polling with") } else { format!("{waits} in") };
    match what.is_empty() {
        false => format!("{} {how} {call} for {what}", rank_list(&ranks)),
        true if first.needs.understood => {
            format!("{} {is} in {call}, for which all has come", rank_list(&ranks))
        }
        true => format!("{} {is} inside {call}", rank_list(&ranks)),
    }
}

/// What must happen first; empty if nothing is known.
pub(super) fn needs(needs: &Needs) -> String {
    let mut told: Vec<String> = needs.all.iter().take(MOST_NEEDS).map(need).collect();
    let more = needs.all.len().saturating_sub(MOST_NEEDS);
    if more > 0 {
        told.push(format!("{more} more"));
    }
    match needs.any && told.len() > 1 {
        true => format!("one of: {}", told.join("; ")),
        false => listed(&told),
    }
}

fn need(need: &Need) -> String {
    let tagged = |tag: Option<i32>| tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
    let ranks = rank_list(&need.ranks);
    match need.what {
        What::Message(tag) if need.any => format!("a message from any rank{}", tagged(tag)),
        What::Message(tag) => format!("a message from {ranks}{}", tagged(tag)),
        What::Taker(tag) => format!("{ranks} to receive{}", tagged(Some(tag))),
        What::Coming => format!("{ranks} to come"),
        What::Other(op) => {
            let is = if need.ranks.len() == 1 { "is" } else { "are" };
            format!("{ranks}, which {is} in {} instead", op.name())
        }
        What::Lock => format!("{ranks} to give up the lock"),
    }
}

/// Ranks that are inside calls, if nothing more is known.
fn inside(found: &Found<'_>, calls: &[UnderWay]) -> Vec<String> {
    let mut groups: Vec<(&UnderWay, Vec<u32>)> = Vec::new();
    for call in calls {
        let same =
            |(known, _): &&mut (&UnderWay, Vec<u32>)| (known.op, known.callsite) == (call.op, call.callsite);
        match groups.iter_mut().find(same) {
            Some((_, ranks)) => ranks.push(call.rank.0),
            None => groups.push((call, vec![call.rank.0])),
        }
    }
    let sentence = |(call, ranks): &(&UnderWay, Vec<u32>)| {
        let place = SourceLine::of(found.definitions, call.callsite);
        let is = if ranks.len() == 1 { "is" } else { "are" };
        let since = since_when(found, call.start);
        capital(&format!("{} {is} inside {}, {since}.", rank_list(ranks), at(call.op.name(), &place)))
    };
    groups.iter().take(MOST_TOLD).map(sentence).collect()
}

/// Ranks that ended before their time, while nobody waited.
fn ended(found: &Found<'_>, calls: &[UnderWay]) -> Vec<String> {
    let mut groups: Vec<(String, Vec<u32>)> = Vec::new();
    let outside = |rank: &&RankInfo| !calls.iter().any(|call| call.rank == rank.rank);
    for rank in found.definitions.ranks.iter().filter(outside) {
        let last = found.ledger.ranks[rank.rank.0 as usize].last;
        let after = last.map_or_else(String::new, |last| {
            let place = SourceLine::of(found.definitions, last.callsite);
            format!(" after {}", at(last.op.name(), &place))
        });
        let how = match rank.ending {
            Ending::Finalized | Ending::Running => continue,
            Ending::Vanished if rank.pid.is_none() => "left nothing".to_owned(),
            Ending::Vanished => format!("ended without a sign outside MPI (killed or crashed){after}"),
            Ending::Exited => format!("left by exit without MPI_Finalize{after}"),
            Ending::Aborted => {
                format!("called MPI_Abort with code {}", rank.abort_code.unwrap_or_default())
            }
        };
        match groups.iter_mut().find(|(known, _)| *known == how) {
            Some((_, ranks)) => ranks.push(rank.rank.0),
            None => groups.push((how, vec![rank.rank.0])),
        }
    }
    let sentence = |(how, ranks): &(String, Vec<u32>)| format!("Ended early: {} {how}.", rank_list(ranks));
    groups.iter().take(MOST_TOLD).map(sentence).collect()
}

/// `MPI_Recv at dead.c:9`, or `MPI_Recv in main` without debug information.
fn at(function: &str, place: &SourceLine) -> String {
    if place.is_unknown() {
        return function.to_owned();
    }
    let word = if place.file.is_some() && place.line.is_some() { "at" } else { "in" };
    format!("{function} {word} {place}")
}

fn since_when(found: &Found<'_>, since: Moment) -> String {
    let start = seconds(since.0);
    match found.watched {
        Some(watched) => {
            format!("since {start} after the start, for {}", seconds(watched.until_ns - since.0))
        }
        None => format!("since {start} after the start"),
    }
}

/// About three digits.
fn seconds(ns: i64) -> String {
    let seconds = ns.max(0) as f64 / 1e9;
    match seconds {
        _ if seconds >= 100.0 => format!("{seconds:.0} s"),
        _ if seconds >= 10.0 => format!("{seconds:.1} s"),
        _ if seconds >= 1.0 => format!("{seconds:.2} s"),
        _ => format!("{seconds:.3} s"),
    }
}

/// `rank 3`, `ranks 0-5 and 8`.
pub(super) fn rank_list(ranks: &[u32]) -> String {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for rank in ranks {
        match ranges.last_mut() {
            Some((_, end)) if *end + 1 == *rank => *end = *rank,
            _ => ranges.push((*rank, *rank)),
        }
    }
    let shown = ranges.iter().take(MOST_RANGES).flat_map(|(first, last)| match last - first {
        0 => vec![first.to_string()],
        1 => vec![first.to_string(), last.to_string()],
        _ => vec![format!("{first}-{last}")],
    });
    let mut shown: Vec<String> = shown.collect();
    let more: u32 = ranges.iter().skip(MOST_RANGES).map(|(first, last)| last - first + 1).sum();
    if more > 0 {
        shown.push(format!("{more} more"));
    }
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    format!("{noun} {}", listed(&shown))
}

/// `a, b and c`.
fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_listed_as_people_do() {
        assert_eq!(rank_list(&[3]), "rank 3");
        assert_eq!(rank_list(&[2, 3]), "ranks 2 and 3");
        assert_eq!(rank_list(&[0, 1, 2, 5, 7]), "ranks 0-2, 5 and 7");
        let even: Vec<u32> = (0..10).map(|n| 2 * n).collect();
        assert_eq!(rank_list(&even), "ranks 0, 2, 4, 6, 8, 10 and 4 more");
    }

    #[test]
    fn times_have_three_digits() {
        assert_eq!(seconds(412_345_678), "0.412 s");
        assert_eq!(seconds(2_590_000_000), "2.59 s");
        assert_eq!(seconds(12_340_000_000), "12.3 s");
        assert_eq!(seconds(123_400_000_000), "123 s");
    }
}
