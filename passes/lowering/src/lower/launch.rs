//! Turns one sweep into a kernel function and the launch that runs it.
//!
//! ```text
//! %s = task.sweep axes ["a0", "a1"] ... { ... task.yield %s }
//!   =>
//! %s = kernel.launch callee @f_0 %x extents [[B]]          // and @f_0 holds the loops
//! ```
//!
//! If the sweep accumulates over grid axes, the kernel yields one partial result for each worker. On a CPU, a second
//! kernel combines these in the order of the workers, so the result is independent of the number of threads. On a GPU,
//! the last block combines them (`last_block`), and the partial results are unused results of the launch.

use fuser_analysis::axes::Axes;
use fuser_dialects::kernel::rounds;
use fuser_dialects::kernel::scan::{PLACES, SCANNED};
use fuser_dialects::task::updates;
use fuser_dialects::{kernel, task};
use fuser_ir::clone::Mapping;
use fuser_ir::ir::NewOp;
use fuser_ir::types::{ExtentExpr, MemSpace};
use fuser_ir::{AttrKind, Block, DType, Dim, Extent, Ir, Op, Sym, TypeId, TypeKind, Value};
use fuser_target::Target;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::smallvec;

use super::build::{Idx, KernelBuilder, Map};
use super::combine::Combine;
use super::hoisted::Outside;
use super::last_block::{GridLoops, blocks_of_place};
use super::sweep::{CHOOSE_ANEW, FlatSweep, SweepLowering, Unsupported};
use crate::spec::{Role, SweepSpec, renamed, strings};

/// Shared memory that the threads of a block need in addition to the kernel's allocations. Each warp has one partial
/// result per combined value of a loop, and several per scanned value.
fn partials(ir: &Ir, func: Op, threads: i64) -> u64 {
    let warps = (threads / kernel::WARP).unsigned_abs();
    let loops = ir.walk(func).into_iter();
    let combining =
        loops.filter(|&op| ir.is(op, &kernel::FOR) && ir.get_attr(op, "combine").is_some());
    let values = combining.flat_map(|op| {
        let places = |word: String| if word == SCANNED { PLACES.into() } else { 1 };
        let places = strings(ir, op, "combine").into_iter().map(places);
        let results = ir.results(op).iter().copied().zip(places);
        results.collect::<Vec<(Value, u64)>>()
    });
    let bytes = values.map(|(value, places)| {
        let element = ir.value_kind(value).dtype().map_or(0, DType::bytes);
        (warps * places * element).next_multiple_of(16)
    });
    bytes.sum::<u64>().next_multiple_of(kernel::SCRATCH_ALIGN)
}

/// The shared memory of a kernel for a block of `threads` threads; `None` if an allocation has an unknown size.
pub(crate) fn shared_memory(ir: &Ir, func: Op, threads: i64) -> Option<u64> {
    let allocs = ir.children(func).into_iter();
    let mut allocs = allocs.filter(|&op| ir.is(op, &kernel::ALLOC));
    allocs.try_fold(partials(ir, func, threads), |sum, op| {
        sum.checked_add(allocated(ir, op)?)
    })
}

/// Bytes from the start of an allocation of known size to the start of the next one.
fn allocated(ir: &Ir, alloc: Op) -> Option<u64> {
    let TypeKind::MemRef { dims, dtype, .. } = ir.value_kind(ir.result(alloc, 0)) else {
        return None;
    };
    let elements = dims.iter().try_fold(1u64, |n, dim| match dim {
        Extent::Static(extent) => n.checked_mul(*extent),
        _ => None,
    })?;
    elements
        .checked_mul(dtype.bytes())?
        .checked_next_multiple_of(kernel::SCRATCH_ALIGN)
}

/// Indices of one grid iteration of a kernel that puts partial results together.
const COMBINE_BLOCK: i64 = 1024;

/// The replacement of a lowered sweep, which has been erased: the launches, each of a kernel of its own, and the values
/// that replace its results.
pub struct Launches {
    launches: Vec<Op>,
    results: Vec<Value>,
}

impl Launches {
    /// The number of launches.
    pub fn count(&self) -> usize {
        self.launches.len()
    }

