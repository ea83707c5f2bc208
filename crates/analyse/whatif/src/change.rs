//! One thing that can be different in a replay.

use crate::location::{Location, NoCallThere, sites_at, sites_below};
use crate::values::{EagerLimit, ModelChange, RankList, ThreadCount, Times, ValueError, parse_factor};
use kizami_trace::{Definitions, SourceLine};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// One thing that is different. Locations are as typed (`P` is [`Location`]), or call sites of a trace once they are
/// [resolved](Change::resolve).
///
/// It is written as the option of `kizami replay` that makes it, and read back from that.
#[derive(Clone, Debug, PartialEq)]
pub enum Change<P = Location> {
    /// Messages and collectives cost nothing; partners are still waited for.
    IdealNetwork,
    /// So many times the latency.
    Latency(Times),
    /// So many times the bandwidth.
    Bandwidth(Times),
    /// The network is a LogGOPS model.
    LogGops(ModelChange),
    /// The network of a measured machine, by the path of its file.
    Machine(String),
    /// A network with shared links, in its short form or by the path of its file.
    Platform(String),
    /// Sends of up to so many bytes do not wait for their receiver.
    EagerLimit(EagerLimit),
    /// Processors so many times as fast.
    Cpu(Times),
    /// Computation before calls at a place takes so many times as long, on one rank or on all.
    Scale(P, Option<u32>, f64),
    /// Computation before calls with a place on their path takes so many times as long, on one rank or on all.
    ScaleBelow(P, Option<u32>, f64),
    /// Computation before calls at a place is spread evenly over all ranks.
    Balance(P),
    /// The last tasks of a task farm, computed before calls at a place, end at the same time on all workers.
    EvenTail(P),
    /// Some ranks compute as fast as the others at the same places.
    LikeOthers(RankList),
    /// Ranks have so many threads.
    Threads(ThreadCount),
    /// Threads share the work of the parallel region at a place evenly.
    BalanceThreads(P),
    /// Threads share what one computes before the parallel region at a place.
    ShareSerial(P),
    /// Waits at a place are hidden behind the computation that follows.
    Overlap(P),
    /// Computation before calls at a place loses the part above the baseline that other ranks waited for.
    RemoveExcess(P),
    /// Computation before calls at a place while a lock is held is done before the lock is taken.
    OutOfLock(P),
    /// Calls at a place are left out.
    LeaveOut(P),
    /// Receives for the calls at a place are posted early.
    PostEarly(P),
    /// What is received at a place is handed on in so many pieces.
    Pieces(P, u32),
    /// Small messages or collectives that follow each other closely at a place are joined.
    Join(P),
    /// Messages at a place are taken as they come.
    TakeAsTheyCome(P),
    /// In all-to-all exchanges at a place, every rank receives as much as the mean.
    EvenExchange(P),
    /// Calls at a place communicate in no time.
    IdealAt(P),
    /// Every thread has a core of its own: none waits for one.
    OwnCores,
    /// The tracer's overhead is taken out.
    WithoutTracer,
}

/// Why a text is no change.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an option of kizami replay: {1}")]
pub struct ChangeError(String, ValueError);

