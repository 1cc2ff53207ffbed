//! Ops that read and write at indices that are data.

use fuser_ir::Op;
use fuser_ir::types::DType;

use super::reduce::{combining, without_negative_zero};
use super::{Form, Tensor, Writer, refuse};
use crate::program::Made;

/// A gather of whole parts along one axis. Indices are limited to the axis there as here.
pub fn take(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, indices, axis) = (w.operand(op, 0)?, w.operand(op, 1)?, w.axis(op));
    let mut sizes = x.shape.clone();
    match sizes.get_mut(axis) {
        Some(0) => return Ok(nothing(w, to)),
        Some(size) => *size = 1,
        None => return refuse("reads no axis"),
    }
    let count = indices.shape.len();
    let offsets: Vec<usize> = (0..axis).chain(axis + count..to.shape.len()).collect();
    let numbers = format!(
        "offset_dims = {offsets:?}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}], index_vector_dim = {count}"
    );
    gather(w, &[&x, &indices], &numbers, &sizes, to)
}

/// Zeros, or their conversion to a type without zero: the result of reading an axis without elements. A gather slice
/// must lie within its operand even without any index.
fn nothing(w: &mut Writer<'_>, to: &Form) -> Tensor {
    let own = match to.dtype.is_storage() {
        true => DType::F32,
        false => to.dtype,
    };
    let zero = w.number(0.0, own);
    let zero = w.convert(&zero, to.dtype);
    w.broadcast(&zero, &[], &to.shape)
}

fn gather(
    w: &mut Writer<'_>,
    operands: &[&Tensor],
    numbers: &str,
    sizes: &[u64],
    to: &Form,
) -> Made<Tensor> {
    let sizes: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let attributes = format!(
        "dimension_numbers = #stablehlo.gather<{numbers}>, indices_are_sorted = false, slice_sizes = array<i64: {}>",
        sizes.join(", ")
    );
    let made = w.generic(
        "gather",
        operands,
        &attributes,
        "",
        std::slice::from_ref(to),
    );
    made.into_iter()
        .next()
        .map_or_else(|| refuse("has no result"), Ok)
}

/// A gather of single elements, line by line.
pub fn take_along(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (x, indices, axis) = (w.operand(op, 0)?, w.operand(op, 1)?, w.axis(op));
    along(w, &x, &indices, axis, to)
}

/// Elements of `x` at indices along an axis.
fn along(w: &mut Writer<'_>, x: &Tensor, indices: &Tensor, axis: usize, to: &Form) -> Made<Tensor> {
    if x.shape.get(axis) == Some(&0) || to.shape.contains(&0) {
        return Ok(nothing(w, to));
    }
    let rank = x.shape.len();
    let batch: Vec<usize> = (0..rank).filter(|other| *other != axis).collect();
    let numbers = format!(
        "collapsed_slice_dims = [{axis}], operand_batching_dims = {batch:?}, start_indices_batching_dims = {batch:?}, \
         start_index_map = [{axis}], index_vector_dim = {rank}"
    );
    gather(w, &[x, indices], &numbers, &vec![1; rank], to)
}

/// The start indices of a slice or update, operands from `first` on: one for each axis, 0 for an axis without an index.
pub fn part(w: &mut Writer<'_>, op: Op, to: &Form, first: usize) -> Made<Tensor> {
    let mut all = Vec::new();
    for index in 0..first {
        all.push(w.operand(op, index)?);
    }
    let dims = w.ints(op, "dims");
    for axis in 0..to.shape.len() {
        let place = dims.iter().position(|&dim| dim == axis as i64);
        all.push(match place {
            Some(place) => {
                let start = w.operand(op, first + place)?;
                w.convert(&start, DType::I64)
            }
            None => w.number(0.0, DType::I64),
        });
    }
    let all: Vec<&Tensor> = all.iter().collect();
    let (name, sizes) = match first {
        1 => (
            "stablehlo.dynamic_slice",
            format!(", sizes = {:?}", to.shape),
        ),
        _ => ("stablehlo.dynamic_update_slice", String::new()),
    };
    let made = w.inner(&to.shape, to.dtype);
    w.emit(&made, name, &all, &sizes);
    Ok(made)
}

