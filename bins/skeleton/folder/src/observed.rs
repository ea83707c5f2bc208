//! What runs of the whole program said about places that depend on data: `X.skel/observed/RANKS/RANK.values`, one folder for
//! each number of ranks.
//!
//! A first line `kizami-observed 1 RANK RANKS`, then lines `ORACLE VALUE TIMES`: runs of equal values, in the order in
//! which the rank came by, for each oracle by itself.

use crate::{FolderError, OBSERVED};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

/// What all ranks of one run said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedRun {
    /// How many ranks there were.
    pub ranks: u32,
    /// The values of each, in the order of ranks.
    pub values: Vec<RankValues>,
}

/// Reads all runs that were observed, the smallest first.
pub fn read_observed(skeleton: &Path) -> Result<Vec<ObservedRun>, FolderError> {
    let Ok(entries) = std::fs::read_dir(skeleton.join(OBSERVED)) else { return Ok(Vec::new()) };
    let number = |path: &PathBuf| path.file_name()?.to_str()?.parse::<u32>().ok();
    let mut all = Vec::new();
    for folder in entries.flatten().map(|entry| entry.path()).filter(|path| number(path).is_some()) {
        let values = read_values(&folder)?;
        if let Some(first) = values.first() {
            all.push(ObservedRun { ranks: first.ranks, values });
        }
    }
    all.sort_by_key(|run| run.ranks);
    Ok(all)
}

/// Keeps what a run wrote into a folder, in place of an earlier run on as many ranks; gives how many those are. Nothing, if it
/// wrote nothing.
pub fn keep_observed(skeleton: &Path, fresh: &Path) -> Result<Option<u32>, FolderError> {
    let Some(first) = read_values(fresh)?.into_iter().next() else { return Ok(None) };
    let file = skeleton.join(OBSERVED).join(first.ranks.to_string());
    if file.exists() {
        std::fs::remove_dir_all(&file).map_err(|why| FolderError::Write { file: file.clone(), why })?;
    }
    std::fs::rename(fresh, &file).map_err(|why| FolderError::Write { file, why })?;
    Ok(Some(first.ranks))
}

/// The values of all ranks in a folder, in the order of ranks.
fn read_values(folder: &Path) -> Result<Vec<RankValues>, FolderError> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for file in entries.flatten().map(|entry| entry.path()) {
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
