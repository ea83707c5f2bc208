//! What collectives cost over messages that were measured between two ranks.
//!
//! ```text
//! collective_costs MESSAGES.csv EAGER_LIMIT_BYTES < questions > answers
//! ```
//!
//! The table has the columns `bytes,round_trip_half_ns,send_ns,receive_ns,stream_ns,exchange_ns`. Each question is a line
//! `library,operation,bytes,ranks,partners` with a library of `ompi`, `mpich`, `classic` or `unknown`, and with partners only
//! where an alltoall is sparse. Answers are the same lines with the cost in microseconds, and the time that took.

use kizami_model::Op;
use kizami_network::collectives::Library;
use kizami_network::{Curve, MeasuredMessages};
use std::error::Error;
use std::io::BufRead;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(table), Some(limit)) = (arguments.next(), arguments.next()) else {
        return Err("usage: collective_costs MESSAGES.csv EAGER_LIMIT_BYTES < questions".into());
    };
    let messages = read_messages(&std::fs::read_to_string(table)?, limit.parse()?)?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(',').collect();
        let [library, op, bytes, ranks, partners] = words[..] else {
            return Err(format!("not a question: {line}").into());
        };
        let library = match library {
            "ompi" => Library::OpenMpi,
            "mpich" => Library::Mpich,
            "classic" => Library::MpichClassic,
            _ => Library::Unknown,
        };
        let op = Op::by_name(op).ok_or_else(|| format!("no function: {op}"))?;
        let begin = Instant::now();
        let cost = library.cost_ns(op, ranks.parse()?, bytes.parse()?, partners.parse().ok(), &messages);
        println!("{line},{:.4},{}", cost / 1e3, begin.elapsed().as_micros());
    }
    Ok(())
}

fn read_messages(table: &str, eager_limit_bytes: u64) -> Result<MeasuredMessages, Box<dyn Error>> {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    for line in table.lines().skip(1) {
        rows.push(line.split(',').map(str::parse).collect::<Result<_, _>>()?);
    }
    let column = |index: usize| Curve::new(rows.iter().map(|row| (row[0] as u64, row[index])));
    Ok(MeasuredMessages {
        round_trip_half: column(1),
        send: column(2),
        receive: column(3),
        stream: column(4),
        exchange: column(5),
        eager_limit_bytes,
    })
}
