use super::filling::Filling;
use super::flows::Flows;
use super::*;
use proptest::prelude::*;

/// Links of 1 byte a nanosecond and no latency, so that bytes are nanoseconds.
fn flat() -> Platform {
    Platform::parse("flat:16,bw=1GBps,lat=0s").unwrap()
}

fn done_ns(platform: &Platform, messages: &[(usize, usize, u64)]) -> Vec<f64> {
    let messages: Vec<Message> =
        messages.iter().map(|(from, to, bytes)| Message { from: *from, to: *to, bytes: *bytes }).collect();
    let done = phase(platform, &messages, &SizeFactors::NONE).unwrap();
    assert_eq!(done.all_done_ns, done.done_ns.iter().copied().fold(0.0, f64::max));
    done.done_ns.into_iter().map(|ns| (ns * 1e3).round() / 1e3).collect()
}

#[test]
fn one_message_has_the_network_to_itself() {
    let platform = Platform::parse("torus:8,bw=2GBps,lat=1us").unwrap();
    assert_eq!(done_ns(&platform, &[(0, 3, 10_000)]), [8_000.0]);
    assert_eq!(done_ns(&platform, &[(0, 3, 0), (2, 2, 10_000)]), [3_000.0, 0.0]);
    assert_eq!(done_ns(&platform, &[]), []);
}

#[test]
fn remaining_flows_take_what_others_release() {
    // Both share the way out of 0 until the short one is done.
    assert_eq!(done_ns(&flat(), &[(0, 1, 1_000), (0, 2, 3_000)]), [2_000.0, 4_000.0]);
    // 1 to 2 may only use what the others leave it at 2: a third; 4 to 1 is not disturbed.
    let messages = [(0, 2, 3_000), (3, 2, 3_000), (1, 2, 6_000), (4, 1, 5_000)];
    assert_eq!(done_ns(&flat(), &messages), [9_000.0, 9_000.0, 12_000.0, 5_000.0]);
}

#[test]
fn shares_are_max_min_fair() {
    // Out of 0 go three, each a third; 4 to 1 has what the first leaves at 1: two thirds, then all.
    let messages = [(0, 1, 1_000), (0, 2, 1_000), (0, 3, 1_000), (4, 1, 3_000)];
    assert_eq!(done_ns(&flat(), &messages), [3_000.0, 3_000.0, 3_000.0, 4_000.0]);
}

#[test]
fn a_message_on_its_way_uses_no_bandwidth_yet() {
    let platform = Platform::parse("torus:9,bw=1GBps,lat=1us").unwrap();
    // The second needs the last link only from 3,000 on, when the first has 1,000 bytes left of 3,000.
    assert_eq!(done_ns(&platform, &[(2, 3, 3_000), (0, 3, 3_000)]), [5_000.0, 7_000.0]);
}

#[test]
fn fat_pipes_are_not_shared() {
    let file = r#"<platform version="4.1"><zone id="z" routing="Full">
        <host id="a" speed="1Gf"/><host id="b" speed="1Gf"/>
        <link id="pipe" bandwidth="1GBps" latency="0s" sharing_policy="FATPIPE"/>
        <link id="back" bandwidth="1GBps" latency="0s"/>
        <route src="a" dst="b" symmetrical="NO"><link_ctn id="pipe"/></route>
        <route src="b" dst="a" symmetrical="NO"><link_ctn id="back"/></route></zone></platform>"#;
    let platform = Platform::from_simgrid_xml(file).unwrap();
    let messages = [(0, 1, 1_000), (0, 1, 1_000), (1, 0, 1_000), (1, 0, 1_000)];
    assert_eq!(done_ns(&platform, &messages), [1_000.0, 1_000.0, 2_000.0, 2_000.0]);
}

#[test]
fn both_directions_share_half_duplex() {
    let halves = Platform::parse("flat:4,bw=1GBps,lat=0s,duplex=half").unwrap();
    assert_eq!(done_ns(&halves, &[(0, 1, 1_000), (1, 0, 1_000)]), [2_000.0, 2_000.0]);
    assert_eq!(done_ns(&flat(), &[(0, 1, 1_000), (1, 0, 1_000)]), [1_000.0, 1_000.0]);
}