    /// Replaces `sweep`, which has the form of the lowered one, by launches of the same kernels. `map` maps the inputs
    /// of the lowered sweep to those of `sweep`. Launches keep the program order, so they read unchanged memory.
    pub fn repeat(&self, ir: &mut Ir, sweep: Op, mut map: Mapping) {
        let (loc, names) = (ir.op_loc(sweep), yielded(ir, sweep));
        for &launch in &self.launches {
            let copy = ir.clone_op(launch, &mut map);
            ir.set_loc(copy, loc);
            ir.insert_before(sweep, copy);
        }
        let results = self.results.iter().map(|&result| map.get(result));
        replace(ir, sweep, &results.collect::<Vec<_>>(), &names);
    }
}

/// The values that a sweep yields.
fn yielded(ir: &Ir, sweep: Op) -> Vec<Value> {
    let end = ir.body(sweep, 0).and_then(|b| ir.terminator(b));
    end.map_or_else(Vec::new, |end| ir.operands(end).collect())
}

/// Replaces the results of `sweep` by `results`, which take the names of the values in `yielded`, and erases it.
fn replace(ir: &mut Ir, sweep: Op, results: &[Value], yielded: &[Value]) {
    for (index, (&result, &value)) in results.iter().zip(yielded).enumerate() {
        let name = ir.value_name_sym(value);
        ir.set_value_name(result, name);
        ir.replace_all_uses(ir.result(sweep, index), result);
    }
    ir.erase(sweep);
}

/// Lowers `sweep`: appends its kernels to `module` and replaces it by launches. `target` is the machine; extents may be
/// known multiples of powers of two.
pub fn lower_sweep(
    ir: &mut Ir,
    sweep: Op,
    name: &str,
    module: Block,
    (target, multiples): (&Target, &FxHashMap<Sym, i64>),
) -> Result<Launches, Unsupported> {
    let flat = flatten(ir, sweep)?;
    let ops: Vec<Op> = flat.ops.iter().map(|(op, _)| *op).collect();
    let unsupported = |reason: String, help: &str| Unsupported {
        op: sweep,
        reason,
        help: help.to_string(),
    };
    if let Some(&op) = ops.iter().find(|&&op| ir.is_composite(op)) {
        return Err(Unsupported {
            op,
            reason: format!("'{}' has no code generation", ir.name(op)),
            help: "run 'decompose' before 'segment': it takes the op apart, or leaves it for a segment of its own".into(),
        });
    }
    let axes = Axes::build(ir, &ops)
        .map_err(|r| unsupported(r.render(ir), "put the ops into different sweeps"))?;
    let spec = SweepSpec::read(ir, sweep, &axes)
        .and_then(|spec| spec.check_machine(target).map(|()| spec))
        .map_err(|reason| unsupported(reason, CHOOSE_ANEW))?;
    let job = Job {
        name: name.to_string(),
        module,
        target,
        multiples,
        axes: &axes,
        spec: &spec,
        flat: &flat,
    };
    job.run(ir)
}

/// Replaces boundaries on sums of the sweep by these.
fn drop_names(ir: &mut Ir, sweep: Op) {
    for op in ir.walk(sweep) {
        let sum = renamed(ir, op);
        let inside = |v: &Value| {
            ir.def_op(*v)
                .is_some_and(|producer| ir.is_inside(producer, sweep))
        };
        if let Some(sum) = sum.filter(inside) {
            let (result, name) = (ir.result(op, 0), ir.value_name_sym(ir.result(op, 0)));
            ir.replace_all_uses(result, sum);
            ir.set_value_name(sum, name);
            ir.erase(op);
        }
    }
}

/// Dissolves the phases of a sweep; its ops stay inside, in order.
fn flatten(ir: &mut Ir, sweep: Op) -> Result<FlatSweep, Unsupported> {
    let mut ops = Vec::new();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let body: Vec<Op> = ir.children(sweep);
    let mut phase = 0;
    for op in body {
        if ir.is(op, &task::PHASE) {
            before.push(strings(ir, op, "before"));
            after.push(!strings(ir, op, "after").is_empty());
            ops.extend(
                dissolve_phase(ir, op)
                    .into_iter()
                    .map(|inner| (inner, phase)),
            );
            phase += 1;
        } else if !ir.is(op, &task::YIELD) {
            ops.push((op, phase));
        }
    }
    drop_names(ir, sweep);
    ops.retain(|(op, _)| !ir.is_erased(*op));
    let mut outputs = yielded(ir, sweep);
    let mut seen = FxHashSet::default();
    outputs.retain(|v| seen.insert(*v));
    Ok(FlatSweep {
        op: sweep,
        ops,
        outputs,
        before,
        after,
    })
}

