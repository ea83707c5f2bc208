//! Writes what ranks did as a trace whose times fit together.
//!
//! Ranks ran without waiting for each other, so each has a time of its own. They are written so first, to a folder that does
//! not stay; a replay then lets them wait for whom they wait for. Messages cost nothing in it: what they cost on a machine is
//! for `kizami replay` to say, on the trace that comes out.
//!
//! Without noise, ranks of a kind are written once: the replay finds which of them differ because those they wait for do.

use crate::ExecuteError;
use crate::rows::{Communicators, RankRows, site_index};
use crate::run::RunOptions;
use crate::runner::Gathered;
use crate::skeleton::Skeleton;
use crate::time::{Noise, TimeModel};
use kizami_model::kind::{Flow, Kind};
use kizami_model::{CommKind, Rank};
use kizami_mpi_stub::communicator::Communicator;
use kizami_mpi_stub::event::Entry;
use kizami_network::LogGops;
use kizami_rank_classes::RankClasses;
use kizami_replay::{Network, ReplayError, Request, Setting, retime};
use kizami_trace::write::About;
use kizami_trace::{Trace, TraceError, TraceWriter, provenance};
use std::path::Path;

/// What is written.
pub struct Writing<'a> {
    pub skeleton: &'a Skeleton,
    pub options: &'a RunOptions,
    pub gathered: &'a Gathered,
    pub model: &'a TimeModel,
}

/// Writes the trace into a new directory.
pub fn write(what: &Writing, output: &Path, threads: u32) -> Result<(), ExecuteError> {
    let beside = output.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let work = tempfile::Builder::new().prefix(".kizami-skeleton-").tempdir_in(beside);
    let work = work.map_err(TraceError::file("create a directory in", beside))?;
    let name = what.skeleton.name();
    let apart = work.path().join(&name);
    each_by_itself(what, &name, &apart)?;
    let words = vec![provenance::PREDICTED.to_owned(), format!("--ranks {}", what.options.ranks)];
    let made_from = Some(name.to_owned());
    let request = Request {
        output: Some(output),
        threads: threads as usize,
        made_from,
        words,
        clocks_unaligned: true,
        ..Request::default()
    };
    // Nothing takes time and no send waits for its receiver: only partners are waited for. An ideal network is another thing:
    // it keeps what calls took beside their waits, and these took nothing.
    let network = Network::Model(LogGops { eager_limit_bytes: u64::MAX, ..LogGops::default() });
    let setting = |_: &_, _: &_| Ok::<_, ReplayError>(Setting { network, ..Setting::default() });
    retime(&Trace::open(&apart)?, request, setting, &|_| {})?;
    Ok(())
}

/// Writes every rank at its own time: one of each kind, where ranks of a kind come out alike.
fn each_by_itself(what: &Writing, name: &str, directory: &Path) -> Result<(), ExecuteError> {
    let Writing { skeleton, options, gathered, model } = what;
    let communicators = Communicators::of(options.ranks, &gathered.comms);
    let sites = site_index(skeleton);
    let command = std::iter::once(name.to_owned()).chain(options.arguments.iter().cloned()).collect();
    let about = About {
        executable: name.to_owned(),
        command,
        mpi_library: "skeleton".to_owned(),
        started_unix_ns: 0,
    };
    let mut definitions = Communicators::of(options.ranks, &gathered.comms).definitions(skeleton);
    let classes = by_kind(what).then(|| RankClasses::from_keys(&gathered.kind_of, &definitions));
    let with_rows = match &classes {
        Some(classes) => {
            definitions.ranks = kizami_rank_classes::all_ranks(options.ranks);
            definitions.rank_classes = classes.table();
            classes.with_rows().to_vec()
        }
        None => (0..options.ranks).map(Rank).collect(),
    };
    let mut writer = TraceWriter::create(directory, about, definitions)?;
    for Rank(rank) in with_rows {
        let comms = &gathered.comms[rank as usize];
        let rows =
            RankRows { rank, ranks: options.ranks, comms, communicators: &communicators, sites: &sites };
        let stream = &gathered.kinds[gathered.kind_of[rank as usize] as usize];
        for call in rows.expand(stream, &mut model.clock(rank, options.noise, options.seed)) {
            writer.call(&call)?;
        }
    }
    writer.finish(|_| {})?;
    Ok(())
}

/// Fewer ranks than this have rows of their own in any case: every command takes them as it takes recorded ones.
const FEW_RANKS: u32 = 4096;

/// Whether the run is told by kinds of rank. Noise makes every rank a kind of its own, and so do calls in which a rank waits
/// for those of lower rank alone, for another group, or for accesses to its memory.
fn by_kind(what: &Writing) -> bool {
    let alike = what.options.noise == Noise::None || what.options.like.is_none();
    let wanted = what.options.by_kind.unwrap_or(what.options.ranks > FEW_RANKS);
    let between_groups = |comms: &[Communicator]| comms.iter().any(|comm| comm.kind == CommKind::Inter);
    wanted
        && alike
        && !what.gathered.comms.iter().any(|comms| between_groups(comms))
        && what.gathered.kinds.iter().all(|stream| stream.entries().all(|entry| folds(&entry)))
}

fn folds(entry: &Entry) -> bool {
    let Entry::Call(call) = entry else { return true };
    match call.op.kind() {
        Kind::Collective(which, _) => which.flow() != Flow::Prefix,
        Kind::Window(_) | Kind::File(_) => false,
        _ => true,
    }
}
