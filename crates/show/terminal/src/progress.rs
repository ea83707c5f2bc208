//! A progress bar on standard error, for what takes long enough to wonder about.
//!
//! The bar appears only on a terminal and only once a job has run for a while, so short jobs stay quiet.
//! It is gone without a trace when the job ends.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const QUIET_TIME: Duration = Duration::from_millis(500);

/// The bar of one job; any of its threads may move it.
pub struct Bar {
    begun: Instant,
    what: &'static str,
    terminal: bool,
    bar: OnceLock<ProgressBar>,
}

impl Bar {
    /// For a job named as people would say it, such as "sealing".
    pub fn new(what: &'static str) -> Bar {
        let terminal = crate::shows_progress() && std::io::stderr().is_terminal();
        Bar { begun: Instant::now(), what, terminal, bar: OnceLock::new() }
    }

    /// Tells how far the job is, and something about it.
    pub fn set(&self, done: u64, total: u64, note: impl FnOnce() -> String) {
        if !self.terminal || self.begun.elapsed() < QUIET_TIME {
            return;
        }
        let bar = self.bar.get_or_init(|| new_bar(self.what));
        bar.set_length(total.max(done));
        bar.set_position(done);
        bar.set_message(note());
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} %  {elapsed}  {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ");
    bar.set_style(style);
    bar.set_prefix(what);
    bar
}
