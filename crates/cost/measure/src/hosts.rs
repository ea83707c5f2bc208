//! Which ranks share a host.
//!
//! Hosts are distinguished by the number that Linux generates when it boots, which containers on one machine share as they
//! share its clock; by their names where that cannot be read.

use kizami_mpi::{Collective, Comm, Mpi, MpiError};
use std::collections::HashMap;

const IDENTITY_BYTES: usize = 64;

/// Who is where.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub nodes: usize,
    /// The largest number of ranks on one node.
    pub ranks_per_node: usize,
    /// For each rank whether it is on another host than rank 0.
    pub elsewhere: Vec<bool>,
}

impl Hosts {
    /// Asks all ranks.
    pub(crate) fn ask(mpi: &Mpi, world: &Comm) -> Result<Hosts, MpiError> {
        let mine = identity(mpi)?;
        let mut all = vec![0; IDENTITY_BYTES * world.size() as usize];
        mpi.call(world, Collective::Allgather { give: &mine, get: &mut all })?;
        let hosts: Vec<&[u8]> = all.chunks(IDENTITY_BYTES).collect();
        let mut ranks: HashMap<&[u8], usize> = HashMap::new();
        for host in &hosts {
            *ranks.entry(host).or_default() += 1;
        }
        Ok(Hosts {
            nodes: ranks.len(),
            ranks_per_node: ranks.values().copied().max().unwrap_or(1),
            elsewhere: hosts.iter().map(|host| *host != hosts[0]).collect(),
        })
    }
}

fn identity(mpi: &Mpi) -> Result<[u8; IDENTITY_BYTES], MpiError> {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok();
    let text = match boot.filter(|text| !text.trim().is_empty()) {
        Some(text) => text,
        None => mpi.processor_name()?,
    };
    let mut identity = [0; IDENTITY_BYTES];
    for (place, byte) in identity.iter_mut().zip(text.trim().bytes()) {
        *place = byte;
    }
    Ok(identity)
}
