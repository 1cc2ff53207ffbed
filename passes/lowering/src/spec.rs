//! The loops of a sweep, read from its clauses.
//!
//! A sweep walks *loop axes*. A loop axis is one axis of the iteration space or several that are adjacent in every tensor
//! and so walked as one (`"a0*a1"`). Each has a role for its outer loop (grid, stream, or none when all of it is resident)
//! and a tile, the number of indices that are resident in one step.

use fuser_analysis::axes::{Axes, AxisId, expr_text};
pub use fuser_analysis::cost::Role;
use fuser_dialects::kernel::WARP;
use fuser_ir::def::OpClass;
use fuser_ir::types::ExtentExpr;
use fuser_ir::{Ir, Op, Traits, Value};
use fuser_target::Target;

/// One loop axis.
#[derive(Clone, Debug)]
pub struct LoopAxis {
    /// The axes walked as one, outermost first.
    pub axes: Vec<AxisId>,
    /// Product of their extents.
    pub extent: ExtentExpr,
    /// Role of the outer loop.
    pub role: Role,
    /// Indices per step: 1 for a plain grid or stream axis; ignored for `Role::Tile`.
    pub tile: i64,
}

impl LoopAxis {
    /// True if there is a loop inside the step.
    pub fn has_inner(&self) -> bool {
        self.role == Role::Tile || self.tile > 1
    }
    /// The name in the `axes` clause: `a0`, or `a0*a1` for collapsed axes.
    pub fn name(&self) -> String {
        let names: Vec<String> = self.axes.iter().map(|&a| axis_name(a)).collect();
        names.join("*")
    }
    /// True if there is a loop around the step.
    pub fn has_outer(&self) -> bool {
        self.role != Role::Tile
    }
}

/// The loops of a sweep.
#[derive(Clone, Debug)]
pub struct SweepSpec {
    /// Loop axes: grid, stream and tile loops nest in this order within their role.
    pub loops: Vec<LoopAxis>,
    /// Lanes of the innermost loop.
    pub vector: u64,
    /// The workers that share accumulators across the grid; 0 if the sweep does not accumulate over grid axes.
    pub partials: i64,
    /// Threads per worker (GPU); 1 on a CPU.
    pub threads: i64,
    /// The number of thread groups of a worker. Each group takes its own indices of the grid.
    pub groups: i64,
}

/// The variation of a value along a loop axis.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Along {
    /// It does not vary.
    Constant,
    /// The value varies: neighbors are this many elements apart in its own dense storage.
    Stride(ExtentExpr),
}

/// The reason why the clauses of a sweep are invalid; `lower` turns it into a diagnostic at the sweep.
pub type SpecError = String;

