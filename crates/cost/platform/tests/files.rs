//! Platform files of SimGrid: what is read, and what is refused without taking time or memory for it.

use kizami_platform::{Platform, check_for_simgrid};

fn hops(platform: &Platform, from: usize, to: usize) -> Vec<u32> {
    let mut route = Vec::new();
    platform.route(from, to, &mut route);
    route.into_iter().map(|id| id.0).collect()
}

const LISTED: &str = r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="z" routing="Full">
    <host id="a" speed="1Gf"/><host id="b&amp;" speed="1Gf"/><host id="c" speed="1Gf"/>
    <link id="ab" bandwidth="10Gbps" latency="1us" sharing_policy="SPLITDUPLEX"/>
    <link id="bc" bandwidth="125MBps" latency="20us"/>
    <link id="x" bandwidth="1GBps" latency="2us" sharing_policy="FATPIPE"/>
    <route src="a" dst="b&amp;"><link_ctn id="ab" direction="UP"/><link_ctn id="x"/></route>
    <route src="b&amp;" dst="c"><link_ctn id="bc"/></route>
    <route src="a" dst="c"><link_ctn id="ab" direction="UP"/><link_ctn id="bc"/></route>
  </zone>
</platform>"#;

#[test]
fn listed_routes_are_read_and_written() {
    let platform = Platform::from_simgrid_xml(LISTED).unwrap();
    assert_eq!(platform.to_string(), "listed (3 hosts, 3 links)");
    assert_eq!((hops(&platform, 0, 1), hops(&platform, 1, 0)), (vec![0, 4], vec![4, 1]));
    assert_eq!((platform.latency_ns(2, 0), platform.bottleneck_bytes_per_s(2, 0)), (21_000.0, 1.25e8));
    assert_eq!(platform.host_name(1).as_deref(), Some("b&"));
    assert_eq!(Platform::from_simgrid_xml(&platform.to_simgrid_xml()), Ok(platform));
}

#[test]
fn names_follow_the_radical() {
    let file = r#"<platform version="4.1"><cluster id="c" prefix="node-" suffix=".x" radical="0-2,10-12,99"
        speed="1Gf" bw="1GBps" lat="1us"/></platform>"#;
    let platform = Platform::from_simgrid_xml(file).unwrap();
    assert_eq!(platform.to_string(), "flat:7,bw=1GBps");
    let names: Vec<_> = (0..8).map(|host| platform.host_name(host)).collect();
    assert_eq!((names[4].as_deref(), names[6].as_deref()), (Some("node-11.x"), Some("node-99.x")));
    assert_eq!(names[7], None);
    assert_eq!(Platform::from_simgrid_xml(&platform.to_simgrid_xml()), Ok(platform));
}

#[test]
fn files_that_are_not_understood_are_refused() {
    let said = |file: &str| Platform::from_simgrid_xml(file).unwrap_err().to_string();
    assert_eq!(
        said(&LISTED.replace("<route src=\"b&amp;\" dst=\"c\"><link_ctn id=\"bc\"/></route>", "")),
        "the platform file is not read at line 4: there is no route from b& to c; add one"
    );
    assert_eq!(
        said(&LISTED.replace("routing=\"Full\"", "routing=\"Vivaldi\"")),
        "the platform file is not read at line 4: routing Vivaldi is not read here; only Full, or a cluster"
    );
    let cluster =
        |said: &str| format!("<platform>\n<cluster radical='0-3' bw='1GBps' lat='1us' {said}/></platform>");
    for (file, part) in [
        (String::new(), "is this a platform file of SimGrid?"),
        ("<a/>".to_owned(), "begins with <platform"),
        ("<platform/>".to_owned(), "there is no cluster or zone in it"),
        ("<platform><peer/></platform>".to_owned(), "<peer> is not read here"),
        ("<platform><zone/><zone/></platform>".to_owned(), "one too many"),
        (LISTED.replace("id=\"x\" b", "id=\"y\" b"), "line 9: there is no link called x"),
        (LISTED.replace("125MBps", "125"), "line 7: `125` is no bandwidth"),
        (cluster("bb_bw='1GBps'"), "bb_bw of a cluster is not in the model"),
        (
            cluster("topology='TORUS' topo_parameters='3,2'"),
            "line 2: radical names 4 hosts, but the topology has 6",
        ),
        (cluster("topology='MESH'"), "topology MESH is not known"),
    ] {
        assert!(said(&file).contains(part), "{}", said(&file));
    }
}

/// A cluster with these attributes.
fn cluster(attributes: &str) -> String {
    format!("<platform version=\"4.1\">\n<cluster id='c' speed='1Gf' {attributes}/></platform>")
}

