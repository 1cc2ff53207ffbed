//! Calls: ops that no kernel computes directly. An op of such a class runs as a whole, or is decomposed.

use fuser_dialects::fusion::window::is_placed;
use fuser_dialects::fusion::{convolution, maps};
use fuser_dialects::task::{self, calls, mesh, mesh::Mesh};
use fuser_ir::def::OpClass;
use fuser_ir::{Dim, Extent, Ir, Op, Value};

use rustc_hash::FxHashMap;

use super::attention::Attention;
use super::memory_view::keeps_memory;
use super::product::Product;
use super::sizes::Bindings;
use crate::axes::value_text;

/// The extents of an op that may be a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    /// A product.
    Product(Product),
    /// A convolution.
    Convolution {
        /// The equivalent product: its batch is the groups, its rows are the positions of the result, its columns are
        /// the filters.
        product: Product,
        /// Spatial axes.
        dims: usize,
        /// Features of a group.
        features: u64,
    },
    /// Attention.
    Attention(Attention),
    /// A scatter.
    Scatter {
        /// Elements of the updates.
        updates: u64,
        /// Elements of the result.
        elements: u64,
        /// Updates of a line along the indexed axis.
        each: u64,
        /// Launches of a GPU that sorts the indices.
        launches: u64,
        /// True if each line along the indexed axis has one update.
        single: bool,
        /// True if the result overwrites the argument that is updated: the other elements are not copied.
        overwrites: bool,
    },
    /// A sort.
    Sort {
        /// Number of lines to sort.
        lines: u64,
        /// Elements of each line.
        length: u64,
        /// Elements of each line that are kept.
        kept: u64,
        /// Bits of an element.
        bits: u32,
        /// Launches of a GPU.
        launches: u64,
    },
    /// A function of whole matrices or lines.
    Routine {
        /// Its name, without the dialect.
        name: &'static str,
        /// Number of matrices or lines.
        count: u64,
        /// The rows and columns of the first operand's matrices; a line is one row.
        shape: [u64; 2],
    },
    /// Devices that exchange parts of tensors.
    Collective {
        /// Its name, without the dialect.
        name: &'static str,
        /// Bytes of its result.
        bytes: u64,
        /// Devices in a group.
        devices: u64,
    },
    /// A cat whose operands are written where they lie in its result.
    Placed {
        /// Its operands.
        parts: usize,
        /// Bytes of the operands that no op of the program makes: they are copied.
        copied: u64,
    },
    /// A loop, with its trip count if known.
    Loop(Option<u64>),
    /// One of two programs.
    Branch,
    /// A program that each device of a mesh runs.
    Devices,
}

