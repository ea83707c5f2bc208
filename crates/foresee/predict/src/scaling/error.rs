//! The one error of this module, with what to do next.

use std::fmt;

/// Why nothing could be predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScalingError {
    /// No measurement at all, or one without samples.
    NoSamples,
    /// A sample, count, parameter or working set that is no positive number (counts may be 0), or no ranks.
    NotPositive(&'static str),
    /// One situation was measured, and how the work depends on ranks is not given.
    OneSituation {
        /// Ranks it was measured on.
        ranks: u32,
    },
    /// Some situations have counts of work and others have not, or more of them.
    CountsDiffer,
    /// So many kinds of work cannot be distinguished by the situations measured.
    TooManyCounts {
        /// Kinds of work.
        kinds: usize,
        /// Situations measured.
        situations: usize,
    },
    /// All counts of work are 0 where time was measured.
    NothingCounted,
    /// A parameter that some situations do not have.
    ParameterMissing(String),
    /// A parameter for which another value is asked than the only one that was measured.
    ParameterNeverVaried(String),
}

impl fmt::Display for ScalingError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ScalingError::NoSamples => write!(out, "nothing was measured here: at least one time is needed"),
            ScalingError::NotPositive(what) => write!(out, "{what} must be a number above 0"),
            ScalingError::OneSituation { ranks } => write!(
                out,
                "only {ranks} ranks were measured: measure another number of ranks, or say whether the whole work \
                 stays the same (strong scaling) or the work of each rank does (weak scaling)"
            ),
            ScalingError::CountsDiffer => {
                write!(out, "work must be counted in every measurement and every target, or in none")
            }
            ScalingError::TooManyCounts { kinds, situations } => write!(
                out,
                "{kinds} kinds of work cannot be separated by {situations} measurements: measure more numbers of \
                 ranks, or count fewer kinds"
            ),
            ScalingError::NothingCounted => {
                write!(out, "time was measured where no work was counted: count other work, or none")
            }
            ScalingError::ParameterMissing(name) => {
                write!(out, "parameter {name} must be given for every measurement and every target")
            }
            ScalingError::ParameterNeverVaried(name) => write!(
                out,
                "parameter {name} had one value in all measurements and has another where time is asked for: measure \
                 with a second value of {name}, or give counts of work"
            ),
        }
    }
}

impl std::error::Error for ScalingError {}