fn dissolve_phase(ir: &mut Ir, phase: Op) -> Vec<Op> {
    let mut moved = Vec::new();
    for op in ir.children(phase) {
        if ir.is(op, &task::YIELD) {
            let yielded: Vec<Value> = ir.operands(op).collect();
            for (result, value) in ir.results(phase).to_vec().into_iter().zip(yielded) {
                ir.replace_all_uses(result, value);
            }
        } else {
            ir.detach(op);
            ir.insert_before(phase, op);
            moved.push(op);
        }
    }
    ir.erase(phase);
    moved
}

struct Job<'a> {
    name: String,
    module: Block,
    target: &'a Target,
    multiples: &'a FxHashMap<Sym, i64>,
    axes: &'a Axes,
    spec: &'a SweepSpec,
    flat: &'a FlatSweep,
}

impl Job<'_> {
    fn run(&self, ir: &mut Ir) -> Result<Launches, Unsupported> {
        let inputs = self.inputs(ir);
        let names = self.extent_names(ir, &inputs);
        let partial: Vec<bool> = self
            .flat
            .outputs
            .iter()
            .map(|&v| self.is_partial(ir, v))
            .collect();
        let outputs: Vec<TypeId> = self
            .flat
            .outputs
            .iter()
            .zip(&partial)
            .map(|(&v, &p)| {
                if p && !self.target.abilities().last_block {
                    self.partial_type(ir, v)
                } else {
                    Ok(ir.value_type(v))
                }
            })
            .collect::<Result<_, _>>()?;
        let mut outputs = outputs;
        if self.target.abilities().last_block && !self.grid_loops(ir).complete(self.spec) {
            for output in self.shared_sums(ir) {
                outputs.push(self.partial_type(ir, output)?);
            }
        }
        let symbol = self.name.clone();
        self.emit_kernel(ir, &symbol, &inputs, &outputs, &names)?;
        let launch = self.emit_launch(ir, &symbol, &inputs, &outputs, &names);
        let mut launches = vec![launch];
        let mut made: FxHashMap<Value, Value> = FxHashMap::default();
        for (i, &output) in self.flat.outputs.iter().enumerate() {
            let mut result = ir.result(launch, i);
            if partial[i] && !self.target.abilities().last_block {
                let symbol = format!("{symbol}_combine{i}");
                if let Some(combine) = self.emit_combine(ir, &symbol, output, result, &names)? {
                    result = ir.result(combine, 0);
                    launches.push(combine);
                }
            }
            made.insert(output, result);
        }
        let yielded = yielded(ir, self.flat.op);
        let result = |output: &Value| made.get(output).copied().unwrap_or(*output);
        let results: Vec<Value> = yielded.iter().map(result).collect();
        replace(ir, self.flat.op, &results, &yielded);
        Ok(Launches { launches, results })
    }
    /// Values that the sweep reads from outside, in order of first use.
    fn inputs(&self, ir: &Ir) -> Vec<Value> {
        let inside: FxHashSet<Op> = self.flat.ops.iter().map(|(op, _)| *op).collect();
        let mut seen = FxHashSet::default();
        let operands = self.flat.ops.iter().flat_map(|(op, _)| ir.operands(*op));
        operands
            .filter(|v| ir.def_op(*v).is_none_or(|op| !inside.contains(&op)) && seen.insert(*v))
            .collect()
    }
    /// Named extents that the kernel computes with, sorted by name.
    fn extent_names(&self, ir: &Ir, inputs: &[Value]) -> Vec<Sym> {
        let results = self
            .flat
            .ops
            .iter()
            .flat_map(|(op, _)| ir.results(*op).to_vec());
        let mut names: Vec<Sym> = Vec::new();
        for value in inputs.iter().copied().chain(results) {
            let TypeKind::Tensor(tensor) = ir.value_kind(value) else {
                continue;
            };
            names.extend(tensor.dims.iter().flat_map(|d| names_of(ir, d)));
        }
        for (op, _) in &self.flat.ops {
            let Some(AttrKind::Extents(dims)) = ir.attr_of(*op, "shape") else {
                continue;
            };
            names.extend(dims.iter().flat_map(|d| names_of(ir, d)));
        }
        names.sort_by(|a, b| ir.str(*a).cmp(ir.str(*b)));
        names.dedup();
        names
    }
    fn is_partial(&self, ir: &Ir, output: Value) -> bool {
        let Some(op) = ir
            .def_op(output)
            .filter(|&op| Combine::of(ir, op).is_some())
        else {
            return false;
        };
        let reduced = self.axes.reduced(op);
        self.spec
            .loops
            .iter()
            .any(|l| l.role == Role::Grid && l.axes.iter().any(|a| reduced.contains(a)))
    }
    /// The sums of which a GPU's blocks have partial results.
    fn shared_sums(&self, ir: &Ir) -> Vec<Value> {
        let all = self.flat.ops.iter().map(|(op, _)| ir.result(*op, 0));
        all.filter(|&v| self.is_partial(ir, v)).collect()
    }
    fn kept_loops(&self, output: Value) -> Vec<usize> {
        let mut list = Vec::new();
        for axis in self.axes.stored(output) {
            if let Some(index) = self.spec.loop_of(axis).filter(|i| !list.contains(i)) {
                list.push(index);
            }
        }
        list
    }
    /// `tensor<partials x kept... x acc>`
    fn partial_type(&self, ir: &mut Ir, output: Value) -> Result<TypeId, Unsupported> {
        let mut dims = vec![match self.target.abilities().last_block {
            true => self.rows(ir, output)?,
            false => Dim::fixed(self.spec.partials.max(1) as u64),
        }];
        for index in self.kept_loops(output) {
            let Some(extent) = ir.extent(self.spec.loops[index].extent.clone()) else {
                continue;
            };
            dims.push(Dim::new(extent));
        }
        let dtype = self.accumulator_dtype(ir, output);
        Ok(ir.tensor(dims, dtype))
    }
    /// The grid loops of a GPU's sums.
    fn grid_loops(&self, ir: &Ir) -> GridLoops {
        let (mut grid, count) = (self.spec.outer(), self.spec.grid_count());
        grid.truncate(count);
        let sums = self.shared_sums(ir).into_iter();
        let all: Vec<_> = sums.map(|v| self.spec.varies(self.axes, v)).collect();
        GridLoops::new(self.spec, &grid, &all)
    }
    /// The partial results of each element of an output on a GPU.
    fn rows(&self, ir: &mut Ir, output: Value) -> Result<Dim, Unsupported> {
        let varies = self.spec.varies(self.axes, output);
        let rows = self.grid_loops(ir).rows(self.spec, &varies);
        let extent = rows.and_then(|rows| ir.extent(rows));
        extent.map(Dim::new).ok_or_else(|| Unsupported {
            op: self.flat.op,
            reason:
                "its partial results along a grid axis of a named extent, in tiles, are not counted"
                    .into(),
            help: "give that axis a tile of 1".into(),
        })
    }
    fn accumulator_dtype(&self, ir: &Ir, output: Value) -> DType {
        let dtype = ir.value_kind(output).dtype().unwrap_or(DType::F32);
        let combine = ir.def_op(output).and_then(|op| Combine::of(ir, op));
        combine.map_or(dtype, |c| c.accumulator(dtype))
    }
    fn emit_kernel(
        &self,
        ir: &mut Ir,
        symbol: &str,
        inputs: &[Value],
        outputs: &[TypeId],
        names: &[Sym],
    ) -> Result<(), Unsupported> {
        let input_types: Vec<TypeId> = inputs.iter().map(|&v| ir.value_type(v)).collect();
        let hints: Vec<Option<Sym>> = inputs
            .iter()
            .chain(&self.flat.outputs)
            .map(|&v| ir.value_name_sym(v))
            .chain(std::iter::repeat(None))
            .take(inputs.len() + outputs.len())
            .collect();
        let types: Vec<TypeId> = input_types.iter().chain(outputs).copied().collect();
        let func = OpenFunc::new(
            ir,
            (self.module, symbol),
            &types,
            &hints,
            (names, 0),
            self.spec.threads,
        );
        let values = inputs.iter().chain(&self.flat.outputs).copied();
        let values: Vec<Value> = values.collect();
        let (memory, behind) = func.memory.split_at(values.len());
        let partials = self.shared_sums(ir).into_iter();
        let partials = partials.zip(behind.iter().copied()).collect();
        let global: FxHashMap<Value, Value> =
            values.into_iter().zip(memory.iter().copied()).collect();
        let loc = ir.op_loc(self.flat.op);
        let block = func.block;
        let mut lowering = SweepLowering {
            k: KernelBuilder {
                ir,
                block,
                entry: block,
                loc,
                multiples: self.multiples_of(&func.extents),
                extents: func.extents.clone(),
            },
            axes: self.axes,
            spec: self.spec,
            flat: self.flat,
            target: self.target,
            global,
            partials,
            tables: FxHashMap::default(),
            partial: Idx::ZERO,
            outer: Vec::new(),
            base: Vec::new(),
            extent: Vec::new(),
            innermost: None,
            range: None,
            scalars: FxHashMap::default(),
            carries: FxHashMap::default(),
            resident: FxHashMap::default(),
            pending: Vec::new(),
            free: Vec::new(),
            accumulators: Vec::new(),
            order: FxHashMap::default(),
            users: FxHashMap::default(),
            layouts: FxHashMap::default(),
            known: Vec::new(),
            copies: 1,
            taken: Vec::new(),
            ahead: Vec::new(),
            on_lines: Vec::new(),
            some: None,
            hoisted: Vec::new(),
            outside: Outside::default(),
        };
        lowering.emit()?;
        lowering.k.op(&kernel::RETURN, &[], &[], &[]);
        let shares = || !rounds::own_tiles(ir, block, self.spec.threads, self.target.registers);
        let stores: Vec<Op> = rounds::stores_in_groups(ir, block).collect();
        let in_place = || updates::any_in_place(ir, self.flat.op);
        if self.spec.groups > 1 && (!stores.is_empty() && in_place() || shares()) {
            return self.emit_ungrouped(ir, block, symbol, inputs, outputs, names);
        }
        // Of a result each element is written once: groups, which cannot wait, need not.
        for store in stores {
            let once = ir.attr(AttrKind::Unit);
            ir.set_attr(store, kernel::ONCE, once);
        }
        self.check_scratch(ir, block)
    }
    /// The powers of two that parameters for extents are multiples of.
    fn multiples_of(&self, extents: &FxHashMap<Sym, Value>) -> FxHashMap<Value, i64> {
        let known = extents.iter();
        let known = known.filter_map(|(name, &value)| Some((value, *self.multiples.get(name)?)));
        known.collect()
    }
    /// Emits the kernel again without groups of threads, since groups would share their tiles.
    fn emit_ungrouped(
        &self,
        ir: &mut Ir,
        block: Block,
        symbol: &str,
        inputs: &[Value],
        outputs: &[TypeId],
        names: &[Sym],
    ) -> Result<(), Unsupported> {
        if let Some(func) = ir.block_parent_op(block) {
            ir.erase(func);
        }
        // As many blocks as before, and partial results; of a row no more threads than it has work for.
        let (threads, partials) = match self.spec.partials {
            0 => (self.spec.threads / self.spec.groups, 0),
            _ => (self.spec.threads, blocks_of_place(self.spec)),
        };
        let spec = SweepSpec {
            groups: 1,
            threads: threads.max(kernel::WARP),
            partials,
            ..self.spec.clone()
        };
        let job = Job {
            name: self.name.clone(),
            spec: &spec,
            ..*self
        };
        job.emit_kernel(ir, symbol, inputs, outputs, names)
    }
    /// Refuses a kernel whose allocations of known size exceed the limit of a block. Allocations that depend on named
    /// extents are checked at launch.
    fn check_scratch(&self, ir: &Ir, entry: Block) -> Result<(), Unsupported> {
        let Some(limit) = self.target.scratch_limit() else {
            return Ok(());
        };
        let known = ir.block_ops(entry).filter(|&op| ir.is(op, &kernel::ALLOC));
        let func = ir.block_parent_op(entry);
        let own = func.map_or(0, |func| partials(ir, func, self.spec.threads));
        let bytes = known.fold(own, |sum: u64, op| {
            sum.saturating_add(allocated(ir, op).unwrap_or(0))
        });
        let fits = bytes <= limit;
        fits.then_some(()).ok_or_else(|| Unsupported {
            op: self.flat.op,
            reason: format!(
                "its kernel asks for {bytes} bytes of shared memory, {} has {limit} for a block",
                self.target.name
            ),
            help: "keep less in the tile: other roles, or smaller tiles".into(),
        })
    }
    fn emit_launch(
        &self,
        ir: &mut Ir,
        symbol: &str,
        inputs: &[Value],
        outputs: &[TypeId],
        names: &[Sym],
    ) -> Op {
        let symbol = ir.sym(symbol);
        insert_launch(ir, self.flat.op, symbol, (inputs, outputs), (names, &[]))
    }
    /// A kernel that adds up (or multiplies, ...) the partial results of all workers.
    fn emit_combine(
        &self,
        ir: &mut Ir,
        symbol: &str,
        output: Value,
        partial: Value,
        names: &[Sym],
    ) -> Result<Option<Op>, Unsupported> {
        let types = [ir.value_type(partial), ir.value_type(output)];
        let Some(combine) = ir.def_op(output).and_then(|op| Combine::of(ir, op)) else {
            return Ok(None);
        };
        let dtype = ir.value_kind(output).dtype().unwrap_or(DType::F32);
        let func = OpenFunc::new(
            ir,
            (self.module, symbol),
            &types,
            &[None, ir.value_name_sym(output)],
            (names, 0),
            self.spec.threads,
        );
        let loc = ir.op_loc(self.flat.op);
        let mut k = KernelBuilder {
            ir,
            block: func.block,
            entry: func.block,
            loc,
            multiples: self.multiples_of(&func.extents),
            extents: func.extents.clone(),
        };
        let mut total = ExtentExpr::constant(1);
        for index in self.kept_loops(output) {
            total = total
                .mul(&self.spec.loops[index].extent)
                .unwrap_or_default();
        }
        let total = k.extent(&total).unwrap_or(Idx::ZERO);
        let plan = Combining {
            combine,
            dtype,
            total,
            partials: Idx::Const(self.spec.partials.max(1)),
            from: func.memory[0],
            to: func.memory[1],
            lanes: Some(self.spec.vector).filter(|&v| v > 1),
        };
        plan.emit(&mut k);
        k.op(&kernel::RETURN, &[], &[], &[]);
        Ok(Some(self.emit_launch(
            ir,
            symbol,
            &[partial],
            &[types[1]],
            names,
        )))
    }
}

