//! Cholesky factorization of symmetric positive definite matrices, for the Newton steps of the fit.

/// A factored matrix.
pub(super) struct CholeskyFactor {
    size: usize,
    /// Lower triangle, row-major.
    lower: Vec<f64>,
}

impl CholeskyFactor {
    /// Factors a row-major matrix. The prior keeps the diagonal positive, and a floor of 1e-12
    /// guards against rounding errors.
    pub(super) fn factor(matrix: &[f64], size: usize) -> CholeskyFactor {
        let mut lower = vec![0.0; size * size];
        for row in 0..size {
            for column in 0..=row {
                let done: f64 =
                    (0..column).map(|k| lower[row * size + k] * lower[column * size + k]).sum();
                let left = matrix[row * size + column] - done;
                lower[row * size + column] = if row == column {
                    left.max(1e-12).sqrt()
                } else {
                    left / lower[column * size + column]
                };
            }
        }
        CholeskyFactor { size, lower }
    }

    /// Solves the system for one right-hand side.
    pub(super) fn solve(&self, right: &[f64]) -> Vec<f64> {
        let (size, lower) = (self.size, &self.lower);
        let mut x = right.to_vec();
        for row in 0..size {
            let done: f64 = (0..row).map(|k| lower[row * size + k] * x[k]).sum();
            x[row] = (x[row] - done) / lower[row * size + row];
        }
        for row in (0..size).rev() {
            let done: f64 = (row + 1..size).map(|k| lower[k * size + row] * x[k]).sum();
            x[row] = (x[row] - done) / lower[row * size + row];
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
pub(super) fn dot_product(one: &[f64], other: &[f64]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}
