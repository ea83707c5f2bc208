//! Straight lines from size to size: the form in which SimGrid's MPI is told what messages cost.
//!
//! [`pieces`] lays a line with few bends through times. Bends are at sizes that were measured. For every number of bends the
//! best places are looked for, and of those numbers the one counts whose lines foretell best each time that is left out, and
//! meet best those that are not. Heights are those with the least squares of errors. Errors are shares, so that small messages
//! count like large ones.
//!
//! A latency and a bandwidth cannot make a line that falls, or one that is below zero at no bytes. Where times fall, or grow
//! faster than sizes, there are steps instead, small enough to be within [`STEP`] of the line.

use std::ops::Range;

/// A time to be met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// At so many bytes.
    pub bytes: u64,
    /// The time, which is above zero.
    pub time_ns: f64,
}

/// A straight line, from a size to where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Its smallest size.
    pub from_bytes: u64,
    /// At no bytes at all.
    pub fixed_ns: f64,
    /// For each byte.
    pub per_byte_ns: f64,
}

/// Lines at most.
const MOST_LINES: usize = 12;

/// A further line must make the errors, of what is foretold and of what is met, smaller by this part of the noise.
const PRICE: f64 = 0.5;

/// How far steps may be from the line they stand for, as a factor.
const STEP: f64 = 1.15;

impl Piece {
    /// The time at a size.
    pub fn time_ns(&self, bytes: u64) -> f64 {
        self.fixed_ns + self.per_byte_ns * bytes as f64
    }
}

/// Which of pieces, or of other things that begin at sizes, holds at a size.
pub fn holding<T>(all: &[T], begin: impl Fn(&T) -> u64, bytes: u64) -> Option<&T> {
    let behind = all.partition_point(|one| begin(one) <= bytes);
    all.get(behind.saturating_sub(1))
}

/// Lines through points, which are in the order of sizes. `noise` is what times are uncertain by, as a share.
pub fn pieces(points: &[Point], noise: f64) -> Vec<Piece> {
    if let [point] = points {
        return vec![Piece { from_bytes: 0, fixed_ns: point.time_ns, per_byte_ns: 0.0 }];
    }
    let all = bends(points);
    let mut errors: Vec<f64> = all.iter().map(|bends| error_at(points, bends, points)).collect();
    for left_out in 1..points.len().saturating_sub(1) {
        let mut others = points.to_vec();
        let point = others.remove(left_out);
        let fewer = bends(&others);
        // With as many lines as there are points to end them, one point less has the same lines as with one line less.
        let fewer = fewer.iter().chain(fewer.last());
        for (error, bends) in errors.iter_mut().zip(fewer) {
            *error += error_at(&others, bends, &[point]);
        }
    }
    let price = PRICE * noise * points.len() as f64;
    let priced = errors.iter().zip(1..).map(|(error, lines)| error + price * f64::from(lines));
    let best = all.iter().zip(priced).min_by(|(_, one), (_, other)| one.total_cmp(other));
    best.map_or_else(Vec::new, |(bends, _)| lines(bends, &heights(points, bends), points))
}

/// Errors of lines at some sizes, added up.
fn error_at(points: &[Point], bends: &[usize], sizes: &[Point]) -> f64 {
    let lines = lines(bends, &heights(points, bends), points);
    let error = |point: &Point| {
        let found = holding(&lines, |line| line.from_bytes, point.bytes);
        (found.map_or(0.0, |line| line.time_ns(point.bytes)) / point.time_ns - 1.0).abs()
    };
    sizes.iter().map(error).sum()
}

/// By number of lines, from one on: the points at which lines begin and end, if those between them are to be near.
fn bends(points: &[Point]) -> Vec<Vec<usize>> {
    let last = points.len().saturating_sub(1);
    let errors: Vec<Vec<f64>> =
        (0..=last).map(|end| (0..end).map(|start| squares(points, start, end)).collect()).collect();
    // By point at which the last line ends: the least error, and where that line begins.
    let mut ways = vec![vec![(f64::INFINITY, 0); last + 1]];
    ways[0][0].0 = 0.0;
    let mut found = Vec::new();
    for _ in 0..last.min(MOST_LINES) {
        let before = &ways[ways.len() - 1];
        let best = |end: usize| {
            let ways = (0..end).map(|start| (before[start].0 + errors[end][start], start));
            ways.min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or((f64::INFINITY, 0))
        };
        let next = (0..=last).map(best).collect();
        ways.push(next);
        let mut bends = vec![last];
        for ways in ways[1..].iter().rev() {
            bends.push(ways[bends[bends.len() - 1]].1);
        }
        bends.reverse();
        found.push(bends);
    }
    found
}

