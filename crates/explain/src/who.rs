//! Which ranks something is about, in words.

/// More ranks than this, or stretches of ranks, are not named one by one.
pub(crate) const FEW_RANKS: usize = 4;

/// Who did it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Who {
    /// A few ranks or stretches of ranks.
    Named(Vec<u32>),
    /// So many, late together.
    Many(usize),
    /// Many, one after the other.
    InTurns,
}

impl Who {
    /// The ranks, if they are named.
    pub(crate) fn ranks(&self) -> Vec<u32> {
        if let Who::Named(ranks) = self { ranks.clone() } else { Vec::new() }
    }

    /// As the subject of a sentence, and whether it is one.
    pub(crate) fn subject(&self) -> (String, bool) {
        match self {
            Who::Named(ranks) => (in_words(ranks), ranks.len() == 1),
            Who::Many(ranks) => (format!("{ranks} ranks"), false),
            Who::InTurns => ("now this rank, now that one".to_owned(), true),
        }
    }
}

/// Ranks that follow each other: the first and the last of each stretch. Two ranks are no stretch.
pub(crate) fn stretches(ranks: &[u32]) -> impl Iterator<Item = (u32, u32)> {
    ranks.chunk_by(|a, b| a + 1 == *b).flat_map(|stretch| match stretch {
        [first, second] => vec![(*first, *first), (*second, *second)],
        _ => vec![(stretch[0], stretch[stretch.len() - 1])],
    })
}

/// Ranks in words, such as `rank 0` or `ranks 1-3, 5 and 7`.
pub(crate) fn in_words(ranks: &[u32]) -> String {
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
            assert_eq!(in_words(ranks), expected);
        }
    }
}