impl Call {
    /// The extents of `op`, with named extents bound by `bindings`; `None` if `op` is no such op.
    pub fn of(ir: &Ir, op: Op, bindings: &Bindings) -> Option<Self> {
        let elements = |value| {
            let dims = &ir.value_kind(value).as_tensor()?.dims;
            let lengths = dims.iter().map(|dim| bindings.extent(ir, dim.extent));
            Some(lengths.fold(1, u64::saturating_mul))
        };
        match ir.def(op)?.class {
            OpClass::Contraction => Product::of(ir, op, bindings).map(Self::Product),
            OpClass::Convolution => Some(Self::Convolution {
                product: Product::of_windows(ir, op, bindings)?,
                dims: ir
                    .rank(ir.result(op, 0))
                    .checked_sub(convolution::front(ir, op))?,
                features: {
                    let kernel = ir.operands(op).nth(1)?;
                    let dim = convolution::front(ir, op).checked_sub(1)?;
                    bindings.extent(ir, ir.value_kind(kernel).as_tensor()?.dims.get(dim)?.extent)
                },
            }),
            OpClass::Attention => Attention::of(ir, op, bindings).map(Self::Attention),
            OpClass::Scatter => Some(Self::Scatter {
                updates: elements(ir.operands(op).nth(2)?)?,
                elements: elements(*ir.results(op).first()?)?,
                each: along(ir, op, ir.operands(op).nth(2)?, bindings)?,
                launches: {
                    let [indices, places] = [ir.operands(op).nth(2)?, *ir.results(op).first()?];
                    let index = ir.value_kind(ir.operands(op).nth(1)?).dtype()?.bits();
                    let places = fixed(ir, op, places).map(|n| u64::BITS - n.leading_zeros());
                    let bits = places.unwrap_or(NAMED_BITS).min(index);
                    sorting_launches(fixed(ir, op, indices), bits) + 2
                },
                single: has_one_update(ir, op),
                overwrites: overwrites(ir, op),
            }),
            OpClass::Sort => {
                let length = |value| along(ir, op, value, bindings);
                let (input, result) = (ir.operands(op).next()?, *ir.results(op).first()?);
                let (length, kept) = (length(input)?, length(result)?);
                let lines = elements(input)?.checked_div(length).unwrap_or(0);
                let bits = ir.value_kind(input).dtype()?.bits();
                Some(Self::Sort {
                    lines,
                    length,
                    kept,
                    bits,
                    launches: sorting_launches(fixed(ir, op, input), bits),
                })
            }
            OpClass::Routine => {
                let name = ir.def(op)?.name;
                let input = ir.operands(op).next()?;
                let dims = &ir.value_kind(input).as_tensor()?.dims;
                let length = |dim: &Dim| bindings.extent(ir, dim.extent);
                let shape = match (ir.int_of(op, "dim"), &dims[..]) {
                    (Some(dim), dims) => [1, length(dims.get(usize::try_from(dim).ok()?)?)],
                    (None, [.., rows, columns]) => [length(rows), length(columns)],
                    _ => return None,
                };
                let each = shape[0].saturating_mul(shape[1]);
                Some(Self::Routine {
                    name: name.split_once('.').map_or(name, |(_, rest)| rest),
                    count: elements(input)?.checked_div(each).unwrap_or(0),
                    shape,
                })
            }
            OpClass::Collective => {
                let name = ir.def(op)?.name;
                let result = *ir.results(op).first()?;
                let size = ir.value_kind(result).dtype()?.bytes();
                let mesh = Mesh::of(ir, op)?;
                let over = mesh::listed(ir, &mesh, op, "over").ok()?;
                Some(Self::Collective {
                    name: name.split_once('.').map_or(name, |(_, rest)| rest),
                    bytes: elements(result)?.saturating_mul(size),
                    devices: mesh.parts(&over).max(1) as u64,
                })
            }
            OpClass::Control if ir.is(op, &task::IF) => Some(Self::Branch),
            OpClass::Control if ir.is(op, &task::DEVICES) => Some(Self::Devices),
            OpClass::Control => {
                let turns = ir.int_of(op, "turns");
                Some(Self::Loop(
                    turns.and_then(|turns| u64::try_from(turns).ok()),
                ))
            }
            OpClass::Shape if is_placed(ir, op) => {
                let parts = ir.operands(op).zip(placed(ir, op));
                let copied = parts.filter(|(_, placed)| !placed);
                let bytes = copied.map(|(v, _)| bindings.bytes(ir, v));
                Some(Self::Placed {
                    parts: ir.operand_count(op),
                    copied: bytes.fold(0, u64::saturating_add),
                })
            }
            OpClass::Elementwise
            | OpClass::Reduction
            | OpClass::Scan
            | OpClass::Composite
            | OpClass::Shape
            | OpClass::Creation
            | OpClass::Structure
            | OpClass::Memory => None,
        }
    }
    /// Launches that the call takes on a GPU.
    pub const fn launches(&self) -> u64 {
        match self {
            Self::Sort { launches, .. } | Self::Scatter { launches, .. } => *launches,
            _ => 1,
        }
    }
    /// Operations that the call executes.
    pub fn flops(&self) -> u64 {
        match self {
            Self::Product(product) | Self::Convolution { product, .. } => product.flops(),
            Self::Attention(attention) => attention.flops(),
            Self::Scatter { updates, .. } => *updates,
            // Each step of a sort compares and moves.
            Self::Sort { lines, length, .. } => {
                let steps = 2 * u64::from(u64::BITS - length.leading_zeros());
                lines.saturating_mul(*length).saturating_mul(steps)
            }
            // Each step on a matrix passes over the whole matrix. A line takes five steps for each bit of its length.
            Self::Routine {
                count,
                shape: [rows, columns],
                ..
            } => {
                let steps = match rows {
                    1 => 5 * u64::from(u64::BITS - columns.leading_zeros()),
                    _ => *rows.min(columns),
                };
                let elements = count.saturating_mul(*rows).saturating_mul(*columns);
                elements.saturating_mul(steps)
            }
            // The programs of loops, branches and devices are evaluated by themselves. Devices that exchange parts compute
            // next to nothing.
            Self::Loop(_)
            | Self::Branch
            | Self::Devices
            | Self::Collective { .. }
            | Self::Placed { .. } => 0,
        }
    }
    /// `product %y (1 times 64x32 of 16 terms)`
    pub fn render(&self, ir: &Ir, op: Op) -> String {
        let name = value_text(ir, ir.result(op, 0));
        match self {
            Self::Product(Product {
                batch,
                rows,
                columns,
                terms,
                ..
            }) => format!("product {name} ({batch} times {rows}x{columns} of {terms} terms)"),
            Self::Convolution { product, .. } => format!(
                "convolution {name} ({} groups, {} places, {} filters of {} terms)",
                product.batch, product.rows, product.columns, product.terms
            ),
            Self::Attention(attention) => format!("attention {name} ({})", attention.render()),
            Self::Scatter {
                updates, elements, ..
            } => {
                format!("scatter {name} ({updates} elements into {elements})")
            }
            Self::Sort {
                lines,
                length,
                kept,
                ..
            } => format!("sort {name} ({lines} lines of {length}, {kept} kept)"),
            Self::Routine {
                name: routine,
                count,
                shape: [rows, columns],
            } => format!("{routine} {name} ({count} of {rows}x{columns})"),
            Self::Collective {
                name: own,
                bytes,
                devices,
            } => format!("{own} {name} ({bytes} bytes, {devices} devices)"),
            Self::Placed { parts, copied } => {
                format!("cat {name} ({parts} parts, {copied} bytes copied)")
            }
            Self::Loop(Some(turns)) => format!("loop {name} ({turns} turns)"),
            Self::Loop(None) => format!("loop {name}"),
            Self::Branch => format!("branch {name}"),
            Self::Devices => format!("devices {name}"),
        }
    }
}

