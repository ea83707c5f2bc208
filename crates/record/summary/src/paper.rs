//! The scheme of Kamoshida and Taura, to compare with: rows are sampled by the rarity of their class.
//!
//! Of every `n` rows that were collected, `x` are sampled one after the other, without putting back, a row with
//! the probability s / sum of s, where s = 1 / f(rows of its class among the n). Classes are the function and the decade of
//! the duration, six of them, from up to 1 us to more than 10 ms. [`Windows`] does that for the calls of one rank: it knows
//! classes, and the caller keeps the rows.
//!
//! Sums cannot be recovered from the sample; that is why this is here for comparison only.

use super::sample::Series;

/// The importance of a row, which falls with the size of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Importance {
    /// f(h) = 1: all rows alike.
    One,
    /// f(h) = h: all classes alike.
    H,
    /// f(h) = h^2: rare classes first.
    H2,
}

impl Importance {
    /// All there are.
    pub const ALL: [Importance; 3] = [Importance::One, Importance::H, Importance::H2];

    /// As it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Importance::One => "paper:one",
            Importance::H => "paper:h",
            Importance::H2 => "paper:h2",
        }
    }

    /// The one that is typed so.
    pub fn by_name(name: &str) -> Option<Importance> {
        Importance::ALL.into_iter().find(|importance| importance.name() == name)
    }
}

/// The longest calls of each decade that the paper distinguishes, but for the last, which has no end.
const DECADE_ENDS_NS: [u64; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
/// Decades that the paper distinguishes.
pub const PAPER_DECADES: u64 = DECADE_ENDS_NS.len() as u64 + 1;
/// Functions have numbers below this.
const OPS: u64 = 1024;
/// Classes have numbers below this.
const CLASSES: usize = (OPS * PAPER_DECADES) as usize;

/// The decade of a duration in the paper: 0 for up to 1 us, 5 for more than 10 ms.
#[inline]
pub fn decade(nanoseconds: u64) -> u64 {
    DECADE_ENDS_NS.iter().map(|end| u64::from(nanoseconds > *end)).sum()
}

/// The class of a call: its function and the decade of its duration.
#[inline]
fn class(op: u16, duration_ns: u64) -> u32 {
    (u64::from(op) % OPS * PAPER_DECADES + decade(duration_ns)) as u32
}

/// The size of the sample, and of what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheme {
    /// The importance of a row, which falls with the size of its class.
    pub f: Importance,
    /// Rows that are collected before some of them are sampled: the paper's n.
    pub n: usize,
    /// Rows that are sampled of them: the paper's x.
    pub x: usize,
}

impl Scheme {
    /// The size of the sample of so many rows.
    fn share(self, rows: usize) -> usize {
        (self.x as f64 * rows as f64 / self.n.max(1) as f64).round() as usize
    }
}

/// Collects the classes of rows, and samples from each window.
pub struct Windows {
    scheme: Scheme,
    seed: u64,
    /// Windows that were sampled so far.
    windows: u64,
    classes: Vec<u32>,
    keys: Vec<(f64, u32)>,
    counts: Vec<u32>,
    sampled: Vec<u32>,
}

impl Windows {
    /// One that has seen nothing. The seed is for all windows; other samplers must have another.
    pub fn new(scheme: Scheme, seed: u64) -> Windows {
        Windows {
            scheme: Scheme { n: scheme.n.max(1), x: scheme.x.min(scheme.n), ..scheme },
            seed,
            windows: 0,
            classes: Vec::new(),
            keys: Vec::new(),
            counts: vec![0; CLASSES],
            sampled: Vec::new(),
        }
    }

    /// Rows collected since the last sample.
    pub fn rows(&self) -> usize {
        self.classes.len()
    }

    /// Adds a row. True if [`Windows::sample`] is due.
    #[inline]
    pub fn add(&mut self, op: u16, duration_ns: u64) -> bool {
        self.classes.push(class(op, duration_ns));
        self.classes.len() >= self.scheme.n
    }

    /// Draws from the rows that were added since last time, and begins anew. Of fewer rows than a window has, fewer are
    /// drawn, in proportion. Returns their indices, ascending.
    pub fn sample(&mut self) -> &[u32] {
        let rows = self.classes.len();
        self.keys.resize(rows, (0.0, 0));
        self.sampled.resize(self.scheme.share(rows).min(rows), 0);
        let seed = Series::alone(self.seed, 0).number(self.windows);
        let (keys, counts) = (&mut self.keys, &mut self.counts);
        let found = sample(&self.classes, self.scheme.f, seed, keys, counts, &mut self.sampled);
        self.windows += 1;
        self.classes.clear();
        &self.sampled[..found]
    }
}

