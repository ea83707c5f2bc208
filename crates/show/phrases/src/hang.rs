//! Why a run hangs, in sentences.

use crate::location::call_at;
use crate::ranks::{first_named, listed};
use kizami_explain::{
    Awaited, BlockedCall, Called, CauseState, Death, EarlyEnd, Event, Hang, HangCause, HangKind, LastSeen,
    Mistake, Outside, RanksInCall, WaitsFor,
};

/// Ranks of a cycle, groups of waiting ranks and causes that are listed one by one.
const MOST_LISTED: usize = 4;
/// Events listed of those that a call waits for.
const MOST_EVENTS: usize = 3;
/// Ranks and ranges of ranks that are listed.
const MOST_RANGES: usize = 6;
/// What ends a process such that its tracer does not see it.
const UNSEEN_END: &str = "killed, crashed or left by _exit";

/// All of it, the most important first.
pub fn sentences(hang: &Hang) -> Vec<String> {
    let mut sentences: Vec<String> = hang.died_first.iter().map(died_first).collect();
    sentences.extend(hang.mistakes.iter().take(MOST_LISTED).map(mistake));
    match hang.kind {
        HangKind::Deadlock => sentences.push(deadlock(hang)),
        HangKind::WaitsForEnded | HangKind::WaitsForBusy => sentences.extend(causes(hang)),
        HangKind::Inside => sentences.extend(inside(hang).into_iter().chain(ended_early(hang))),
        HangKind::Ended => sentences.extend(ended_early(hang)),
    }
    if hang.kind != HangKind::Inside {
        sentences.extend(waiting(hang));
    }
    sentences
}

/// What a call waits for; empty if unknown, or if it has happened.
pub fn waits_until(call: &BlockedCall) -> String {
    call.waits_for.as_ref().map_or_else(String::new, events)
}

fn died_first(death: &Death) -> String {
    let Death { rank, ended_ns, last_seen } = death;
    let place = match last_seen {
        LastSeen::Inside(call) => format!("inside {}", called(call)),
        LastSeen::After(call) => format!("outside MPI, after {}", called(call)),
        LastSeen::BeforeFirstCall => "before its first call".to_owned(),
    };
    let when = seconds(*ended_ns);
    format!("Rank {rank} was the first to end, {when} after the start, {place}: it was {UNSEEN_END}.")
}

fn mistake(mistake: &Mistake) -> String {
    match mistake {
        Mistake::DifferentCollectives { ranks } => {
            let part = |RanksInCall { ranks, call }: &RanksInCall| {
                let call_word = if ranks.len() == 1 { "calls" } else { "call" };
                format!("{} {call_word} {}", first_named(ranks, MOST_RANGES), called(call))
            };
            let parts: Vec<String> = ranks.iter().take(MOST_LISTED).map(part).collect();
            format!("Collective mismatch on one communicator: {}.", parts.join(", but "))
        }
        Mistake::OtherTag { from, to, tag, wanted, call } => format!(
            "Tag mismatch: rank {to} waits for a message from rank {from} with tag {wanted}, but rank {from} sent one with \
             tag {tag} in {}, which has not been received.",
            called(call)
        ),
    }
}

fn deadlock(hang: &Hang) -> String {
    let of = |rank: &u32| waits(hang).find(|call| call.rank == *rank);
    let waits: Vec<&BlockedCall> = hang.cycle.iter().filter_map(of).collect();
    let mut parts: Vec<String> = waits.iter().take(MOST_LISTED).map(|call| waits_for(&[call])).collect();
    if waits.len() > MOST_LISTED {
        parts.push(format!("and so on around {} ranks", waits.len()));
    }
    let since_ns = waits.iter().map(|call| call.since_ns).max().unwrap_or(0);
    format!("Deadlock: {}; {}.", parts.join("; "), since(hang, since_ns))
}

/// Ranks that others wait for.
fn causes(hang: &Hang) -> Vec<String> {
    let named = hang.causes.iter().take(MOST_LISTED).map(|cause| awaited_rank(hang, cause));
    let more = hang.causes.len().saturating_sub(MOST_LISTED);
    named.chain((more > 0).then(|| format!("Others wait for {more} more ranks."))).collect()
}

fn awaited_rank(hang: &Hang, cause: &HangCause) -> String {
    let who = match cause.waiting_ranks {
        1 => "1 rank waits".to_owned(),
        others if others + 1 == hang.ranks && hang.ranks > 2 => "All others wait".to_owned(),
        others => format!("{others} ranks wait"),
    };
    format!("{who} for rank {}, which {}.", cause.rank, state(hang, cause))
}

