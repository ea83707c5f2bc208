//! Zones in platform files of SimGrid that list hosts, links and a route for each pair of hosts.

use super::listed::Listed;
use super::names::Names;
use super::xml::{attribute, elements, escaped, link, policy, wrong};
use super::{LinkId, Platform, PlatformError, Sharing, TYPICAL_LINK, Topology, units};
use roxmltree::Node;
use rustc_hash::FxHashMap;
use std::fmt::Write;

type Routes = FxHashMap<(u32, u32), Vec<LinkId>>;

/// The zone of such a platform.
pub(super) fn write(platform: &Platform, listed: &Listed) -> String {
    let name = |host: usize| escaped(&platform.host_name(host).unwrap_or_default());
    let mut text = String::from("  <zone id=\"zone\" routing=\"Full\">\n");
    // Writing to a text cannot fail.
    for host in 0..listed.hosts() {
        let _ = writeln!(text, "    <host id=\"{}\" speed=\"1Gf\"/>", name(host));
    }
    for (id, link) in listed.named() {
        let (bandwidth, latency) =
            (units::show_bandwidth(link.bandwidth_bytes_per_s), units::show_latency(link.latency_ns));
        let (id, policy) = (escaped(id), policy(link.sharing));
        let _ = writeln!(
            text,
            "    <link id=\"{id}\" bandwidth=\"{bandwidth}\" latency=\"{latency}\" sharing_policy=\"{policy}\"/>"
        );
    }
    for from in 0..listed.hosts() {
        for to in (0..listed.hosts()).filter(|to| *to != from) {
            let (src, dst) = (name(from), name(to));
            let _ = write!(text, "    <route src=\"{src}\" dst=\"{dst}\" symmetrical=\"NO\">");
            for id in listed.route(from, to) {
                let (cable, link) = &listed.named()[id.cable()];
                let direction = match (link.sharing, *id == LinkId::up(id.cable())) {
                    (Sharing::SplitDuplex, true) => " direction=\"UP\"",
                    (Sharing::SplitDuplex, false) => " direction=\"DOWN\"",
                    _ => "",
                };
                let _ = write!(text, "<link_ctn id=\"{}\"{direction}/>", escaped(cable));
            }
            text.push_str("</route>\n");
        }
    }
    text.push_str("  </zone>\n");
    text
}

/// The network of such a zone.
pub(super) fn read(zone: Node<'_, '_>) -> Result<Platform, PlatformError> {
    let routing = zone.attribute("routing").unwrap_or("Full");
    if routing != "Full" {
        return Err(wrong(zone, format!("routing {routing} is not read here; only Full, or a cluster")));
    }
    let (mut hosts, mut cables) = (Vec::new(), Vec::new());
    let (mut host_of, mut cable_of) = (FxHashMap::default(), FxHashMap::default());
    for element in elements(zone) {
        match element.tag_name().name() {
            "host" => {
                let id = attribute(element, "id")?;
                if host_of.insert(id, hosts.len() as u32).is_some() {
                    return Err(wrong(element, format!("there are two hosts called {id}; rename one")));
                }
                hosts.push(id.to_owned());
            }
            "link" => {
                let id = attribute(element, "id")?;
                if cable_of.insert(id, cables.len()).is_some() {
                    return Err(wrong(element, format!("there are two links called {id}; rename one")));
                }
                cables.push((id.to_owned(), link(element, Sharing::Shared)?));
            }
            "route" => {}
            other => {
                return Err(wrong(element, format!("<{other}> is not read here; only host, link and route")));
            }
        }
    }
    let mut routes = Routes::default();
    for element in elements(zone).filter(|element| element.has_tag_name("route")) {
        let end = |name: &str| {
            let host = attribute(element, name)?;
            host_of
                .get(host)
                .copied()
                .ok_or_else(|| wrong(element, format!("there is no host called {host}")))
        };
        let (from, to) = (end("src")?, end("dst")?);
        let route = route(element, &cable_of)?;
        if element.attribute("symmetrical").is_none_or(|said| said.eq_ignore_ascii_case("yes")) {
            // The same cables the other way.
            routes.insert((to, from), route.iter().rev().map(|id| LinkId(id.0 ^ 1)).collect());
        }
        routes.insert((from, to), route);
    }
    let one_link = |id: &LinkId| cables[id.cable()].1.sharing != Sharing::SplitDuplex;
    for id in routes.values_mut().flatten().filter(|id| one_link(id)) {
        *id = LinkId::up(id.cable());
    }
    let listed = Listed::new(hosts.len(), cables, routes).map_err(|(from, to)| {
        wrong(zone, format!("there is no route from {} to {}; add one", hosts[from], hosts[to]))
    })?;
    if hosts.is_empty() {
        return Err(wrong(zone, "there are no hosts in the zone"));
    }
    Ok(Platform { topology: Topology::Listed(listed), names: Names::Listed(hosts), link: TYPICAL_LINK })
}

/// Links of a route.
fn route(element: Node<'_, '_>, cable_of: &FxHashMap<&str, usize>) -> Result<Vec<LinkId>, PlatformError> {
    let one = |part: Node<'_, '_>| {
        let id = attribute(part, "id")?;
        let cable = cable_of.get(id).ok_or_else(|| wrong(part, format!("there is no link called {id}")))?;
        Ok(match part.attribute("direction") {
            Some("DOWN") => LinkId::down(*cable),
            _ => LinkId::up(*cable),
        })
    };
    elements(element).map(one).collect()
}