/// The elements of a line that one block of a GPU sorts, at most.
pub const LONGEST_TILE: u64 = 2_176;

/// Bits of a digit by which a GPU sorts.
pub const DIGIT_BITS: u32 = 4;

/// Bits of the indices of an axis of a named extent: no GPU has memory for 2^40 elements.
pub const NAMED_BITS: u32 = 40;

/// The launches in which a GPU sorts lines of `length` elements by keys of `bits` bits: one if a block sorts a line, else
/// three for each digit. Lines of a named extent may have any length.
fn sorting_launches(length: Option<u64>, bits: u32) -> u64 {
    match length {
        Some(length) if length <= LONGEST_TILE => 1,
        _ => 3 * u64::from(bits.max(1).div_ceil(DIGIT_BITS)),
    }
}

/// The extent of `value` along the axis `dim` of `op`, if it is a number.
fn fixed(ir: &Ir, op: Op, value: Value) -> Option<u64> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let tensor = ir.value_kind(value).as_tensor()?;
    match tensor.dims.get(dim)?.extent {
        Extent::Static(extent) => Some(extent),
        _ => None,
    }
}

/// The extent of `value` along the axis `dim` of `op`.
fn along(ir: &Ir, op: Op, value: Value, bindings: &Bindings) -> Option<u64> {
    let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
    let tensor = ir.value_kind(value).as_tensor()?;
    Some(bindings.extent(ir, tensor.dims.get(dim)?.extent))
}

