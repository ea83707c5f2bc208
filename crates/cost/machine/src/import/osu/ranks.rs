//! How many ranks a file is about: given by the user, or in its name.
//!
//! Names such as `osu_allreduce.n16.txt`, `bcast-np16`, `alltoall_np_16.out` and `allreduce-16ranks.log` say so. If there
//! is also how many ranks a node had (`ppn4`), then `n16` may be nodes, and nothing is guessed.

use std::path::Path;

const BEFORE: &[&str] = &["n", "np", "nprocs", "procs", "ranks", "p"];
const AFTER: &[&str] = &["np", "procs", "processes", "ranks", "p"];
const PER_NODE: &[&str] = &["ppn", "tpn", "rpn", "npernode"];

/// How many; else what to do about it, for people.
pub(super) fn of(path: &Path, given: Option<u32>) -> Result<u32, String> {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    match (given, in_name(&name)) {
        (Some(ranks), _) | (None, Some(ranks)) if ranks < 2 => Err(format!(
            "collectives are measured with 2 ranks at least, not with {ranks}; give their number with --ranks"
        )),
        (Some(given), Some(named)) if given != named => Err(format!(
            "its name says {named} ranks and --ranks says {given}; leave --ranks out, or rename the file if the name means something else"
        )),
        (Some(ranks), _) | (None, Some(ranks)) => Ok(ranks),
        (None, None) => Err(
            "it does not say how many ranks there were; give their number with --ranks, or in the file's \
                             name, such as osu_allreduce.n16.txt"
                .to_owned(),
        ),
    }
}

/// None if it says nothing, or several things.
fn in_name(name: &str) -> Option<u32> {
    let parts: Vec<&str> =
        name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|part| !part.is_empty()).collect();
    let letters = |part: &str| part.trim_matches(|c: char| c.is_ascii_digit()).to_owned();
    if parts.iter().any(|part| PER_NODE.contains(&letters(part).as_str())) {
        return None;
    }
    let mut found: Vec<u32> = Vec::new();
    for (place, part) in parts.iter().enumerate() {
        let number = |rest: &str| rest.parse::<u32>().ok();
        let before = BEFORE.iter().filter_map(|word| part.strip_prefix(word)).find_map(number);
        let after = AFTER.iter().filter_map(|word| part.strip_suffix(word)).find_map(number);
        // A single character with a number after it may be anything.
        let apart = parts.get(place + 1).filter(|_| part.len() > 1 && BEFORE.contains(part));
        found.extend(before.or(after).or(apart.and_then(|next| number(next))));
    }
    found.dedup();
    match found[..] {
        [ranks] => Some(ranks),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_how_many() {
        for (name, ranks) in [
            ("osu_allreduce.n16.txt", Some(16)),
            ("osu_bcast-np16.out", Some(16)),
            ("osu_bcast_np_8", Some(8)),
            ("alltoall-64ranks.log", Some(64)),
            ("osu_allreduce.txt", None),
            ("osu_allreduce_N4_v7.4.txt", None),
            ("osu_allreduce_n4_ppn16.txt", None),
            ("n4_n8.txt", None),
            ("2024-01-02-osu.txt", None),
        ] {
            assert_eq!(in_name(name), ranks, "{name}");
        }
    }

    #[test]
    fn an_ambiguous_name_needs_an_answer() {
        let path = Path::new("runs/osu_allreduce.n16.txt");
        assert_eq!(of(path, None), Ok(16));
        assert_eq!(of(path, Some(16)), Ok(16));
        assert!(of(path, Some(8)).unwrap_err().contains("its name says 16 ranks and --ranks says 8"));
        assert!(of(Path::new("osu.txt"), None).unwrap_err().contains("--ranks"));
        assert!(of(Path::new("osu.txt"), Some(1)).unwrap_err().contains("2 ranks at least"));
    }
}