/// Small files that ask for much, and what is said of them.
#[test]
fn files_that_ask_for_much_are_refused() {
    let said = |file: &str| Platform::from_simgrid_xml(file).unwrap_err().to_string();
    let attributes: String = (0..200_000).map(|number| format!(" a{number}='x'")).collect();
    let entity = "<!DOCTYPE platform [<!ENTITY a \"aaaa\">]><platform><zone id=\"&a;\"/></platform>";
    let sides = |count: usize| vec!["1"; count].join(",");
    let levels = format!("{0};{1};{1};{1}", 100_000, sides(100_000));
    let namespaces: String = (0..50).map(|number| format!("<zone xmlns:n{number}='u'>")).collect();
    for (file, part) in [
        (
            format!("<platform>\n<zone{attributes}/></platform>"),
            "line 2: an element has more than 64 attributes",
        ),
        (format!("<platform>{}", "<zone>".repeat(200_000)), "elements lie more than 64 deep in each other"),
        (entity.to_owned(), "line 1: its DOCTYPE declares something"),
        (format!("<platform>{namespaces}"), "line 1: namespaces are not read"),
        (cluster("radical='0-2000000000' bw='1GBps'"), "line 2: radical `0-2000000000` is not understood"),
        (cluster("radical='0-18446744073709551615,0-3' bw='1GBps'"), "is not understood"),
        (cluster("radical='5-3' bw='1GBps'"), "radical `5-3` is not understood"),
        (cluster(&format!("radical='{}' bw='1GBps'", vec!["0-4000000"; 2000].join(","))), "are too many"),
        (cluster("radical='0-3' bw='-1GBps'"), "line 2: `-1GBps` is no bandwidth"),
        (cluster("radical='0-3' bw='nanGBps'"), "`nanGBps` is no bandwidth"),
        (cluster("radical='0-3' bw='1e300GBps'"), "`1e300GBps` is no bandwidth"),
        (cluster("radical='0-3' bw='1e-300GBps'"), "`1e-300GBps` is no bandwidth"),
        (cluster("radical='0-3' bw='1GBps' lat='infus'"), "`infus` is no latency"),
        (cluster("radical='0-3' bw='1GBps' lat='1e200s'"), "`1e200s` is no latency"),
        (
            cluster(
                "radical='0-3' bw='1GBps' topology='TORUS' topo_parameters='4294967295,4294967295,4294967295'",
            ),
            "a torus has topo_parameters such as",
        ),
        (
            cluster(&format!("radical='0' bw='1GBps' topology='TORUS' topo_parameters='{}'", sides(100_000))),
            "a torus has topo_parameters such as",
        ),
        (
            cluster(&format!("radical='0' bw='1GBps' topology='FAT_TREE' topo_parameters='{levels}'")),
            "a fat-tree has topo_parameters such as",
        ),
    ] {
        assert!(said(&file).contains(part), "{}", &said(&file)[..said(&file).len().min(300)]);
    }
}

/// A link without a latency is no error that has to be described.
#[test]
fn many_links_are_read_in_proportion_to_their_number() {
    let links: String =
        (0..60_000).map(|number| format!("<link id='l{number}' bandwidth='1GBps'/>")).collect();
    let file = format!(
        "<platform version='4.1'><zone id='z' routing='Full'><host id='a'/>{links}</zone></platform>"
    );
    assert_eq!(Platform::from_simgrid_xml(&file).unwrap().hosts(), 1);
}

/// What SimGrid may be given: more than is read here, but nothing that names other files, and nothing without bounds.
#[test]
fn simgrid_gets_no_file_that_names_others_or_has_no_bounds() {
    let zones = r#"<platform version="4.1"><config id="General"><prop id="smpi/os" value="0:1:2"/></config>
        <zone id="all" routing="Floyd"><cluster id="a" prefix="a" suffix="" radical="0-63" speed="1Gf" bw="1GBps" lat="1us"
        bb_bw="1GBps" bb_lat="1us"/><zone id="b" routing="Full"><host id="h" speed="1Gf"><prop id="x" value="y"/></host></zone>
        <zoneRoute src="a" dst="b" gw_src="ar" gw_dst="h"/></zone></platform>"#;
    assert_eq!(check_for_simgrid(zones), Ok(()));
    assert_eq!(check_for_simgrid(&LISTED.replace("Full", "Dijkstra")), Ok(()));
    assert_eq!(check_for_simgrid(&zones.replace("1GBps", "1.5e9").replace("1Gf", "2Gf,1.5e3Mf")), Ok(()));
    let within = |element: &str| zones.replace("<zone id=\"all\"", &format!("{element}<zone id=\"all\""));
    let hosts: String = (0..5_000).map(|number| format!("<host id='h{number}' speed='1Gf'/>")).collect();
    for (file, part) in [
        (within("<include file='/etc/passwd'/>"), "<include> is not given to SimGrid"),
        (within("<trace id='t' periodicity='1'>0 1</trace>"), "<trace> is not given to SimGrid"),
        (within("<actor host='h' function='f'/>"), "<actor> is not given to SimGrid"),
        (zones.replace("<host id", "<host speed_file='/etc/passwd' id"), "speed_file names another file"),
        (zones.replace("smpi/os", "tracing/filename"), "tracing/filename is not set by a platform file"),
        (zones.replace("smpi/os", "smpi/tmpdir"), "smpi/tmpdir is not set by a platform file"),
        (zones.replace("0-63", "0-2000000000"), "radical `0-2000000000` is not understood"),
        (zones.replace("0-63", "0-4000000"), "hosts are too many for SimGrid"),
        (
            zones.replace("<host id=\"h\"", &format!("{hosts}<host id=\"h\"")),
            "routes between 5001 are too many",
        ),
        (
            zones.replace("bb_bw=", "topology='FAT_TREE' topo_parameters='1;64;1;1000000000' bb_bw="),
            "a fat-tree has topo_parameters such as",
        ),
        (zones.replace("1GBps", "-1GBps"), "bw=\"-1GBps\" is no amount"),
        (zones.replace("1us", "infus"), "lat=\"infus\" is no amount"),
        (zones.replace("speed=\"1Gf\"", "speed=\"nanGf\""), "speed=\"nanGf\" is no amount"),
        (zones.replace("speed=\"1Gf\"", "speed=\"1Gf,0Gf\""), "speed=\"1Gf,0Gf\" is no amount"),
        (zones.replace("<zoneRoute", "<zoneRoute>"), "is this a platform file of SimGrid?"),
        (String::new(), "is this a platform file of SimGrid?"),
    ] {
        let said = check_for_simgrid(&file).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
}
