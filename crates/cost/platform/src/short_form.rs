//! Short forms: a platform in one word, for the command line. What is written is read back as the same platform, apart
//! from names of hosts; platforms that list each link have none.

use super::dragonfly::Dragonfly;
use super::fat_tree::FatTree;
use super::torus::Torus;
use super::{Link, MOST_HOSTS, Platform, PlatformError, Sharing, TYPICAL_LINK, Topology, product, units};
use std::fmt;

/// The grammar of short forms, for a command's help.
pub const GRAMMAR: &str = "\
flat:HOSTS                              all hosts at one switch
fat-tree:LEAVESxHOSTS[,DOWN:UP]         leaf switches with HOSTS each; for every DOWN hosts UP cables go up
torus:AxBxC...                          any number of dimensions, the first counts fastest
dragonfly:GROUPSxROUTERSxHOSTS          at least as many routers in a group as groups
each with
  ,bw=1.25GBps     of a cable, each way: Bps, kBps, MBps, GBps (bytes) or kbps, Mbps, Gbps (bits)
  ,lat=1us         of a cable: ns, us, ms, s
  ,duplex=half     both directions of a cable share its bandwidth; full unless said
fat-tree and dragonfly also take SimGrid's topo_parameters: fat-tree:3;4,4,4;1,2,2;1,1,1 or dragonfly:8,2;4,2;8,2;4
examples
  flat:64,bw=10Gbps,lat=500ns
  fat-tree:64x16,2:1                    64 leaf switches with 16 hosts and 8 uplinks each
  torus:16x8x8,bw=12.5GBps
  dragonfly:8x16x8,lat=300ns";

/// A short form while it is read, for errors.
struct Form<'a>(&'a str);

impl Form<'_> {
    fn wrong(&self, part: &str, why: impl Into<String>) -> PlatformError {
        PlatformError::Part { form: self.0.to_owned(), part: part.to_owned(), why: why.into() }
    }

    /// Numbers above 0 between `separator`s.
    fn counts(&self, text: &str, separator: char, shape: &str) -> Result<Vec<usize>, PlatformError> {
        let one = |number: &str| match number.trim().parse::<usize>() {
            Ok(count @ 1..) => Ok(count),
            _ => Err(self.wrong(number, format!("a whole number above 0 belongs there, as in {shape}"))),
        };
        text.split(separator).map(one).collect()
    }

    /// The same with a known number of numbers.
    fn exactly<const N: usize>(&self, text: &str, shape: &str) -> Result<[usize; N], PlatformError> {
        let counts = self.counts(text, 'x', shape)?;
        let found = counts.len();
        counts.try_into().map_err(|_| self.wrong(text, format!("{found} numbers where {shape} has {N}")))
    }

    fn too_large(&self, part: &str) -> PlatformError {
        self.wrong(part, format!("more than {MOST_HOSTS} hosts or cables; take a smaller network"))
    }

    fn fat_tree(&self, shape: &str) -> Result<Topology, PlatformError> {
        if shape.contains(';') {
            return parameters_of_fat_tree(shape).map_err(|why| self.wrong(shape, why));
        }
        let (sizes, ratio) = shape.split_once(',').unwrap_or((shape, "1:1"));
        let [leaves, hosts] = self.exactly(sizes, "fat-tree:64x16,2:1")?;
        let (down, up) = ratio.split_once(':').unwrap_or((ratio, "1"));
        let number = |text: &str| text.trim().parse::<usize>().ok().filter(|number| *number > 0);
        let (Some(down), Some(up)) = (number(down), number(up)) else {
            return Err(
                self.wrong(ratio, "write the oversubscription as 2:1, options as bw=1.25GBps or lat=1us")
            );
        };
        match hosts.checked_mul(up) {
            Some(ups) if ups % down == 0 => FatTree::of_leaves(leaves, hosts, ups / down)
                .map(Topology::FatTree)
                .ok_or_else(|| self.too_large(sizes)),
            _ => Err(self.wrong(ratio, format!("{hosts} hosts would have no whole number of cables up"))),
        }
    }

    fn dragonfly(&self, shape: &str) -> Result<Topology, PlatformError> {
        if shape.contains(';') {
            return parameters_of_dragonfly(shape).map_err(|why| self.wrong(shape, why));
        }
        let [groups, routers, hosts] = self.exactly(shape, "dragonfly:8x16x8")?;
        if groups > routers {
            let why =
                "each group needs as many routers as there are groups, so that one has the cable to each";
            return Err(self.wrong(shape, why));
        }
        Dragonfly::simple(groups, routers, hosts)
            .map(Topology::Dragonfly)
            .ok_or_else(|| self.too_large(shape))
    }

    fn topology(&self, kind: &str, shape: &str) -> Result<Topology, PlatformError> {
        match kind.trim() {
            "flat" => {
                let [hosts] = self.exactly(shape, "flat:64")?;
                product([hosts]).map(Topology::Flat).ok_or_else(|| self.too_large(shape))
            }
            "torus" => Torus::new(self.counts(shape, 'x', "torus:16x8x8")?)
                .map(Topology::Torus)
                .ok_or_else(|| self.too_large(shape)),
            "fat-tree" => self.fat_tree(shape),
            "dragonfly" => self.dragonfly(shape),
            kind => Err(PlatformError::Kind { kind: kind.to_owned() }),
        }
    }

    fn option(&self, link: &mut Link, option: &str) -> Result<(), PlatformError> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        match name.trim() {
            "bw" => {
                link.bandwidth_bytes_per_s = units::bandwidth(value).ok_or_else(|| {
                    self.wrong(option, "write a bandwidth above 0 as bw=1.25GBps or bw=10Gbps")
                })?;
            }
            "lat" => {
                link.latency_ns = units::latency_ns(value)
                    .ok_or_else(|| self.wrong(option, "write a latency as lat=500ns or lat=1us"))?;
            }
            "duplex" => {
                link.sharing = match value.trim() {
                    "full" => Sharing::SplitDuplex,
                    "half" => Sharing::Shared,
                    _ => return Err(self.wrong(option, "write duplex=full or duplex=half")),
                };
            }
            _ => return Err(self.wrong(option, "only bw=, lat= and duplex= can be said of cables")),
        }
        Ok(())
    }
}

