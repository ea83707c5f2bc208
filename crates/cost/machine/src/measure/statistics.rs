//! What repeated measurements say: their median, and between which values it surely lies.

use kizami_stats::{median, sorted};

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
    let sorted = sorted(samples);
    let median = median(&sorted)?;
    let (count, last) = (sorted.len(), sorted.len() - 1);
    let reach = (0.98 * (count as f64).sqrt()) as usize + 1;
    let (low, high) = ((last / 2).saturating_sub(reach), (count / 2 + reach).min(last));
    Some(Summary { median, low: sorted[low], high: sorted[high] })
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
}
