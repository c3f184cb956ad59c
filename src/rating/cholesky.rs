//! Cholesky factorization of symmetric positive definite matrices, for the Newton steps of the fit.

/// Smallest value taken for a squared diagonal element, which guards against rounding errors.
const MIN_PIVOT: f64 = 1e-12;

/// A factored matrix.
pub(super) struct CholeskyFactor {
    size: usize,
    /// Lower triangle, row-major.
    lower: Vec<f64>,
}

impl CholeskyFactor {
    /// Factors a row-major matrix. The prior keeps the diagonal positive, up to rounding errors.
    pub(super) fn factor(matrix: &[f64], size: usize) -> CholeskyFactor {
        let mut lower = vec![0.0; size * size];
        for row in 0..size {
            for column in 0..=row {
                let partial_sum: f64 =
                    (0..column).map(|k| lower[row * size + k] * lower[column * size + k]).sum();
                let remainder = matrix[row * size + column] - partial_sum;
                lower[row * size + column] = if row == column {
                    remainder.max(MIN_PIVOT).sqrt()
                } else {
                    remainder / lower[column * size + column]
                };
            }
        }
        CholeskyFactor { size, lower }
    }

    /// Solves the system for one right-hand side.
    pub(super) fn solve(&self, rhs: &[f64]) -> Vec<f64> {
        let (size, lower) = (self.size, &self.lower);
        let mut x = rhs.to_vec();
        for row in 0..size {
            let partial_sum: f64 = (0..row).map(|k| lower[row * size + k] * x[k]).sum();
            x[row] = (x[row] - partial_sum) / lower[row * size + row];
        }
        for row in (0..size).rev() {
            let partial_sum: f64 = (row + 1..size).map(|k| lower[k * size + row] * x[k]).sum();
            x[row] = (x[row] - partial_sum) / lower[row * size + row];
        }
        x
    }

    /// The inverse, row-major.
    pub(super) fn inverse(&self) -> Vec<f64> {
        let mut inverse = vec![0.0; self.size * self.size];
        for column in 0..self.size {
            let mut unit = vec![0.0; self.size];
            unit[column] = 1.0;
            for (row, value) in self.solve(&unit).into_iter().enumerate() {
                inverse[row * self.size + column] = value;
            }
        }
        inverse
    }
}

/// Dot product.
pub(super) fn dot_product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}
