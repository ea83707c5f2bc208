//! The six parameters of the LogGOPS model.

use crate::error::MachineError;
use crate::machine::Machine;
use kizami_network::LogGops;

/// One line such as `L=1200ns,o=150ns,g=0ns,G=0.08ns,O=0ns,S=65536`, as `kizami replay --loggops` reads it. Times are in
/// nanoseconds, `G` and `O` those of a byte, `S` is in bytes.
pub fn loggops(machine: &Machine) -> Result<String, MachineError> {
    let messages = machine.costs().messages;
    if messages.round_trip_half.is_empty() {
        let what = "nothing is known about single messages of this machine; measure it with `kizami bench`, or import \
                    osu_latency of the OSU micro-benchmarks or PingPong of the Intel MPI Benchmarks";
        return Err(MachineError::Measuring { what: what.to_owned() });
    }
    let LogGops { latency_ns, overhead_ns, gap_ns, per_byte_ns, overhead_per_byte_ns, eager_limit_bytes } =
        messages.model();
    let rounded = |ns: f64| (ns.max(0.0) * 1e6).round() / 1e6;
    Ok(format!(
        "L={}ns,o={}ns,g={}ns,G={}ns,O={}ns,S={eager_limit_bytes}\n",
        rounded(latency_ns),
        rounded(overhead_ns),
        rounded(gap_ns),
        rounded(per_byte_ns),
        rounded(overhead_per_byte_ns),
    ))
}
