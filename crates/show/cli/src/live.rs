//! Recordings that are not sealed, and still can be read: a snapshot is made of them, outside the recording.
//!
//! A run that goes on, or one whose recorder was killed, has raw segments and no tables. Whoever reads it gets a trace made
//! from what there is at this moment, in a folder for temporary files that goes away with this process. Nothing in the
//! recording is touched, so the run, its recorder and a later `kizami seal` find it as they left it.

use crate::show::path::as_typed;
use crate::show::progress::Bar;
use crate::show::quantity;
use crate::show::{say, set_sealing};
use anyhow::{Context, Result};
use kizami_model::Length;
use kizami_seal::{Holder, SealError};
use kizami_trace::run::{RUN_JSON, Watched};
use kizami_trace::schema::RAW_FOLDER;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// What the folders of snapshots are called, before the number of their process.
const PREFIX: &str = "kizami-snapshot-";
/// So long is waited for somebody who seals.
const PATIENCE: Duration = Duration::from_secs(300);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often a folder is tried to be removed in which somebody still writes.
const TRIES: usize = 40;

/// Folders that go away with this process.
static FOLDERS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// A trace that can be opened: the one that was named, or a snapshot of it if it is not sealed; says so.
pub fn readable(path: &Path) -> Result<PathBuf> {
    let begun = Instant::now();
    while !is_sealed(path) && path.join(RAW_FOLDER).is_dir() {
        match Holder::of(path) {
            Some(Holder::Sealer(_)) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK_EVERY),
            holder => match snapshot(path, holder.as_ref()) {
                // It was sealed meanwhile.
                Err(_) if is_sealed(path) => break,
                made => return made,
            },
        }
    }
    Ok(path.to_path_buf())
}

fn is_sealed(path: &Path) -> bool {
    path.join(RUN_JSON).is_file()
}

fn snapshot(path: &Path, holder: Option<&Holder>) -> Result<PathBuf> {
    remove_left_behind();
    let folder = tempfile::Builder::new().prefix(&format!("{PREFIX}{}-", std::process::id())).tempdir();
    let folder = folder.with_context(|| {
        let place = std::env::temp_dir();
        format!("no space for a snapshot in {}; set TMPDIR to another directory", place.display())
    })?;
    goes_away(folder.path());
    let output = folder.path().join(path.file_name().unwrap_or("run.kz".as_ref()));
    let bar = Bar::new("reading");
    let made = kizami_seal::snapshot(path, &output, &|progress| set_sealing(&bar, progress));
    drop(bar);
    let run = made.map_err(|error| explained(error, path))?;
    // From now on it goes away with the process.
    let _ = folder.keep();
    say(&[state_of(path, run.watched, holder)]);
    Ok(output)
}

/// What a recording without a segment may mean depends on who still works on it.
fn explained(error: SealError, path: &Path) -> anyhow::Error {
    let waits = matches!(error, SealError::NothingRecorded { .. }) && Holder::of(path).is_some();
    let error = anyhow::Error::from(error);
    if waits {
        error.context(format!("{} is being recorded, and no rank has started yet", as_typed(path)))
    } else {
        error
    }
}

fn state_of(path: &Path, watched: Option<Watched>, holder: Option<&Holder>) -> String {
    let name = as_typed(path);
    let text = match watched.filter(|watched| watched.running) {
        Some(watched) => {
            let by = match holder {
                Some(Holder::Recorder(by) | Holder::Sealer(by)) => format!(" by {by}"),
                None => String::new(),
            };
            let so_far = quantity::duration(Length(watched.until_ns));
            format!("{name} is still being recorded{by}: showing a snapshot, {so_far} after the start")
        }
        None => {
            format!("{name} is not sealed: reading raw segments; run kizami seal {name} to convert them")
        }
    };
    format!("kizami: snapshot  {text}")
}

/// Has a folder taken away with this process, whether it ends by itself or by a signal.
pub fn goes_away(folder: &Path) {
    remove_on_signals();
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).push(folder.to_path_buf());
}

/// Takes all folders away that were made for this process.
pub fn remove_all() {
    for folder in FOLDERS.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        // Threads may still write there. What cannot be removed is removed by a later snapshot.
        let is_left = || std::fs::remove_dir_all(&folder).is_err() && folder.exists();
        for _ in (0..TRIES).take_while(|_| is_left()) {
            std::thread::sleep(LOOK_EVERY);
        }
    }
}

/// Takes away what processes left that were killed.
fn remove_left_behind() {
    for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let process = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next()?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// Has folders taken away before a signal ends this process.
fn remove_on_signals() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let ending = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
        // SAFETY: a local set of signals, filled before it is used; threads that begin later have the same mask, and
        // programs that are started a new one.
        let set = unsafe {
            let mut set: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            for signal in ending {
                libc::sigaddset(&mut set, signal);
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
            set
        };
        std::thread::spawn(move || {
            let mut signal = 0;
            // SAFETY: the set above and a place for the answer; then the signal does to this process what it always does.
            unsafe {
                if libc::sigwait(&set, &mut signal) == 0 {
                    remove_all();
                    libc::signal(signal, libc::SIG_DFL);
                    libc::pthread_sigmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
                    libc::raise(signal);
                }
            }
        });
    });
}
