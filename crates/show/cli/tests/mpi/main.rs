//! Runs of the real programs in `workloads/` under real MPIs, recorded by the built product, against what the
//! programs themselves know about their calls. `.ci/prepare` installs the MPIs and builds the programs.

mod applications;
mod clocks;
mod comparing;
mod cores;
mod counting;
mod crashes;
mod dividing;
mod elsewhere;
mod endings;
mod explaining;
mod files;
mod hanging;
mod late_receivers;
mod leaving;
mod limited;
mod meetings;
mod mpi;
mod openmp;
mod paths;
mod plugins;
mod predicting;
mod reconstruction;
mod recording;
mod reducing;
mod report;
mod sealing;
mod sharing;
mod simulated;
mod timing;
mod together;
mod trouble;
mod truth;
mod wrappers;
