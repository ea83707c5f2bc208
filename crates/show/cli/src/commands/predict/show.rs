//! What was foretold, as a table, and what to make of it.

use super::predicted::Predicted;
use crate::show::quantity;
use crate::show::style::Paint;
use crate::show::table::{Align, Table};
use kizami_model::Length;
use kizami_phrases::links;
use kizami_phrases::location::call_at;
use kizami_predict::point::{Limit, Point};
use kizami_predict::structure::Program;
use std::io::{self, Write};

/// A run that takes so much longer than the shortest has stopped scaling.
const LONGER: f64 = 1.02;
/// An interval that goes so many times beyond the time predicted, or below it, leaves the time open.
const OPEN: f64 = 5.0;
/// Ranks that are used to less than this part are worth a word.
const SCALES: f64 = 0.7;
/// Costs that were not measured are told from this share of the time on.
const WORTH_LISTING: f64 = 0.05;

/// Seconds as people read them.
pub fn seconds(seconds: f64) -> String {
    quantity::duration(Length::from_nanos_f64(seconds * 1e9))
}

/// Where the time lies nine times in ten; an interval that leaves nearly everything open says nothing.
fn interval(point: &Point) -> String {
    let is_open = point.high_s > OPEN * point.time_s || point.low_s * OPEN < point.time_s;
    match is_open || !point.high_s.is_finite() {
        true => "not known".to_owned(),
        false => format!("{} .. {}", seconds(point.low_s), seconds(point.high_s)),
    }
}

/// Prints the table and what is said about it.
pub fn print(out: &mut impl Write, predicted: &Predicted, said: &[String]) -> io::Result<()> {
    let columns = [
        ("ranks", Align::Right),
        ("time", Align::Right),
        ("90 % interval", Align::Left),
        ("efficiency", Align::Right),
        ("limited by", Align::Left),
    ];
    let mut table = Table::new(&mut *out, Paint::stdout(), &columns);
    for point in &predicted.points {
        table.row(vec![
            quantity::count(u64::from(point.ranks)),
            seconds(point.time_s),
            interval(point),
            format!("{:.0} %", 100.0 * point.efficiency),
            point.limited_by.first().map(limit).unwrap_or_default(),
        ])?;
    }
    table.finish()?;
    writeln!(out)?;
    said.iter().try_for_each(|line| writeln!(out, "{line}"))
}

/// What follows from it: where it stops, how far it may be off, and what rests on no measurement.
pub fn said(predicted: &Predicted, program: Option<&Program>) -> Vec<String> {
    let mut said: Vec<String> = stops(&predicted.points).into_iter().collect();
    if let Some(checked) = &predicted.check {
        let ranks = quantity::count(u64::from(checked.predicted.ranks));
        let error = 100.0 * checked.error_share;
        said.push(format!(
            "validated: the run with {ranks} ranks, predicted from the smaller ones, is {error:+.1} % off"
        ));
    } else if program.is_some() {
        said.push(
            "not validated: give at least three runs to hold out the largest and measure the error"
                .to_owned(),
        );
    }
    said.extend(extrapolated(predicted, program));
    if predicted.points.iter().any(|point| point.messages_assumed) {
        said.push(links::MESSAGES_ASSUMED.to_owned());
    }
    said.extend(larger(&predicted.points));
    said.extend(contention(&predicted.points));
    said
}

/// Who said what messages get of links.
fn contention(points: &[Point]) -> Vec<String> {
    let by = |who: &str| {
        let modelled =
            points.iter().filter(|point| point.network.as_ref().is_some_and(|modelled| modelled.by == who));
        let ranks: Vec<String> = modelled.map(|point| quantity::count(u64::from(point.ranks))).collect();
        (!ranks.is_empty()).then(|| ranks.join(", "))
    };
    let simulated =
        by("simgrid").map(|ranks| format!("links: contention simulated by SimGrid, at {ranks} ranks"));
    let phases = by("phases").map(|ranks| format!("links: shared fairly phase by phase, at {ranks} ranks"));
    let why = points.iter().find_map(|point| point.network.as_ref()?.not_simulated.as_ref());
    let why = why.map(|why| {
        format!(
            "not simulated, although collectives and uneven shares need it (hence the wide interval): {why}"
        )
    });
    simulated.into_iter().chain(phases).chain(why).collect()
}

