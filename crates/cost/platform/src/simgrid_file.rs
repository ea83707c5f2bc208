//! What SimGrid may be given of a platform file that Kizami itself need not understand: several zones, backbones, other
//! routing.
//!
//! SimGrid makes every host and route that a file asks for, opens other files that it names, and takes settings from it, among
//! them those that write files. So elements and settings are those that describe a network, nothing names another file, and
//! hosts and routes are counted first.

use super::xml::{document, wrong};
use super::{PlatformError, cluster_xml};
use roxmltree::Node;

/// Hosts for which SimGrid's memory stays below about a gigabyte.
const MOST_HOSTS: usize = 1 << 17;
/// Members of a zone whose routes SimGrid keeps as a table of pairs.
const MOST_WITH_ALL_ROUTES: usize = 1 << 12;

/// Elements that describe a network.
const ELEMENTS: [&str; 19] = [
    "platform",
    "config",
    "prop",
    "zone",
    "AS",
    "cluster",
    "cabinet",
    "peer",
    "host",
    "disk",
    "link",
    "backbone",
    "router",
    "host_link",
    "route",
    "zoneRoute",
    "bypassRoute",
    "bypassZoneRoute",
    "link_ctn",
];

/// Settings that say what messages cost begin with these.
const SETTINGS: [&str; 4] = ["network/", "cpu/", "host/", "smpi/"];
/// Among them those that name files, or what SimGrid does beside simulating.
const OTHER_SETTINGS: [&str; 9] =
    ["file", "tmpdir", "temps", "trace", "papi", "privatiz", "display", "replay", "shared-malloc"];

/// Whether SimGrid may be given this file.
///
/// # Errors
///
/// If it is not well-formed, names other files, or asks for more than simulating what SimGrid can; with the line.
pub fn check_for_simgrid(text: &str) -> Result<(), PlatformError> {
    let document = document(text)?;
    let mut hosts = 0;
    for element in document.root_element().descendants().filter(Node::is_element) {
        let name = element.tag_name().name();
        if !ELEMENTS.contains(&name) {
            return Err(wrong(element, format!("<{name}> is not given to SimGrid; take it out")));
        }
        if let Some(file) = element.attributes().find(|attribute| attribute.name().ends_with("file")) {
            let why =
                format!("{} names another file, which is not given to SimGrid; take it out", file.name());
            return Err(wrong(element, why));
        }
        if let Some(none) =
            element.attributes().find(|attribute| !is_amount(attribute.name(), attribute.value()))
        {
            let why = format!("{}=\"{}\" is no amount that SimGrid can simulate", none.name(), none.value());
            return Err(wrong(element, why));
        }
        if name == "config" {
            element.children().try_for_each(setting)?;
        }
        hosts += hosts_of(element)?;
        if hosts > MOST_HOSTS {
            let why = format!("{hosts} hosts are too many for SimGrid; at most {MOST_HOSTS} are given to it");
            return Err(wrong(element, why));
        }
        let has_all_routes = element
            .attribute("routing")
            .is_some_and(|routing| ["Full", "Floyd", "DijkstraCache"].contains(&routing));
        let members = element.children().filter(|child| has_all_routes && !is_way(*child)).count();
        if members > MOST_WITH_ALL_ROUTES {
            let why =
                format!("routes between {members} are too many for SimGrid; at most {MOST_WITH_ALL_ROUTES}");
            return Err(wrong(element, why));
        }
    }
    Ok(())
}

/// How many hosts an element has itself.
fn hosts_of(element: Node<'_, '_>) -> Result<usize, PlatformError> {
    Ok(match element.tag_name().name() {
        "host" | "peer" => 1,
        "cluster" => cluster_xml::shape(element)?.0.hosts(),
        "cabinet" => {
            let numbers = cluster_xml::numbers(element)?;
            numbers.iter().map(|range| (range.end() - range.start()) as usize + 1).sum()
        }
        _ => 0,
    })
}

/// Whether a speed, bandwidth or latency is a number with which a simulation comes to an end; units are SimGrid's to know.
fn is_amount(name: &str, value: &str) -> bool {
    let least = match name {
        "speed" | "bw" | "bandwidth" => f64::MIN_POSITIVE,
        "lat" | "latency" | "bb_bw" | "bb_lat" | "loopback_bw" | "loopback_lat" => 0.0,
        _ => return true,
    };
    let number = |text: &str| {
        let unit = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        unit.trim().parse::<f64>().is_ok_and(|number| (least..=1e18).contains(&number))
    };
    value.split(',').all(|part| number(part.trim()))
}

/// What lies in a zone and is nothing that routes lead to.
fn is_way(child: Node<'_, '_>) -> bool {
    let members = ["zone", "AS", "cluster", "cabinet", "peer", "host", "router"];
    !members.contains(&child.tag_name().name())
}

fn setting(prop: Node<'_, '_>) -> Result<(), PlatformError> {
    let Some(id) = prop.attribute("id") else { return Ok(()) };
    let known = SETTINGS.iter().any(|begin| id.starts_with(begin));
    match known && !OTHER_SETTINGS.iter().any(|part| id.contains(part)) {
        true => Ok(()),
        false => Err(wrong(prop, format!("{id} is not set by a platform file; give it by --cfg"))),
    }
}