fn state(hang: &Hang, cause: &HangCause) -> String {
    let call = |word: &str| match (&cause.function, &cause.place) {
        (Some(function), Some(place)) => format!(" {word} {}", call_at(function, place)),
        _ => String::new(),
    };
    let since_ns = cause.since_ns.unwrap_or(0);
    match cause.state {
        CauseState::Outside(how) => outside(hang, how, &call("after"), since_ns),
        CauseState::Inside => format!("is{}, {}", call("inside"), since(hang, since_ns)),
        CauseState::Finalized => format!("ended by MPI_Finalize, {} after the start", seconds(since_ns)),
        CauseState::Exited => format!("exited without MPI_Finalize{}", call("after")),
        CauseState::Aborted { code } => {
            let place = cause.place.as_ref().map_or_else(String::new, |place| format!(" at {place}"));
            format!("called MPI_Abort with code {code}{place}")
        }
        CauseState::Absent => "left no data: it never started, or was not recorded".to_owned(),
    }
}

fn outside(hang: &Hang, how: Outside, after: &str, since_ns: i64) -> String {
    let for_so_long = hang.until_ns.map(|until_ns| seconds(until_ns - since_ns));
    match (how, for_so_long) {
        (Outside::Died, _) => "died".to_owned(),
        (Outside::Interrupted { ended_ns }, _) => {
            format!("was outside MPI for {}{after}, until it was interrupted", seconds(ended_ns - since_ns))
        }
        (Outside::Running, Some(long)) if after.is_empty() => format!("has been outside MPI for {long}"),
        (Outside::Running, Some(long)) => format!("has been outside MPI for {long},{after}"),
        (Outside::Unknown, Some(long)) => {
            format!("made no MPI call{after}, {long} before the end: it kept computing, or died")
        }
        (Outside::Running | Outside::Unknown, None) => {
            format!("made no MPI call{after} (at {}): it kept computing, or died", seconds(since_ns))
        }
    }
}

/// Ranks that wait, grouped by call and by what they wait for; without the ranks of the cycle.
fn waiting(hang: &Hang) -> Vec<String> {
    let for_them = hang.kind == HangKind::Deadlock;
    let what = |call: &BlockedCall| if for_them { String::new() } else { waits_until(call) };
    let outside = waits(hang).filter(|call| !hang.cycle.contains(&call.rank));
    let mut groups = groups(outside, |call| (&call.function[..], call.callsite, what(call)));
    groups.sort_by_key(|calls| std::cmp::Reverse(calls.len()));
    let more: usize = groups.iter().skip(MOST_LISTED).map(Vec::len).sum();
    let sentence = |calls: &Vec<&BlockedCall>| {
        let since_ns = calls.iter().map(|call| call.since_ns).min().unwrap_or(0);
        let text = if for_them { waits_for_them(calls) } else { waits_for(calls) };
        capital(&format!("{text}, {}.", since(hang, since_ns)))
    };
    let sentences = groups.iter().take(MOST_LISTED).map(sentence);
    sentences.chain((more > 0).then(|| format!("{more} more ranks wait in other calls."))).collect()
}

fn waits_for_them(calls: &[&BlockedCall]) -> String {
    let ranks = ranks_of(calls);
    let verb = if ranks.len() == 1 { "waits" } else { "wait" };
    format!(
        "{} {verb} for them in {}",
        first_named(&ranks, MOST_RANGES),
        call_at(&calls[0].function, &calls[0].place)
    )
}

/// `rank 0 waits in MPI_Recv at dead.c:9 for a message from rank 1 (tag 7)`; of several ranks, what the first waits for.
fn waits_for(calls: &[&BlockedCall]) -> String {
    let (first, ranks) = (calls[0], ranks_of(calls));
    let (call, what) = (call_at(&first.function, &first.place), waits_until(first));
    let (waits, is) = if ranks.len() == 1 { ("waits", "is") } else { ("wait", "are") };
    let how = if first.polls { format!("{waits} by polling with") } else { format!("{waits} in") };
    let understood = first.waits_for.as_ref().is_some_and(|waits| waits.understood);
    let ranks = first_named(&ranks, MOST_RANGES);
    match what.is_empty() {
        false => format!("{ranks} {how} {call} for {what}"),
        true if understood => format!("{ranks} {is} in {call}, although everything it waits for has arrived"),
        true => format!("{ranks} {is} inside {call}"),
    }
}

