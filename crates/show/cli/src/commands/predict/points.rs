//! Which numbers of ranks are asked for, and which parameters the problem has.

/// Numbers of ranks, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankCounts(pub Vec<u32>);

/// A parameter of the problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub value: f64,
    /// Of the run with so many ranks; of what is foretold if not said.
    pub ranks: Option<u32>,
}

impl std::fmt::Display for Parameter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.name, self.value)?;
        self.ranks.map_or(Ok(()), |ranks| write!(f, "@{ranks}"))
    }
}

pub fn parse_ranks(text: &str) -> Result<RankCounts, String> {
    let mut all = Vec::new();
    for part in text.split(',') {
        match part.split_once("..") {
            None => all.push(number(part)?),
            Some((from, to)) => {
                let (from, to) = (number(from)?, number(to)?);
                if from > to {
                    return Err(format!("{from} is more than {to}"));
                }
                let doublings = std::iter::successors(Some(from), |ranks| ranks.checked_mul(2));
                all.extend(doublings.take_while(|ranks| *ranks < to));
                all.push(to);
            }
        }
    }
    all.sort_unstable();
    all.dedup();
    Ok(RankCounts(all))
}

pub fn parse_parameter(text: &str) -> Result<Parameter, String> {
    let wrong = || format!("{text:?} is not NAME=VALUE or NAME=VALUE@RANKS");
    let (name, rest) = text.split_once('=').ok_or_else(wrong)?;
    let (value, ranks) = match rest.split_once('@') {
        Some((value, ranks)) => (value, Some(number(ranks)?)),
        None => (rest, None),
    };
    let value = value.parse().map_err(|_| wrong())?;
    Ok(Parameter { name: name.to_owned(), value, ranks })
}

fn number(text: &str) -> Result<u32, String> {
    let plain = text.trim().replace(['_', '\''], "");
    plain.parse().ok().filter(|ranks| *ranks > 0).ok_or_else(|| format!("{text:?} is not a number of ranks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_double() {
        assert_eq!(parse_ranks("64..600,8").unwrap().0, [8, 64, 128, 256, 512, 600]);
        assert_eq!(parse_ranks("16").unwrap().0, [16]);
        assert!(parse_ranks("64..8").is_err() && parse_ranks("x").is_err() && parse_ranks("0").is_err());
    }

    #[test]
    fn parameters_may_belong_to_a_run() {
        let of_run = parse_parameter("n=1e3@16").unwrap();
        assert_eq!((of_run.name.as_str(), of_run.value, of_run.ranks), ("n", 1_000.0, Some(16)));
        assert_eq!(parse_parameter("n=7").unwrap().ranks, None);
        assert!(parse_parameter("n").is_err());
    }
}
