//! Platform files of SimGrid, version 4.1: one cluster, or one zone that lists hosts, links and routes.
//!
//! A written file is accepted by SimGrid 3.32 and read back as the same platform. Hosts are written with 1 Gflop/s:
//! nothing is known about them here, and SimGrid wants a speed. Of a file that is read, speeds and loopbacks are left
//! aside; what changes routes or bandwidths and is not known here is refused rather than forgotten.

use super::{Link, Platform, PlatformError, Sharing, Topology, bounds, cluster_xml, listed_xml, units};
use roxmltree::{Document, Node, ParsingOptions};

const HEAD: &str = "<?xml version='1.0'?>\n\
                    <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
                    <platform version=\"4.1\">\n";

impl Platform {
    /// A platform file for SimGrid.
    pub fn to_simgrid_xml(&self) -> String {
        let body = match &self.topology {
            Topology::Listed(listed) => listed_xml::write(self, listed),
            _ => cluster_xml::write(self),
        };
        format!("{HEAD}{body}</platform>\n")
    }

    /// Reads a platform file of SimGrid.
    ///
    /// # Errors
    ///
    /// If it is not well-formed, or has something in it that is not known here; with the line.
    pub fn from_simgrid_xml(text: &str) -> Result<Platform, PlatformError> {
        let document = document(text)?;
        let root = document.root_element();
        // A cluster may be wrapped into a zone that has nothing else in it.
        let mut within = only(root, &["cluster", "zone"])?;
        if within.has_tag_name("zone") && elements(within).any(|inner| inner.has_tag_name("cluster")) {
            within = only(within, &["cluster"])?;
        }
        match within.tag_name().name() {
            "cluster" => cluster_xml::read(within),
            _ => listed_xml::read(within),
        }
    }
}

/// A file whose parsing takes no longer than its size warrants.
pub(super) fn document(text: &str) -> Result<Document<'_>, PlatformError> {
    bounds::check(text)?;
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| PlatformError::File {
        line: error.pos().row,
        why: format!("{error}; is this a platform file of SimGrid?"),
    })?;
    let root = document.root_element();
    match root.tag_name().name() {
        "platform" => Ok(document),
        _ => Err(wrong(root, "a platform file begins with <platform version=\"4.1\">")),
    }
}

/// The error of an element.
pub(super) fn wrong(node: Node<'_, '_>, why: impl Into<String>) -> PlatformError {
    let line = node.document().text_pos_at(node.range().start).row;
    PlatformError::File { line, why: why.into() }
}

/// Elements in an element that say something about the network.
pub(super) fn elements<'a, 'input>(node: Node<'a, 'input>) -> impl Iterator<Item = Node<'a, 'input>> {
    node.children()
        .filter(|child| child.is_element() && !child.has_tag_name("prop") && !child.has_tag_name("config"))
}

/// The one element that may be there.
fn only<'a, 'input>(node: Node<'a, 'input>, names: &[&str]) -> Result<Node<'a, 'input>, PlatformError> {
    let mut inner = elements(node);
    let known = |child: &Node<'_, '_>| names.contains(&child.tag_name().name());
    match (inner.next(), inner.next()) {
        (Some(child), None) if known(&child) => Ok(child),
        (Some(_), Some(second)) => Err(wrong(
            second,
            format!("<{}> is one too many: only one cluster or zone is read", second.tag_name().name()),
        )),
        (Some(child), None) => Err(wrong(
            child,
            format!("<{}> is not read here, only {}", child.tag_name().name(), names.join(" or ")),
        )),
        (None, _) => Err(wrong(node, format!("there is no {} in it", names.join(" or ")))),
    }
}

/// An attribute that must be there.
pub(super) fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, PlatformError> {
    let element = node.tag_name().name();
    node.attribute(name).ok_or_else(|| wrong(node, format!("<{element}> needs {name}=\"...\"")))
}

/// Bandwidth, latency and sharing of a link or of a cluster's links.
pub(super) fn link(node: Node<'_, '_>, sharing_unless_said: Sharing) -> Result<Link, PlatformError> {
    let name = |name| if node.has_tag_name("cluster") { name } else { long(name) };
    let (bandwidth, latency) = (attribute(node, name("bw"))?, node.attribute(name("lat")).unwrap_or("0s"));
    let bandwidth_bytes_per_s = units::bandwidth(bandwidth).ok_or_else(|| {
        wrong(node, format!("`{bandwidth}` is no bandwidth of a link; write 1.25GBps or 10Gbps"))
    })?;
    let latency_ns = units::latency_ns(latency)
        .ok_or_else(|| wrong(node, format!("`{latency}` is no latency of a link; write 500ns or 1us")))?;
    let sharing = match node.attribute("sharing_policy") {
        None => sharing_unless_said,
        Some("SHARED") => Sharing::Shared,
        Some("SPLITDUPLEX" | "FULLDUPLEX") => Sharing::SplitDuplex,
        Some("FATPIPE") => Sharing::FatPipe,
        Some(policy) => {
            return Err(wrong(
                node,
                format!("sharing_policy {policy} is not known; SHARED, SPLITDUPLEX or FATPIPE"),
            ));
        }
    };
    Ok(Link { bandwidth_bytes_per_s, latency_ns, sharing })
}

/// Links spell out what clusters abbreviate.
fn long(name: &str) -> &str {
    if name == "bw" { "bandwidth" } else { "latency" }
}

/// SimGrid's word.
pub(super) fn policy(sharing: Sharing) -> &'static str {
    match sharing {
        Sharing::Shared => "SHARED",
        Sharing::SplitDuplex => "SPLITDUPLEX",
        Sharing::FatPipe => "FATPIPE",
    }
}

/// A text within quotes.
pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}
