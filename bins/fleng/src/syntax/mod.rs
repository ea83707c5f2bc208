//! From text to clauses as the text has them: tokens, then terms and clauses.
//!
//! It promises an error with its place and what to do for any text that is not a program, and never a panic;
//! nesting deeper than [`parser::DEEPEST`] is such an error. It does not know which goals exist.

mod error;
mod lexer;
pub(crate) mod parser;
pub(crate) mod tree;

pub(crate) use error::Position;
pub use error::SyntaxError;
