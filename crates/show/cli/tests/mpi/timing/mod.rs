//! What depends on how long things take on this machine. These tests run alone (`.config/nextest.toml`), and more than half of
//! their attempts must hold.

mod cost;
mod explaining;
mod late_receivers;
mod meetings;
mod openmp;
mod predicting;
mod reducing;
mod replay;

/// Of so many attempts more than half must hold.
const ATTEMPTS: usize = 5;