/// True if a scatter has one update for each line along its axis.
fn has_one_update(ir: &Ir, op: Op) -> bool {
    let axis = || {
        let dim = usize::try_from(ir.int_of(op, "dim")?).ok()?;
        let updates = ir.operands(op).nth(2)?;
        ir.value_kind(updates).as_tensor()?.dims.get(dim)
    };
    axis().is_some_and(|axis| axis.extent == Extent::Static(1))
}

/// True if the result of a scatter, or a view of it, overwrites the argument of the program that the scatter updates,
/// directly or through a view.
pub fn overwrites(ir: &Ir, op: Op) -> bool {
    let is_view = |&op: &Op| ir.def(op).is_some_and(|def| def.has_maps(&maps::RESHAPE));
    let reshaped = |value: Value| ir.def_op(value).filter(is_view);
    let mut dest = ir.operands(op).next();
    while let Some(view) = dest.and_then(reshaped) {
        dest = ir.operands(view).next();
    }
    let program = ir.parent_op(op).filter(|&op| ir.is(op, &task::PROGRAM));
    let body = program.and_then(|program| ir.body(program, 0));
    let (Some(program), Some(body)) = (program, body) else {
        return false;
    };
    let Some(argument) = ir.args(body).iter().position(|&a| Some(a) == dest) else {
        return false;
    };
    let Some(end) = ir.terminator(body) else {
        return false;
    };
    let overwriting = (0..ir.operand_count(end))
        .filter(|&result| task::updates::argument(ir, program, result) == Some(argument));
    overwriting.into_iter().any(|result| {
        let mut made = ir.def_op(ir.operand(end, result));
        while let Some(view) = made.filter(is_view) {
            made = ir.operands(view).next().and_then(|value| ir.def_op(value));
        }
        made == Some(op)
    })
}

/// For each operand of the placed cat `op`, true if its producer writes it where it lies in the result. The producer
/// is a kernel or a call; no other operand, no other such cat and no result of the program has its memory.
pub fn placed(ir: &Ir, op: Op) -> Vec<bool> {
    let made: Vec<Value> = ir.operands(op).map(|v| memory(ir, v)).collect();
    let mut times: FxHashMap<Value, usize> = FxHashMap::default();
    for &value in &made {
        *times.entry(value).or_default() += 1;
    }
    let elsewhere = |user: Op| user != op && (is_placed(ir, user) || ir.is(user, &task::RETURN));
    let places = |(part, made): (Value, &Value)| {
        let maker = ir.def_op(*made);
        let makes = |maker: Op| !calls::runs_programs(ir, maker) && !is_placed(ir, maker);
        let views = std::iter::successors(Some(part), |&v| {
            let view = ir.def_op(v).filter(|&view| keeps_memory(ir, view))?;
            ir.operands(view).next()
        });
        let mut users = views.flat_map(|v| ir.users(v));
        times[made] == 1 && maker.is_some_and(makes) && !users.any(elsewhere)
    };
    ir.operands(op).zip(&made).map(places).collect()
}

/// The value whose memory `value` is, looking through views.
fn memory(ir: &Ir, mut value: Value) -> Value {
    while let Some(view) = ir.def_op(value).filter(|&view| keeps_memory(ir, view)) {
        value = ir.operand(view, 0);
    }
    value
}

/// True if the op may run as a whole, in a segment of its own.
pub fn is_call(ir: &Ir, op: Op) -> bool {
    let class = ir.def(op).map(|d| d.class);
    is_placed(ir, op)
        || matches!(
            class,
            Some(
                OpClass::Contraction
                    | OpClass::Convolution
                    | OpClass::Attention
                    | OpClass::Scatter
                    | OpClass::Sort
                    | OpClass::Routine
                    | OpClass::Collective
                    | OpClass::Control
            )
        )
}
