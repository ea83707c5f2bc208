//! Names of hosts, as SimGrid's clusters give them: a prefix, a number, a suffix. A list only where there is one.

use std::ops::RangeInclusive;

/// Names by host.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Names {
    /// Numbers between two texts.
    Numbered { prefix: String, numbers: Vec<RangeInclusive<u64>>, suffix: String },
    /// One by one.
    Listed(Vec<String>),
}

impl Names {
    /// `n-0`, `n-1` and so on.
    pub fn default_for(hosts: usize) -> Names {
        let last = hosts.saturating_sub(1) as u64;
        Names::Numbered { prefix: "n-".to_owned(), numbers: vec![0..=last], suffix: String::new() }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Names::Numbered { numbers, .. } => numbers.iter().map(|range| length(range) as usize).sum(),
            Names::Listed(names) => names.len(),
        }
    }

    pub fn get(&self, host: usize) -> Option<String> {
        match self {
            Names::Listed(names) => names.get(host).cloned(),
            Names::Numbered { prefix, numbers, suffix } => {
                let mut left = host as u64;
                for range in numbers {
                    if left < length(range) {
                        return Some(format!("{prefix}{}{suffix}", range.start() + left));
                    }
                    left -= length(range);
                }
                None
            }
        }
    }

    /// The numbers as SimGrid writes them: `0-99,200-299,400`.
    pub fn radical(numbers: &[RangeInclusive<u64>]) -> String {
        let one = |range: &RangeInclusive<u64>| match range.end() == range.start() {
            true => range.start().to_string(),
            false => format!("{}-{}", range.start(), range.end()),
        };
        numbers.iter().map(one).collect::<Vec<_>>().join(",")
    }

    /// The same read back.
    pub fn numbers(radical: &str) -> Option<Vec<RangeInclusive<u64>>> {
        let one = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.trim().parse::<u64>().ok()?..=last.trim().parse::<u64>().ok()?;
            let last = range.end().checked_sub(*range.start())?;
            (last < super::MOST_HOSTS as u64).then_some(range)
        };
        radical.split(',').map(one).collect()
    }
}

/// Only for ranges of hosts, which are never as long as all numbers.
fn length(range: &RangeInclusive<u64>) -> u64 {
    range.end() - range.start() + 1
}