/// The squares of the errors of all points between two, if the line leads from the one to the other.
fn squares(points: &[Point], start: usize, end: usize) -> f64 {
    let (from, to) = (points[start], points[end]);
    let error = |point: &Point| {
        let share = part(from.bytes..to.bytes, point.bytes);
        (from.time_ns + share * (to.time_ns - from.time_ns)) / point.time_ns - 1.0
    };
    points[start + 1..end].iter().map(|point| error(point).powi(2)).sum()
}

/// How far a size is on its way from one to another.
fn part(between: Range<u64>, bytes: u64) -> f64 {
    (bytes - between.start) as f64 / (between.end - between.start).max(1) as f64
}

/// The times at bends that have the least squares of errors: a system in which each bend knows its two neighbours.
fn heights(points: &[Point], bends: &[usize]) -> Vec<f64> {
    let count = bends.len();
    let (mut own, mut next, mut met) = (vec![0.0; count], vec![0.0; count], vec![0.0; count]);
    for (line, ends) in bends.windows(2).enumerate() {
        // The last point of a line is the first of the next one.
        let is_last = line + 2 == count;
        let of = &points[ends[0]..ends[1] + usize::from(is_last)];
        let between = points[ends[0]].bytes..points[ends[1]].bytes;
        for point in of {
            let share = part(between.clone(), point.bytes);
            let [left, right] = [1.0 - share, share].map(|share| share / point.time_ns);
            own[line] += left * left;
            own[line + 1] += right * right;
            next[line] += left * right;
            met[line] += left;
            met[line + 1] += right;
        }
    }
    for bend in 1..count {
        let factor = next[bend - 1] / own[bend - 1];
        own[bend] -= factor * next[bend - 1];
        met[bend] -= factor * met[bend - 1];
    }
    let mut heights = vec![0.0; count];
    for bend in (0..count).rev() {
        let behind = heights.get(bend + 1).map_or(0.0, |height| next[bend] * height);
        heights[bend] = ((met[bend] - behind) / own[bend]).max(0.0);
    }
    heights
}

/// The lines between bends, or steps in their place.
fn lines(bends: &[usize], heights: &[f64], points: &[Point]) -> Vec<Piece> {
    let mut lines: Vec<Piece> = Vec::new();
    for (ends, times) in bends.windows(2).zip(heights.windows(2)) {
        let between = points[ends[0]].bytes..points[ends[1]].bytes;
        lines.extend(line_or_steps(between, times[0], times[1]));
    }
    if let Some(first) = lines.first_mut() {
        first.from_bytes = 0;
    }
    lines
}

fn line_or_steps(between: Range<u64>, from_ns: f64, to_ns: f64) -> Vec<Piece> {
    let (start, end) = (between.start as f64, between.end as f64);
    let per_byte_ns = (to_ns - from_ns) / (end - start);
    let fixed_ns = from_ns - per_byte_ns * start;
    let from_bytes = between.start + 1;
    if per_byte_ns >= 0.0 && fixed_ns >= 0.0 {
        return vec![Piece { from_bytes, fixed_ns, per_byte_ns }];
    }
    // What changes though it should not: the time where it falls, else the time of a byte.
    let falls = per_byte_ns < 0.0;
    let changed = if falls { from_ns / to_ns } else { (to_ns / end) / (from_ns / start.max(1.0)) };
    let steps = (changed.ln() / (2.0 * STEP.ln())).ceil().clamp(1.0, MOST_LINES as f64);
    let size = |step: f64| start.max(1.0) * (end / start.max(1.0)).powf(step / steps);
    let step = |number: u32| {
        let number = f64::from(number);
        let middle = size(number + 0.5);
        let time_ns = (fixed_ns + per_byte_ns * middle).max(0.0);
        let from_bytes = (size(number) as u64 + 1).max(from_bytes);
        match falls {
            true => Piece { from_bytes, fixed_ns: time_ns, per_byte_ns: 0.0 },
            false => Piece { from_bytes, fixed_ns: 0.0, per_byte_ns: time_ns / middle },
        }
    };
    (0..steps as u32).map(step).collect()
}

