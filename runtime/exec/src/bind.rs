//! Binding of the named extents to their values in a run.
//!
//! An explicit `--shape NAME=VALUE` gives an extent its value. So does an axis of a given tensor whose extent is that
//! name alone, or a multiple of it plus a number, once all other names in it have values: 10 elements for `[2*M]` imply
//! that `M` is 5. All sources must agree, and every given tensor must have the declared element type and shape. A
//! broadcast axis may be given with extent 1, which determines nothing.

use std::collections::BTreeMap;
use std::fmt;

use fuser_artifact::{DType, DimSpec, SizeError, SizeExpr, SizeOp, TensorSpec};

use crate::tensor::{Axis, Shape};

/// Values by name, as given on a command line.
pub type Explicit = BTreeMap<String, i64>;

/// The type and shape of a tensor that is there.
#[derive(Clone, Copy, Debug)]
pub struct Given<'a> {
    pub dtype: DType,
    pub axes: &'a [Axis],
    /// The file that it comes from.
    pub origin: Option<&'a str>,
}

/// The source of an extent's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    Explicit { extent: String, value: i64 },
    Axis { input: Input, axis: usize },
}

/// A value for an extent, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    pub value: i64,
    pub source: Source,
}

/// An input, with the file that it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    pub name: String,
    pub origin: Option<String>,
}

/// Extents that have no value, or more than one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BindError {
    UnknownExtent {
        name: String,
        known: Vec<String>,
    },
    Negative {
        extent: String,
        value: i64,
    },
    Count {
        expected: usize,
        found: usize,
    },
    DType {
        input: Input,
        expected: DType,
        found: DType,
    },
    Rank {
        input: Input,
        expected: String,
        found: String,
    },
    Contradiction {
        extent: String,
        claims: Box<[Claim; 2]>,
    },
    /// An axis whose extent is an expression, not a single name, has the wrong length.
    Extent {
        input: Input,
        axis: usize,
        expr: String,
        expected: i64,
        found: i64,
    },
    /// No value of the only name in an axis's extent gives the length of the axis.
    NoValue {
        input: Box<Input>,
        axis: usize,
        expr: String,
        extent: String,
        found: usize,
    },
    Missing {
        extent: String,
        axis: Option<(String, usize)>,
    },
    /// The number of elements along the innermost axis is odd, but two elements share a byte.
    HalfByte {
        tensor: String,
        axis: usize,
        dtype: DType,
        extent: usize,
    },
    Size {
        error: SizeError,
        extents: Vec<String>,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Explicit { extent, value } => write!(f, "`--shape {extent}={value}`"),
            Source::Axis { input, axis } => write!(f, "axis {axis} of {input}"),
        }
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} by {}", self.value, self.source)
    }
}

impl fmt::Display for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "input `{}`", self.name)?;
        match &self.origin {
            Some(origin) => write!(f, " ({origin})"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BindError::UnknownExtent { name, known } if known.is_empty() => {
                write!(f, "the program has no extent `{name}`, nor any other")
            }
            BindError::UnknownExtent { name, known } => {
                write!(
                    f,
                    "the program has no extent `{name}` (it has {})",
                    known.join(", ")
                )
            }
            BindError::Negative { extent, value } => {
                write!(f, "extent `{extent}` cannot be {value}")
            }
            BindError::Count { expected, found } => {
                write!(f, "{found} inputs given, expected {expected}")
            }
            BindError::DType {
                input,
                expected,
                found,
            } => {
                write!(f, "{input} has element type {found}, expected {expected}")
            }
            BindError::Rank {
                input,
                expected,
                found,
            } => {
                write!(f, "{input} has shape {found}, expected {expected}")
            }
            BindError::Contradiction { extent, claims } => {
                let [first, second] = claims.as_ref();
                write!(f, "extent `{extent}` is {first} but {second}")
            }
            BindError::Extent {
                input,
                axis,
                expr,
                expected,
                found,
            } => write!(
                f,
                "axis {axis} of {input} has extent {found}, expected {expected} (`{expr}`)"
            ),
            BindError::NoValue {
                input,
                axis,
                expr,
                extent,
                found,
            } => write!(
                f,
                "axis {axis} of {input} has extent {found}, and `{expr}` is that for no `{extent}`"
            ),
            BindError::Missing {
                extent,
                axis: Some((input, axis)),
            } => write!(
                f,
                "extent `{extent}` has no value: give it with `--shape {extent}=VALUE`, or a file for input `{input}`, whose axis {axis} it is"
            ),
            BindError::Missing { extent, axis: None } => write!(
                f,
                "extent `{extent}` has no value: give it with `--shape {extent}=VALUE`"
            ),
            BindError::HalfByte {
                tensor,
                axis,
                dtype,
                extent,
            } => write!(
                f,
                "axis {axis} of `{tensor}` has extent {extent}, and two elements of {dtype} share a byte along it: it must be even"
            ),
            BindError::Size { error, extents } => f.write_str(&error.describe(extents)),
        }
    }
}

impl std::error::Error for BindError {}

