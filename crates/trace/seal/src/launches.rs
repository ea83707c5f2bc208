//! Programs that were recorded into one directory one after the other, or side by side: `mpirun ./a; mpirun ./b` in a
//! script. Each launch becomes a recording of its own.
//!
//! Processes of one launch carry the same number, made from what their launcher calls the job. Without such a number, a rank
//! that is there twice belongs to two launches if one of them ended before the other began. Launches that have no rank in
//! common and agree on the size of the world are taken for one, so that a number which is not the same for all ranks
//! never tears a run apart. Worlds that were spawned belong to the last launch that began before them.
//!
//! Segments are moved, one file at a time, before anything is sealed: an interruption leaves all of them, and doing it
//! again moves the rest to the same place.

use super::discover::{Process, processes_in};
use super::guard::Sealing;
use crate::SealError;
use kizami_segment::HeaderView;
use kizami_trace::TraceError;
use kizami_trace::run::RUN_JSON;
use kizami_trace::schema::RAW_FOLDER;
use kizami_trace::write::make_directory;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Processes that were started together.
#[derive(Debug, Default)]
pub(crate) struct Launch {
    pub processes: Vec<Process>,
    identity: u64,
    world_size: u32,
    ranks: BTreeSet<u32>,
    /// Wall-clock time of its first and last sign of life.
    begin_ns: u64,
    end_ns: u64,
}

impl Launch {
    fn of(process: Process, header: &HeaderView, rank: u32) -> Launch {
        let (begin_ns, end_ns) = life(header);
        Launch {
            processes: vec![process],
            identity: header.launch,
            world_size: header.world_size,
            ranks: BTreeSet::from([rank]),
            begin_ns,
            end_ns,
        }
    }

    fn takes(&mut self, other: Launch) {
        self.processes.extend(other.processes);
        self.ranks.extend(other.ranks);
        self.begin_ns = self.begin_ns.min(other.begin_ns);
        self.end_ns = self.end_ns.max(other.end_ns);
    }

    /// Whether a process belongs to it, by numbers, or else by ranks and times.
    fn has(&self, other: &Launch) -> bool {
        let same = self.identity != 0 && self.identity == other.identity;
        // Two processes with one rank are two launches, unless nothing distinguishes them.
        let alike = self.fits(other) || other.begin_ns <= self.end_ns;
        same || self.identity == 0 && other.identity == 0 && alike
    }

    /// Whether both may be parts of one world.
    fn fits(&self, other: &Launch) -> bool {
        self.world_size == other.world_size && self.ranks.is_disjoint(&other.ranks)
    }
}

/// When a process gave its first and its last sign of life.
fn life(header: &HeaderView) -> (u64, u64) {
    let lasted = header.last_reading.monotonic_ns.saturating_sub(header.first_reading.monotonic_ns);
    (header.realtime_ns, header.realtime_ns.saturating_add(lasted))
}

/// Sorts processes into launches, the first one first. Processes without a rank stay with the first.
pub(crate) fn launches(processes: Vec<Process>) -> Vec<Launch> {
    let (mut first_worlds, mut others) = (Vec::new(), Vec::new());
    for process in processes {
        // Of the segments that know a rank, the one that lived longest decides.
        let known = process.segments().map(|segment| &segment.header).filter(|header| header.rank.is_some());
        let latest = known.max_by_key(|header| header.last_reading.monotonic_ns).cloned();
        match latest {
            Some(header) if header.world_key == 0 => {
                let rank = header.rank.unwrap_or_default();
                first_worlds.push(Launch::of(process, &header, rank));
            }
            latest => others.push((process, latest)),
        }
    }
    first_worlds.sort_by_key(|one| one.begin_ns);
    let mut launches: Vec<Launch> = Vec::new();
    for one in first_worlds {
        // Of those that were launched one after the other, the last.
        match launches.iter_mut().rev().find(|launch| launch.has(&one)) {
            Some(launch) => launch.takes(one),
            None => launches.push(one),
        }
    }
    let mut merged: Vec<Launch> = Vec::new();
    for launch in launches {
        match merged.iter_mut().find(|known| known.fits(&launch)) {
            Some(known) => known.takes(launch),
            None => merged.push(launch),
        }
    }
    for (process, header) in others {
        let begin_ns = header.map_or(0, |header| header.realtime_ns);
        let before = merged.iter().rposition(|launch| launch.begin_ns <= begin_ns).unwrap_or(0);
        match merged.get_mut(before) {
            Some(launch) => launch.processes.push(process),
            None => merged.push(Launch { processes: vec![process], ..Launch::default() }),
        }
    }
    merged
}

