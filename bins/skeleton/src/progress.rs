//! How far a run is, on standard error, for runs that take long enough to wonder about.
//!
//! After two seconds a terminal gets a bar, which is gone when the run ends. If the ranks done by then say that it takes longer
//! than half a minute, a line says how long, on a terminal or not. How many passes over all ranks there will be is not known
//! before the last one, so times are those of the pass that runs.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use kizami_execute::Progress;
use kizami_terminal::say;
use std::cell::{Cell, OnceCell};
use std::io::IsTerminal;
use std::time::Duration;

const QUIET: Duration = Duration::from_secs(2);
/// A pass that takes longer is announced.
const LONG: Duration = Duration::from_secs(30);

/// What is shown of one run.
pub struct Watch {
    terminal: bool,
    bar: OnceCell<ProgressBar>,
    announced: Cell<bool>,
    /// The pass that runs, and when it began.
    pass: Cell<(u32, Duration)>,
}

impl Watch {
    /// Before ranks run. Says so if the kernel cannot hold them as it should.
    pub fn begin() -> Watch {
        if let Some(missing) = kizami_execute::missing_restrictions() {
            say(&[format!("kizami skeleton: warning: {missing}")]);
        }
        Watch {
            terminal: std::io::stderr().is_terminal(),
            bar: OnceCell::new(),
            announced: Cell::new(false),
            pass: Cell::new((0, Duration::ZERO)),
        }
    }

    /// Shows how far it is.
    pub fn report(&self, progress: &Progress) {
        if self.pass.get().0 != progress.pass {
            self.pass.set((progress.pass, progress.elapsed));
        }
        if progress.elapsed < QUIET {
            return;
        }
        let left = left(progress, self.pass.get().1);
        if let Some(left) = left.filter(|left| *left > LONG && !self.announced.get()) {
            self.announced.set(true);
            let line = format!(
                "kizami skeleton: {} of {} ranks finished after {:.0} s; about {} left in pass {}",
                progress.done,
                progress.ranks,
                progress.elapsed.as_secs_f64(),
                words(left),
                progress.pass
            );
            match self.bar.get() {
                Some(bar) => bar.suspend(|| say(&[line])),
                None => say(&[line]),
            }
        }
        if self.terminal {
            let bar = self.bar.get_or_init(new_bar);
            bar.set_length(u64::from(progress.ranks));
            bar.set_position(u64::from(progress.done));
            let left = left.map_or(String::new(), |left| format!(", {} left", words(left)));
            bar.set_message(format!("pass {}, {} MiB{left}", progress.pass, progress.memory >> 20));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn new_bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr_with_hz(10));
    let style = ProgressStyle::with_template("running [{bar:30}] {percent:>3} %  {elapsed}  {msg}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()).progress_chars("=> "));
    bar
}

/// How long the pass that runs still takes if ranks go on as they did, if any of them is done.
fn left(progress: &Progress, began: Duration) -> Option<Duration> {
    let spent = progress.elapsed.saturating_sub(began);
    let todo = progress.ranks.saturating_sub(progress.done);
    (progress.done > 0).then(|| spent.mul_f64(f64::from(todo) / f64::from(progress.done)))
}

fn words(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..120 => format!("{seconds} s"),
        seconds @ 120..7200 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_what_is_done() {
        let at = |done, seconds| Progress {
            pass: 2,
            done,
            ranks: 100,
            memory: 0,
            elapsed: Duration::from_secs(seconds),
        };
        assert_eq!(left(&at(0, 5), Duration::ZERO), None);
        assert_eq!(left(&at(25, 15), Duration::from_secs(5)), Some(Duration::from_secs(30)));
        assert_eq!(left(&at(100, 15), Duration::from_secs(5)), Some(Duration::ZERO));
        assert_eq!(
            [90, 600, 10_000].map(|seconds| words(Duration::from_secs(seconds))),
            ["90 s", "10 min", "2 h"]
        );
    }
}