/// Draws `sampled.len()` of the rows of a window. `classes` has the class of each row, below `counts.len()`;
/// rows with another class are never sampled. `keys` and `counts` are memory to work in, `keys` as long as
/// `classes`. Returns how many were sampled; their indices are in `sampled`, ascending.
pub fn sample(
    classes: &[u32],
    importance: Importance,
    seed: u64,
    keys: &mut [(f64, u32)],
    counts: &mut [u32],
    sampled: &mut [u32],
) -> usize {
    counts.fill(0);
    for &class in classes {
        if let Some(count) = counts.get_mut(class as usize) {
            *count += 1;
        }
    }
    // Drawing without putting back is the same as taking those whose exponential clocks of rate s ring first.
    let mut used = 0;
    let mut numbers = Series::alone(seed, 0);
    for (index, (&class, key)) in classes.iter().zip(keys.iter_mut()).enumerate() {
        let frequency = counts.get(class as usize).map_or(0.0, |&count| f64::from(count));
        let mean = match importance {
            Importance::One => 1.0,
            Importance::H => frequency,
            Importance::H2 => frequency * frequency,
        };
        let chance = numbers.next_number() >> 11;
        let chance = (chance as f64 + 0.5) / (1u64 << 53) as f64;
        let rings = if frequency == 0.0 { f64::INFINITY } else { -chance.ln() * mean };
        *key = (rings, index as u32);
        used = index + 1;
    }
    let count = sampled.len().min(used);
    let keys = &mut keys[..used];
    if count < keys.len() && count > 0 {
        keys.select_nth_unstable_by(count - 1, |one, other| one.0.total_cmp(&other.0));
    }
    let mut found = 0;
    for &(_, index) in keys[..count].iter().filter(|key| key.0.is_finite()) {
        sampled[found] = index;
        found += 1;
    }
    sampled[..found].sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_are_those_of_the_paper() {
        let decades = [1_000, 1_001, 10_000, 100_000, 1_000_000, 10_000_000, 10_000_001].map(decade);
        assert_eq!(decades, [0, 1, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn rare_classes_are_sampled_by_importance() {
        // 10 rows of class 1 among 9,990 of class 0.
        let classes: Vec<u32> = (0..10_000).map(|row| u32::from(row % 1_000 == 0)).collect();
        let (mut keys, mut counts, mut sampled) = (vec![(0.0, 0); 10_000], vec![0; 2], vec![0; 100]);
        let mut rare = |importance| {
            let rows = (0..20).map(|seed| {
                let count = sample(&classes, importance, seed, &mut keys, &mut counts, &mut sampled);
                assert_eq!(count, 100);
                sampled.iter().filter(|&&row| row % 1_000 == 0).count()
            });
            rows.sum::<usize>() as f64 / 20.0
        };
        assert!(rare(Importance::One) < 1.0);
        assert!(rare(Importance::H) > 9.0);
        assert_eq!(rare(Importance::H2), 10.0);
    }

    #[test]
    fn a_class_is_a_function_and_a_decade() {
        assert_ne!(class(1, 500), class(2, 500));
        assert_ne!(class(1, 500), class(1, 5_000));
        assert_eq!(class(1, 500), class(1, 1_000));
        assert_ne!(class(1, u64::MAX), class(2, 0));
        let all: Vec<u32> = (0..OPS as u16).flat_map(|op| [class(op, 0), class(op, u64::MAX)]).collect();
        assert!(all.is_sorted() && all.iter().all(|class| (*class as usize) < CLASSES));
        assert!((class(u16::MAX, u64::MAX) as usize) < CLASSES);
    }

    #[test]
    fn the_rest_is_sampled_in_proportion() {
        let scheme = Scheme { f: Importance::H2, n: 1_000, x: 10 };
        let mut windows = Windows::new(scheme, 7);
        let mut sampled = Vec::new();
        for row in 0..2_260u64 {
            // Every 400th is long, and of a function of its own.
            let (op, duration_ns) = if row % 400 == 0 { (9, 20_000_000) } else { (3, 700) };
            if windows.add(op, duration_ns) {
                sampled.push(windows.sample().to_vec());
            }
        }
        assert_eq!(windows.rows(), 260);
        sampled.push(windows.sample().to_vec());
        assert_eq!((windows.rows(), windows.sample().len()), (0, 0));
        assert_eq!(sampled.iter().map(Vec::len).collect::<Vec<_>>(), [10, 10, 3]);
        assert!(sampled.iter().all(|rows| rows.is_sorted()));
        assert_eq!([0, 400, 800].map(|row| sampled[0].contains(&row)), [true; 3]);
        assert_eq!([200, 600].map(|row| sampled[1].contains(&row)), [true; 2]);
        // No more than there are can be sampled.
        let mut all = Windows::new(Scheme { x: 5_000, ..scheme }, 7);
        assert!((0..1_000).any(|_| all.add(1, 1)));
        assert_eq!(all.sample().len(), 1_000);
    }

    #[test]
    fn importances_have_names() {
        for importance in Importance::ALL {
            assert_eq!(Importance::by_name(importance.name()), Some(importance));
        }
        assert_eq!(Importance::by_name("h2"), None);
    }
}
