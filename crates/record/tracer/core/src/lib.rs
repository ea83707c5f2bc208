//! What the tracer does in any process, whatever it records there.
//!
//! A process ([`process`]) has a directory to write to, a segment of definitions, and a [`stream`] for each thread, whose
//! full chunks a [`helper`] thread writes out where it has a core. Time comes from a [`clock`], or from a [`simulator`];
//! [`counters`] are read with it where asked for, and how long the thread [had no core](off_core). Which functions led to a
//! call is found by [`frames`]. Where not every call is kept, a [`reduction`] has the rest.
//!
//! What it promises: nothing here takes the process down; what cannot be written any more is counted as lost.
//!
//! What it does not do: it knows no MPI, and does not decide what a record holds.

pub mod binding;
pub mod cancellation;
pub mod clock;
pub mod counters;
pub mod frames;
pub mod helper;
pub mod identity;
pub mod launcher;
pub mod loader;
pub mod off_core;
pub mod process;
pub mod processor;
pub mod reduction;
pub mod reserve;
pub mod settings;
pub mod simulator;
pub mod stack;
pub mod stream;
pub mod unwinder;
