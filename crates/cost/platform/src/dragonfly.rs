//! Dragonflies in the terms of SimGrid: groups of chassis of routers of hosts. Routers of a chassis are connected with
//! each other, and each router with those of the same number in the other chassis of its group. Of group `a` the router
//! numbered `b` in the first chassis has the cable to group `b`.
//!
//! Messages take the shortest way. Within a group SimGrid 3.32 counts on from the first chassis after a hop between
//! routers, so with several chassis it takes one hop more than needed; the same is done here.

use super::{LinkId, product};

/// How many there are of everything.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Dragonfly {
    pub groups: usize,
    pub chassis: usize,
    pub routers: usize,
    pub hosts: usize,
    /// Bandwidth between groups, as a multiple of a host's.
    pub between_groups: usize,
    /// The same between chassis of a group.
    pub between_chassis: usize,
    /// The same between routers of a chassis.
    pub between_routers: usize,
}

/// A router by group, chassis, and number in it.
type Router = (usize, usize, usize);

impl Dragonfly {
    /// None if it is too large or nothing is in it, or a group lacks a router for the cable to another.
    pub fn checked(self) -> Option<Dragonfly> {
        product([self.groups, self.chassis, self.routers, self.hosts])?;
        // Cables have numbers for each pair.
        product([self.groups, self.chassis, self.routers, self.routers])?;
        product([self.groups, self.chassis, self.chassis, self.routers])?;
        let widths = [self.between_groups, self.between_chassis, self.between_routers];
        (self.groups <= self.routers && !widths.contains(&0)).then_some(self)
    }

    /// One chassis a group, and all cables alike.
    pub fn simple(groups: usize, routers: usize, hosts: usize) -> Option<Dragonfly> {
        let (between_groups, between_chassis, between_routers) = (1, 1, 1);
        let chassis = 1;
        Dragonfly { groups, chassis, routers, hosts, between_groups, between_chassis, between_routers }
            .checked()
    }

    /// Groups, routers of each and hosts of each, if it is of that kind.
    pub fn is_simple(&self) -> Option<(usize, usize, usize)> {
        let simple = Dragonfly::simple(self.groups, self.routers, self.hosts)?;
        (simple == *self).then_some((self.groups, self.routers, self.hosts))
    }

    pub fn hosts(&self) -> usize {
        self.groups * self.chassis * self.routers * self.hosts
    }

    /// First cables of each kind: of hosts, between routers, between chassis, between groups, and the end.
    fn kinds(&self) -> [usize; 5] {
        let hosts = self.hosts();
        let routers = hosts + self.groups * self.chassis * self.routers * self.routers;
        let chassis = routers + self.groups * self.chassis * self.chassis * self.routers;
        [0, hosts, routers, chassis, chassis + self.groups * self.groups]
    }

    pub fn cables(&self) -> usize {
        self.kinds()[4]
    }

    /// The multiple of a host's bandwidth.
    pub fn width(&self, cable: usize) -> f64 {
        let [_, routers, chassis, groups, _] = self.kinds();
        (match cable {
            cable if cable < routers => 1,
            cable if cable < chassis => self.between_routers,
            cable if cable < groups => self.between_chassis,
            _ => self.between_groups,
        }) as f64
    }

    fn router(&self, host: usize) -> Router {
        let router = host / self.hosts;
        let chassis = router / self.routers;
        (chassis / self.chassis, chassis % self.chassis, router % self.routers)
    }

    fn to_router(&self, (group, chassis, router): Router, next: usize) -> LinkId {
        let row = (group * self.chassis + chassis) * self.routers;
        self.either_way(router, next, |low, high| self.kinds()[1] + (row + low) * self.routers + high)
    }

    fn to_chassis(&self, (group, chassis, router): Router, next: usize) -> LinkId {
        self.either_way(chassis, next, |low, high| {
            self.kinds()[2] + ((group * self.chassis + low) * self.chassis + high) * self.routers + router
        })
    }

    fn to_group(&self, group: usize, next: usize) -> LinkId {
        self.either_way(group, next, |low, high| self.kinds()[3] + low * self.groups + high)
    }

    /// The cable between two is identified by the lower and the higher of them; up is from the lower to the higher.
    fn either_way(&self, at: usize, next: usize, cable: impl Fn(usize, usize) -> usize) -> LinkId {
        match at < next {
            true => LinkId::up(cable(at, next)),
            false => LinkId::down(cable(next, at)),
        }
    }

    pub fn route(&self, from: usize, to: usize, route: &mut Vec<LinkId>) {
        let (mut at, target) = (self.router(from), self.router(to));
        route.push(LinkId::up(from));
        if at != target {
            if at.0 != target.0 {
                if at.2 != target.0 {
                    route.push(self.to_router(at, target.0));
                    at.2 = target.0;
                }
                if at.1 != 0 {
                    route.push(self.to_chassis(at, 0));
                }
                route.push(self.to_group(at.0, target.0));
                at = (target.0, 0, at.0);
            }
            if at.2 != target.2 {
                route.push(self.to_router(at, target.2));
                at = (target.0, 0, target.2);
            }
            if at.1 != target.1 {
                route.push(self.to_chassis(at, target.1));
            }
        }
        route.push(LinkId::down(to));
    }
}
