//! `kizami arrived`, a hidden command: says whether the tracer is in this process. `doctor` launches it with every
//! launcher.

use crate::launch::environment::{LIBRARY_NAME, RAW_VARIABLE};
use anyhow::Result;

/// What it prints.
pub const ARRIVED: &str = "kizami: arrived";

/// Says whether the tracer is in this process.
pub fn arrived() -> Result<u8> {
    let maps = std::fs::read_to_string("/proc/self/maps")?;
    let loaded = maps.lines().any(|line| line.ends_with(LIBRARY_NAME));
    if loaded && std::env::var_os(RAW_VARIABLE).is_some() {
        println!("{ARRIVED}");
    }
    Ok(0)
}
