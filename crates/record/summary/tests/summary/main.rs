//! What the summary promises: exact totals, known errors, and that what must be kept is kept.

#[allow(dead_code)] // Examples use the rest.
#[path = "../../examples/stream/mod.rs"]
mod stream;

mod estimate;
mod profile;
mod sample;

use kizami_rng::SplitMix64;
use kizami_stats::counted_quantile;
use kizami_summary::{
    BLOCK_BYTES, Block, LONG_DECADE, PART_BYTES, PeerSums, Reducer, Row, Settings, State, Sums, read, total,
};
use profile::Profile;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use stream::{Mix, Paper, feed, payload, rest};

const TICKS_PER_SECOND: u64 = 1_000_000_000;

fn settings(keep: f64) -> Settings {
    Settings::fraction(keep, 64, TICKS_PER_SECOND)
}

/// Reduces rows and reads the result.
fn reduce(settings: &Settings, rows: impl Iterator<Item = Row>) -> State {
    let mut block = Block::boxed();
    let parts = feed(&mut Reducer::start(&mut block, settings), rows);
    read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable")
}

fn sums_of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Sums {
    rows.into_iter().fold(Sums::default(), |sums, row| {
        sums.plus(Sums {
            calls: 1,
            ticks: row.duration_ticks,
            bytes_out: row.bytes_out,
            bytes_in: row.bytes_in,
        })
    })
}

/// Rows of so many sites and functions, with durations over all decades.
fn jumble(seed: u64, rows: usize, sites: u64, ops: u64) -> Vec<Row> {
    let mut random = SplitMix64::new(seed);
    let mut now = 5;
    (0..rows)
        .map(|_| {
            let duration = 10f64.powf(1.0 + 8.5 * random.unit().powi(4)) as u64;
            now += duration + random.below(1_000);
            Row {
                site: (random.below(sites)) as u32,
                op: (random.below(ops)) as u16,
                communicator: (random.below(3)) as u32,
                to: (random.below(300)) as i32 - 100,
                from: (random.below(300)) as i32 - 100,
                bytes_out: (1 << (random.below(20))) * (random.below(3)),
                bytes_in: random.below(70),
                start_ticks: now - duration,
                duration_ticks: duration,
                before_ticks: Some(0),
                number: random.bits(),
            }
        })
        .collect()
}

fn per_op(rows: &[Row]) -> BTreeMap<u16, Sums> {
    let mut sums = BTreeMap::new();
    for row in rows {
        let sum: &mut Sums = sums.entry(row.op).or_default();
        *sum = sum.plus(sums_of([row]));
    }
    sums
}

fn check_totals(state: &State, rows: &[Row]) {
    let mut profile = Profile::default();
    profile.add(state, |site| site);
    if state.kinds.iter().all(|kind| kind.op.is_some()) {
        for (op, sums) in per_op(rows) {
            assert_eq!(profile.sums_of(op), sums, "of function {op}");
        }
    }
    assert_eq!(profile.sums(), sums_of(rows));
    for kind in &state.kinds {
        let slices = kind.slices.iter().fold(Sums::default(), |sums, slice| sums.plus(total(&slice.classes)));
        assert_eq!(slices, kind.sums());
    }
    let marks = state.marks.iter().fold((0, 0), |sums, mark| (sums.0 + mark.calls, sums.1 + mark.ticks));
    assert_eq!(marks, (sums_of(rows).calls, sums_of(rows).ticks));
    assert_eq!(state.missing.damage, 0);
}

#[test]
fn totals_are_exact_when_everything_fits() {
    let rows: Vec<Row> = Mix::new(3).take(200_000).collect();
    let state = reduce(&settings(0.001), rows.iter().copied());
    check_totals(&state, &rows);
    assert_eq!(state.missing, Default::default());
}

#[test]
fn totals_are_exact_when_tables_overflow() {
    for (sites, ops) in [(3_000, 7), (50, 300), (1, 1)] {
        let rows = jumble(sites, 300_000, sites, ops);
        let state = reduce(&settings(0.01), rows.iter().copied());
        check_totals(&state, &rows);
        assert_eq!(state.missing.rows_lost, 0);
        assert_eq!(state.missing.calls_without_kind > 0, sites * ops > 300);
        // Forty-eight functions can have a kind of their own for what found none.
        assert_eq!(state.kinds.iter().any(|kind| kind.op.is_none()), ops > 48);
    }
}

