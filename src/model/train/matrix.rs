//! Matrix products on slices: safe fronts of `gemm`.

use gemm::Parallelism;

/// A row-major matrix inside a slice: element (i, j) is `data[i * stride + j]`.
#[derive(Clone, Copy)]
pub struct Mat<'a> {
    pub data: &'a [f32],
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

/// The same, to be written.
pub struct MatMut<'a> {
    pub data: &'a mut [f32],
    pub rows: usize,
    pub cols: usize,
    pub stride: usize,
}

impl<'a> Mat<'a> {
    /// Rows that lie side by side.
    pub fn dense(data: &'a [f32], rows: usize, cols: usize) -> Self {
        Self { data, rows, cols, stride: cols }
    }
}

impl<'a> MatMut<'a> {
    pub fn dense(data: &'a mut [f32], rows: usize, cols: usize) -> Self {
        Self { data, rows, cols, stride: cols }
    }
}

/// Whether the product replaces what is there or is added to it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Into {
    Replace,
    Add,
}

/// `out = a · b`, (m, k) x (k, n).
pub fn mul(out: MatMut<'_>, a: Mat<'_>, b: Mat<'_>, into: Into) {
    product(out, a, (a.rows, a.cols), false, b, (b.rows, b.cols), false, into);
}

/// `out = aᵀ · b`, (k, m)ᵀ x (k, n): the gradient of a weight.
pub fn mul_ta(out: MatMut<'_>, a: Mat<'_>, b: Mat<'_>, into: Into) {
    product(out, a, (a.cols, a.rows), true, b, (b.rows, b.cols), false, into);
}

/// `out = a · bᵀ`, (m, k) x (n, k)ᵀ: the gradient of an input.
pub fn mul_tb(out: MatMut<'_>, a: Mat<'_>, b: Mat<'_>, into: Into) {
    product(out, a, (a.rows, a.cols), false, b, (b.cols, b.rows), true, into);
}

fn fits(len: usize, rows: usize, cols: usize, stride: usize) -> bool {
    rows == 0 || cols == 0 || (cols <= stride || rows == 1) && (rows - 1) * stride + cols <= len
}

#[expect(clippy::too_many_arguments)]
#[expect(unsafe_code)]
fn product(
    out: MatMut<'_>,
    a: Mat<'_>,
    (m, k): (usize, usize),
    a_transposed: bool,
    b: Mat<'_>,
    (k_b, n): (usize, usize),
    b_transposed: bool,
    into: Into,
) {
    assert!(k == k_b && out.rows == m && out.cols == n, "({m}, {k}) x ({k_b}, {n}) into ({}, {})", out.rows, out.cols);
    assert!(fits(a.data.len(), a.rows, a.cols, a.stride) && fits(b.data.len(), b.rows, b.cols, b.stride));
    assert!(fits(out.data.len(), out.rows, out.cols, out.stride));
    let strides = |stride: usize, transposed: bool| if transposed { (stride as isize, 1) } else { (1, stride as isize) };
    let ((a_cs, a_rs), (b_cs, b_rs)) = (strides(a.stride, a_transposed), strides(b.stride, b_transposed));
    // SAFETY: the assertions above hold every index (i, j) of the three matrices inside its slice, and `out` is borrowed
    // mutably, so it overlaps neither input.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.data.as_mut_ptr(),
            1,
            out.stride as isize,
            into == Into::Add,
            a.data.as_ptr(),
            a_cs,
            a_rs,
            b.data.as_ptr(),
            b_cs,
            b_rs,
            1.0f32,
            1.0f32,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_and_their_transposes() {
        let a = [1., 2., 3., 4., 5., 6.];
        let b = [1., 0., 2., 0., 1., 3.];
        let mut out = [0.0; 4];
        // (2, 3) x (3, 2), b read as (3, 2).
        mul(MatMut::dense(&mut out, 2, 2), Mat::dense(&a, 2, 3), Mat::dense(&b, 3, 2), Into::Replace);
        assert_eq!(out, [8., 9., 20., 18.]);
        // (3, 2)ᵀ x (3, 2).
        mul_ta(MatMut::dense(&mut out, 2, 2), Mat::dense(&a, 3, 2), Mat::dense(&b, 3, 2), Into::Replace);
        assert_eq!(out, [12., 15., 16., 18.]);
        // (2, 3) x (2, 3)ᵀ.
        let mut added = [1.0; 4];
        mul_tb(MatMut::dense(&mut added, 2, 2), Mat::dense(&a, 2, 3), Mat::dense(&b, 2, 3), Into::Add);
        assert_eq!(added, [8., 12., 17., 24.]);
    }
}
