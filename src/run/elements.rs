//! Elements of results as text, for `--print`.
//!
//! ```text
//! %y: tensor<2x2000xf32>
//! [[   0.5,   -1.0, 2.25, ..., 0.0, 1.0, 3.5],
//!  [-12.75, 1.0e10, 0.25, ..., 0.0, 1.0, 2.0]]
//! ```
//!
//! A tensor of at most [`WHOLE`] elements is printed in full; of a larger one, the first and last elements of each
//! axis. Numbers have the fewest digits that parse back to the element.

use fuser_runtime::HostTensor;

/// Elements that are shown all.
const WHOLE: usize = 1000;
/// Elements at both ends of an axis, where not all are shown.
const EDGE: usize = 3;
/// Columns of a line.
const COLUMNS: usize = 100;

/// A tensor called `name`: its type and its elements.
pub fn text(name: &str, tensor: &HostTensor) -> String {
    let extents = tensor.extents();
    let dims: String = extents.iter().map(|extent| format!("{extent}x")).collect();
    let dtype = tensor.dtype().name();
    let head = match extents.is_empty() {
        true => format!("%{name}: {dtype}\n"),
        false => format!("%{name}: tensor<{dims}{dtype}>\n"),
    };
    let shown = shown(&extents);
    let mut table = Table {
        tensor,
        shown: &shown,
        width: 0,
        text: String::new(),
    };
    table.measure(&mut Vec::new());
    table.write(&mut Vec::new());
    format!("{head}{}\n", table.text)
}

/// Positions along each axis; none for elements that are left out.
fn shown(extents: &[usize]) -> Vec<Vec<Option<usize>>> {
    let elements = extents.iter().copied().fold(1, usize::saturating_mul);
    let ends = |edge: usize, extent: usize| match extent <= 2 * edge {
        true => extent,
        false => 2 * edge,
    };
    let count = |edge| {
        let kept = extents.iter().map(|&extent| ends(edge, extent));
        kept.fold(1, usize::saturating_mul)
    };
    let edge = match elements <= WHOLE {
        true => usize::MAX / 2,
        false => (1..=EDGE).rev().find(|&e| count(e) <= WHOLE).unwrap_or(1),
    };
    let axis = |&extent: &usize| match extent <= 2 * edge {
        true => (0..extent).map(Some).collect(),
        false => {
            let first = (0..edge).map(Some).chain([None]);
            first.chain((extent - edge..extent).map(Some)).collect()
        }
    };
    extents.iter().map(axis).collect()
}

struct Table<'a> {
    tensor: &'a HostTensor,
    shown: &'a [Vec<Option<usize>>],
    /// Columns of the widest element.
    width: usize,
    text: String,
}

