//! Platforms by their short forms: what is read, which links messages take, and what is said of what is wrong.

use kizami_platform::{GRAMMAR, Platform};
use proptest::prelude::*;

fn parse(text: &str) -> Platform {
    Platform::parse(text).unwrap()
}

fn hops(platform: &Platform, from: usize, to: usize) -> Vec<u32> {
    let mut route = Vec::new();
    platform.route(from, to, &mut route);
    route.into_iter().map(|id| id.0).collect()
}

/// Short forms that are written as they are read.
const FORMS: [&str; 14] = [
    "flat:64",
    "flat:1,bw=12.5GBps,lat=500ns",
    "fat-tree:64x16,2:1",
    "fat-tree:64x16,1:1,bw=125MBps",
    "fat-tree:5x6,3:2",
    "fat-tree:3;4,4,3;1,2,4;1,1,1",
    "fat-tree:2;4,6;2,3;2,3,lat=20ns",
    "torus:7",
    "torus:16x8x8,lat=0ns",
    "torus:2x3x4x5x6,duplex=half",
    "dragonfly:8x16x8",
    "dragonfly:1x1x1,bw=3Bps",
    "dragonfly:8,2;4,2;8,2;4",
    "dragonfly:4,1;1,1;5,2;3,bw=1.2345kBps,lat=1.5ms,duplex=half",
];

#[test]
fn short_forms_and_files_survive_a_round_trip() {
    for form in FORMS {
        let platform = parse(form);
        assert_eq!(platform.to_string(), form);
        let file = platform.to_simgrid_xml();
        assert_eq!(Platform::from_simgrid_xml(&file).as_ref(), Ok(&platform), "{file}");
    }
}

#[test]
fn units_and_defaults_are_free() {
    let platform = parse("flat:4,bw=10Gbps,lat=0.5us");
    assert_eq!(platform.to_string(), "flat:4,lat=500ns");
    assert_eq!(platform.latency_ns(0, 1), 1_000.0);
    assert_eq!(platform.bottleneck_bytes_per_s(0, 1), 1.25e9);
    assert_eq!(parse("fat-tree:4x4").to_string(), "fat-tree:4x4,1:1");
    assert_eq!(parse("fat-tree:4x4,4").to_string(), "fat-tree:4x4,4:1");
    assert_eq!(parse("flat:4,bw=1MiBps").bottleneck_bytes_per_s(1, 0), 1_048_576.0);
}

#[test]
fn what_is_wrong_is_said() {
    let said = |form: &str| Platform::parse(form).unwrap_err().to_string();
    assert_eq!(
        said("fat-tree:64x15,2:1"),
        "`2:1` in the platform `fat-tree:64x15,2:1` is not understood: 15 hosts would have no whole number of cables up"
    );
    assert_eq!(
        said("mesh:4x4"),
        "there is no kind of platform called `mesh`; write flat:64, fat-tree:64x16,2:1, torus:16x8x8 or \
         dragonfly:8x16x8"
    );
    assert_eq!(
        said("torus:4x0"),
        "`0` in the platform `torus:4x0` is not understood: a whole number above 0 belongs there, as in torus:16x8x8"
    );
    assert_eq!(
        said("flat:4,bw=fast"),
        "`bw=fast` in the platform `flat:4,bw=fast` is not understood: write a bandwidth above 0 as bw=1.25GBps or \
         bw=10Gbps"
    );
    for (form, part) in [
        ("", "called ``"),
        ("flat", "a whole number above 0"),
        ("flat:4x4", "2 numbers where flat:64 has 1"),
        ("flat:4,lat=-1us", "lat=500ns"),
        ("flat:4,speed=1", "only bw=, lat= and duplex="),
        ("flat:4,duplex=2", "duplex=full or duplex=half"),
        ("fat-tree:4x4,two", "oversubscription as 2:1"),
        ("fat-tree:2;4,4;1;1,1", "topo_parameters such as 2;16,64;1,8;1,1"),
        ("dragonfly:9x8x4", "as many routers as there are groups"),
        ("dragonfly:9,1;1,1;8,1;1", "no fewer routers in a chassis than groups"),
        ("torus:99999x99999x99999x99999x99999", "take a smaller network"),
    ] {
        assert!(said(form).contains(part), "{}", said(form));
    }
}

