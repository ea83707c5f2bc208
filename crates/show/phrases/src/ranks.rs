//! Which ranks a sentence is about.

use kizami_explain::{Who, stretches};

/// As the subject of a sentence, and whether its verb is that of one.
pub(crate) fn subject(who: &Who) -> (String, bool) {
    match who {
        Who::Named(ranks) => (named(ranks), ranks.len() == 1),
        Who::Many(ranks) => (format!("{ranks} ranks"), false),
        Who::InTurns => ("different ranks in turn".to_owned(), false),
    }
}

/// A list of ranks, such as `rank 0` or `ranks 1-3, 5 and 7`.
pub(crate) fn named(ranks: &[u32]) -> String {
    first_named(ranks, usize::MAX)
}

/// The same with so many ranks and ranges at most; ranks after them are counted: `ranks 0-2, 5 and 9 more`.
pub(crate) fn first_named(ranks: &[u32], most: usize) -> String {
    let name = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let mut names: Vec<String> = stretches(ranks).take(most).map(name).collect();
    let more: u32 = stretches(ranks).skip(most).map(|(first, last)| last - first + 1).sum();
    names.extend((more > 0).then(|| format!("{more} more")));
    match (ranks.len(), listed(&names)) {
        (0, _) => "ranks".to_owned(),
        (1, rank) => format!("rank {rank}"),
        (_, ranks) => format!("ranks {ranks}"),
    }
}

/// `a, b and c`.
pub(crate) fn listed(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_follow_each_other_are_named_together() {
        let words = [
            (&[0][..], "rank 0"),
            (&[1, 2], "ranks 1 and 2"),
            (&[1, 2, 3], "ranks 1-3"),
            (&[0, 1, 5, 6, 7], "ranks 0, 1 and 5-7"),
        ];
        for (ranks, expected) in words {
            assert_eq!(named(ranks), expected);
        }
    }

    #[test]
    fn ranks_after_the_first_names_are_counted() {
        let even: Vec<u32> = (0..10).map(|n| 2 * n).collect();
        assert_eq!(first_named(&even, 6), "ranks 0, 2, 4, 6, 8, 10 and 4 more");
        assert_eq!(first_named(&[0, 1, 2, 5, 7, 8], 2), "ranks 0-2, 5 and 2 more");
        assert_eq!(first_named(&[3], 6), "rank 3");
    }
}