impl Table<'_> {
    fn element(&self, index: &[usize]) -> String {
        self.tensor.element_text(index).unwrap_or_default()
    }
    fn measure(&mut self, index: &mut Vec<usize>) {
        let Some(axis) = self.shown.get(index.len()) else {
            self.width = self.width.max(self.element(index).len());
            return;
        };
        for &position in axis.iter().flatten() {
            index.push(position);
            self.measure(index);
            index.pop();
        }
    }
    fn write(&mut self, index: &mut Vec<usize>) {
        let depth = index.len();
        let Some(axis) = self.shown.get(depth) else {
            let element = self.element(index);
            self.text += &format!("{element:>width$}", width = self.width);
            return;
        };
        let innermost = depth + 1 == self.shown.len();
        self.text.push('[');
        let mut column = depth + 1;
        for (number, position) in axis.iter().enumerate() {
            let needed = self.width + 2;
            if number > 0 {
                let wraps = !innermost || column + needed > COLUMNS;
                self.text += if wraps { "," } else { ", " };
                // Matrices of a larger tensor stand apart.
                let empty = (self.shown.len() - depth).saturating_sub(2);
                if wraps {
                    let lines = if innermost { 1 } else { 1 + empty };
                    self.text += &"\n".repeat(lines);
                    self.text += &" ".repeat(depth + 1);
                    column = depth + 1;
                }
            }
            column += needed;
            match position {
                None => self.text += "...",
                Some(position) => {
                    index.push(*position);
                    self.write(index);
                    index.pop();
                }
            }
        }
        self.text.push(']');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fuser_artifact::DType;
    use fuser_runtime::{Axis, Heap};

    fn tensor(dtype: DType, extents: &[usize], values: &[f64]) -> HostTensor {
        let axes: Vec<Axis> = extents.iter().map(|&e| Axis::stored(e)).collect();
        HostTensor::from_f64(&Heap::with_limit(1 << 20), dtype, &axes, values).unwrap()
    }
    fn counted(extents: &[usize]) -> HostTensor {
        let count = extents.iter().product::<usize>();
        let values: Vec<f64> = (0..count).map(|n| n as f64).collect();
        tensor(DType::I32, extents, &values)
    }

    #[test]
    fn small_tensors_are_whole_and_exact() {
        let told =
            |dtype, extents: &[usize], values: &[f64]| text("y", &tensor(dtype, extents, values));
        assert_eq!(told(DType::F32, &[], &[0.1]), "%y: f32\n0.1\n");
        assert_eq!(
            told(DType::F64, &[2, 2], &[0.1, -1e300, f64::NAN, 2.0]),
            "%y: tensor<2x2xf64>\n[[   0.1, -1e300],\n [   NaN,    2.0]]\n"
        );
        assert_eq!(
            told(DType::F4E2M1FN, &[3], &[0.5, -6.0, 1.5]),
            "%y: tensor<3xf4E2M1FN>\n[ 0.5, -6.0,  1.5]\n"
        );
        assert_eq!(
            told(DType::I1, &[2], &[1.0, 0.0]),
            "%y: tensor<2xi1>\n[ true, false]\n"
        );
        assert_eq!(told(DType::F32, &[0, 3], &[]), "%y: tensor<0x3xf32>\n[]\n");
        assert_eq!(
            told(DType::C64, &[1], &[2.0]),
            "%y: tensor<1xcomplex<f32>>\n[2.0+0.0j]\n"
        );
    }

    #[test]
    fn large_tensors_show_their_ends() {
        let told = text("y", &counted(&[50, 40]));
        let expected = "%y: tensor<50x40xi32>
[[   0,    1,    2, ...,   37,   38,   39],
 [  40,   41,   42, ...,   77,   78,   79],
 [  80,   81,   82, ...,  117,  118,  119],
 ...,
 [1880, 1881, 1882, ..., 1917, 1918, 1919],
 [1920, 1921, 1922, ..., 1957, 1958, 1959],
 [1960, 1961, 1962, ..., 1997, 1998, 1999]]
";
        assert_eq!(told, expected);
        // However many axes there are.
        let many = text("y", &counted(&[3, 3, 3, 3, 3, 3, 3]));
        assert!(many.matches(|c: char| c.is_ascii_digit()).count() < 4 * WHOLE);
    }

    #[test]
    fn long_rows_wrap_and_matrices_stand_apart() {
        let told = text("y", &counted(&[200]));
        assert!(told.lines().all(|line| line.chars().count() <= COLUMNS));
        // A line has 19 numbers of 3 digits, each with a comma and a space.
        assert_eq!(told.lines().count(), 1 + 200usize.div_ceil(19));
        assert!(text("y", &counted(&[2, 1, 2])).ends_with("[[[0, 1]],\n\n [[2, 3]]]\n"));
    }

    #[test]
    fn elements_are_where_an_order_puts_them() {
        let broadcast = [Axis::broadcast(2), Axis::stored(2)];
        let heap = Heap::with_limit(1 << 20);
        let stored = HostTensor::from_f64(&heap, DType::F32, &broadcast, &[1.0, 2.0]).unwrap();
        assert!(text("y", &stored).ends_with("[[1.0, 2.0],\n [1.0, 2.0]]\n"));
    }
}
