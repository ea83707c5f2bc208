//! Least squares: lines, and sums of a handful of columns.

/// Columns whose part that no other column explains is smaller than this are not distinguished from them.
const TOO_ALIKE: f64 = 1e-6;

/// The line through some points: its value at 0 and its slope. None if it is vertical, as with fewer than two points.
pub fn line(points: impl ExactSizeIterator<Item = (f64, f64)> + Clone) -> Option<(f64, f64)> {
    let count = points.len() as f64;
    let (sum_x, sum_y) = points.clone().fold((0.0, 0.0), |sum, (x, y)| (sum.0 + x, sum.1 + y));
    let (mean_x, mean_y) = (sum_x / count, sum_y / count);
    let (mut both, mut square) = (0.0, 0.0);
    for (x, y) in points {
        both += (x - mean_x) * (y - mean_y);
        square += (x - mean_x).powi(2);
    }
    (square > 0.0).then(|| (mean_y - both / square * mean_x, both / square))
}

/// The matrix that makes coefficients of measured values: `coefficient[k] = sum of inverse[k][i] * value[i]` are those
/// of least squares. None if the columns cannot be distinguished.
///
/// By orthogonal columns (modified Gram-Schmidt), because powers of a few numbers are nearly alike and squaring them
/// would lose what distinguishes them.
pub fn pseudo_inverse(columns: &[&[f64]]) -> Option<Vec<Vec<f64>>> {
    let count = columns.len();
    let mut orthogonal: Vec<Vec<f64>> = Vec::with_capacity(count);
    // columns[k] = sum of triangle[k][j] * orthogonal[j], for j up to k.
    let mut triangle = vec![vec![0.0; count]; count];
    for (k, column) in columns.iter().enumerate() {
        let mut rest = column.to_vec();
        for (j, unit) in orthogonal.iter().enumerate() {
            let part = dot(&rest, unit);
            triangle[k][j] = part;
            rest.iter_mut().zip(unit).for_each(|(rest, unit)| *rest -= part * unit);
        }
        let (length, whole) = (dot(&rest, &rest).sqrt(), dot(column, column).sqrt());
        if length.is_nan() || length <= TOO_ALIKE * whole || whole == 0.0 {
            return None;
        }
        rest.iter_mut().for_each(|rest| *rest /= length);
        triangle[k][k] = length;
        orthogonal.push(rest);
    }
    // Backwards: the last coefficient is known from the last orthogonal column alone.
    let mut inverse = orthogonal;
    for j in (0..count).rev() {
        let (head, tail) = inverse.split_at_mut(j + 1);
        for (k, row) in tail.iter().enumerate() {
            let part = triangle[j + 1 + k][j];
            head[j].iter_mut().zip(row).for_each(|(head, row)| *head -= part * row);
        }
        head[j].iter_mut().for_each(|value| *value /= triangle[j][j]);
    }
    Some(inverse)
}

/// Coefficients that are not negative and fit the values best by least squares: the best among those fits of some of
/// the columns that have no negative coefficient, which is exact and quick for a handful of columns.
pub fn non_negative(columns: &[Vec<f64>], values: &[f64]) -> Vec<f64> {
    let mut best = (dot(values, values), vec![0.0; columns.len()]);
    for chosen in 1u32..1 << columns.len() {
        let indices: Vec<usize> = (0..columns.len()).filter(|k| chosen >> k & 1 == 1).collect();
        let some: Vec<&[f64]> = indices.iter().map(|&k| &columns[k][..]).collect();
        let Some(inverse) = pseudo_inverse(&some) else { continue };
        let coefficients: Vec<f64> = inverse.iter().map(|row| dot(row, values)).collect();
        if coefficients.iter().any(|&coefficient| coefficient < 0.0) {
            continue;
        }
        let squares = squared_residuals(&some, &coefficients, values);
        if squares < best.0 {
            let mut all = vec![0.0; columns.len()];
            indices.iter().zip(coefficients).for_each(|(&k, coefficient)| all[k] = coefficient);
            best = (squares, all);
        }
    }
    best.1
}

/// Sum of squares of what the columns leave unexplained.
pub fn squared_residuals<C: AsRef<[f64]>>(columns: &[C], coefficients: &[f64], values: &[f64]) -> f64 {
    (0..values.len())
        .map(|i| {
            let fitted: f64 =
                columns.iter().zip(coefficients).map(|(column, c)| column.as_ref()[i] * c).sum();
            (values[i] - fitted).powi(2)
        })
        .sum()
}

/// The sum of products.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_squares_is_exact_where_it_can_be() {
        let columns: [&[f64]; 3] = [&[1.0, 1.0, 1.0, 1.0], &[1.0, 2.0, 4.0, 8.0], &[1.0, 0.5, 0.25, 0.125]];
        let values: Vec<f64> = (0..4).map(|i| 3.0 + 0.5 * columns[1][i] + 7.0 * columns[2][i]).collect();
        let inverse = pseudo_inverse(&columns).unwrap();
        let found: Vec<f64> = inverse.iter().map(|row| dot(row, &values)).collect();
        for (found, wanted) in found.iter().zip([3.0, 0.5, 7.0]) {
            assert!((found - wanted).abs() < 1e-9, "{found} for {wanted}");
        }
    }

    #[test]
    fn a_line_goes_through_its_points() {
        assert_eq!(line([(1.0, 5.0), (3.0, 9.0)].into_iter()), Some((3.0, 2.0)));
        assert_eq!(line([(1.0, 5.0)].into_iter()), None);
        assert_eq!(line(std::iter::empty()), None);
    }

    #[test]
    fn columns_that_are_alike_are_refused() {
        assert!(pseudo_inverse(&[&[1.0, 2.0, 3.0], &[2.0, 4.0, 6.0]]).is_none());
        assert!(pseudo_inverse(&[&[0.0, 0.0]]).is_none());
    }

    #[test]
    fn no_coefficient_is_negative() {
        let columns = vec![vec![1.0, 1.0, 1.0], vec![1.0, 2.0, 3.0]];
        // Falls, which no such sum can do: the mean is best.
        let found = non_negative(&columns, &[3.0, 2.0, 1.0]);
        assert!((found[0] - 2.0).abs() < 1e-12 && found[1] == 0.0, "{found:?}");
    }
}