fn names_of(ir: &Ir, dim: &Dim) -> Vec<Sym> {
    match dim.extent {
        Extent::Symbolic(id) => ir
            .extent_expr(id)
            .terms
            .iter()
            .flat_map(|(n, _)| n.clone())
            .collect(),
        _ => Vec::new(),
    }
}

fn named(ir: &mut Ir, name: Sym) -> Extent {
    let text = ir.str(name).to_string();
    ir.named_extent(&text)
}

/// Inserts a launch of the kernel `symbol` before `op`. Its parameters behind the buffers are the extents of these names
/// and these numbers.
pub(crate) fn insert_launch(
    ir: &mut Ir,
    op: Op,
    symbol: Sym,
    (inputs, outputs): (&[Value], &[TypeId]),
    (names, sizes): (&[Sym], &[u64]),
) -> Op {
    let mut dims: Vec<Dim> = Vec::new();
    dims.extend(names.iter().map(|&name| Dim::new(named(ir, name))));
    dims.extend(sizes.iter().map(|&size| Dim::fixed(size)));
    let callee = ir.attr(AttrKind::SymbolRef(vec![symbol]));
    let mut attrs = smallvec![(ir.sym("callee"), callee)];
    if !dims.is_empty() {
        let extents = ir.attr(AttrKind::Extents(dims));
        attrs.push((ir.sym("extents"), extents));
    }
    let new = NewOp {
        operands: inputs.iter().copied().collect(),
        results: outputs.iter().map(|&ty| (ty, None)).collect(),
        attrs,
        loc: Some(ir.op_loc(op)),
        ..NewOp::default()
    };
    let launch = ir.create_op(&kernel::LAUNCH, new);
    ir.insert_before(op, launch);
    launch
}