impl Platform {
    /// Reads a short form; see [`GRAMMAR`].
    ///
    /// # Errors
    ///
    /// If it is none, with the part that is wrong and what to write there.
    pub fn parse(text: &str) -> Result<Platform, PlatformError> {
        let form = Form(text);
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        // Numbers of hosts may have commas in them, too; options are what has a `=`.
        let (options, shape): (Vec<&str>, Vec<&str>) = rest.split(',').partition(|part| part.contains('='));
        let topology = form.topology(kind, &shape.join(","))?;
        let mut link = TYPICAL_LINK;
        options.into_iter().try_for_each(|option| form.option(&mut link, option))?;
        Ok(Platform::regular(topology, link))
    }
}

impl std::str::FromStr for Platform {
    type Err = PlatformError;

    fn from_str(text: &str) -> Result<Platform, PlatformError> {
        Platform::parse(text)
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.topology {
            Topology::Flat(hosts) => write!(f, "flat:{hosts}")?,
            Topology::Torus(torus) => write!(f, "torus:{}", join(torus.dimensions(), "x"))?,
            Topology::FatTree(tree) => match tree.leaves() {
                Some((leaves, hosts, uplinks)) => {
                    let common = common_divisor(hosts, uplinks);
                    write!(f, "fat-tree:{leaves}x{hosts},{}:{}", hosts / common, uplinks / common)?;
                }
                None => write!(f, "fat-tree:{}", fat_tree_parameters(tree))?,
            },
            Topology::Dragonfly(dragonfly) => match dragonfly.is_simple() {
                Some((groups, routers, hosts)) => write!(f, "dragonfly:{groups}x{routers}x{hosts}")?,
                None => write!(f, "dragonfly:{}", dragonfly_parameters(dragonfly))?,
            },
            Topology::Listed(listed) => {
                return write!(f, "listed ({} hosts, {} links)", listed.hosts(), listed.cables());
            }
        }
        if self.link.bandwidth_bytes_per_s != TYPICAL_LINK.bandwidth_bytes_per_s {
            write!(f, ",bw={}", units::show_bandwidth(self.link.bandwidth_bytes_per_s))?;
        }
        if self.link.latency_ns != TYPICAL_LINK.latency_ns {
            write!(f, ",lat={}", units::show_latency(self.link.latency_ns))?;
        }
        match self.link.sharing {
            Sharing::Shared => f.write_str(",duplex=half"),
            Sharing::SplitDuplex | Sharing::FatPipe => Ok(()),
        }
    }
}

