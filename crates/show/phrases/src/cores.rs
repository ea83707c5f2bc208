//! Cores that ranks did not have: the first line of a report, because it puts all others in doubt.

use crate::quantity::{counted, percent};
use kizami_explain::SharedCores;

/// Delays of less than this part of the run are not worth another run.
const NEXT_TO_NOTHING: f64 = 0.01;

/// Who lacked cores, for how long, and what to do.
pub fn sentences(shared: &SharedCores) -> impl Iterator<Item = String> {
    let share = percent(shared.share);
    let ranks = counted(u64::from(shared.ranks), "rank");
    let (number, sharing) = match shared.threads {
        Some(threads) => (threads, format!("{} of {ranks}", counted(u64::from(threads), "thread"))),
        None => (shared.ranks, ranks),
    };
    let crowd = shared.cores.filter(|cores| *cores < number);
    let who = match crowd {
        Some(cores) => {
            let share = if number == 1 { "shares" } else { "share" };
            format!("Shared cores: {sharing} {share} {}", counted(u64::from(cores), "core"))
        }
        None => {
            "Busy cores: other programs, threads or virtual machines use the cores of the ranks".to_owned()
        }
    };
    let kind = if shared.threads.is_some() { "thread" } else { "rank" };
    // What ranks lacked was replayed.
    let waiting = if shared.gain.is_none() { kind } else { "rank" };
    let waits = format!("{who}; {waiting}s wait for a core for {share} of their time.");
    let at_most = match crowd {
        Some(cores) => format!("Run at most {} here", counted(u64::from(cores), kind)),
        None => "Run them alone, or bind them to cores of their own".to_owned(),
    };
    let what = match shared.gain {
        Some(gain) if gain.share < NEXT_TO_NOTHING => {
            "This hardly delays the run: they lack a core while they wait for other ranks.".to_owned()
        }
        Some(gain) => format!(
            "{at_most}: with a core for each {kind} the run takes up to {} less. Until then the findings below are uncertain.",
            percent(gain.share)
        ),
        None => format!("{at_most}; until then the findings below are uncertain."),
    };
    [waits, what].into_iter()
}

/// That a hypervisor took a part of the time of the cores.
pub fn stolen(share: f64) -> String {
    format!(
        "Stolen time: a hypervisor gave {} of the time of the cores to other machines while the program ran; computation and \
         waiting took longer than they would without.",
        percent(share)
    )
}