#[test]
fn totals_are_exact_when_nothing_is_taken() {
    let rows: Vec<Row> = Mix::new(4).take(3_000_000).collect();
    let mut block = Block::boxed();
    let mut reducer = Reducer::start(&mut block, &settings(0.01));
    for row in &rows {
        reducer.add(row, || payload(row));
    }
    let state = read(block.as_bytes(), []).expect("readable");
    check_totals(&state, &rows);
    assert!(state.missing.rows_lost > 0, "what could not be kept is told");
}

#[test]
fn messages_are_exact_by_peer() {
    let rows = jumble(9, 50_000, 10, 3);
    let state = reduce(&settings(0.001), rows.iter().copied());
    let mut truth: BTreeMap<(u32, i32), PeerSums> = BTreeMap::new();
    for row in &rows {
        if row.to >= 0 {
            let sums = truth.entry((row.communicator, row.to)).or_default();
            (sums.messages_out, sums.bytes_out) = (sums.messages_out + 1, sums.bytes_out + row.bytes_out);
        }
        if row.from >= 0 {
            let sums = truth.entry((row.communicator, row.from)).or_default();
            (sums.messages_in, sums.bytes_in) = (sums.messages_in + 1, sums.bytes_in + row.bytes_in);
        }
    }
    // 600 pairs; not all fit.
    assert!(state.peers.len() < truth.len() && state.missing.messages_without_peer > 0);
    let found: PeerSums = state.peers.iter().map(|peer| peer.sums).fold(state.other_peers, PeerSums::plus);
    assert_eq!(found, truth.values().copied().fold(PeerSums::default(), PeerSums::plus));
    for peer in &state.peers {
        assert_eq!(peer.sums, truth[&(peer.communicator, peer.rank as i32)]);
    }
}

#[test]
fn quantiles_are_within_one_percent() {
    let rows: Vec<Row> = Mix::new(5).take(300_000).collect();
    let state = reduce(&settings(0.001), rows.iter().copied());
    for kind in &state.kinds {
        let of_kind = rows.iter().filter(|row| Some(row.site) == kind.site);
        let mut durations: Vec<u64> = of_kind.map(|row| row.duration_ticks).collect();
        durations.sort_unstable();
        for share in [0.0, 0.01, 0.25, 0.5, 0.9, 0.99, 0.999, 1.0] {
            let truth = counted_quantile(durations.iter().map(|ns| (*ns, 1)), share).unwrap() as f64;
            let found = kind.sketch.quantile(share).expect("calls");
            assert!((found / truth - 1.0).abs() <= 0.01, "{share}: {found} for {truth}");
        }
    }
}

/// Sums over rows that have no exact sum of their own, over many seeds.
#[test]
fn weights_are_unbiased_and_their_errors_honest() {
    let base: Vec<Row> = Mix::new(6).take(40_000).collect();
    let amounts: [fn(&Row) -> f64; 3] = [
        |row| f64::from(u8::from(row.duration_ticks % 7 == 0)),
        |row| if row.site % 3 == 0 { row.duration_ticks as f64 } else { 0.0 },
        |row| if row.start_ticks < 300_000_000 { row.duration_ticks as f64 } else { 0.0 },
    ];
    let truths = amounts.map(|amount| base.iter().map(amount).sum::<f64>());
    // Several epochs in one case, a part of one in the other.
    for keep in [0.2, 0.01] {
        let seeds = 400;
        let mut found = [(); 3].map(|()| Vec::new());
        for seed in 0..seeds {
            let mut random = SplitMix64::new(1_000 + seed);
            let rows: Vec<Row> = base.iter().map(|row| Row { number: random.bits(), ..*row }).collect();
            let by_start: HashMap<u64, &Row> = rows.iter().map(|row| (row.start_ticks, row)).collect();
            let state = reduce(&settings(keep), rows.iter().copied());
            for (found, amount) in found.iter_mut().zip(amounts) {
                found.push(estimate::of_rows(&state.rows, |kept| amount(by_start[&kept.start_ticks])));
            }
        }
        for (found, truth) in found.iter().zip(truths) {
            let count = found.len() as f64;
            let mean = found.iter().map(|estimate| estimate.value).sum::<f64>() / count;
            let variance = found.iter().map(|estimate| (estimate.value - truth).powi(2)).sum::<f64>() / count;
            let claimed = found.iter().map(|estimate| estimate.standard_error.powi(2)).sum::<f64>() / count;
            let off = (mean - truth) / (variance / count).sqrt();
            assert!(off.abs() < 4.0, "keep {keep}: {mean} for {truth}, {off} standard errors off");
            assert!(
                (claimed / variance - 1.0).abs() < 0.3,
                "keep {keep}: variance {variance}, claimed {claimed}"
            );
        }
    }
}

