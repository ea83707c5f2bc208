//! Which rows are wanted.

use super::arguments::EventsArguments;
use kizami_model::{Call, Moment, Op};
use kizami_terminal::failure::UsageError;
use kizami_trace::Trace;

/// Which rows are wanted.
pub struct Filter {
    op: Option<Op>,
    from: Moment,
    to: Moment,
}

impl Filter {
    /// What was asked for, if this trace can have it.
    pub fn new(arguments: &EventsArguments, trace: &Trace) -> Result<Filter, UsageError> {
        let ranks = trace.run().ranks;
        if let Some(rank) = arguments.rank.filter(|rank| *rank >= ranks) {
            let last = ranks.saturating_sub(1);
            return Err(UsageError(format!("there is no rank {rank}; the trace has ranks 0 to {last}")));
        }
        let op = arguments.op.as_deref().map(function_named).transpose()?;
        let from = arguments.from.unwrap_or(Moment(i64::MIN));
        Ok(Filter { op, from, to: arguments.to.unwrap_or(Moment(i64::MAX)) })
    }

    /// Whether a row is wanted.
    pub fn keeps(&self, call: &Call) -> bool {
        self.op.is_none_or(|op| call.op == op)
            && Moment(call.end.0) >= self.from
            && Moment(call.start.0) <= self.to
    }
}

/// `MPI_Send`, `Send` and `send` are the same; `write` is the C library's.
fn function_named(name: &str) -> Result<Op, UsageError> {
    let short = name.strip_prefix("MPI_").or_else(|| name.strip_prefix("mpi_")).unwrap_or(name);
    kizami_model::function::functions()
        .iter()
        .find(|function| {
            let own = function.name.strip_prefix("MPI_").unwrap_or(function.name);
            own.eq_ignore_ascii_case(short)
        })
        .map(|function| function.op)
        .ok_or_else(|| {
            UsageError(format!("unknown function {name}; `kizami info --all` lists the functions called"))
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_match_without_case_or_prefix() {
        for name in ["MPI_Send", "Send", "send", "mpi_send"] {
            assert_eq!(function_named(name).unwrap().name(), "MPI_Send");
        }
        assert_eq!(function_named("write").unwrap().name(), "write");
        assert!(function_named("Sennd").unwrap_err().to_string().contains("Sennd"));
    }
}