impl<P> Change<P> {
    /// The option of `kizami replay`.
    pub fn flag(&self) -> &'static str {
        match self {
            Change::IdealNetwork => "--network",
            Change::Latency(_) => "--latency",
            Change::Bandwidth(_) => "--bandwidth",
            Change::LogGops(_) => "--loggops",
            Change::Machine(_) => "--machine",
            Change::Platform(_) => "--platform",
            Change::EagerLimit(_) => "--eager-limit",
            Change::Cpu(_) => "--cpu",
            Change::Scale(..) => "--callsite",
            Change::ScaleBelow(..) => "--path",
            Change::Balance(_) => "--balance",
            Change::EvenTail(_) => "--even-tail",
            Change::LikeOthers(_) => "--like-others",
            Change::Threads(_) => "--omp-threads",
            Change::BalanceThreads(_) => "--balance-threads",
            Change::ShareSerial(_) => "--share-serial",
            Change::Overlap(_) => "--overlap",
            Change::RemoveExcess(_) => "--remove-excess",
            Change::OutOfLock(_) => "--out-of-lock",
            Change::LeaveOut(_) => "--leave-out",
            Change::PostEarly(_) => "--post-early",
            Change::Pieces(..) => "--pieces",
            Change::Join(_) => "--merge",
            Change::TakeAsTheyCome(_) => "--any-order",
            Change::EvenExchange(_) => "--even-exchange",
            Change::IdealAt(_) => "--ideal-at",
            Change::OwnCores => "--own-cores",
            Change::WithoutTracer => "--without-tracer",
        }
    }

    /// The same change at another place.
    fn at<Q, E>(&self, place: impl FnOnce(&P) -> Result<Q, E>) -> Result<Change<Q>, E> {
        Ok(match self {
            Change::IdealNetwork => Change::IdealNetwork,
            Change::Latency(times) => Change::Latency(*times),
            Change::Bandwidth(times) => Change::Bandwidth(*times),
            Change::LogGops(model) => Change::LogGops(*model),
            Change::Machine(path) => Change::Machine(path.clone()),
            Change::Platform(platform) => Change::Platform(platform.clone()),
            Change::EagerLimit(limit) => Change::EagerLimit(*limit),
            Change::Cpu(times) => Change::Cpu(*times),
            Change::LikeOthers(ranks) => Change::LikeOthers(ranks.clone()),
            Change::Threads(count) => Change::Threads(*count),
            Change::OwnCores => Change::OwnCores,
            Change::WithoutTracer => Change::WithoutTracer,
            Change::Scale(at, rank, factor) => Change::Scale(place(at)?, *rank, *factor),
            Change::ScaleBelow(at, rank, factor) => Change::ScaleBelow(place(at)?, *rank, *factor),
            Change::Balance(at) => Change::Balance(place(at)?),
            Change::EvenTail(at) => Change::EvenTail(place(at)?),
            Change::BalanceThreads(at) => Change::BalanceThreads(place(at)?),
            Change::ShareSerial(at) => Change::ShareSerial(place(at)?),
            Change::Overlap(at) => Change::Overlap(place(at)?),
            Change::RemoveExcess(at) => Change::RemoveExcess(place(at)?),
            Change::OutOfLock(at) => Change::OutOfLock(place(at)?),
            Change::LeaveOut(at) => Change::LeaveOut(place(at)?),
            Change::PostEarly(at) => Change::PostEarly(place(at)?),
            Change::Pieces(at, pieces) => Change::Pieces(place(at)?, *pieces),
            Change::Join(at) => Change::Join(place(at)?),
            Change::TakeAsTheyCome(at) => Change::TakeAsTheyCome(place(at)?),
            Change::EvenExchange(at) => Change::EvenExchange(place(at)?),
            Change::IdealAt(at) => Change::IdealAt(place(at)?),
        })
    }
}

impl Change {
    /// With the call sites at its location instead of the location.
    pub fn resolve(&self, definitions: &Definitions) -> Result<Change<Vec<u32>>, NoCallThere> {
        self.at(|location| match self {
            Change::ScaleBelow(..) => sites_below(location, definitions),
            _ => sites_at(location, definitions),
        })
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.flag())?;
        match self {
            Change::OwnCores | Change::WithoutTracer => Ok(()),
            Change::IdealNetwork => f.write_str(" ideal"),
            Change::Latency(times) | Change::Bandwidth(times) | Change::Cpu(times) => write!(f, " {times}"),
            Change::LogGops(model) => write!(f, " {model}"),
            Change::Machine(text) | Change::Platform(text) => write!(f, " {text}"),
            Change::EagerLimit(limit) => write!(f, " {limit}"),
            Change::LikeOthers(ranks) => write!(f, " {ranks}"),
            Change::Threads(count) => write!(f, " {count}"),
            Change::Scale(location, rank, factor) | Change::ScaleBelow(location, rank, factor) => {
                let rank = rank.map(|rank| format!("@{rank}")).unwrap_or_default();
                write!(f, " {location}{rank}={factor}")
            }
            Change::Pieces(location, pieces) => write!(f, " {location}={pieces}"),
            Change::Balance(location)
            | Change::EvenTail(location)
            | Change::BalanceThreads(location)
            | Change::ShareSerial(location)
            | Change::Overlap(location)
            | Change::RemoveExcess(location)
            | Change::OutOfLock(location)
            | Change::LeaveOut(location)
            | Change::PostEarly(location)
            | Change::Join(location)
            | Change::TakeAsTheyCome(location)
            | Change::EvenExchange(location)
            | Change::IdealAt(location) => write!(f, " {location}"),
        }
    }
}

