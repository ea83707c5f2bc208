//! Runs a query of a Fleng program and tells what it comes to: `run_fleng FILE QUERY [fifo|lifo|SEED]`.

use kizami_fleng::{Order, Program, Settings};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, query, order @ ..] = &arguments[..] else {
        return Err("use: run_fleng FILE QUERY [fifo|lifo|SEED]".into());
    };
    let order = match order.first().map(String::as_str) {
        None | Some("fifo") => Order::Fifo,
        Some("lifo") => Order::Lifo,
        Some(seed) => Order::Random(seed.parse()?),
    };
    let query = Program::parse(&std::fs::read_to_string(file)?)?.query(query)?;
    let begun = Instant::now();
    let outcome = query.run(&Settings { order, ..Settings::default() }, &mut ())?;
    let seconds = begun.elapsed().as_secs_f64();
    for (name, value) in &outcome.answers {
        println!("{name} = {value}");
    }
    for stuck in &outcome.stuck {
        println!("{stuck}");
    }
    println!("end {}, work {}, peak {}", outcome.end, outcome.work, outcome.peak);
    println!("{} tasks, {:.2} million a second", outcome.tasks, outcome.tasks as f64 / seconds / 1e6);
    Ok(())
}