#[test]
fn the_grammar_has_examples_that_are_right() {
    let examples = GRAMMAR.split("examples\n").nth(1).unwrap();
    for line in examples.lines() {
        parse(line.split_whitespace().next().unwrap());
    }
}

#[test]
fn fat_trees_go_up_by_the_destination() {
    let tree = parse("fat-tree:4x6,2:1,lat=500ns");
    assert_eq!((tree.hosts(), hops(&tree, 3, 3).len(), hops(&tree, 0, 5).len()), (24, 0, 2));
    assert_eq!(tree.latency_ns(0, 23), 2_000.0);
    // All messages to one host come down the same way, whatever their sender; 24 cables of hosts lie before.
    let down = |from, to| hops(&tree, from, to)[2..].to_vec();
    assert_eq!(down(0, 23), [2 * (24 + 3 * 3 + 2) + 1, 2 * 23 + 1]);
    assert_eq!(down(7, 23), down(0, 23));
    assert_eq!(hops(&tree, 0, 22)[1], 2 * (24 + 1));
}

#[test]
fn tori_take_the_shorter_way() {
    let torus = parse("torus:5x4x3");
    let distance = |size: usize, a: usize, b: usize| a.abs_diff(b).min(size - a.abs_diff(b));
    for from in 0..60 {
        for to in 0..60 {
            let expected = distance(5, from % 5, to % 5)
                + distance(4, from / 5 % 4, to / 5 % 4)
                + distance(3, from / 20, to / 20);
            assert_eq!(hops(&torus, from, to).len(), expected, "{from} {to}");
        }
    }
    assert_eq!((hops(&torus, 0, 1), hops(&torus, 1, 0), hops(&torus, 4, 0)), (vec![0], vec![1], vec![24]));
}

#[test]
fn dragonflies_cross_between_groups_once() {
    let dragonfly = parse("dragonfly:4x5x3,bw=1GBps");
    // Host 0 is at router 0 of group 0. Same router; same group; router 1 has the cable to group 1, and comes out at
    // router 0 there.
    assert_eq!((hops(&dragonfly, 0, 1).len(), hops(&dragonfly, 0, 3).len()), (2, 3));
    assert_eq!(
        (hops(&dragonfly, 0, 15).len(), hops(&dragonfly, 0, 18).len(), hops(&dragonfly, 3, 15).len()),
        (4, 5, 3)
    );
    let wide = parse("dragonfly:4,2;1,1;5,3;3,bw=1GBps");
    let mut route = Vec::new();
    wide.route(0, 18, &mut route);
    let widths: Vec<f64> = route.iter().map(|id| wide.link(*id).bandwidth_bytes_per_s / 1e9).collect();
    assert_eq!(widths, [1.0, 3.0, 2.0, 3.0, 1.0]);
}

#[test]
fn a_shared_cable_is_one_link() {
    let torus = parse("torus:4x4,duplex=half");
    assert_eq!(hops(&torus, 0, 1), hops(&torus, 1, 0));
    assert_ne!(hops(&parse("torus:4x4"), 0, 1), hops(&parse("torus:4x4"), 1, 0));
}

proptest! {
    #[test]
    fn any_cable_survives_a_round_trip(
        bandwidth in 1e-3_f64..1e13,
        latency in 0.0_f64..1e10,
        sides in prop::collection::vec(1_usize..9, 1..5),
    ) {
        let sides = sides.iter().map(usize::to_string).collect::<Vec<_>>().join("x");
        let form = format!("torus:{sides},bw={bandwidth}Bps,lat={latency}ns");
        let platform = Platform::parse(&form).unwrap();
        prop_assert_eq!(Platform::parse(&platform.to_string()), Ok(platform.clone()));
        prop_assert_eq!(Platform::from_simgrid_xml(&platform.to_simgrid_xml()), Ok(platform));
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}", form in 0..FORMS.len(), at in 0_usize..40) {
        let mut broken = FORMS[form].to_owned();
        broken.insert_str(at.min(broken.len()), &text);
        let _ = Platform::parse(&text);
        let _ = Platform::parse(&broken);
    }
}