/// If several launches were recorded into `directory`, leaves the first there and moves the segments of each other into a
/// directory of its own beside it: `run.2.kz` beside `run.kz`. Returns these directories, which are not sealed yet.
pub fn separate(directory: &Path) -> Result<Vec<PathBuf>, SealError> {
    let _sealing = Sealing::begin(directory)?;
    let raw = directory.join(RAW_FOLDER);
    if !raw.is_dir() {
        return Ok(Vec::new());
    }
    let mut directories = Vec::new();
    for launch in launches(processes_in(directory, &raw)?).into_iter().skip(1) {
        let place = place_for(directory, launch.identity)?;
        let into = place.join(RAW_FOLDER);
        std::fs::create_dir_all(&into).map_err(TraceError::file("make the folder", &into))?;
        for process in &launch.processes {
            process.segments().try_for_each(|segment| segment.move_to(&into))?;
        }
        directories.push(place);
    }
    Ok(directories)
}

/// The first directory beside this one that is not there, or to which part of the same launch was moved before.
fn place_for(directory: &Path, identity: u64) -> Result<PathBuf, TraceError> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => (stem.to_owned(), format!(".{ending}")),
        _ => (name, String::new()),
    };
    let is_of_launch = |place: &Path| {
        let raw = place.join(RAW_FOLDER);
        let here = !place.join(RUN_JSON).exists() && raw.is_dir();
        let moved =
            if here && identity != 0 { processes_in(place, &raw).unwrap_or_default() } else { Vec::new() };
        moved.iter().flat_map(Process::segments).any(|segment| segment.header.launch == identity)
    };
    for number in 2u32.. {
        let place = directory.with_file_name(format!("{stem}.{number}{ending}"));
        match make_directory(&place) {
            Ok(()) => return Ok(place),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                if is_of_launch(&place) {
                    return Ok(place);
                }
            }
            Err(error) => return Err(TraceError::file("make the directory", &place)(error)),
        }
    }
    Err(TraceError::write(directory, "there is no name left for a second recording"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(rank: u32, world_size: u32, identity: u64, life_ns: (u64, u64)) -> Launch {
        let (begin_ns, end_ns) = life_ns;
        Launch {
            processes: Vec::new(),
            identity,
            world_size,
            ranks: BTreeSet::from([rank]),
            begin_ns,
            end_ns,
        }
    }

    #[test]
    fn numbers_distinguish_launches() {
        assert!(
            one(0, 2, 5, (0, 10)).has(&one(1, 2, 5, (20, 30))),
            "a rank that was killed gave no last sign"
        );
        assert!(!one(0, 2, 5, (0, 10)).has(&one(0, 2, 6, (5, 30))));
        assert!(one(0, 1, 5, (0, 10)).has(&one(0, 1, 5, (20, 30))), "all are rank 0 by another MPI");
    }

    #[test]
    fn without_numbers_ranks_and_times_do() {
        assert!(one(0, 2, 0, (0, 10)).has(&one(1, 2, 0, (20, 30))));
        assert!(!one(0, 1, 0, (0, 10)).has(&one(0, 1, 0, (20, 30))));
        assert!(one(0, 1, 0, (0, 10)).has(&one(0, 1, 0, (5, 30))), "nothing tells them apart");
    }

    #[test]
    fn parts_of_one_world_are_put_together() {
        assert!(one(0, 2, 5, (0, 10)).fits(&one(1, 2, 6, (0, 10))));
        assert!(!one(0, 2, 5, (0, 10)).fits(&one(1, 3, 6, (0, 10))));
    }
}