fn events(waits: &WaitsFor) -> String {
    let mut sentences: Vec<String> = waits.all.iter().take(MOST_EVENTS).map(event).collect();
    let more = waits.all.len().saturating_sub(MOST_EVENTS);
    if more > 0 {
        sentences.push(format!("{more} more"));
    }
    match waits.any && sentences.len() > 1 {
        true => format!("one of: {}", sentences.join("; ")),
        false => listed(&sentences),
    }
}

fn event(awaited: &Awaited) -> String {
    let tagged = |tag: Option<i32>| tag.map_or_else(String::new, |tag| format!(" (tag {tag})"));
    let ranks = first_named(&awaited.ranks, MOST_RANGES);
    match &awaited.event {
        Event::Send { tag } if awaited.any => format!("a message from any rank{}", tagged(*tag)),
        Event::Send { tag } => format!("a message from {ranks}{}", tagged(*tag)),
        Event::Receive { tag } => format!("{ranks} to receive{}", tagged(Some(*tag))),
        Event::Come => format!("{ranks} to enter"),
        Event::LeaveOther { function } => {
            let is = if awaited.ranks.len() == 1 { "is" } else { "are" };
            format!("{ranks}, which {is} in {function} instead")
        }
        Event::Unlock => format!("{ranks} to release the lock"),
    }
}

/// Ranks that are inside calls, if nothing more is known.
fn inside(hang: &Hang) -> Vec<String> {
    let calls = hang.calls.iter().filter(|call| !call.polls);
    let groups = groups(calls, |call| (&call.function[..], call.callsite));
    let sentence = |calls: &Vec<&BlockedCall>| {
        let first = calls[0];
        let ranks: Vec<u32> = calls.iter().map(|call| call.rank).collect();
        let is = if ranks.len() == 1 { "is" } else { "are" };
        let (place, since) = (call_at(&first.function, &first.place), since(hang, first.since_ns));
        capital(&format!("{} {is} inside {place}, {since}.", first_named(&ranks, MOST_RANGES)))
    };
    groups.iter().take(MOST_LISTED).map(sentence).collect()
}

/// Ranks that ended early while no rank waited.
fn ended_early(hang: &Hang) -> Vec<String> {
    let groups = groups(hang.ended_early.iter(), |early| ended(&early.how));
    let sentence = |group: &Vec<&kizami_explain::EndedEarly>| {
        let ranks: Vec<u32> = group.iter().map(|early| early.rank).collect();
        format!("Ended early: {} {}.", first_named(&ranks, MOST_RANGES), ended(&group[0].how))
    };
    groups.iter().take(MOST_LISTED).map(sentence).collect()
}

fn ended(how: &EarlyEnd) -> String {
    let after = |call: &Option<Called>| {
        call.as_ref().map_or_else(String::new, |call| format!(" after {}", called(call)))
    };
    match how {
        EarlyEnd::NothingLeft => "left no data".to_owned(),
        EarlyEnd::Vanished(call) => {
            let after = after(call);
            format!("ended outside MPI{after}, without MPI_Finalize, MPI_Abort or exit ({UNSEEN_END})")
        }
        EarlyEnd::Exited(call) => format!("exited without MPI_Finalize{}", after(call)),
        EarlyEnd::Aborted { code } => format!("called MPI_Abort with code {code}"),
    }
}

/// Calls that wait for others, by rank.
fn waits(hang: &Hang) -> impl Iterator<Item = &BlockedCall> {
    hang.calls.iter().filter(|call| call.waits_for.is_some())
}

/// What has the same key, in the order of the first of each.
fn groups<'a, T, K: PartialEq>(
    all: impl Iterator<Item = &'a T>,
    key: impl Fn(&'a T) -> K,
) -> Vec<Vec<&'a T>> {
    let mut groups: Vec<(K, Vec<&'a T>)> = Vec::new();
    for one in all {
        let key = key(one);
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(one),
            None => groups.push((key, vec![one])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

fn ranks_of(calls: &[&BlockedCall]) -> Vec<u32> {
    let mut ranks: Vec<u32> = calls.iter().map(|call| call.rank).collect();
    ranks.dedup();
    ranks
}

fn called(call: &Called) -> String {
    call_at(&call.function, &call.place)
}

fn since(hang: &Hang, since_ns: i64) -> String {
    let start = seconds(since_ns);
    match hang.until_ns {
        Some(until_ns) => format!("since {start} after the start, for {}", seconds(until_ns - since_ns)),
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

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        assert_eq!(seconds(412_345_678), "0.412 s");
        assert_eq!(seconds(2_590_000_000), "2.59 s");
        assert_eq!(seconds(12_340_000_000), "12.3 s");
        assert_eq!(seconds(123_400_000_000), "123 s");
    }
}
