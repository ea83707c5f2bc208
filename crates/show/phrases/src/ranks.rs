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
    let name = |(first, last): (u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    let names: Vec<String> = stretches(ranks).map(name).collect();
    match &names[..] {
        [one] if ranks.len() == 1 => format!("rank {one}"),
        [] => "ranks".to_owned(),
        [one] => format!("ranks {one}"),
        [most @ .., last] => format!("ranks {} and {last}", most.join(", ")),
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
}
