//! What repeated measurements say: their median, and between which values it surely lies.

/// The median of some measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// The middle one.
    pub median: f64,
    /// The median lies above this, at 95 %.
    pub low: f64,
    /// The median lies below this, at 95 %.
    pub high: f64,
}

/// Of measurements in any order; none if there are none. The interval is that of order statistics, so nothing is assumed
/// about how measurements are spread.
pub fn summary(samples: &[f64]) -> Option<Summary> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let count = sorted.len();
    let last = count.checked_sub(1)?;
    let median = (sorted[last / 2] + sorted[count / 2]) / 2.0;
    let reach = (0.98 * (count as f64).sqrt()) as usize + 1;
    let (low, high) = ((last / 2).saturating_sub(reach), (count / 2 + reach).min(last));
    Some(Summary { median, low: sorted[low], high: sorted[high] })
}

/// The value that a share of the measurements is below; none if there are none.
pub fn quantile(samples: &[f64], share: f64) -> Option<f64> {
    let mut sorted = samples.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_measurements_say_little_about_their_median() {
        assert_eq!(summary(&[]), None);
        assert_eq!(summary(&[3.0]), Some(Summary { median: 3.0, low: 3.0, high: 3.0 }));
        let five = summary(&[5.0, 1.0, 2.0, 4.0, 3.0]).unwrap();
        assert_eq!((five.median, five.low, five.high), (3.0, 1.0, 5.0));
        let many: Vec<f64> = (0..1_001).map(f64::from).collect();
        let many = summary(&many).unwrap();
        assert_eq!(many.median, 500.0);
        assert!((460.0..470.0).contains(&many.low) && (530.0..540.0).contains(&many.high), "{many:?}");
    }

    #[test]
    fn quantiles_are_measurements() {
        assert_eq!(quantile(&[1.0, 2.0, 3.0], 0.0), Some(1.0));
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 1.0), Some(3.0));
    }
}
