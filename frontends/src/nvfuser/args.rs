//! The arguments of a call, by position or name, and operands brought to one type and one shape.

use fuser_dialects::fusion;
use fuser_ir::Value;
use fuser_ir::types::{DType, Dim, Extent};

use super::ops::narrow;
use super::value::{Argument, Class, Config, Number, Val, common};
use super::{Known, Reader, unsupported};
use crate::codes::EXTENTS;
use crate::program::{Fault, Made};

/// The arguments of a call.
pub(crate) struct Args<'s>(Vec<Argument<'s>>);

impl<'s> Args<'s> {
    /// These arguments.
    pub fn new(given: Vec<Argument<'s>>) -> Self {
        Self(given)
    }
    /// True if one of them comes from a statement that failed.
    pub fn failed(&self) -> bool {
        self.0.iter().any(|argument| match &argument.value {
            Val::List(items) => items.iter().any(|item| matches!(item, Val::Failed)),
            value => matches!(value, Val::Failed),
        })
    }
    /// The argument at `position`, or called by one of `names`.
    pub fn get(&self, position: usize, names: &[&str]) -> Option<&Val<'s>> {
        let named =
            |argument: &&Argument<'_>| argument.name.is_some_and(|name| names.contains(&name));
        let plain = |argument: &&Argument<'_>| argument.name.is_none();
        let found = self.0.iter().find(named);
        let found = found.or_else(|| self.0.iter().filter(plain).nth(position));
        found.map(|argument| &argument.value)
    }
    /// The same; an error without it.
    pub fn value(&self, position: usize, names: &[&str]) -> Made<&Val<'s>> {
        let missing = || Fault::form(format!("has no argument `{}`", names[0]));
        self.get(position, names).ok_or_else(missing)
    }
    /// A tensor.
    pub fn tensor(&self, position: usize, names: &[&str]) -> Made {
        match self.value(position, names)? {
            Val::Tensor(value) => Ok(*value),
            _ => Err(Fault::form(format!("`{}` is no tensor", names[0]))),
        }
    }
    /// A list of integers, or one alone.
    pub fn ints(&self, position: usize, names: &[&str]) -> Made<Vec<i64>> {
        let wrong = || Fault::form(format!("`{}` is no list of integers", names[0]));
        let int = |value: &Val<'_>| match value {
            Val::Number(Number::Int(n), _) => i64::try_from(*n).map_err(|_| wrong()),
            _ => Err(wrong()),
        };
        match self.value(position, names)? {
            Val::List(items) => items.iter().map(int).collect(),
            one => Ok(vec![int(one)?]),
        }
    }
    /// An integer; `default` without it.
    pub fn int(&self, position: usize, names: &[&str], default: i64) -> Made<i64> {
        match self.get(position, names) {
            None | Some(Val::Nothing) => Ok(default),
            Some(_) => match self.ints(position, names)?.as_slice() {
                [one] => Ok(*one),
                _ => Err(Fault::form(format!("`{}` is no integer", names[0]))),
            },
        }
    }
    /// A truth value; false without it.
    pub fn flag(&self, position: usize, names: &[&str]) -> bool {
        matches!(self.get(position, names), Some(Val::Number(number, _)) if number.float() != 0.0)
    }
    /// A type; nothing for `DataType.Null` and without it.
    pub fn dtype(&self, position: usize, names: &[&str]) -> Made<Option<DType>> {
        match self.get(position, names) {
            Some(Val::Type(Ok(dtype))) => Ok(Some(*dtype)),
            Some(Val::Type(Err(name))) => Err(unsupported(name)),
            _ => Ok(None),
        }
    }
    /// Axes of a tensor of `rank` axes in ascending order; negative ones count from the end.
    pub fn axes(&self, position: usize, names: &[&str], rank: usize) -> Made<Vec<i64>> {
        let mut axes = Vec::new();
        for axis in self.ints(position, names)? {
            axes.push(axis_of(axis, rank)?);
        }
        axes.sort_unstable();
        Ok(axes)
    }
    /// One axis of a tensor of `rank` axes.
    pub fn axis(&self, position: usize, names: &[&str], rank: usize) -> Made<i64> {
        match self.axes(position, names, rank)?.as_slice() {
            [axis] => Ok(*axis),
            _ => Err(Fault::form(format!("`{}` is no axis", names[0]))),
        }
    }
    /// All arguments that are given.
    pub fn all(&self) -> impl Iterator<Item = &Val<'s>> {
        self.0.iter().map(|argument| &argument.value)
    }
    /// A list of extents.
    pub fn shape(&self, position: usize, names: &[&str]) -> Made<Vec<Option<Extent>>> {
        let Val::List(items) = self.value(position, names)? else {
            return Err(Fault::form(format!("`{}` is no list", names[0])));
        };
        let extent = |item: &Val<'_>| match item {
            Val::Extent(extent) => Ok(Some(*extent)),
            Val::Number(Number::Int(-1), _) => Ok(None),
            Val::Number(Number::Int(n), _) if u64::try_from(*n).is_ok() => {
                Ok(Some(Extent::Static(*n as u64)))
            }
            // A whole number computed in floats, for example with a reciprocal.
            Val::Number(Number::Float(n), _) if n.fract() == 0.0 && (0.0..1e15).contains(n) => {
                Ok(Some(Extent::Static(*n as u64)))
            }
            _ => Err(Fault::form(format!(
                "`{}` has an entry that is no known extent",
                names[0]
            ))
            .help("extents are numbers, and sizes of tensors")),
        };
        items.iter().map(extent).collect()
    }
}