/// A kernel whose body is being filled.
pub(crate) struct OpenFunc {
    /// The op.
    pub(crate) op: Op,
    /// Its body.
    pub(crate) block: Block,
    /// Its buffers.
    pub(crate) memory: Vec<Value>,
    /// Its parameters that carry named extents.
    pub(crate) extents: FxHashMap<Sym, Value>,
    /// Its parameters behind them, to which each launch gives a number.
    pub(crate) sizes: Vec<Value>,
}

impl OpenFunc {
    /// Creates a `kernel.func` at the end of `module` with one flat memory for each type, one index for each extent name
    /// and `sizes` more.
    pub(crate) fn new(
        ir: &mut Ir,
        (module, symbol): (Block, &str),
        types: &[TypeId],
        hints: &[Option<Sym>],
        (names, sizes): (&[Sym], usize),
        threads: i64,
    ) -> OpenFunc {
        let region = ir.new_region();
        let block = ir.append_block(region);
        let mut params = Vec::new();
        let mut memory = Vec::new();
        for (&ty, &hint) in types.iter().zip(hints) {
            let dtype = ir.ty(ty).dtype().unwrap_or(DType::F32);
            let flat = TypeKind::MemRef {
                dims: vec![Extent::Unknown],
                dtype,
                space: MemSpace::Global,
            };
            let ty = ir.type_id(flat);
            params.push(ty);
            memory.push(ir.append_arg(block, ty, hint));
        }
        let index = ir.scalar(DType::Index);
        let mut extents = FxHashMap::default();
        for &name in names {
            params.push(index);
            extents.insert(name, ir.append_arg(block, index, Some(name)));
        }
        let sizes = (0..sizes).map(|_| ir.append_arg(block, index, None));
        let sizes: Vec<Value> = sizes.collect();
        params.resize(params.len() + sizes.len(), index);
        let ty = ir.function_type(params, vec![]);
        let function_type = ir.attr(AttrKind::Type(ty));
        let sym_name = ir.string_attr(symbol);
        let mut attrs = smallvec![
            (ir.sym("function_type"), function_type),
            (ir.sym("sym_name"), sym_name)
        ];
        if threads > 1 {
            let threads = ir.int_attr(threads);
            attrs.push((ir.sym("threads"), threads));
        }
        let func = ir.create_op(
            &kernel::FUNC,
            NewOp {
                attrs,
                regions: smallvec![region],
                ..NewOp::default()
            },
        );
        ir.append_op(module, func);
        OpenFunc {
            op: func,
            block,
            memory,
            extents,
            sizes,
        }
    }
}

