//! What `-v` adds to standard error: a line for each phase of the work when it ends, with its numbers and its time.
//!
//! Library crates mark phases with `tracing` spans and know nothing of terminals. Without `-v` no subscriber is installed,
//! and a span costs a comparison.

use std::fmt::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;
use tracing::Subscriber;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_subscriber::Layer;
use tracing_subscriber::layer::{Context, SubscriberExt};
use tracing_subscriber::registry::LookupSpan;

static PRINTED: AtomicBool = AtomicBool::new(false);

/// From now on phases are printed, and no progress is shown: a bar would stand in the middle of their lines.
pub fn print_phases() {
    PRINTED.store(true, Ordering::Relaxed);
    let subscriber = tracing_subscriber::registry().with(Phases);
    // A second call finds the first subscriber and changes nothing.
    let _ = tracing::subscriber::set_global_default(subscriber);
}

pub(crate) fn prints_phases() -> bool {
    PRINTED.load(Ordering::Relaxed)
}

struct Phases;

/// Of a span that is open.
struct Open {
    begun: Instant,
    numbers: Numbers,
}

/// Its fields, as they are printed.
#[derive(Default)]
struct Numbers(String);

impl Visit for Numbers {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        let _ = write!(self.0, "  {} {value:?}", field.name());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        let _ = write!(self.0, "  {} {value}", field.name());
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Phases {
    fn on_new_span(&self, attributes: &Attributes<'_>, id: &Id, context: Context<'_, S>) {
        let mut numbers = Numbers::default();
        attributes.record(&mut numbers);
        if let Some(span) = context.span(id) {
            span.extensions_mut().insert(Open { begun: Instant::now(), numbers });
        }
    }

    fn on_record(&self, id: &Id, values: &Record<'_>, context: Context<'_, S>) {
        if let Some(span) = context.span(id)
            && let Some(open) = span.extensions_mut().get_mut::<Open>()
        {
            values.record(&mut open.numbers);
        }
    }

    fn on_close(&self, id: Id, context: Context<'_, S>) {
        if let Some(span) = context.span(&id)
            && let Some(open) = span.extensions_mut().remove::<Open>()
        {
            crate::say(&[line(span.name(), &open.numbers.0, open.begun.elapsed().as_secs_f64())]);
        }
    }
}

fn line(name: &str, numbers: &str, seconds: f64) -> String {
    format!("kizami: {seconds:8.3} s  {name}{numbers}")
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn a_phase_has_its_time_and_its_numbers() {
        assert_eq!(
            line("graph", "  rows 410  threads 2", 0.5),
            "kizami:    0.500 s  graph  rows 410  threads 2"
        );
    }
}
