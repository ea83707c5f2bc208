//! A fitted model as a platform file: hosts at one switch that is never in the way, and settings for SimGrid's MPI.
//!
//! SimGrid takes the settings of a file where its command line says nothing else, so the file alone is enough, for
//! `kizami simgrid` and for `smpirun`. Kizami reads the same file as a flat network, without the settings.

use super::model::{ENVELOPE_BYTES, Model, Overhead, Stretch};
use std::fmt::Write;

/// What is written beside the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Hosts {
    /// How many.
    pub nodes: u32,
    /// Of each.
    pub cores: u32,
    /// The name of the machine's first host.
    pub first: String,
}

/// No message is held back by a window: what windows do is in the times that were measured.
const NO_WINDOW_BYTES: &str = "1e15";

/// No comment of XML may have two of these behind each other.
fn apart(about: &str) -> String {
    // The second time is for those that stood three in a row.
    about.replace("--", "- -").replace("--", "- -")
}

/// The whole file. `about` says what it was made from.
pub fn file(model: &Model, hosts: &Hosts, about: &str) -> String {
    let mut text = format!(
        "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <!-- Fitted by kizami simgrid calibrate to {} -->\n<platform version=\"4.1\">\n  <config>\n",
        apart(about)
    );
    for (name, value) in settings(model) {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "    <prop id=\"{name}\" value=\"{value}\"/>");
    }
    let (prefix, first) = numbered(&hosts.first);
    let (link, loopback) = (&model.link, &model.loopback);
    let _ = write!(
        text,
        "  </config>\n  <cluster id=\"cluster\" prefix=\"{}\" radical=\"{first}-{}\" suffix=\"\" speed=\"1Gf\" core=\"{}\"\n           \
         bw=\"{}Bps\" lat=\"{}ns\" sharing_policy=\"SPLITDUPLEX\"\n           \
         loopback_bw=\"{}Bps\" loopback_lat=\"{}ns\"/>\n</platform>\n",
        escaped(&prefix),
        first + u64::from(hosts.nodes) - 1,
        hosts.cores,
        number(link.bandwidth_bytes_per_s()),
        // A message passes the link of its sender and that of its receiver.
        number(link.latency_ns / 2.0),
        number(loopback.bandwidth_bytes_per_s()),
        number(loopback.latency_ns),
    );
    text
}

/// Settings of SimGrid, by name.
fn settings(model: &Model) -> Vec<(&'static str, String)> {
    let mut settings = vec![("network/TCP-gamma", NO_WINDOW_BYTES.to_owned())];
    let factors = |of: fn(&Stretch) -> f64| {
        let part = |stretch: &Stretch| format!("{}:{}", above(stretch.from_bytes), number(of(stretch)));
        model.stretches.iter().map(part).collect::<Vec<_>>().join(";")
    };
    settings.push(("smpi/bw-factor", factors(|stretch| stretch.bandwidth_factor)));
    settings.push(("smpi/lat-factor", factors(|stretch| stretch.latency_factor)));
    if let Some(limits) = model.limits {
        settings.push(("smpi/async-small-thresh", below(limits.early_bytes)));
        settings.push(("smpi/send-is-detached-thresh", below(limits.detached_bytes)));
    }
    let sending = overheads(&model.stretches, |stretch| stretch.sending);
    let receiving = overheads(&model.stretches, |stretch| stretch.receiving);
    let named = [("smpi/os", &sending), ("smpi/ois", &sending), ("smpi/or", &receiving)];
    settings.extend(named.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))));
    settings
}

/// SimGrid's stretches begin above a size.
fn above(from_bytes: u64) -> u64 {
    from_bytes.saturating_sub(1)
}

/// Its limits are sizes that are too large; 0 is for none.
fn below(limit_bytes: u64) -> String {
    if limit_bytes == 0 { 0 } else { limit_bytes + 1 }.to_string()
}