/// The loops that put partial results together.
struct Combining {
    combine: Combine,
    dtype: DType,
    total: Idx,
    partials: Idx,
    from: Value,
    to: Value,
    lanes: Option<u64>,
}

impl Combining {
    fn emit(&self, k: &mut KernelBuilder) {
        let blocks = k.ceil_div(self.total, Idx::Const(COMBINE_BLOCK));
        let grid = k.open_loop([Idx::ZERO, blocks, Idx::Const(1)], &[]);
        let start = k.mul(Idx::Value(grid.iv), Idx::Const(COMBINE_BLOCK));
        let end = k.add(start, Idx::Const(COMBINE_BLOCK));
        let end = k.min(end, self.total);
        for part in k.intervals(start, end, self.lanes, Map::Seq) {
            let open = k.open_loop(part.bounds(), &[]);
            self.element(k, Idx::Value(open.iv), part.lanes);
            k.close_loop(open, &[], Map::Seq, &[]);
        }
        k.close_loop(grid, &[], Map::Grid, &[]);
    }
    fn element(&self, k: &mut KernelBuilder, at: Idx, lanes: Option<u64>) {
        let identity = self.combine.identity(k, self.dtype);
        let init = k.splat(identity, lanes);
        let partials = k.open_loop([Idx::ZERO, self.partials, Idx::Const(1)], &[init]);
        let row = k.mul(Idx::Value(partials.iv), self.total);
        let index = k.add(row, at);
        let value = k.load(self.from, index, lanes);
        let next = self.combine.apply(k, partials.args[0], value);
        let sum = k.close_loop(partials, &[next], Map::Seq, &[])[0];
        let value = k.cast(sum, self.dtype);
        k.store(value, self.to, at);
    }
}
