//! What is measured, once prepared.

use crate::rank::Rank;
use kizami_mpi::MpiError;

/// What one rank saw of one call. All ranks' samples together are a span: from the latest start to the latest end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub start_ns: f64,
    pub end_ns: f64,
}

impl Sample {
    /// Of a rank that took no part.
    pub(crate) const NONE: Sample = Sample { start_ns: 0.0, end_ns: 0.0 };

    /// A length that a rank measured itself; the span is the largest of those, if all ranks have such.
    pub(crate) fn took(length_ns: f64) -> Sample {
        Sample { start_ns: 0.0, end_ns: length_ns }
    }

    /// One of several equal parts of what was measured.
    pub(crate) fn divided_by(self, parts: f64) -> Sample {
        Sample { start_ns: self.start_ns / parts, end_ns: self.end_ns / parts }
    }
}

/// Something that can be done again and again, by all ranks at once.
pub(crate) trait Subject {
    /// Does it once. All ranks have just left a barrier.
    fn once(&mut self, rank: &Rank) -> Result<Sample, MpiError>;

    /// Gives back what MPI holds for it.
    fn finish(self: Box<Self>, _rank: &Rank) -> Result<(), MpiError> {
        Ok(())
    }
}

/// Times a call.
#[inline]
pub(crate) fn timed(rank: &Rank, call: impl FnOnce() -> Result<(), MpiError>) -> Result<Sample, MpiError> {
    let start_ns = rank.clock.now_ns();
    call()?;
    Ok(Sample { start_ns, end_ns: rank.clock.now_ns() })
}
