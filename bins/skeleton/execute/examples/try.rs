//! Tries a skeleton, or a whole program's bitcode:
//!
//! ```text
//! cargo run --release -p kizami-execute --example try -- run X.skel 1000000 [arguments]
//! cargo run --release -p kizami-execute --example try -- write X.skel 64 X.kz [arguments]
//! cargo run --release -p kizami-execute --example try -- check X.skel recorded.kz
//! clang-19 -O1 -emit-llvm -c -I.../mpich program.c -o program.bc
//! cargo run --release -p kizami-execute --example try -- check mpich:program.bc recorded.kz
//! ```

use kizami_execute::{CheckOptions, Company, Library, RunOptions, Skeleton, check, run};
use std::path::Path;

fn main() {
    let all: Vec<String> = std::env::args().skip(1).collect();
    if let Err(why) = done(&all) {
        eprintln!("{why}");
        std::process::exit(1);
    }
}

fn open(name: &str) -> Result<Skeleton, kizami_execute::ExecuteError> {
    for (prefix, library) in
        [("mpich:", Library::Mpich), ("openmpi:", Library::OpenMpi), ("smpi:", Library::Smpi)]
    {
        if let Some(path) = name.strip_prefix(prefix) {
            return Skeleton::open(Path::new(path), Some(library));
        }
    }
    Skeleton::open(Path::new(name), None)
}

fn done(all: &[String]) -> Result<(), Box<dyn std::error::Error>> {
    let company = match std::env::var("COMPANY").as_deref() {
        Ok("alone") => Company::Alone,
        Ok("together") => Company::Together,
        _ => Company::Auto,
    };
    match all {
        [verb, name, ranks, rest @ ..] if verb == "run" || verb == "write" => {
            let (output, arguments) = match (verb.as_str(), rest) {
                ("write", [output, arguments @ ..]) => (Some(output.into()), arguments.to_vec()),
                _ => (None, rest.to_vec()),
            };
            let options = RunOptions {
                ranks: ranks.parse()?,
                arguments,
                company,
                output,
                like: std::env::var_os("LIKE").map(Into::into),
                threads: std::env::var("THREADS").ok().and_then(|count| count.parse().ok()),
                ..RunOptions::default()
            };
            let ran = run(&open(name)?, &options)?;
            if ran.failed > 0 {
                println!("{} ranks ended with another exit code than 0", ran.failed);
            }
            println!(
                "{} ranks, {} calls, {} kinds, {} passes, {}, {:.3} s; processor {:.3} s ({:.3} us a rank, {:.1} ns a call), written in {:.3} s",
                ran.ranks,
                ran.calls,
                ran.kinds,
                ran.passes,
                if ran.together { "together" } else { "alone" },
                ran.seconds,
                ran.processor_seconds,
                ran.processor_seconds * 1e6 / f64::from(ran.ranks),
                ran.processor_seconds * 1e9 / ran.calls as f64,
                ran.seconds_writing,
            );
        }
        [verb, name, trace, ..] if verb == "check" => {
            let every_call = std::env::var_os("EVERY_CALL").is_some();
            let options = CheckOptions { company, every_call, ..CheckOptions::default() };
            let checked = check(&open(name)?, Path::new(trace), &options)?;
            println!(
                "{} of {} ranks identical, {} calls compared, {} kinds, {}",
                checked.identical,
                checked.ranks,
                checked.compared,
                checked.kinds,
                if checked.together { "together" } else { "alone" },
            );
            for difference in checked.differences.iter().take(3) {
                println!(
                    "rank {} call {} ({}):\n  recorded {}\n  skeleton {}",
                    difference.rank,
                    difference.call,
                    difference.place,
                    difference.recorded,
                    difference.skeleton
                );
            }
        }
        _ => return Err("run, write or check; see the top of this file".into()),
    }
    Ok(())
}
