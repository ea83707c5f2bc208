//! Exact sums of all calls by class, and a weighted sample of them.