/// The two factors, not below zero, that bring sums of two parts nearest to times, by the least squares of errors as shares
/// of a whole.
pub fn two_factors(rows: impl Iterator<Item = ([f64; 2], f64, f64)>) -> [f64; 2] {
    let (mut square, mut both, mut other_square, mut met, mut other_met) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for ([one, other], time_ns, whole_ns) in rows {
        let [one, other, time] = [one, other, time_ns].map(|part| part / whole_ns);
        square += one * one;
        both += one * other;
        other_square += other * other;
        met += one * time;
        other_met += other * time;
    }
    let determinant = square * other_square - both * both;
    let alone = |met: f64, square: f64| if square > 0.0 { (met / square).max(0.0) } else { 0.0 };
    if determinant <= square * other_square * 1e-12 {
        return [alone(met, square), 0.0];
    }
    let first = (met * other_square - other_met * both) / determinant;
    let second = (other_met * square - met * both) / determinant;
    match (first < 0.0, second < 0.0) {
        (true, _) => [0.0, alone(other_met, other_square)],
        (_, true) => [alone(met, square), 0.0],
        _ => [first, second],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(times: impl Fn(u64) -> f64) -> Vec<Point> {
        (2..=22).map(|exponent| Point { bytes: 1 << exponent, time_ns: times(1 << exponent) }).collect()
    }

    fn time_ns(pieces: &[Piece], bytes: u64) -> f64 {
        holding(pieces, |piece| piece.from_bytes, bytes).map_or(0.0, |piece| piece.time_ns(bytes))
    }

    #[test]
    fn exact_lines_are_found() {
        let times = |bytes: u64| (400.0 + 0.3 * bytes as f64).min(1_000.0 + 0.1 * bytes as f64);
        let found = pieces(&points(times), 1e-3);
        assert!((2..=3).contains(&found.len()), "{found:?}");
        for bytes in [4_u64, 100, 512, 8_192, 3_000_000] {
            assert!((time_ns(&found, bytes) / times(bytes) - 1.0).abs() < 1e-3, "{bytes}: {found:?}");
        }
    }

    #[test]
    fn noise_is_no_reason_for_another_line() {
        let shaken = |bytes: u64| {
            let by = if bytes.ilog2().is_multiple_of(2) { 1.02 } else { 0.98 };
            by * (500.0 + 0.2 * bytes as f64)
        };
        assert!(pieces(&points(shaken), 0.05).len() <= 2);
    }

    #[test]
    fn what_no_latency_and_bandwidth_can_do_becomes_steps() {
        let steep = points(|bytes| (bytes as f64).powf(1.5));
        let falling = points(|bytes| 1e6 / (bytes as f64).sqrt());
        for times in [steep, falling] {
            let found = pieces(&times, 1e-3);
            assert!(found.iter().all(|piece| piece.fixed_ns >= 0.0 && piece.per_byte_ns >= 0.0), "{found:?}");
            assert!(found.windows(2).all(|pair| pair[0].from_bytes < pair[1].from_bytes), "{found:?}");
        }
        let steps = line_or_steps(1 << 20..1 << 22, 73_000.0, 480_000.0);
        let chord = |bytes: u64| 73_000.0 + part(1 << 20..1 << 22, bytes) * 407_000.0;
        for bytes in (1 << 20..1 << 22).step_by(100_000).skip(1) {
            assert!((time_ns(&steps, bytes) / chord(bytes) - 1.0).abs() < 0.2, "{bytes}: {steps:?}");
        }
    }

    #[test]
    fn few_points_are_lines_too() {
        let point = |bytes, time_ns| Point { bytes, time_ns };
        assert_eq!(time_ns(&pieces(&[point(8, 5.0)], 1e-3), 8), 5.0);
        assert!((time_ns(&pieces(&[point(8, 5.0), point(16, 6.0)], 1e-3), 24) - 7.0).abs() < 1e-9);
        assert!(pieces(&[], 1e-3).is_empty());
    }
}