impl FromStr for Change {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Change, ChangeError> {
        let (flag, value) = text.trim().split_once(' ').unwrap_or((text.trim(), ""));
        let wrong = |why: ValueError| ChangeError(text.to_owned(), why);
        let location = || value.parse::<Location>().map_err(wrong);
        let times = || value.parse::<Times>().map_err(wrong);
        Ok(match flag {
            "--network" if value == "ideal" => Change::IdealNetwork,
            "--latency" => Change::Latency(times()?),
            "--bandwidth" => Change::Bandwidth(times()?),
            "--loggops" => Change::LogGops(value.parse().map_err(wrong)?),
            "--machine" => Change::Machine(value.to_owned()),
            "--platform" => Change::Platform(value.to_owned()),
            "--eager-limit" => Change::EagerLimit(value.parse().map_err(wrong)?),
            "--cpu" => Change::Cpu(times()?),
            "--callsite" => Change::parse_scale(value).map_err(wrong)?,
            "--path" => Change::parse_scale_below(value).map_err(wrong)?,
            "--balance" => Change::Balance(location()?),
            "--even-tail" => Change::EvenTail(location()?),
            "--like-others" => Change::LikeOthers(value.parse().map_err(wrong)?),
            "--omp-threads" => Change::Threads(value.parse().map_err(wrong)?),
            "--balance-threads" => Change::BalanceThreads(location()?),
            "--share-serial" => Change::ShareSerial(location()?),
            "--overlap" => Change::Overlap(location()?),
            "--remove-excess" | "--no-longer" => Change::RemoveExcess(location()?),
            "--out-of-lock" => Change::OutOfLock(location()?),
            "--leave-out" => Change::LeaveOut(location()?),
            "--post-early" => Change::PostEarly(location()?),
            "--pieces" => Change::parse_pieces(value).map_err(wrong)?,
            "--merge" | "--join" => Change::Join(location()?),
            "--any-order" | "--as-they-come" => Change::TakeAsTheyCome(location()?),
            "--even-exchange" => Change::EvenExchange(location()?),
            "--ideal-at" => Change::IdealAt(location()?),
            "--own-cores" if value.is_empty() => Change::OwnCores,
            "--without-tracer" if value.is_empty() => Change::WithoutTracer,
            _ => return Err(wrong(ValueError::new("unknown option"))),
        })
    }
}

impl Change {
    /// Reads `LOCATION[@RANK]=FACTOR`, the value of `--callsite`.
    pub fn parse_scale(text: &str) -> Result<Change, ValueError> {
        scale(text).map(|(location, rank, factor)| Change::Scale(location, rank, factor))
    }

    /// Reads the same, the value of `--path`.
    pub fn parse_scale_below(text: &str) -> Result<Change, ValueError> {
        scale(text).map(|(location, rank, factor)| Change::ScaleBelow(location, rank, factor))
    }

    /// Reads `LOCATION=PIECES`, the value of `--pieces`.
    pub fn parse_pieces(text: &str) -> Result<Change, ValueError> {
        let wrong = || ValueError::new("give a location and a number of blocks, such as solver.c:88=8");
        let (location, pieces) = text.rsplit_once('=').ok_or_else(wrong)?;
        let pieces = pieces.trim().parse().ok().filter(|pieces| *pieces > 0).ok_or_else(wrong)?;
        Ok(Change::Pieces(location.parse()?, pieces))
    }
}

/// Reads `LOCATION[@RANK]=FACTOR`.
fn scale(text: &str) -> Result<(Location, Option<u32>, f64), ValueError> {
    let wrong =
        || ValueError::new("give a location and a factor, such as solver.c:88=0.5 or solver.c:88@3=0");
    let (place, number) = text.rsplit_once('=').ok_or_else(wrong)?;
    let factor = parse_factor(number).ok_or_else(wrong)?;
    let (location, rank) = match place.rsplit_once('@') {
        Some((location, rank)) => (location, Some(rank.trim().parse().map_err(|_| wrong())?)),
        None => (place, None),
    };
    Ok((location.parse()?, rank, factor))
}

/// Several changes, written one behind the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes(pub Vec<Change>);

