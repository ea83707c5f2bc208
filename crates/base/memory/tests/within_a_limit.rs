//! A program with this allocator and a limit: lists, tables and zeros that do not fit are as they would be in memory, and
//! memory stays within it. One test, since a limit is for a whole process.

use kizami_rng::SplitMix64;
use std::collections::HashMap;

#[global_allocator]
static ALLOCATOR: kizami_memory::Allocator = kizami_memory::Allocator;

const LIMIT_BYTES: u64 = 16 << 20;

/// Memory of this process that no file is behind.
fn anonymous_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() * 1024
}

/// Lists that grow, shrink, are copied and dropped in any order keep what is in them.
fn lists_of_any_fate(seed: u64) {
    let mut random = SplitMix64::new(seed);
    let mut below = |most| random.index(most);
    // Each holds its own number, and its length is known apart.
    let mut lists: Vec<(Vec<u64>, usize)> = (0..6).map(|_| (Vec::new(), 0)).collect();
    for _ in 0..200 {
        let at = below(lists.len());
        let number = at as u64 * 1_000_003;
        let (list, len) = &mut lists[at];
        match below(6) {
            0 => {
                list.truncate(*len / 3);
                list.shrink_to_fit();
            }
            1 => *list = list.clone(),
            2 => *list = Vec::new(),
            3 => list.resize(*len / 2, number),
            _ => {
                let more = below(600_000);
                list.extend(std::iter::repeat_n(number, more));
            }
        }
        *len = list.len();
        assert!(list.iter().all(|value| *value == number), "list {at}");
    }
}

#[test]
fn larger_data_spills_to_files() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if std::path::Path::new("/dev/shm").is_dir() {
        let refused = kizami_memory::limit(LIMIT_BYTES, "/dev/shm".as_ref()).unwrap_err().to_string();
        assert!(refused.contains("in memory itself"), "{refused}");
    }
    let before = anonymous_bytes();
    kizami_memory::limit(LIMIT_BYTES, folder.path()).unwrap();

    let numbers: Vec<u64> = (0..20_000_000).collect();
    assert!(numbers.iter().copied().eq(0..20_000_000));
    assert!(kizami_memory::most_in_files() >= 160_000_000);
    let zeros = vec![0u8; 100 << 20];
    assert!(zeros.iter().all(|byte| *byte == 0));
    let table: HashMap<u64, u64> = (0..2_000_000).map(|key| (key, key * key)).collect();
    assert!((0..2_000_000).all(|key| table[&key] == key * key));
    assert!(anonymous_bytes() < before + 2 * LIMIT_BYTES, "{} bytes are in memory", anonymous_bytes());
    drop((numbers, zeros, table));

    std::thread::scope(|scope| {
        (1..=4).for_each(|seed| drop(scope.spawn(move || lists_of_any_fate(seed))));
    });
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files have no names");
}