impl SweepSpec {
    /// Reads the clauses of `sweep`.
    pub fn read(ir: &Ir, sweep: Op, axes: &Axes) -> Result<SweepSpec, SpecError> {
        let names = strings(ir, sweep, "axes");
        let roles = strings(ir, sweep, "roles");
        let tiles = ir.i64s_of(sweep, "tile").unwrap_or(&[]);
        let extents = ir.attr_of(sweep, "extents").and_then(|a| a.as_dims());
        let extents = extents.unwrap_or(&[]);
        if roles.len() != names.len() {
            return Err(format!("{} axes but {} roles", names.len(), roles.len()));
        }
        let mut loops = Vec::new();
        for (i, (name, role)) in names.iter().zip(&roles).enumerate() {
            let parts = parse_axes(name, axes)?;
            let role = Role::parse(role)
                .ok_or_else(|| format!("'{role}' is no role: grid, stream or tile"))?;
            let extent = product(axes, &parts)
                .ok_or_else(|| format!("the extent of axis '{name}' is not known"))?;
            let tile = tiles.get(i).copied().unwrap_or(1);
            let stated = extents.get(i).and_then(|dim| ir.extent_as_expr(dim.extent));
            if let Some(stated) = stated.filter(|stated| *stated != extent) {
                let (stated, extent) = (expr_text(ir, &stated), expr_text(ir, &extent));
                return Err(format!(
                    "the extent of axis '{name}' is {extent}, and 'extents' says {stated}"
                ));
            }
            if tile < 1 {
                return Err(format!(
                    "the tile of axis '{name}' is {tile}: it must be at least 1"
                ));
            }
            loops.push(LoopAxis {
                axes: parts,
                extent,
                role,
                tile,
            });
        }
        let spec = SweepSpec {
            loops,
            vector: number(ir, sweep, "vector", 1, MOST_NUMBER)? as u64,
            partials: number(ir, sweep, "partials", 0, MOST_PARTIALS)?,
            threads: number(ir, sweep, "threads", 1, MOST_NUMBER)?,
            groups: number(ir, sweep, "groups", 1, MOST_NUMBER)?,
        };
        spec.check_complete(axes)?;
        Ok(spec)
    }
    /// Refuses lanes and threads that a machine does not have.
    pub fn check_machine(&self, target: &Target) -> Result<(), SpecError> {
        let Self {
            vector,
            threads,
            groups,
            ..
        } = *self;
        let name = target.name;
        if !vector.is_power_of_two() || vector > target.vector_bytes {
            let most = target.vector_bytes;
            return Err(format!(
                "'vector' is {vector}: a vector of '{name}' has a power of two of lanes, at most {most}"
            ));
        }
        if target.abilities().block_threads
            && threads > 1
            && (threads % WARP != 0 || threads as u64 > target.block_threads)
        {
            let most = target.block_threads;
            return Err(format!(
                "'threads' is {threads}: a block of '{name}' has a multiple of {WARP} threads, at most {most}"
            ));
        }
        if !target.abilities().block_threads && threads > 1 {
            return Err(format!(
                "'threads' is {threads}: a worker of '{name}' has one thread, those of a GPU have several"
            ));
        }
        match threads % groups {
            0 => Ok(()),
            _ => Err(format!(
                "'groups' is {groups}, which does not divide {threads} threads"
            )),
        }
    }
    fn check_complete(&self, axes: &Axes) -> Result<(), SpecError> {
        for axis in axes.ids() {
            let count = self
                .loops
                .iter()
                .flat_map(|l| &l.axes)
                .filter(|a| **a == axis)
                .count();
            // Along an axis that need not be walked every index computes and stores the same.
            if count != 1 && (count != 0 || axes.is_walked(axis)) {
                return Err(format!(
                    "axis '{}' of the sweep is walked by {count} loops, not by one",
                    axis_name(axis)
                ));
            }
        }
        Ok(())
    }
    /// Loops around the steps, outermost first: grid, then stream.
    pub fn outer(&self) -> Vec<usize> {
        let with = |role| (0..self.loops.len()).filter(move |&i| self.loops[i].role == role);
        with(Role::Grid).chain(with(Role::Stream)).collect()
    }
    /// The number of outer loops that are spread over workers.
    pub fn grid_count(&self) -> usize {
        self.loops.iter().filter(|l| l.role == Role::Grid).count()
    }
    /// The position among the outer loops directly before the loops `names`. Workers share the grid loops as one loop,
    /// so there is no position between these.
    pub fn place_before(&self, names: &[String]) -> Result<usize, SpecError> {
        let order = self.outer();
        let place = order.len().checked_sub(names.len());
        let same = |p: &usize| {
            order[*p..]
                .iter()
                .map(|&l| self.loops[l].name())
                .eq(names.iter().cloned())
        };
        match place.filter(same) {
            Some(place) if place == 0 || place >= self.grid_count() => Ok(place),
            Some(_) => Err(format!(
                "a phase before '{}' would run inside the grid",
                names.join(", ")
            )),
            None => {
                let loops: Vec<String> = order.iter().map(|&l| self.loops[l].name()).collect();
                let (names, loops) = (names.join(", "), loops.join(", "));
                Err(format!(
                    "a phase says 'before {names}', which are not the last of the outer loops ({loops})"
                ))
            }
        }
    }
    /// The loop axis that walks `axis`.
    pub fn loop_of(&self, axis: AxisId) -> Option<usize> {
        self.loops.iter().position(|l| l.axes.contains(&axis))
    }
    /// The variation of `value` along loop axis `index`. `None` if a stride is unknown, or if the collapsed axes are
    /// not adjacent in the value.
    pub fn along(&self, axes: &Axes, value: Value, index: usize) -> Option<Along> {
        let parts = &self.loops[index].axes;
        let stored = axes.strides(value);
        let find = |a: &AxisId| {
            stored
                .iter()
                .find(|s| s.axis == *a)
                .map(|s| s.stride.clone())
        };
        let strides: Vec<Option<Option<ExtentExpr>>> = parts.iter().map(find).collect();
        if strides.iter().all(Option::is_none) {
            return Some(Along::Constant);
        }
        let strides: Vec<ExtentExpr> = strides
            .into_iter()
            .map(Option::flatten)
            .collect::<Option<_>>()?;
        let mut expected = strides.last()?.clone();
        for (&axis, stride) in parts.iter().zip(&strides).rev() {
            if *stride != expected {
                return None;
            }
            expected = expected.mul(axes.extent(axis)?)?;
        }
        strides.last().cloned().map(Along::Stride)
    }
    /// The loop axes along which `value` varies, ascending.
    pub fn varies(&self, axes: &Axes, value: Value) -> Vec<usize> {
        let stored: Vec<AxisId> = axes.stored(value).collect();
        let along = |i: &usize| self.loops[*i].axes.iter().any(|a| stored.contains(a));
        (0..self.loops.len()).filter(along).collect()
    }
}

