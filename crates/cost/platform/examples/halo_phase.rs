//! Predicts one phase of a 3-D halo exchange: each rank sends to its six neighbours, all at once.
//!
//! `halo_phase PLATFORM RANKS BYTES [--smpi] [--xml] [--hosts]` prints the time in seconds and what working it out took.
//! With `--smpi` sizes are corrected as SMPI does, to compare with SimGrid; `--xml` and `--hosts` print the platform
//! file and the host file for `smpirun` instead.

use kizami_platform::shares::{Message, phase};
use kizami_platform::{GRAMMAR, Platform, SizeFactors};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let (options, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word.starts_with("--"));
    let [form, ranks, bytes] = &words[..] else {
        return Err(format!("halo_phase PLATFORM RANKS BYTES [--smpi] [--xml] [--hosts]\n{GRAMMAR}").into());
    };
    let (ranks, bytes): (usize, u64) = (ranks.parse()?, bytes.parse()?);
    let platform = Platform::parse(form)?;
    if options.iter().any(|option| option == "--xml") {
        print!("{}", platform.to_simgrid_xml());
        return Ok(());
    }
    if options.iter().any(|option| option == "--hosts") {
        (0..ranks).filter_map(|rank| platform.host_name(rank)).for_each(|name| println!("{name}"));
        return Ok(());
    }
    let smpi = options.iter().any(|option| option == "--smpi");
    let factors = if smpi { SizeFactors::SMPI } else { SizeFactors::NONE };
    let begun = Instant::now();
    let messages = halo(ranks, bytes);
    let phase = phase(&platform, &messages, &factors)?;
    println!(
        "{platform} {ranks} {bytes} {:.9} {:.4}",
        phase.all_done_ns / 1e9,
        begun.elapsed().as_secs_f64()
    );
    Ok(())
}

/// The nearest to a cube, the longest side last; neighbours of the last side have neighbouring numbers.
fn sides(ranks: usize) -> [usize; 3] {
    let divisors = |of: usize| (1..=of).filter(move |side| of.is_multiple_of(*side));
    let all = divisors(ranks).flat_map(|a| divisors(ranks / a).map(move |b| [a, b, ranks / a / b]));
    let sorted = all.filter(|[a, b, c]| a <= b && b <= c);
    sorted.min_by_key(|[a, b, c]| a * b + b * c + a * c).unwrap_or([1, 1, ranks])
}

fn halo(ranks: usize, bytes: u64) -> Vec<Message> {
    let [a, b, c] = sides(ranks);
    let neighbours = |rank: usize| {
        let (x, y, z) = (rank / (b * c), rank / c % b, rank % c);
        let at = |x: usize, y: usize, z: usize| ((x % a) * b + y % b) * c + z % c;
        [
            at(x + a - 1, y, z),
            at(x + 1, y, z),
            at(x, y + b - 1, z),
            at(x, y + 1, z),
            at(x, y, z + c - 1),
            at(x, y, z + 1),
        ]
    };
    (0..ranks).flat_map(|from| neighbours(from).map(|to| Message { from, to, bytes })).collect()
}