/// The values of `extents`, in order. `given[i]` is the tensor given for `tensors[i]`, if any.
pub fn bind(
    extents: &[String],
    tensors: &[TensorSpec],
    given: &[Option<Given<'_>>],
    explicit: &Explicit,
) -> Result<Vec<i64>, BindError> {
    if tensors.len() != given.len() {
        let (expected, found) = (tensors.len(), given.len());
        return Err(BindError::Count { expected, found });
    }
    let mut binder = Binder {
        extents,
        found: vec![None; extents.len()],
    };
    binder.bind_explicit(explicit)?;
    let pairs = || {
        let pairs = tensors.iter().zip(given);
        pairs.filter_map(|(tensor, given)| given.map(|given| (tensor, given)))
    };
    pairs().try_for_each(|(tensor, given)| binder.bind_tensor(tensor, given))?;
    // One axis may say what another needs: as many rounds as there are names.
    for _ in 0..binder.open() {
        pairs().try_for_each(|(tensor, given)| binder.solve_tensor(tensor, given))?;
    }
    let values = binder.values(tensors)?;
    pairs().try_for_each(|(tensor, given)| check_shape(extents, &values, tensor, given))?;
    Ok(values)
}

/// The axes of a tensor for these values of the extents.
pub fn axes(
    tensor: &TensorSpec,
    extents: &[String],
    values: &[i64],
) -> Result<Vec<Axis>, BindError> {
    let axis = |dim: &DimSpec| {
        let extent = dim.extent.evaluate_size(values);
        let extent = extent.map_err(|error| size_error(error, extents))?;
        let broadcast = dim.broadcast;
        Ok(Axis { extent, broadcast })
    };
    let axes: Vec<Axis> = tensor.dims.iter().map(axis).collect::<Result<_, _>>()?;
    whole_bytes(tensor, &axes)?;
    Ok(axes)
}

/// Refuses a tensor of elements that share a byte if a line along the innermost axis in memory ends within a byte.
fn whole_bytes(tensor: &TensorSpec, axes: &[Axis]) -> Result<(), BindError> {
    let shared = tensor.dtype.per_byte();
    let place = |i: usize| tensor.order.get(i).map_or(i, |&axis| axis as usize);
    let order = (0..axes.len()).rev().map(place);
    let mut stored = order.filter(|&axis| axes.get(axis).is_some_and(|axis| !axis.broadcast));
    let innermost = stored.next().filter(|_| shared > 1);
    match innermost.and_then(|axis| Some((axis, axes.get(axis)?.extent))) {
        Some((axis, extent)) if extent % shared != 0 => Err(BindError::HalfByte {
            tensor: tensor.name.clone(),
            axis,
            dtype: tensor.dtype,
            extent,
        }),
        _ => Ok(()),
    }
}

fn size_error(error: SizeError, extents: &[String]) -> BindError {
    let extents = extents.to_vec();
    BindError::Size { error, extents }
}

struct Binder<'a> {
    extents: &'a [String],
    found: Vec<Option<Claim>>,
}