impl Changes {
    /// A change at each of some places; none if one is neither a source line nor an address.
    pub fn at<'a>(
        places: impl IntoIterator<Item = &'a SourceLine>,
        change: impl Fn(Location) -> Change,
    ) -> Option<Changes> {
        let changes = places.into_iter().map(|place| Location::of(place).map(&change));
        changes.collect::<Option<_>>().map(Changes)
    }
}

impl From<Change> for Changes {
    fn from(change: Change) -> Changes {
        Changes(vec![change])
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, change) in self.0.iter().enumerate() {
            write!(f, "{}{change}", if index > 0 { " " } else { "" })?;
        }
        Ok(())
    }
}

impl FromStr for Changes {
    type Err = ChangeError;

    fn from_str(text: &str) -> Result<Changes, ChangeError> {
        let mut changes = Vec::new();
        for part in text.split(" --") {
            let part = part.strip_prefix("--").unwrap_or(part);
            changes.push(format!("--{part}").parse()?);
        }
        Ok(Changes(changes))
    }
}

impl Serialize for Changes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Changes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Changes".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

impl<'de> Deserialize<'de> for Changes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Changes, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One of each.
    const ALL: [&str; 26] = [
        "--network ideal",
        "--latency 0.5x",
        "--bandwidth 2x",
        "--loggops L=1000ns,S=65536",
        "--machine a machine.kzm",
        "--platform fat-tree:64x16,2:1",
        "--eager-limit 1M",
        "--cpu 1.5x",
        "--callsite solver.c:88@3=0",
        "--path solve@3=0.5",
        "--balance solver.c:88",
        "--like-others 3,8-11",
        "--omp-threads 2x",
        "--balance-threads solver.c:88",
        "--share-serial solver.c:88",
        "--overlap solver.c:88",
        "--remove-excess solver.c:88",
        "--out-of-lock solver.c:88",
        "--leave-out solver.c:88",
        "--post-early solver.c:88",
        "--pieces solver.c:88=8",
        "--merge solver.c:88",
        "--any-order solver.c:88",
        "--ideal-at solver.c:88",
        "--own-cores",
        "--without-tracer",
    ];

    #[test]
    fn every_change_reads_as_it_is_written() {
        for text in ALL {
            assert_eq!(text.parse::<Change>().unwrap().to_string(), text);
        }
        let all = ALL.join(" ");
        let changes: Changes = all.parse().unwrap();
        assert_eq!((changes.0.len(), changes.to_string()), (ALL.len(), all.clone()));
        let json = serde_json::to_string(&changes).unwrap();
        assert_eq!(json, format!("{all:?}"));
        assert_eq!(serde_json::from_str::<Changes>(&json).unwrap(), changes);
    }

    #[test]
    fn older_names_are_understood() {
        for (old, new) in
            [("--no-longer", "--remove-excess"), ("--join", "--merge"), ("--as-they-come", "--any-order")]
        {
            let change: Change = format!("{old} solver.c:88").parse().unwrap();
            assert_eq!(change.to_string(), format!("{new} solver.c:88"));
        }
    }

    #[test]
    fn what_is_no_change_is_refused() {
        for wrong in
            ["", "solver.c:88", "--faster", "--balance", "--network slow", "--callsite solver.c:88=-1"]
        {
            assert!(wrong.parse::<Changes>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn factors_may_be_of_one_rank_and_pieces_are_at_least_one() {
        let line = || "solver.c:88".parse::<Location>().unwrap();
        assert_eq!(Change::parse_scale("solver.c:88=0.5"), Ok(Change::Scale(line(), None, 0.5)));
        assert_eq!(Change::parse_scale("solver.c:88@3=0x"), Ok(Change::Scale(line(), Some(3), 0.0)));
        for wrong in ["solver.c:88", "=1", "solver.c:88@x=1", "solver.c:88=-1"] {
            assert!(Change::parse_scale(wrong).is_err(), "{wrong}");
        }
        for wrong in ["solver.c:88", "solver.c:88=0", "solver.c:88=x", "=8"] {
            assert!(Change::parse_pieces(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_site_without_a_source_line_cannot_be_named() {
        let place =
            |line| SourceLine { file: Some("solver.c".to_owned()), line, ..SourceLine::in_function("main") };
        let named = Changes::at(&[place(Some(88))], Change::Join);
        assert_eq!(named.map(|changes| changes.to_string()), Some("--merge solver.c:88".to_owned()));
        assert_eq!(Changes::at(&[place(Some(88)), place(None)], Change::Join), None);
    }
}