#[test]
fn hosts_that_are_not_there_are_refused() {
    let error = phase(&flat(), &[Message { from: 0, to: 16, bytes: 1 }], &SizeFactors::NONE).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a message goes from host 0 to host 16, but the platform has 16; take a larger platform"
    );
}

/// A ring of ranks along a torus, as measured with SimGrid 3.32: both ways, so with its cross-traffic of 5 %.
#[test]
fn sizes_are_corrected_as_smpi_does() {
    let platform = Platform::parse("torus:4x4x4,lat=500ns").unwrap();
    let both = |host: usize| [(host, host / 4 * 4 + (host + 1) % 4), (host, host / 4 * 4 + (host + 3) % 4)];
    let messages: Vec<Message> =
        (0..64).flat_map(both).map(|(from, to)| Message { from, to, bytes: 131_072 }).collect();
    let done = phase(&platform, &messages, &SizeFactors::SMPI).unwrap();
    let expected_ns = 500.0 * 11.6436 + 131_088.0 / 0.940694 * 1.05 / 1.25;
    assert!((done.all_done_ns - expected_ns).abs() < 1.0, "{} {expected_ns}", done.all_done_ns);
    assert_eq!((SizeFactors::SMPI.latency(0), SizeFactors::SMPI.bandwidth(15_424)), (1.0, 0.58729));
}

const FORMS: &[&str] =
    &["flat:24", "fat-tree:4x6,2:1", "torus:2x3x4", "dragonfly:3x4x2,duplex=half", "torus:24,duplex=half"];

fn any_messages() -> impl Strategy<Value = (Platform, Vec<Message>)> {
    let message = (0_usize..24, 0_usize..24, 1_u64..5).prop_map(|(from, to, size)| {
        let bytes = size * 50_000;
        Message { from, to, bytes }
    });
    (prop::sample::select(FORMS), prop::collection::vec(message, 1..60))
        .prop_map(|(form, messages)| (Platform::parse(form).unwrap(), messages))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Joining what is alike changes nothing.
    #[test]
    fn classes_are_as_good_as_messages((platform, messages) in any_messages(), smpi: bool) {
        let factors = if smpi { SizeFactors::SMPI } else { SizeFactors::NONE };
        let flows = Flows::new(&platform, &messages, &factors);
        let uses = |flow: usize| flows.uses(flow).iter().map(move |(link, weight)| (*link, flow as u32, *weight));
        let uses: Vec<_> = (0..messages.len()).flat_map(uses).collect();
        let apart = ends_ns(Filling::new(flows.flows.clone(), flows.capacities.clone(), &uses));
        let joined = phase(&platform, &messages, &factors).unwrap();
        for (apart, joined) in apart.iter().zip(&joined.done_ns) {
            prop_assert!((apart - joined).abs() <= 1e-6 * apart, "{apart} {joined}");
        }
    }

    /// No link has more than it can carry, and every message has a full link on which none has a larger share.
    #[test]
    fn every_message_has_a_bottleneck((platform, messages) in any_messages()) {
        let flows = Flows::new(&platform, &messages, &SizeFactors::NONE);
        let uses = |flow: usize| flows.uses(flow).iter().map(move |(link, weight)| (*link, flow as u32, *weight));
        let uses: Vec<_> = (0..messages.len()).flat_map(uses).collect();
        let mut filling = Filling::new(flows.flows.clone(), flows.capacities.clone(), &uses);
        let sending: Vec<usize> = (0..messages.len()).filter(|flow| flows.flows[*flow].bytes > 0.0).collect();
        filling.share(&sending);
        let on = |link: u32| uses.iter().filter(move |one| one.0 == link);
        let load = |link: u32| on(link).map(|one| one.2 * filling.rates[one.1 as usize]).sum::<f64>();
        let most = |link: u32| on(link).map(|one| filling.rates[one.1 as usize]).fold(0.0, f64::max);
        let full = |link: u32| load(link) >= flows.capacities[link as usize] * (1.0 - 1e-9);
        for link in 0..flows.capacities.len() as u32 {
            prop_assert!(load(link) <= flows.capacities[link as usize] * (1.0 + 1e-9));
        }
        for flow in sending {
            let rate = filling.rates[flow] * (1.0 + 1e-9);
            prop_assert!(flows.uses(flow).iter().any(|(link, _)| full(*link) && most(*link) <= rate));
        }
    }
}