/// An axis of `rank`, counted from the end where negative.
pub fn axis_of(axis: i64, rank: usize) -> Made<i64> {
    let at = if axis < 0 { axis + rank as i64 } else { axis };
    match (0..rank as i64).contains(&at) {
        true => Ok(at),
        false => Err(Fault::form(format!(
            "axis {axis} is beyond the {rank} axes of its operand"
        ))),
    }
}

impl<'s> Reader<'s> {
    /// Operands in the type that `config` finds for them, and of one shape.
    pub fn operands(&mut self, values: &[&Val<'s>], config: Config) -> Made<Vec<Value>> {
        let mut classes = Vec::with_capacity(values.len());
        for value in values {
            classes.push(self.class(value)?);
        }
        let dtype = common(&classes, config);
        let made = values.iter().map(|value| self.typed(value, dtype));
        let made = made.collect::<Made<Vec<Value>>>()?;
        self.joined(made)
    }
    /// The class of an operand, and its type.
    pub fn class(&self, value: &Val<'s>) -> Made<(Class, DType)> {
        match value {
            Val::Tensor(value) => {
                let scalar = self.draft.ir.value_kind(*value).as_tensor().is_none();
                let rank = self.draft.dims(*value).len();
                let class = if scalar { 2 } else { usize::from(rank == 0) };
                Ok((class, self.draft.dtype(*value)))
            }
            Val::Number(number, stated) => Ok((2, stated.unwrap_or(number.dtype()))),
            Val::Extent(_) => Ok((2, DType::I64)),
            _ => Err(Fault::form(
                "has an operand that is no tensor and no number",
            )),
        }
    }
    /// A value of this element type.
    pub fn typed(&mut self, value: &Val<'s>, dtype: DType) -> Made {
        match value {
            Val::Tensor(value) => narrow::cast(&mut self.draft, *value, dtype),
            Val::Number(Number::Int(n), _) if dtype.is_int() && dtype != DType::I1 => {
                use fusion::build::FusionBuilder;
                let ty = self.draft.ir.scalar(dtype);
                Ok(self.draft.builder().constant_int(*n, ty)?)
            }
            Val::Number(Number::Complex(real, imaginary), _) => {
                if !dtype.is_complex() {
                    let text = format!("a complex number does not become `{}`", dtype.name());
                    return Err(Fault::form(text));
                }
                let part = self.draft.ir.scalar(dtype.part());
                let parts = [
                    self.draft.number(*real, part)?,
                    self.draft.number(*imaginary, part)?,
                ];
                self.draft.make(&fusion::COMPLEX, &parts)
            }
            Val::Number(number, _) => {
                let ty = self.draft.ir.scalar(dtype);
                self.draft.number(number.float(), ty)
            }
            Val::Extent(extent) => {
                let mut b = self.draft.builder();
                let clause = [b.shape("shape", &[Dim::new(*extent)])];
                let size = b.value(&fusion::SIZE, &[], &clause)?;
                self.draft.cast(size, dtype)
            }
            _ => Err(Fault::form(
                "has an operand that is no tensor and no number",
            )),
        }
    }
    /// Broadcasts tensors to one shape. Tensors of lower rank get leading axes, axes of extent 1 are repeated, and open
    /// extents take the extents of the other tensors.
    pub fn joined(&mut self, mut values: Vec<Value>) -> Made<Vec<Value>> {
        let ranks = values.iter().map(|value| self.draft.dims(*value).len());
        let rank = ranks.max().unwrap_or(0);
        let mut shape = vec![Extent::Static(1); rank];
        for value in &mut values {
            *value = self.leading(*value, rank)?;
            let dims = self.draft.dims(*value);
            for (axis, dim) in dims.iter().enumerate() {
                if shape[axis] == Extent::Static(1) {
                    shape[axis] = dim.extent;
                } else if dim.extent != Extent::Static(1) {
                    shape[axis] = self.unify(shape[axis], dim.extent)?;
                }
            }
        }
        for value in &mut values {
            *value = self.expanded(*value, &shape)?;
        }
        Ok(values)
    }
    /// The tensor with leading axes of extent 1 added, `rank` axes in all; a tensor of rank 0 stays unchanged.
    pub fn leading(&mut self, value: Value, rank: usize) -> Made {
        let dims = self.draft.dims(value);
        if dims.is_empty() || dims.len() == rank {
            return Ok(value);
        }
        let before = rank - dims.len();
        let places: Vec<i64> = (before as i64..rank as i64).collect();
        let own = dims.iter().map(|dim| dim.extent);
        let shape: Vec<Extent> = std::iter::repeat_n(Extent::Static(1), before)
            .chain(own)
            .collect();
        self.draft.broadcast(value, &places, &shape)
    }
    /// The tensor with axes of extent 1 broadcast to `shape`; a tensor of rank 0 stays unchanged.
    pub fn expanded(&mut self, value: Value, shape: &[Extent]) -> Made {
        let dims = self.draft.dims(value);
        if dims.is_empty() {
            return Ok(value);
        }
        let mut settled = dims;
        for (dim, extent) in settled.iter_mut().zip(shape) {
            if dim.extent != Extent::Static(1) {
                dim.extent = self.unify(dim.extent, *extent)?;
            }
        }
        self.settle(value, settled);
        self.draft.expand(value, shape)
    }
    /// Updates the axes of a value. A change means that extents were found equal, and causes another pass.
    pub fn settle(&mut self, value: Value, dims: Vec<Dim>) {
        if dims != self.draft.dims(value) {
            let dtype = self.draft.dtype(value);
            let ty = self.draft.ir.tensor(dims, dtype);
            self.draft.ir.set_value_type(value, ty);
        }
    }
    /// The extent that two are, if they can be one.
    pub fn unify(&mut self, a: Extent, b: Extent) -> Made<Extent> {
        let (a, b) = (self.root(a), self.root(b));
        if a == b {
            return Ok(a);
        }
        let name = |reader: &Self, extent: Extent| {
            let expr = reader.draft.ir.extent_as_expr(extent)?;
            let name = expr.as_name()?;
            Some(reader.draft.ir.str(name).to_owned())
        };
        match (name(self, a), name(self, b), a, b) {
            (Some(open), _, _, Extent::Static(n)) => {
                self.equal.insert(open, Known::Static(n));
                Ok(b)
            }
            (_, Some(open), Extent::Static(n), _) => {
                self.equal.insert(open, Known::Static(n));
                Ok(a)
            }
            (Some(kept), Some(open), ..) => {
                self.equal.insert(open, Known::Name(kept));
                Ok(a)
            }
            _ => {
                let ir = &self.draft.ir;
                let shown = [a, b].map(|extent| fuser_ir::describe::extent(ir, extent));
                let text = format!("an axis has extent {} and {}", shown[0], shown[1]);
                Err(Fault::new(&EXTENTS, text))
            }
        }
    }
    /// The current knowledge of an extent: a number, or the name of an open extent.
    pub fn root(&mut self, extent: Extent) -> Extent {
        let expr = self.draft.ir.extent_as_expr(extent);
        let name = expr.and_then(|expr| expr.as_name());
        match name.map(|name| self.draft.ir.str(name).to_owned()) {
            Some(name) => self.open(&name),
            None => extent,
        }
    }
    /// The extents of a tensor, as they are known now.
    pub fn extents(&mut self, value: Value) -> Vec<Extent> {
        let dims = self.draft.dims(value);
        dims.into_iter().map(|dim| self.root(dim.extent)).collect()
    }
}