impl Binder<'_> {
    fn bind_explicit(&mut self, explicit: &Explicit) -> Result<(), BindError> {
        for (name, value) in explicit {
            let index = self.extents.iter().position(|extent| extent == name);
            let index = index.ok_or_else(|| BindError::UnknownExtent {
                name: name.clone(),
                known: self.extents.to_vec(),
            })?;
            let (extent, value) = (name.clone(), *value);
            if value < 0 {
                return Err(BindError::Negative { extent, value });
            }
            self.note(index, value, Source::Explicit { extent, value })?;
        }
        Ok(())
    }

    fn bind_tensor(&mut self, tensor: &TensorSpec, given: Given<'_>) -> Result<(), BindError> {
        let input = input(tensor, given);
        if tensor.dtype != given.dtype {
            let (expected, found) = (tensor.dtype, given.dtype);
            return Err(BindError::DType {
                input,
                expected,
                found,
            });
        }
        if tensor.dims.len() != given.axes.len() {
            return Err(BindError::Rank {
                input,
                expected: declared(tensor, self.extents),
                found: Shape(given.axes).to_string(),
            });
        }
        for (axis, (dim, found)) in tensor.dims.iter().zip(given.axes).enumerate() {
            let (Some(extent), Ok(value)) = (dim.extent.as_extent(), i64::try_from(found.extent))
            else {
                continue;
            };
            if !stands_for_any(dim, *found) {
                let input = input.clone();
                self.note(extent as usize, value, Source::Axis { input, axis })?;
            }
        }
        Ok(())
    }

    /// The number of names without a value.
    fn open(&self) -> usize {
        self.found.iter().filter(|found| found.is_none()).count()
    }

    /// Binds names that occur in sums in the axes of a tensor, using the names bound so far.
    fn solve_tensor(&mut self, tensor: &TensorSpec, given: Given<'_>) -> Result<(), BindError> {
        for (axis, (dim, found)) in tensor.dims.iter().zip(given.axes).enumerate() {
            let Some(line) = self.line(&dim.extent) else {
                continue;
            };
            if stands_for_any(dim, *found) {
                continue;
            }
            let input = input(tensor, given);
            let Some(value) = line.at(found.extent) else {
                return Err(BindError::NoValue {
                    input: input.into(),
                    axis,
                    expr: dim.extent.pretty(self.extents),
                    extent: self.extents[line.extent].clone(),
                    found: found.extent,
                });
            };
            self.note(line.extent, value, Source::Axis { input, axis })?;
        }
        Ok(())
    }

    /// Rewrites an expression as a linear function of its only unknown extent; `None` if it has none, several, or is
    /// not linear.
    fn line(&self, expr: &SizeExpr) -> Option<Line> {
        let extent = |op: &SizeOp| match *op {
            SizeOp::Extent(index) => Some(index as usize),
            _ => None,
        };
        let open = |index: &usize| self.found.get(*index).is_some_and(Option::is_none);
        let mut unbound = expr.ops().iter().filter_map(extent).filter(open);
        let extent = unbound.next()?;
        if unbound.any(|other| other != extent) {
            return None;
        }
        let values = self
            .found
            .iter()
            .map(|found| found.as_ref().map_or(0, |c| c.value));
        let mut values: Vec<i64> = values.collect();
        let mut at = |value| {
            values[extent] = value;
            expr.evaluate(&values).ok()
        };
        let [base, one, two] = [at(0)?, at(1)?, at(2)?];
        let slope = one.checked_sub(base)?;
        // A polynomial without negative coefficients that has these three values is a line.
        let is_line = slope > 0 && two.checked_sub(one) == Some(slope);
        is_line.then_some(Line {
            extent,
            base,
            slope,
        })
    }

    fn note(&mut self, index: usize, value: i64, source: Source) -> Result<(), BindError> {
        let (Some(slot), Some(extent)) = (self.found.get_mut(index), self.extents.get(index))
        else {
            return Ok(());
        };
        match slot {
            Some(first) if first.value != value => Err(BindError::Contradiction {
                extent: extent.clone(),
                claims: Box::new([first.clone(), Claim { value, source }]),
            }),
            Some(_) => Ok(()),
            None => {
                *slot = Some(Claim { value, source });
                Ok(())
            }
        }
    }

    fn values(self, tensors: &[TensorSpec]) -> Result<Vec<i64>, BindError> {
        let found = self.found.iter().zip(self.extents).enumerate();
        let value = |(index, (found, extent)): (usize, (&Option<Claim>, &String))| {
            found
                .as_ref()
                .map(|claim| claim.value)
                .ok_or_else(|| BindError::Missing {
                    extent: extent.clone(),
                    axis: first_axis(index, tensors),
                })
        };
        found.map(value).collect()
    }
}

/// `base + slope * extent`, of the extent of this number.
struct Line {
    extent: usize,
    base: i64,
    slope: i64,
}

impl Line {
    /// The extent for which the function has the value `length`; `None` if no such extent exists.
    fn at(&self, length: usize) -> Option<i64> {
        let over = i64::try_from(length).ok()?.checked_sub(self.base)?;
        (over >= 0 && over % self.slope == 0).then(|| over / self.slope)
    }
}

fn input(tensor: &TensorSpec, given: Given<'_>) -> Input {
    Input {
        name: tensor.name.clone(),
        origin: given.origin.map(str::to_string),
    }
}

/// True if one element is given for a broadcast axis, whose extent may then be any.
fn stands_for_any(dim: &DimSpec, found: Axis) -> bool {
    dim.broadcast && !found.broadcast && found.extent == 1
}

fn first_axis(extent: usize, tensors: &[TensorSpec]) -> Option<(String, usize)> {
    let is_it = |dim: &DimSpec| dim.extent.as_extent().is_some_and(|i| i as usize == extent);
    tensors.iter().find_map(|tensor| {
        let axis = tensor.dims.iter().position(is_it)?;
        Some((tensor.name.clone(), axis))
    })
}

fn declared(tensor: &TensorSpec, extents: &[String]) -> String {
    if tensor.dims.is_empty() {
        return "scalar".to_string();
    }
    let dim = |dim: &DimSpec| {
        let mark = if dim.broadcast { "b" } else { "" };
        match dim.extent.as_constant() {
            Some(value) => format!("{mark}{value}"),
            None => format!("{mark}[{}]", dim.extent.pretty(extents)),
        }
    };
    let dims: Vec<String> = tensor.dims.iter().map(dim).collect();
    dims.join("x")
}

/// Compares each axis with the value of its extent.
fn check_shape(
    extents: &[String],
    values: &[i64],
    tensor: &TensorSpec,
    given: Given<'_>,
) -> Result<(), BindError> {
    let expected = axes(tensor, extents, values)?;
    let axes = tensor.dims.iter().zip(&expected).zip(given.axes);
    for (axis, ((dim, expected), found)) in axes.enumerate() {
        if expected.extent != found.extent && !stands_for_any(dim, *found) {
            return Err(BindError::Extent {
                input: input(tensor, given),
                axis,
                expr: dim.extent.pretty(extents),
                expected: expected.extent as i64,
                found: found.extent as i64,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
#[path = "bind_tests.rs"]
mod tests;