#[test]
fn both_ends_of_a_message_are_kept_whatever_their_classes() {
    let settings = settings(0.01);
    for seed in 0..5 {
        let sends: Vec<Row> = Mix::new(seed).take(100_000).collect();
        // The other end: other sites, functions, durations, and more calls in between.
        let mut random = SplitMix64::new(seed + 77);
        let mut receives = jumble(seed + 50, 150_000, 40, 5);
        for (send, receive) in sends.iter().zip(receives.iter_mut()) {
            receive.number = send.number;
        }
        receives[120_000].number = random.bits();
        let kept = [reduce(&settings, sends.iter().copied()), reduce(&settings, receives.iter().copied())];
        let starts = kept
            .each_ref()
            .map(|state| state.rows.iter().map(|row| row.start_ticks).collect::<BTreeSet<u64>>());
        let common = sends
            .iter()
            .zip(&receives)
            .filter(|(send, _)| send.number as f64 / (1u128 << 64) as f64 + 1e-9 < settings.common);
        let mut count = 0;
        for (send, receive) in common {
            count += 1;
            assert!(starts[0].contains(&send.start_ticks) && starts[1].contains(&receive.start_ticks));
        }
        assert!(count as f64 > 0.7 * settings.common * 100_000.0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn slowest_and_rare_are_kept(seed: u64, sites in 1u64..40, keep in 0.0005f64..0.3) {
        let rows = jumble(seed, 30_000, sites, 2);
        let state = reduce(&settings(keep), rows.iter().copied());
        let kept: BTreeSet<u64> = state.rows.iter().map(|row| row.start_ticks).collect();
        prop_assert_eq!(kept.len(), state.rows.len(), "no row is there twice");
        let mut of_site: BTreeMap<(u32, u16), Vec<&Row>> = BTreeMap::new();
        let mut of_class: BTreeMap<(u32, u16, u32, usize), Vec<&Row>> = BTreeMap::new();
        for row in &rows {
            of_site.entry((row.site, row.op)).or_default().push(row);
            let size = 64 - (row.bytes_out | row.bytes_in).leading_zeros();
            let decade = (0..7).filter(|&decade| row.duration_ticks > 1_000 * 10u64.pow(decade)).count();
            of_class.entry((row.site, row.op, size, decade)).or_default().push(row);
        }
        if state.missing.calls_without_kind == 0 {
            for rows in of_site.values_mut() {
                rows.sort_by_key(|row| std::cmp::Reverse(row.duration_ticks));
                for row in rows.iter().take(4) {
                    prop_assert!(kept.contains(&row.start_ticks), "one of the slowest is missing");
                }
            }
        }
        if state.missing.calls_without_kind + state.missing.calls_of_wrong_class == 0 {
            for ((.., decade), rows) in &of_class {
                if rows.len() <= 8 || (*decade >= LONG_DECADE && rows.len() <= 256) {
                    for row in rows {
                        prop_assert!(kept.contains(&row.start_ticks), "a rare row is missing");
                    }
                }
            }
        }
    }

    #[test]
    fn any_bytes_can_be_read(
        seed: u64,
        harm in prop::collection::vec((0..BLOCK_BYTES, any::<u64>(), 1usize..4_096), 1..40),
        parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..4),
        cut in 0..BLOCK_BYTES,
    ) {
        let mut block = Block::boxed();
        let mut real = feed(&mut Reducer::start(&mut block, &settings(0.2)), Mix::new(seed).take(5_000));
        let mut bytes = block.as_bytes().to_vec();
        for (at, pattern, length) in harm {
            // The first words stay, so that it is taken for a block.
            for (index, byte) in bytes.iter_mut().enumerate().skip(at.max(16)).take(length) {
                *byte = pattern.rotate_left(8 * (index as u32 % 8)) as u8;
            }
        }
        real.extend(parts);
        if let Some(part) = real.first_mut() {
            let middle = part.len() / 2;
            part.iter_mut().skip(middle).take(1).for_each(|byte| *byte ^= seed as u8);
        }
        let state = read(&bytes, real.iter().map(Vec::as_slice)).expect("it begins as a block");
        let (start, end) = (state.span.0 / 2, state.span.1 / 2);
        for kind in 0..state.kinds.len() {
            estimate::kind_in_range(&state, kind, start, end);
        }
        estimate::in_range(&state, start, end);
        Profile::default().add(&state, |site| site);
        prop_assert!(read(&bytes[..cut], []).is_err());
    }
}

/// How many calls started in a range, and how long they took.
fn truth(rows: &[Row], start: u64, end: u64) -> Sums {
    let first = rows.partition_point(|row| row.start_ticks < start);
    let beyond = rows.partition_point(|row| row.start_ticks < end);
    sums_of(&rows[first..beyond.max(first)])
}

/// Calls that come in bursts, faster and slower: the hardest for sums over time.
fn bursts(seed: u64, count: usize) -> Vec<Row> {
    let mut random = SplitMix64::new(seed);
    let mut rows: Vec<Row> = Mix::new(seed).take(count).collect();
    let (mut now, mut gap, mut kind) = (1, 1_000.0, 0);
    for row in &mut rows {
        if random.unit() < 0.002 {
            gap = 10f64.powf(2.0 + 6.0 * random.unit());
            kind = random.below(3) as u32;
        }
        if random.unit() < 0.7 {
            row.site = kind;
        }
        now += (gap * 2.0 * random.unit()) as u64;
        row.start_ticks = now;
        now += row.duration_ticks;
    }
    rows
}

#[test]
fn sums_over_any_range_are_as_good_as_they_say() {
    let streams = [
        ("paper", Paper::new(1, 5, 13).take(150_000).collect()),
        ("mix", Mix::new(8).take(250_000).collect()),
        ("bursts", bursts(9, 150_000)),
    ];
    for (name, rows) in streams {
        let rows: Vec<Row> = rows;
        let state = reduce(&settings(0.001), rows.iter().copied());
        let span = state.span.1 - state.span.0;
        let mut random = SplitMix64::new(21);
        let (mut within, mut tries, mut widest) = (0, 0, 0f64);
        for _ in 0..2_000 {
            let mut ends = [(); 2].map(|()| state.span.0 + (span as f64 * random.unit()) as u64);
            ends.sort_unstable();
            let truth_all = truth(&rows, ends[0], ends[1]);
            let found = estimate::in_range(&state, ends[0], ends[1]);
            for (found, truth) in [(found.calls, truth_all.calls), (found.ticks, truth_all.ticks)] {
                tries += 1;
                within += u32::from(
                    (found.value - truth as f64).abs() <= 3.0 * found.standard_error + 1e-6 * found.value,
                );
                if truth_all.calls >= 10_000 {
                    widest = widest.max(found.standard_error / found.value);
                }
            }
        }
        assert!(f64::from(within) >= 0.99 * f64::from(tries), "{name}: {within} of {tries}");
        assert!(widest < 0.05, "{name}: standard error {widest}");

        let (mut within, mut tries, mut widest) = (0, 0, 0f64);
        for index in 0..state.kinds.len() {
            let key = (state.kinds[index].site, state.kinds[index].op, state.kinds[index].size_class);
            let of_kind: Vec<Row> = rows
                .iter()
                .filter(|row| {
                    let size = 64 - (row.bytes_out | row.bytes_in).leading_zeros();
                    key == (Some(row.site), Some(row.op), Some(size as u8))
                })
                .copied()
                .collect();
            for _ in 0..100 {
                let mut ends = [(); 2].map(|()| state.span.0 + (span as f64 * random.unit()) as u64);
                ends.sort_unstable();
                let truth = truth(&of_kind, ends[0], ends[1]);
                let found = estimate::kind_in_range(&state, index, ends[0], ends[1]);
                if truth.calls >= 10_000 {
                    widest = widest.max(found.ticks.standard_error / found.ticks.value);
                }
                let figures = [
                    (found.calls, truth.calls),
                    (found.ticks, truth.ticks),
                    (found.bytes_out, truth.bytes_out),
                    (found.bytes_in, truth.bytes_in),
                ];
                for (found, truth) in figures {
                    tries += 1;
                    let off = (found.value - truth as f64).abs();
                    within += u32::from(off <= 3.0 * found.standard_error + 1e-6 * found.value);
                }
            }
        }
        assert!(f64::from(within) >= 0.99 * f64::from(tries), "{name}, by kind: {within} of {tries}");
        // Where one kind makes most of the calls, the marks describe it; of many kinds less is known.
        println!("{name}, by kind: standard error {widest}");
        assert!(
            widest < if name == "paper" { 0.05 } else { 0.15 },
            "{name}, by kind: standard error {widest}"
        );
    }
}

#[test]
fn every_call_above_10_ms_is_kept_for_every_seed() {
    let settings = settings(0.001);
    let mut block = Block::boxed();
    let mut calls = 0;
    for seed in 0..1_000 {
        // A twentieth of the paper's run, and with as many long calls as all of it.
        let mut random = SplitMix64::new(seed);
        let mut rows: Vec<Row> = Paper::new(seed, 3, 13).take(22_000).collect();
        for _ in 0..85 {
            rows[random.index(22_000)].duration_ticks = 10_000_001 + random.below(90_000_000);
        }
        let parts = feed(&mut Reducer::start(&mut block, &settings), rows.iter().copied());
        let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
        let kept: BTreeSet<u64> = state.rows.iter().map(|row| row.start_ticks).collect();
        for row in rows.iter().filter(|row| row.duration_ticks > 10_000_000) {
            calls += 1;
            assert!(kept.contains(&row.start_ticks), "seed {seed}");
        }
    }
    assert!(calls > 80_000);
}

/// A process may be killed at any moment: what is in memory then must be enough.
#[test]
fn nothing_is_lost_or_there_twice_when_it_is_cut_off_anywhere() {
    let rows: Vec<Row> = Mix::new(12).take(60_000).collect();
    let mut block = Block::boxed();
    let address: *mut Block = &mut *block;
    // SAFETY: the box outlives both uses, which take turns on this thread.
    let mut reducer = Reducer::start(unsafe { &mut *address }, &settings(0.3));
    // SAFETY: as above.
    let bytes = || unsafe { (*address).as_bytes().to_vec() };
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut buffer = vec![0; PART_BYTES];
    let mut random = SplitMix64::new(13);
    let check = |parts: &[Vec<u8>], added: usize| {
        let state = read(&bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
        check_totals(&state, &rows[..added]);
        let starts: BTreeSet<u64> = state.rows.iter().map(|row| row.start_ticks).collect();
        assert_eq!(starts.len(), state.rows.len(), "a row is there twice");
        state.rows.len()
    };
    let mut checked = 0;
    for (index, row) in rows.iter().enumerate() {
        let due = reducer.add(row, || payload(row));
        if random.unit() < 0.001 {
            check(&parts, index + 1);
        }
        if due {
            loop {
                let length = reducer.take(&mut buffer);
                if length == 0 {
                    break;
                }
                if checked < 60 {
                    // Killed before it was stored, and after.
                    let before = check(&parts, index + 1);
                    parts.push(buffer[..length].to_vec());
                    assert_eq!(check(&parts, index + 1), before);
                    checked += 1;
                } else {
                    parts.push(buffer[..length].to_vec());
                }
            }
        }
    }
    assert!(checked > 10 && check(&parts, rows.len()) > 1_000);
}

#[test]
fn what_is_handed_over_at_the_end_is_the_same() {
    let rows: Vec<Row> = Mix::new(17).take(100_000).collect();
    let mut block = Block::boxed();
    let mut reducer = Reducer::start(&mut block, &settings(0.01));
    let mut parts = feed(&mut reducer, rows.iter().copied());
    let kept = reduce(&settings(0.01), rows.iter().copied()).rows;
    parts.extend(rest(&mut reducer));
    let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
    check_totals(&state, &rows);
    assert_eq!(state.rows.len(), kept.len());
    for (row, before) in state.rows.iter().zip(&kept) {
        assert_eq!(
            (row.start_ticks, row.payload, row.kind),
            (before.start_ticks, before.payload, before.kind)
        );
        assert!((row.probability / before.probability - 1.0).abs() < 1e-4);
    }
    assert!(parts.last().is_some_and(|part| part[0] == 2), "rows come last");
}

#[test]
fn rows_added_while_others_are_taken_are_not_lost() {
    let rows: Vec<Row> = Mix::new(14).take(60_000).collect();
    let mut block = Block::boxed();
    let mut reducer = Reducer::start(&mut block, &settings(0.3));
    let mut parts: Vec<Vec<u8>> = Vec::new();
    let mut buffer = vec![0; PART_BYTES];
    for row in &rows {
        // One part at a time, with calls in between.
        if reducer.add(row, || payload(row)) {
            let length = reducer.take(&mut buffer);
            if length > 0 {
                parts.push(buffer[..length].to_vec());
            }
        }
    }
    let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
    check_totals(&state, &rows);
    let starts: BTreeSet<u64> = state.rows.iter().map(|row| row.start_ticks).collect();
    assert_eq!(starts.len(), state.rows.len());
    let calls = estimate::of_rows(&state.rows, |_| 1.0);
    assert!((calls.value - 60_000.0).abs() < 4.0 * calls.standard_error, "{calls:?}");
}

#[test]
fn no_more_is_kept_than_wished_for_but_for_the_rare() {
    for (keep, calls) in [(0.001, 1_000_000), (0.01, 1_000_000), (0.1, 400_000)] {
        let settings = settings(keep);
        let mut block = Block::boxed();
        let parts = feed(&mut Reducer::start(&mut block, &settings), Mix::new(15).take(calls));
        let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
        let wish = settings.rows(1.0) * calls as f64;
        let classes: usize =
            state.kinds.iter().map(|kind| kind.classes.iter().filter(|sums| sums.calls > 0).count()).sum();
        let anyway = 8 * classes + 4 * state.kinds.len() * 10;
        let kept = state.rows.len() as f64;
        assert!(kept <= wish * 1.05 + anyway as f64, "{kept} of {wish}");
        assert!(kept > wish * 0.5);
        let written: usize = parts.iter().map(Vec::len).sum();
        assert!(
            (written as f64) < 1.1 * keep * 64.0 * calls as f64 + 100.0 * anyway as f64,
            "{written} bytes"
        );
    }
}

#[test]
fn a_rate_is_kept_however_many_calls_there_are() {
    for gap in [10_000, 100_000, 2_000_000] {
        let mut now = 1;
        let rows: Vec<Row> = Mix::new(16)
            .take(600_000)
            .map(|row| {
                now += gap;
                Row { start_ticks: now, duration_ticks: row.duration_ticks % 9_000, ..row }
            })
            .collect();
        let mut block = Block::boxed();
        let rate = Settings::rate(2_000.0, TICKS_PER_SECOND);
        let parts = feed(&mut Reducer::start(&mut block, &rate), rows.iter().copied());
        let state = read(block.as_bytes(), parts.iter().map(Vec::as_slice)).expect("readable");
        check_totals(&state, &rows);
        let seconds = (gap * 600_000) as f64 / 1e9;
        let written = parts.iter().map(Vec::len).sum::<usize>() as f64;
        assert!(written < 1.3 * 2_000.0 * seconds + 60_000.0, "{written} bytes in {seconds} s");
        let rows = state.rows.len() as f64;
        assert!(rows < 1.1 * 12.5 * seconds + 1_000.0, "{rows} rows in {seconds} s");
    }
}
