//! Sealing by several processes: each turns its share of the parts into rows, and the first does all the rest.
//!
//! All of them read all headers and definitions, so they know by themselves what numbers mean and how clocks stand. Each
//! writes its parts where the first has made room for them, and sends it the outcome of its ranks. If messages seem to
//! arrive before they were sent, the first sends all how far to move which rank, and all do their parts again.
//!
//! What threads left that were reduced while they ran is small, and the first turns all of it by itself.

use super::causality::Repairs;
use super::clock::RunClock;
use super::discover::{self, Recorded};
use super::names;
use super::parts::{Sealed, seal_parts};
use super::rank::RankOutcome;
use super::segment_file::SegmentInfo;
use super::{SealOptions, Sources};
use crate::SealError;
use kizami_clock::Shift;
use kizami_model::Op;
use kizami_process_group::ProcessGroup;
use kizami_trace::TraceError;
use kizami_trace::columns::WrittenFile;
use kizami_trace::schema::RAW_FOLDER;
use kizami_trace::write::{OpTotal, OpTotals, StagingDir};
use kizami_wire::{Wire, decode, encode};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::Path;

/// How parts are divided among processes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sharing<'a> {
    group: &'a dyn ProcessGroup,
    /// Threads of all of them.
    pub workers: u64,
    /// The first has all parts.
    undivided: bool,
}

impl<'a> Sharing<'a> {
    /// Makes sure that all have found the same. All parts can be written from here on.
    pub(crate) fn agreed(
        directory: &Path,
        recorded: &Recorded,
        group: &'a dyn ProcessGroup,
    ) -> Result<Sharing<'a>, SealError> {
        let found = (fingerprint(recorded), rayon::current_num_threads() as u64);
        let all = group.all_gather(encode(&found));
        let all: Option<Vec<(u64, u64)>> = all.iter().map(|message| decode(message)).collect();
        let all = all.filter(|all| all[0].0 == found.0);
        let all = all.ok_or_else(|| SealError::OtherSegments { path: directory.to_path_buf() })?;
        let undivided = recorded.ranks.iter().flatten().flat_map(|process| &process.calls);
        let undivided = undivided.into_iter().any(SegmentInfo::is_reduced);
        let workers = if undivided { found.1 } else { all.iter().map(|(_, threads)| threads).sum() };
        Ok(Sharing { group, workers, undivided })
    }

    /// Which of so many parts this process seals.
    pub(crate) fn own(&self, parts: usize) -> Range<usize> {
        match self.undivided {
            true if self.group.is_first() => 0..parts,
            true => 0..0,
            false => self.group.partition(parts),
        }
    }

    /// What came of the parts of all processes, if this is the first; all of them call it.
    pub(crate) fn gathered(&self, own: Sealed, folder: &Path) -> Result<Sealed, TraceError> {
        if self.group.size() == 1 {
            return Ok(own);
        }
        let messages =
            self.group.gather(if self.group.is_first() { Vec::new() } else { encode_sealed(&own, folder) });
        let mut all = own;
        for (process, message) in messages.iter().enumerate().skip(1).filter(|_| self.group.is_first()) {
            let sealed = decode_sealed(message, folder).ok_or_else(|| {
                TraceError::damaged(
                    folder,
                    format!("process {process} sent a message that cannot be decoded"),
                )
            })?;
            all.add(sealed);
        }
        Ok(all)
    }

    /// Tells the others how far ranks are moved.
    pub(crate) fn send_repairs(&self, repairs: &Repairs) {
        if self.group.size() > 1 {
            let by_rank =
                |shifts: &Vec<Shift>| shifts.iter().map(|shift| (shift.at_ns, shift.shift_ns)).collect();
            self.group.broadcast(encode(&repairs.by_rank.iter().map(by_rank).collect::<RepairsMessage>()));
        }
    }

    fn receive_repairs(&self, folder: &Path) -> Result<Repairs, TraceError> {
        let by_rank: Option<RepairsMessage> = decode(&self.group.broadcast(Vec::new()));
        let by_rank = by_rank.ok_or_else(|| {
            TraceError::damaged(folder, "the first process sent repairs that cannot be decoded".to_owned())
        })?;
        let shift = |(at_ns, shift_ns)| Shift { at_ns, shift_ns };
        let shifts = |shifts: Vec<(i64, i64)>| shifts.into_iter().map(shift).collect();
        Ok(Repairs { by_rank: by_rank.into_iter().map(shifts).collect() })
    }
}

/// What every process but the first does.
pub(crate) fn help(
    directory: &Path,
    options: &SealOptions,
    group: &dyn ProcessGroup,
) -> Result<(), SealError> {
    group.broadcast(Vec::new());
    let recorded = discover::discover(directory, &directory.join(RAW_FOLDER))?;
    let sharing = Sharing::agreed(directory, &recorded, group)?;
    let folder = StagingDir::folder_within(directory);
    let names = names::collect(&recorded);
    let clock = RunClock::measure(&recorded.ranks, &names.questions);
    let sources = Sources { recorded: &recorded, clock: &clock, names: &names, sharing };
    let seal = |repairs: &Repairs| -> Result<(), TraceError> {
        sharing.gathered(seal_parts(&sources, repairs, &folder, options, &|_| {})?, &folder)?;
        Ok(())
    };
    seal(&Repairs::default())?;
    if clock.hosts.len() > 1 {
        let repairs = sharing.receive_repairs(&folder)?;
        if repairs.count() > 0 {
            seal(&repairs)?;
        }
    }
    Ok(())
}

/// What must be the same for all who divide a recording.
fn fingerprint(recorded: &Recorded) -> u64 {
    let mut hasher = DefaultHasher::new();
    recorded.problems.hash(&mut hasher);
    for process in &recorded.ranks {
        process.is_some().hash(&mut hasher);
        for segment in process.iter().flat_map(|process| process.segments()) {
            (segment.path.file_name(), segment.bytes, segment.header.pid, segment.is_reduced())
                .hash(&mut hasher);
        }
    }
    hasher.finish()
}

fn encode_sealed(sealed: &Sealed, folder: &Path) -> Vec<u8> {
    let name = |file: &WrittenFile| {
        let path = file.path.strip_prefix(folder).unwrap_or(&file.path);
        (path.to_string_lossy().into_owned(), (file.bytes, file.crc32))
    };
    let mut message = encode(&sealed.outcomes);
    sealed.totals.by_number().to_vec().encode(&mut message);
    sealed.files.iter().map(name).collect::<Vec<_>>().encode(&mut message);
    message
}

/// By rank, from when on and how far it is moved.
type RepairsMessage = Vec<Vec<(i64, i64)>>;

/// What became of ranks, sums of functions, and names, sizes and checksums of files.
type SealedMessage = ((Vec<RankOutcome>, Vec<OpTotal>), Vec<(String, (u64, u32))>);

fn decode_sealed(message: &[u8], folder: &Path) -> Option<Sealed> {
    let ((outcomes, by_number), files): SealedMessage = decode(message)?;
    let mut totals = OpTotals::default();
    for (number, sums) in (0..).zip(&by_number) {
        totals.add_sums(Op(number), sums);
    }
    let file = |(path, (bytes, crc32)): (String, _)| WrittenFile { path: folder.join(path), bytes, crc32 };
    Some(Sealed { outcomes, totals, files: files.into_iter().map(file).collect() })
}