/// Overheads by the size of messages; none if there are none.
fn overheads(stretches: &[Stretch], of: fn(&Stretch) -> Overhead) -> Option<String> {
    let costs = |stretch: &&Stretch| of(stretch) != Overhead::default();
    stretches.iter().find(costs)?;
    let mut parts: Vec<(u64, Overhead)> = stretches
        .iter()
        .map(|stretch| (stretch.from_bytes.saturating_sub(ENVELOPE_BYTES), of(stretch)))
        .collect();
    parts.dedup_by_key(|(_, overhead)| *overhead);
    let part = |(from_bytes, overhead): &(u64, Overhead)| {
        format!("{}:{}ns:{}ns", above(*from_bytes), number(overhead.fixed_ns), number(overhead.per_byte_ns))
    };
    Some(parts.iter().map(part).collect::<Vec<_>>().join(";"))
}

/// Six digits are far more than was measured.
fn number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return "0".to_owned();
    }
    let unit = 10_f64.powi(5 - value.abs().log10().floor() as i32);
    format!("{}", (value * unit).round() / unit)
}

/// The part of a host's name before its number, and the number. Names without one get one; SimGrid writes no zeros before
/// a number, so one that begins with them is a part of the name.
fn numbered(host: &str) -> (String, u64) {
    let text = host.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let digits = &host[text.len()..];
    match digits.parse::<u32>() {
        Ok(number) if digits == number.to_string() => (text.to_owned(), u64::from(number)),
        _ if host.is_empty() => ("node-".to_owned(), 0),
        _ => (format!("{host}-"), 0),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::super::model::Link;
    use super::super::samples::Limits;
    use super::*;
    use kizami_platform::Platform;

    fn model() -> Model {
        let stretch = |from_bytes, latency_factor, sending| Stretch {
            from_bytes,
            latency_factor,
            bandwidth_factor: 1.0 / 3.0,
            sending,
            receiving: Overhead::default(),
        };
        Model {
            limits: Some(Limits { detached_bytes: 4_096, early_bytes: 0 }),
            stretches: vec![
                stretch(0, 1.0, Overhead { fixed_ns: 80.0, per_byte_ns: 0.025 }),
                stretch(4_113, 2.5, Overhead::default()),
            ],
            link: Link { latency_ns: 1_000.0, per_byte_ns: 0.1 },
            loopback: Link { latency_ns: 200.0, per_byte_ns: 0.05 },
        }
    }

    #[test]
    fn kizami_reads_the_file_as_a_flat_network() {
        let hosts = Hosts { nodes: 3, cores: 8, first: "n-4".to_owned() };
        let text = file(&model(), &hosts, "ours -- <the old one>");
        let platform = Platform::from_simgrid_xml(&text).unwrap();
        assert_eq!(platform.hosts(), 3);
        assert_eq!(platform.host_name(2).as_deref(), Some("n-6"));
        assert_eq!(platform.latency_ns(0, 2), 1_000.0);
        assert_eq!(platform.bottleneck_bytes_per_s(0, 2), 1e10);
    }

    #[test]
    fn settings_are_in_the_words_of_simgrid() {
        let settings = settings(&model());
        let value = |name: &str| settings.iter().find(|(id, _)| *id == name).map(|(_, value)| value.as_str());
        assert_eq!(value("smpi/lat-factor"), Some("0:1;4112:2.5"));
        assert_eq!(value("smpi/bw-factor"), Some("0:0.333333;4112:0.333333"));
        assert_eq!(value("smpi/os"), Some("0:80ns:0.025ns;4096:0ns:0ns"));
        assert_eq!(value("smpi/ois"), value("smpi/os"));
        assert_eq!(value("smpi/or"), None);
        assert_eq!(value("smpi/async-small-thresh"), Some("0"));
        assert_eq!(value("smpi/send-is-detached-thresh"), Some("4097"));
    }

    #[test]
    fn hosts_have_numbers() {
        let name = |host: &str| numbered(host);
        assert_eq!(name("node12"), ("node".to_owned(), 12));
        assert_eq!(name("node007"), ("node007-".to_owned(), 0));
        assert_eq!(name("vm"), ("vm-".to_owned(), 0));
        assert_eq!(name(""), ("node-".to_owned(), 0));
        assert_eq!(
            [number(0.1 + 0.2), number(8_725_223_456.0), number(1e-9)],
            ["0.3", "8725220000", "0.000000001"]
        );
    }
}