/// Collectives of more bytes than were measured.
fn larger(points: &[Point]) -> Option<String> {
    let most = points.iter().map(|point| point.larger_than_measured).fold(0.0, f64::max);
    (most > WORTH_LISTING).then(|| {
        format!(
            "extrapolated: collectives larger than measured, up to {:.0} % of the time; `kizami bench --largest` \
             measures larger ones",
            100.0 * most
        )
    })
}

/// What limits a run, in words.
pub fn limit(limit: &Limit) -> String {
    let by = limit.by.map_or(String::new(), |by| format!(" ({by})"));
    let place = &limit.place;
    match limit.what.as_str() {
        "computation" => format!("computation before {place}"),
        function => call_at(function, place) + &by,
    }
}

/// Where more ranks no longer help.
fn stops(points: &[Point]) -> Option<String> {
    let shortest = points.iter().min_by(|one, other| one.time_s.total_cmp(&other.time_s))?;
    let last = points.last()?;
    if points.len() < 3 {
        return None;
    }
    let shrinking = points.windows(2).all(|pair| pair[1].time_s < LONGER * pair[0].time_s);
    if last.ranks == shortest.ranks {
        if !shrinking {
            return Some(
                "does not scale monotonically: some numbers of ranks take longer than fewer".to_owned(),
            );
        }
        return Some(speed_up(&points[0], last));
    }
    (last.time_s > LONGER * shortest.time_s).then(|| {
        let worst = last.limited_by.iter().find(|limit| limit.by.is_some());
        let why = worst.map_or(String::new(), |worst| format!("; growing: {}", self::limit(worst)));
        format!("stops scaling at about {} ranks{why}", quantity::count(u64::from(shortest.ranks)))
    })
}

/// How much faster more ranks are; where they are hardly used, what does not shrink.
fn speed_up(first: &Point, last: &Point) -> String {
    let ranks = f64::from(last.ranks) / f64::from(first.ranks.max(1));
    let faster = first.time_s / last.time_s;
    let to = quantity::count(u64::from(last.ranks));
    if faster >= SCALES * ranks {
        return format!("scales up to {to} ranks and beyond");
    }
    if faster < LONGER {
        return format!("takes as long at all numbers of ranks up to {to}");
    }
    let why =
        last.limited_by.first().map_or(String::new(), |most| format!("; what remains: {}", limit(most)));
    format!("{ranks:.1} times as many ranks make it {faster:.1} times as fast at {to} ranks{why}")
}

/// What the numbers rest on that nobody has measured.
fn extrapolated(predicted: &Predicted, program: Option<&Program>) -> Vec<String> {
    let Some(program) = program else { return Vec::new() };
    let seen: Vec<String> = program.seen.iter().map(ToString::to_string).collect();
    let mut said =
        vec![format!("extrapolated: calls and computation, from runs with {} ranks", seen.join(", "))];
    said.extend(predicted.left_out.iter().map(|run| {
        let ranks = quantity::counted(u64::from(run.ranks), "rank");
        format!("left out: the run with {ranks}, an outlier without which the others agree ({})", run.why)
    }));
    let unmeasured = predicted.points.iter().filter(|point| point.costs_not_measured > WORTH_LISTING);
    let ranks: Vec<String> = unmeasured.map(|point| quantity::count(u64::from(point.ranks))).collect();
    if !ranks.is_empty() {
        said.push(format!(
            "extrapolated: cost of collectives at {} ranks, by the algorithm the library would choose",
            ranks.join(", ")
        ));
    }
    said
}