/// The strings of a clause; none where it is left out.
pub fn strings(ir: &Ir, op: Op, name: &str) -> Vec<String> {
    let Some(fuser_ir::AttrKind::Array(items)) = ir.attr_of(op, name) else {
        return Vec::new();
    };
    let text = |a: &fuser_ir::AttrId| ir.attr_kind(*a).as_string().map(|s| ir.str(s).to_string());
    items.iter().filter_map(text).collect()
}

/// Lanes, threads or groups that a clause may ask for.
const MOST_NUMBER: i64 = 4096;
/// Workers that a clause may ask partial results of.
const MOST_PARTIALS: i64 = 1 << 16;

/// The number of a clause; the least where it is left out.
fn number(ir: &Ir, op: Op, name: &str, least: i64, most: i64) -> Result<i64, SpecError> {
    let number = ir.int_of(op, name).unwrap_or(least);
    match (least..=most).contains(&number) {
        true => Ok(number),
        false => Err(format!("'{name}' is {number}: it must be at most {most}")),
    }
}

fn parse_axes(text: &str, axes: &Axes) -> Result<Vec<AxisId>, SpecError> {
    let find = |part: &str| axes.ids().find(|&a| axis_name(a) == part);
    let unknown = |part: &str| {
        let names: Vec<String> = axes.ids().map(axis_name).collect();
        let names = names.join(", ");
        format!("'{part}' is no axis of this sweep, whose axes are {names}")
    };
    text.split('*')
        .map(|part| find(part).ok_or_else(|| unknown(part)))
        .collect()
}

/// Product of the extents of `list`.
pub fn product(axes: &Axes, list: &[AxisId]) -> Option<ExtentExpr> {
    let mut product = ExtentExpr::constant(1);
    for &axis in list {
        product = product.mul(axes.extent(axis)?)?;
    }
    Some(product)
}

/// The name of an axis in the `axes` clause of a sweep. Axes are numbered in the order in which the ops of the sweep
/// first use them.
pub fn axis_name(axis: AxisId) -> String {
    format!("a{}", fuser_ir::entity::Entity::index(axis))
}

/// The sum that `op` renames: `op` is a boundary, and the sum has no other user.
pub fn renamed(ir: &Ir, op: Op) -> Option<Value> {
    if !ir.has(op, Traits::BARRIER | Traits::PURE) || ir.operand_count(op) != 1 {
        return None;
    }
    let (sum, result) = (ir.operand(op, 0), ir.result(op, 0));
    let reduces = |producer: Op| {
        let class = ir.def(producer).map(|def| def.class);
        class == Some(OpClass::Reduction) && !ir.is_composite(producer)
    };
    let same = ir.value_type(sum) == ir.value_type(result) && ir.has_one_use(sum);
    (ir.def_op(sum).is_some_and(reduces) && same).then_some(sum)
}