/// SimGrid's parameters: levels, then children, parents and cables by level.
pub(super) fn parameters_of_fat_tree(text: &str) -> Result<Topology, String> {
    const SHAPE: &str = "a fat-tree has topo_parameters such as 2;16,64;1,8;1,1: levels, then children, parents and \
                         cables of each level";
    let parts: Option<Vec<Vec<usize>>> = text.split(';').map(numbers).collect();
    let Some([levels, children, parents, cables]) = parts.and_then(|parts| <[_; 4]>::try_from(parts).ok())
    else {
        return Err(SHAPE.to_owned());
    };
    let tree = FatTree::new(children, parents, cables).filter(|tree| levels == [tree.levels()[0].len()]);
    tree.map(Topology::FatTree).ok_or_else(|| SHAPE.to_owned())
}

/// The same written.
pub(super) fn fat_tree_parameters(tree: &FatTree) -> String {
    let [children, parents, cables] = tree.levels().map(|level| join(level, ","));
    format!("{};{children};{parents};{cables}", tree.levels()[0].len())
}

/// SimGrid's parameters: groups, chassis and routers with their cables, and hosts.
pub(super) fn parameters_of_dragonfly(text: &str) -> Result<Topology, String> {
    const SHAPE: &str = "a dragonfly has topo_parameters such as 8,2;4,2;8,2;4: groups, chassis and routers with the \
                         cables between them, then hosts; there must be no fewer routers in a chassis than groups";
    let parts: Option<Vec<Vec<usize>>> = text.split(';').map(numbers).collect();
    let parts = parts.unwrap_or_default();
    let [[groups, between_groups], [chassis, between_chassis], [routers, between_routers], [hosts]] =
        (match &parts[..] {
            [g, c, r, h] => [&g[..], &c[..], &r[..], &h[..]],
            _ => return Err(SHAPE.to_owned()),
        })
    else {
        return Err(SHAPE.to_owned());
    };
    let dragonfly = Dragonfly {
        groups: *groups,
        chassis: *chassis,
        routers: *routers,
        hosts: *hosts,
        between_groups: *between_groups,
        between_chassis: *between_chassis,
        between_routers: *between_routers,
    };
    dragonfly.checked().map(Topology::Dragonfly).ok_or_else(|| SHAPE.to_owned())
}

/// The same written.
pub(super) fn dragonfly_parameters(of: &Dragonfly) -> String {
    let (groups, chassis, routers) = (of.groups, of.chassis, of.routers);
    let (blue, black, green) = (of.between_groups, of.between_chassis, of.between_routers);
    format!("{groups},{blue};{chassis},{black};{routers},{green};{}", of.hosts)
}

/// SimGrid's parameters: hosts by dimension.
pub(super) fn parameters_of_torus(text: &str) -> Result<Topology, String> {
    let torus = numbers(text).and_then(Torus::new);
    torus.map(Topology::Torus).ok_or_else(|| "a torus has topo_parameters such as 16,8,8".to_owned())
}

/// The same written.
pub(super) fn torus_parameters(torus: &Torus) -> String {
    join(torus.dimensions(), ",")
}

fn numbers(text: &str) -> Option<Vec<usize>> {
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

fn join(numbers: &[usize], separator: &str) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(separator)
}

fn common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { common_divisor(b, a % b) }
}
