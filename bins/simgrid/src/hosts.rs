//! On which host of the platform each rank runs.

use anyhow::{Result, bail};
use rustc_hash::FxHashSet;
use std::path::Path;

/// Hosts by rank: those of a list, else those of the recording where the platform has them, else those of the platform in
/// order, again and again.
pub fn place(recorded: &[Option<String>], platform: &[String], list: Option<&Path>) -> Result<Vec<String>> {
    let there: FxHashSet<&String> = platform.iter().collect();
    let known = |name: &String| there.contains(name);
    if let Some(path) = list {
        let text = std::fs::read_to_string(path)
            .map_err(|error| anyhow::anyhow!("cannot read host file {}: {error}", path.display()))?;
        let lines: Vec<(String, usize)> = text.lines().filter_map(hosts_of_line).collect();
        if lines.iter().all(|(_, ranks)| *ranks == 0) {
            bail!("host file {} is empty; write one NAME or NAME:RANKS per line", path.display());
        }
        if let Some((stranger, _)) = lines.iter().find(|(name, _)| !known(name)) {
            bail!("host file {} names host {stranger:?}, which the platform does not have", path.display());
        }
        // As many as are needed, whatever the list says.
        let names = lines.iter().cycle().flat_map(|(name, ranks)| std::iter::repeat_n(name, *ranks));
        return Ok(names.take(recorded.len()).cloned().collect());
    }
    let own: Option<Vec<String>> = recorded.iter().cloned().collect();
    if let Some(own) = own.filter(|own| own.iter().all(known)) {
        return Ok(own);
    }
    if platform.is_empty() {
        bail!("the platform defines no hosts");
    }
    let mut order = platform.to_vec();
    order.sort_by_key(|name| numbers_in_order(name));
    Ok((0..recorded.len()).map(|rank| order[rank % order.len()].clone()).collect())
}

/// `NAME` or `NAME:RANKS`; none of an empty line.
fn hosts_of_line(line: &str) -> Option<(String, usize)> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let (name, ranks) = match line.split_once(':') {
        Some((name, ranks)) => (name, ranks.trim().parse().unwrap_or(1)),
        None => (line, 1),
    };
    (!name.is_empty()).then(|| (name.to_owned(), ranks))
}

/// So that `node10` comes after `node9`.
fn numbers_in_order(name: &str) -> Vec<(String, u64)> {
    let mut parts = vec![(String::new(), 0u64)];
    let mut in_number = false;
    for letter in name.chars() {
        let digit = letter.to_digit(10);
        if digit.is_none() && in_number {
            parts.push((String::new(), 0));
        }
        in_number = digit.is_some();
        if let Some((text, number)) = parts.last_mut() {
            match digit {
                Some(digit) => *number = number.saturating_mul(10).saturating_add(u64::from(digit)),
                None => text.push(letter),
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn ranks_stay_on_their_hosts_where_the_platform_has_them() {
        let recorded = [Some("b".to_owned()), Some("a".to_owned())];
        assert_eq!(place(&recorded, &names(&["a", "b", "c"]), None).unwrap(), names(&["b", "a"]));
        assert_eq!(place(&recorded, &names(&["n10", "n9"]), None).unwrap(), names(&["n9", "n10"]));
        assert_eq!(place(&recorded, &names(&["n1"]), None).unwrap(), names(&["n1", "n1"]));
        assert!(place(&recorded, &[], None).is_err());
    }

    #[test]
    fn a_list_says_how_many_ranks_a_host_has() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "n2:2\n# none\nn1\n").unwrap();
        let recorded = vec![None; 4];
        let placed = place(&recorded, &names(&["n1", "n2"]), Some(file.path())).unwrap();
        assert_eq!(placed, names(&["n2", "n2", "n1", "n2"]));
        assert!(place(&recorded, &names(&["n1"]), Some(file.path())).is_err());
        // No list says how much memory is taken.
        std::fs::write(file.path(), "n1:1\nn2:18446744073709551615\n").unwrap();
        let placed = place(&recorded, &names(&["n1", "n2"]), Some(file.path())).unwrap();
        assert_eq!(placed, names(&["n1", "n2", "n2", "n2"]));
    }
}
