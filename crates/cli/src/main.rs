//! The `kizami` command.

fn main() {}