/// Parts along an axis: the scatter of their elements.
pub fn index_put(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (dest, indices, updates) = (w.operand(op, 0)?, w.operand(op, 1)?, w.operand(op, 2)?);
    let axis = w.axis(op);
    let window: Vec<usize> = (0..to.shape.len()).filter(|other| *other != axis).collect();
    let numbers = format!(
        "update_window_dims = {window:?}, inserted_window_dims = [{axis}], scatter_dims_to_operand_dims = [{axis}], index_vector_dim = 1"
    );
    let put = Put { op, axis, numbers };
    put.write(w, dest, indices, updates)
}

/// Elements, each at its index along an axis.
pub fn scatter(w: &mut Writer<'_>, op: Op, to: &Form) -> Made<Tensor> {
    let (dest, indices, updates) = (w.operand(op, 0)?, w.operand(op, 1)?, w.operand(op, 2)?);
    let (axis, rank) = (w.axis(op), to.shape.len());
    let batch: Vec<usize> = (0..rank).filter(|other| *other != axis).collect();
    let numbers = format!(
        "inserted_window_dims = [{axis}], input_batching_dims = {batch:?}, scatter_indices_batching_dims = {batch:?}, \
         scatter_dims_to_operand_dims = [{axis}], index_vector_dim = {rank}"
    );
    let put = Put { op, axis, numbers };
    put.write(w, dest, indices, updates)
}

/// Updates that are put into a tensor along an axis.
struct Put {
    op: Op,
    axis: usize,
    numbers: String,
}

impl Put {
    fn write(self, w: &mut Writer<'_>, dest: Tensor, at: Tensor, updates: Tensor) -> Made<Tensor> {
        if dest.shape.contains(&0) || updates.shape.contains(&0) {
            return self.ended(w, dest);
        }
        let body = match w.ir.str_of(self.op, "combine").unwrap_or("set") {
            "set" => return self.last(w, dest, at, updates),
            "add" => "add",
            "mul" => "multiply",
            "max" => "maximum",
            _ => "minimum",
        };
        let wide = match body {
            "add" | "multiply" => dest.dtype.compute(),
            _ => dest.dtype,
        };
        let (into, updates) = (w.convert(&dest, wide), w.convert(&updates, wide));
        let made = self.scattered(w, [&into, &at, &updates], body)?;
        let made = w.convert(&made, dest.dtype);
        self.ended(w, made)
    }
    /// A sum that is zero is `+0`, also where nothing was added.
    fn ended(&self, w: &mut Writer<'_>, made: Tensor) -> Made<Tensor> {
        match w.ir.str_of(self.op, "combine") {
            Some("add") => Ok(without_negative_zero(w, &made)),
            _ => Ok(made),
        }
    }
    /// The last update at each place, which StableHLO leaves open: the greatest of their numbers is scattered, and the update of this
    /// number taken.
    fn last(self, w: &mut Writer<'_>, dest: Tensor, at: Tensor, updates: Tensor) -> Made<Tensor> {
        let numbers = w.iota(self.axis, &updates.shape, DType::I64);
        let minus = w.number(-1.0, DType::I64);
        let none = w.broadcast(&minus, &[], &dest.shape);
        let last = self.scattered(w, [&none, &at, &numbers], "maximum")?;
        let form = Form {
            shape: dest.shape.clone(),
            dtype: dest.dtype,
        };
        let taken = along(w, &updates, &last, self.axis, &form)?;
        let kept = w.test("EQ", &last, &none);
        Ok(w.choice(&kept, &dest, &taken))
    }
    fn scattered(&self, w: &mut Writer<'_>, all: [&Tensor; 3], body: &str) -> Made<Tensor> {
        let attributes = format!(
            "indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<{}>, unique_indices = false",
            self.numbers
        );
        let form = Form {
            shape: all[0].shape.clone(),
            dtype: all[0].dtype,
        };
        let body = combining(w, body, form.dtype);
        let made = w.generic("scatter", &all, &attributes, &body, &[form]);
        made.into_iter()
            .next()
            .map_or_else(|| refuse("has no result"), Ok)
    }
}
