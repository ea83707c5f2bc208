//! What a run of the whole program said about places that depend on data: `X.skel/observed/RANK.values`.
//!
//! A first line `kizami-observed 1 RANK RANKS`, then lines `ORACLE VALUE TIMES`: runs of equal values, in the order in
//! which the rank came by, for each oracle by itself.

use crate::{FolderError, OBSERVED};
use std::collections::BTreeMap;
use std::path::Path;

/// The values of one rank.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankValues {
    /// The rank.
    pub rank: u32,
    /// How many ranks there were.
    pub ranks: u32,
    /// For each oracle: values, and how often each came in a row.
    pub values: BTreeMap<u32, Vec<(i64, u64)>>,
}

impl RankValues {
    /// Reads one file.
    pub fn parse(text: &str) -> Option<RankValues> {
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next()?.split(' ').collect();
        let ["kizami-observed", "1", rank, ranks] = head[..] else { return None };
        let mut found =
            RankValues { rank: rank.parse().ok()?, ranks: ranks.parse().ok()?, values: BTreeMap::new() };
        for line in lines {
            let words: Vec<&str> = line.split(' ').collect();
            let [oracle, value, times] = words[..] else { return None };
            let runs = found.values.entry(oracle.parse().ok()?).or_default();
            runs.push((value.parse().ok()?, times.parse().ok()?));
        }
        Some(found)
    }
}

/// Reads what all ranks said, in the order of ranks; nothing if the program was never observed.
pub fn read_observed(skeleton: &Path) -> Result<Vec<RankValues>, FolderError> {
    let folder = skeleton.join(OBSERVED);
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for entry in entries.flatten() {
        let file = entry.path();
        if file.extension().is_none_or(|ending| ending != "values") {
            continue;
        }
        let text =
            std::fs::read_to_string(&file).map_err(|why| FolderError::Read { file: file.clone(), why })?;
        all.push(RankValues::parse(&text).ok_or(FolderError::Observed { file })?);
    }
    all.sort_by_key(|values| values.rank);
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_values_are_read_for_each_oracle() {
        let text = "kizami-observed 1 2 4\n0 1 300\n0 0 1\n3 -7 1\n";
        let values = RankValues::parse(text).unwrap();
        assert_eq!((values.rank, values.ranks), (2, 4));
        assert_eq!(values.values[&0], [(1, 300), (0, 1)]);
        assert_eq!(values.values[&3], [(-7, 1)]);
        assert_eq!(RankValues::parse("kizami-observed 2 0 1\n"), None);
    }
}
