//! Clusters in platform files of SimGrid: all regular networks are one element there.

use super::names::Names;
use super::xml::{attribute, escaped, link, policy, wrong};
use super::{MOST_HOSTS, Platform, PlatformError, Sharing, Topology, product, short_form, units};
use roxmltree::Node;
use std::ops::RangeInclusive;

/// What changes routes or rates in SimGrid and is not in the model.
const UNSUPPORTED: [&str; 4] = ["bb_bw", "bb_lat", "limiter_link", "router_id"];

/// The element of a regular network.
pub(super) fn write(platform: &Platform) -> String {
    let (kind, parameters) = match &platform.topology {
        Topology::FatTree(tree) => ("FAT_TREE", short_form::fat_tree_parameters(tree)),
        Topology::Torus(torus) => ("TORUS", short_form::torus_parameters(torus)),
        Topology::Dragonfly(dragonfly) => ("DRAGONFLY", short_form::dragonfly_parameters(dragonfly)),
        Topology::Flat(_) | Topology::Listed(_) => ("FLAT", String::new()),
    };
    let parameters = match parameters.is_empty() {
        true => String::new(),
        false => format!(" topo_parameters=\"{parameters}\""),
    };
    let (prefix, radical, suffix) = match &platform.names {
        Names::Numbered { prefix, numbers, suffix } => {
            (escaped(prefix), Names::radical(numbers), escaped(suffix))
        }
        Names::Listed(names) => {
            (String::new(), format!("0-{}", names.len().saturating_sub(1)), String::new())
        }
    };
    format!(
        "  <cluster id=\"cluster\" prefix=\"{prefix}\" radical=\"{radical}\" suffix=\"{suffix}\" speed=\"1Gf\" \
         bw=\"{}\" lat=\"{}\" topology=\"{kind}\"{parameters} sharing_policy=\"{}\"/>\n",
        units::show_bandwidth(platform.link.bandwidth_bytes_per_s),
        units::show_latency(platform.link.latency_ns),
        policy(platform.link.sharing),
    )
}

/// The network of such an element.
pub(super) fn read(cluster: Node<'_, '_>) -> Result<Platform, PlatformError> {
    if let Some(name) = UNSUPPORTED.iter().find(|name| cluster.has_attribute(**name)) {
        return Err(wrong(cluster, format!("{name} of a cluster is not in the model; take it out")));
    }
    let link = link(cluster, Sharing::SplitDuplex)?;
    if link.sharing == Sharing::FatPipe {
        return Err(wrong(cluster, "links of a cluster are SHARED or SPLITDUPLEX"));
    }
    let (topology, names) = shape(cluster)?;
    Ok(Platform { topology, names, link })
}

/// The numbers that a radical names.
pub(super) fn numbers(element: Node<'_, '_>) -> Result<Vec<RangeInclusive<u64>>, PlatformError> {
    let radical = attribute(element, "radical")?;
    Names::numbers(radical).ok_or_else(|| {
        wrong(element, format!("radical `{radical}` is not understood, or names more than {MOST_HOSTS} hosts; write it as 0-63,70-99"))
    })
}

/// Hosts and their names, of which there are no more than a network has.
pub(super) fn shape(cluster: Node<'_, '_>) -> Result<(Topology, Names), PlatformError> {
    let numbers = numbers(cluster)?;
    let text = |name: &str| cluster.attribute(name).unwrap_or("").to_owned();
    let names = Names::Numbered { prefix: text("prefix"), numbers, suffix: text("suffix") };
    let parameters = text("topo_parameters");
    let topology = match cluster.attribute("topology").unwrap_or("FLAT") {
        "FLAT" => product([names.len()])
            .map(Topology::Flat)
            .ok_or_else(|| format!("{} hosts are too many", names.len())),
        "FAT_TREE" => short_form::parameters_of_fat_tree(&parameters),
        "TORUS" => short_form::parameters_of_torus(&parameters),
        "DRAGONFLY" => short_form::parameters_of_dragonfly(&parameters),
        other => Err(format!("topology {other} is not known; FLAT, FAT_TREE, TORUS or DRAGONFLY")),
    };
    let topology = topology.map_err(|why| wrong(cluster, why))?;
    match (names.len(), topology.hosts()) {
        (named, hosts) if named != hosts => Err(wrong(
            cluster,
            format!("radical names {named} hosts, but the topology has {hosts}; make them agree"),
        )),
        _ => Ok((topology, names)),
    }
}
