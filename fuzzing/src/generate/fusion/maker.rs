//! The program while it is being made: its values, the facts about them, and the addition of an op at its end.
//!
//! Every value is a [`Slot`]. An op is added by [`Maker::emit`], which relies on inference; an op that inference
//! refuses, or that would be too large, leaves no trace.

use fuser_dialects::task::packed;
use fuser_dialects::{builtin, fusion, task};
use fuser_ir::attr::AttrKind;
use fuser_ir::def::OpDef;
use fuser_ir::types::{Extent, ExtentExpr};
use fuser_ir::{
    AttrId, Block, Builder, DType, Dim, Ir, NewOp, Op, Region, TypeId, TypeKind, Value, layout,
};
use smallvec::SmallVec;

use super::Config;
use super::facts::{self, Fact, OrderMatters};
use super::shapes::{self, Axis, Names};
use crate::Source;
use crate::generate::case::{Case, Tier, set_aliases};
use crate::generate::inputs::{self, InputRecipe};

/// The most results of a program.
const MAX_RESULTS: u64 = 5;

/// A value and known facts about it.
#[derive(Clone, PartialEq, Debug)]
pub struct Slot {
    /// The value.
    pub value: Value,
    /// Its axes; none for a scalar.
    pub axes: Vec<Axis>,
    /// Element type.
    pub dtype: DType,
    /// True if it is of scalar type, not a tensor.
    pub scalar: bool,
    /// The fact about its elements.
    pub fact: Fact,
}

/// A clause's name and value.
pub type Clause = (&'static str, AttrId);

/// A program being made.
pub struct Maker<'s> {
    /// The source of choices.
    pub source: &'s mut Source,
    /// The options of the generator.
    pub config: Config,
    /// The tables.
    pub ir: Ir,
    /// Values of the named extents.
    pub names: Names,
    /// All values so far; inputs too.
    pub slots: Vec<Slot>,
    module: Op,
    program: Op,
    body: Block,
    plans: Vec<InputRecipe>,
    work: u64,
}

impl<'s> Maker<'s> {
    /// An empty program.
    pub fn new(source: &'s mut Source, config: Config) -> Self {
        let mut ir = Ir::new(fuser_dialects::registry());
        let (module, top) = region_op(&mut ir, &builtin::MODULE, &[]);
        let name = ir.string_attr("f");
        let (program, body) = region_op(&mut ir, &task::PROGRAM, &[("sym_name", name)]);
        ir.append_op(top, program);
        Self {
            source,
            ir,
            names: Names {
                lengths: config.lengths,
                ..Names::default()
            },
            config,
            slots: Vec::new(),
            module,
            program,
            body,
            plans: Vec::new(),
            work: 0,
        }
    }
    /// True if enough has been generated.
    pub fn is_full(&self) -> bool {
        self.work >= self.config.work || self.source.is_spent()
    }
    /// True if results must not depend on the order of sums.
    pub fn is_exact(&self) -> bool {
        self.config.tier == Tier::Exact
    }
    /// The fact of a reduction over `count` elements; `None` if the exact tier excludes that reduction.
    pub fn reduced(&self, def: &OpDef, dtype: DType, fact: Fact, count: u64) -> Option<Fact> {
        match facts::reduction(def, dtype, fact, count) {
            Err(OrderMatters) if self.is_exact() => None,
            fact => Some(fact.ok().flatten()),
        }
    }
    /// The builder at the end of the program.
    pub fn build(&mut self) -> Builder<'_> {
        Builder::at_end(&mut self.ir, self.body)
    }
    /// The type of a tensor of these axes.
    pub fn tensor_type(&mut self, axes: &[Axis], dtype: DType) -> TypeId {
        self.ir.tensor(shapes::dims(axes), dtype)
    }

    /// An element type, as [`shapes::dtype`] draws it; complex ones where the program may have them.
    pub fn dtype(&mut self) -> DType {
        match self.config.complex && self.source.chance(1, 4) {
            true => self.source.one(&[DType::C64, DType::C128]),
            false if self.config.narrow && self.source.chance(3, 4) => {
                self.source.one(&shapes::NARROW)
            }
            false => shapes::dtype(self.source),
        }
    }

    /// Adds an input. A complex one is a tensor: no program takes complex scalars.
    pub fn input(&mut self, axes: Vec<Axis>, dtype: DType, scalar: bool) -> usize {
        let scalar = scalar && !dtype.is_complex();
        let ty = match scalar {
            true => self.ir.scalar(dtype),
            false => self.tensor_type(&axes, dtype),
        };
        let ty = match self.source.chance(1, 8) {
            true => self.draw_layout(ty),
            false => ty,
        };
        if dtype == packed::DTYPE && !self.has_whole_bytes(ty, &axes) {
            let wide = self.input(axes, DType::F32, scalar);
            return self.cast(wide, dtype).unwrap_or(wide);
        }
        let plan = InputRecipe::draw(self.source, self.config.tier, &axes, dtype);
        let name = self.ir.sym(&format!("x{}", self.plans.len()));
        let value = self.ir.append_arg(self.body, ty, Some(name));
        self.slots.push(Slot {
            value,
            axes,
            dtype,
            scalar,
            fact: plan.fact(),
        });
        self.plans.push(plan);
        self.slots.len() - 1
    }
    /// True if callers can see elements of 4 bits of this type two in a byte.
    fn has_whole_bytes(&self, ty: TypeId, axes: &[Axis]) -> bool {
        let tensor = self.ir.ty(ty).as_tensor();
        let axis = tensor.and_then(|tensor| packed::axis(&self.ir, tensor));
        let axis = axis.and_then(|axis| axes.get(axis));
        axis.is_some_and(|axis| {
            let expr = self.ir.extent_as_expr(axis.dim.extent);
            let even = |expr: ExtentExpr| {
                expr.as_name().is_some() || expr.terms.iter().all(|(_, c)| c % 2 == 0)
            };
            axis.length % 2 == 0 && expr.is_none_or(even)
        })
    }
    /// The type with its axes in a random order in memory. A row-major order is sometimes stated too.
    fn draw_layout(&mut self, ty: TypeId) -> TypeId {
        let rank = self.ir.ty(ty).as_tensor().map_or(0, |t| t.dims.len());
        let mut order: Vec<usize> = (0..rank).collect();
        self.source.shuffle(&mut order);
        layout::with(&mut self.ir, ty, &order)
    }
    /// Adds an input of a new shape.
    pub fn fresh(&mut self, dtype: DType) -> usize {
        let most = self.config.elements;
        let mut axes = shapes::shape(self.source, &mut self.ir, &mut self.names, most);
        for axis in &mut axes {
            axis.dim.broadcast = self.source.chance(1, 24);
        }
        if self.config.unknown && self.source.chance(1, 32) && !axes.is_empty() {
            let at = self.source.index(axes.len());
            axes[at].dim.extent = Extent::Unknown;
        }
        let scalar = axes.is_empty() && self.source.chance(1, 2);
        self.input(axes, dtype, scalar)
    }

    /// Appends an op and returns the slot of its first result. The axes of its results follow from their types if no
    /// extent is `?`; otherwise they are `axes`.
    pub fn emit(
        &mut self,
        def: &'static OpDef,
        operands: &[usize],
        clauses: &[Clause],
        axes: Option<Vec<Axis>>,
        fact: Fact,
    ) -> Option<usize> {
        self.emit_typed(def, operands, clauses, axes, fact, None)
    }
    /// Like [`Maker::emit`], if inference needs the result's type.
    pub fn emit_typed(
        &mut self,
        def: &'static OpDef,
        operands: &[usize],
        clauses: &[Clause],
        axes: Option<Vec<Axis>>,
        fact: Fact,
        stated: Option<TypeId>,
    ) -> Option<usize> {
        let values: Vec<Value> = operands.iter().map(|i| self.slots[*i].value).collect();
        let stated: Option<Vec<TypeId>> = stated.map(|ty| vec![ty]);
        let built = self
            .build()
            .build(def, &values, clauses, &[], stated.as_deref());
        let op = built.ok()?;
        self.keep(op, axes, fact)
    }
    /// Like [`Maker::emit`], for an op with a lambda.
    pub fn emit_lambda(
        &mut self,
        def: &'static OpDef,
        operands: &[usize],
        clauses: &[Clause],
        lambda: Region,
    ) -> Option<usize> {
        let values: Vec<Value> = operands.iter().map(|i| self.slots[*i].value).collect();
        let built = self.build().build(def, &values, clauses, &[lambda], None);
        self.keep(built.ok()?, None, None)
    }
    /// Keeps an op and returns the slot of its first result. Erases the op if one of its results is too large.
    fn keep(&mut self, op: Op, axes: Option<Vec<Axis>>, fact: Fact) -> Option<usize> {
        let Some(slots) = self.results(op, axes, fact) else {
            self.ir.erase(op);
            return None;
        };
        let first = self.slots.len();
        self.work += slots.iter().map(|s| shapes::elements(&s.axes)).sum::<u64>();
        self.slots.extend(slots);
        (first < self.slots.len()).then_some(first)
    }
    fn results(&mut self, op: Op, axes: Option<Vec<Axis>>, fact: Fact) -> Option<Vec<Slot>> {
        let values = self.ir.results(op).to_vec();
        let slot = |value: Value| {
            let (dims, dtype, scalar): (&[Dim], DType, bool) = match self.ir.value_kind(value) {
                TypeKind::Tensor(t) => (&t.dims, t.dtype, false),
                TypeKind::Scalar(d) => (&[], *d, true),
                _ => return None,
            };
            let axes = match &axes {
                Some(axes) if shapes::dims(axes) == dims => axes.clone(),
                _ => self.names.axes(&self.ir, dims)?,
            };
            (shapes::elements(&axes) <= self.config.elements).then_some(Slot {
                value,
                axes,
                dtype,
                scalar,
                fact,
            })
        };
        values.into_iter().map(slot).collect()
    }

    /// One of the values, later ones more often.
    pub fn any_slot(&mut self) -> Option<usize> {
        let count = self.slots.len();
        match (count, self.source.chance(1, 3)) {
            (0, _) => None,
            (_, true) => Some(self.source.index(count)),
            (_, false) => Some(count - 1 - self.source.index(count.min(4))),
        }
    }
    /// A random slot for which `fits` holds.
    pub fn slot_where(&mut self, fits: impl Fn(&Slot) -> bool) -> Option<usize> {
        let all: Vec<usize> = (0..self.slots.len())
            .filter(|i| fits(&self.slots[*i]))
            .collect();
        let recent = all.len().min(4);
        match self.source.chance(1, 3) {
            true => self.source.pick(&all).copied(),
            false => self.source.pick(&all[all.len() - recent..]).copied(),
        }
    }

    /// Completes the program: draws the returned values, binds names that no input binds, makes the data.
    pub fn finish(mut self) -> Case {
        if self.slots.is_empty() {
            self.fresh(DType::F32);
        }
        let results = self.draw_results();
        let results = results.into_iter().map(|i| self.in_whole_bytes(i));
        let results: Vec<usize> = results.collect();
        self.bind_names();
        let values: Vec<Value> = results.iter().map(|i| self.slots[*i].value).collect();
        self.lay_out(&values);
        // A terminator takes any values, so building it cannot fail.
        let _ = self.build().op(&task::RETURN, &values, &[]);
        self.sign(&values);
        self.draw_aliases(&values);
        let mut source = self.source.fork();
        let plans = std::mem::take(&mut self.plans);
        let inputs = plans
            .iter()
            .map(|plan| inputs::fill(plan, &mut source))
            .collect();
        Case {
            ir: self.ir,
            module: self.module,
            program: self.program,
            inputs,
            extents: self.names.values,
            tier: self.config.tier,
        }
    }
    /// States a layout for some results that ops make.
    fn lay_out(&mut self, results: &[Value]) {
        for &value in results {
            let maker = self.ir.def_op(value);
            let laid_out = maker.is_some_and(|op| !self.ir.is(op, &fusion::CONSTANT));
            if laid_out && self.source.chance(1, 8) {
                let ty = self.ir.value_type(value);
                let ty = self.draw_layout(ty);
                let slot = self.slots.iter().find(|slot| slot.value == value);
                let axes = slot.map_or(&[][..], |slot| &slot.axes);
                if self.ir.ty(ty).dtype() != Some(packed::DTYPE) || self.has_whole_bytes(ty, axes) {
                    self.ir.set_value_type(value, ty);
                }
            }
        }
    }
    /// The value, or its cast to a wider type if callers would otherwise see half a byte.
    fn in_whole_bytes(&mut self, slot: usize) -> usize {
        let ty = self.ir.value_type(self.slots[slot].value);
        let whole = self.has_whole_bytes(ty, &self.slots[slot].axes);
        match self.slots[slot].dtype == packed::DTYPE && !whole {
            true => self.cast(slot, DType::F32).unwrap_or(slot),
            false => slot,
        }
    }
    /// The last value, and others; sometimes one twice, sometimes an input, mostly unused values.
    fn draw_results(&mut self) -> Vec<usize> {
        let returnable = |maker: &Self, i: usize| !maker.slots[i].scalar;
        let mut results: Vec<usize> = (0..self.slots.len())
            .rev()
            .filter(|i| returnable(self, *i))
            .take(1)
            .collect();
        for _ in 0..self.source.below(MAX_RESULTS) {
            let unused = self.source.chance(2, 3);
            let ir = &self.ir;
            let pool: Vec<usize> = (0..self.slots.len())
                .filter(|i| returnable(self, *i))
                .filter(|i| !unused || ir.is_unused(self.slots[*i].value))
                .collect();
            results.extend(self.source.pick(&pool));
        }
        if results.is_empty() {
            results.push(self.input(Vec::new(), DType::F32, false));
        }
        results
    }
    /// Some results overwrite an argument of their type.
    fn draw_aliases(&mut self, results: &[Value]) {
        if !self.source.chance(1, 3) {
            return;
        }
        let arguments = self.ir.args(self.body).to_vec();
        let mut aliases: Vec<Option<usize>> = Vec::new();
        for result in results {
            let ty = self.ir.value_type(*result);
            let fits =
                |i: &usize| self.ir.value_type(arguments[*i]) == ty && !aliases.contains(&Some(*i));
            let all: Vec<usize> = (0..arguments.len()).filter(fits).collect();
            aliases.push(self.source.pick(&all).copied());
        }
        set_aliases(&mut self.ir, self.program, &aliases);
    }
    /// Makes every name an extent by itself in the type of some input.
    fn bind_names(&mut self) {
        let names: Vec<(String, u64)> = self.names.values.clone().into_iter().collect();
        for (name, length) in names {
            let extent = self.ir.named_extent(&name);
            let args = self.ir.args(self.body);
            let bound = args.iter().any(|arg| {
                let tensor = self.ir.value_kind(*arg).as_tensor();
                tensor.is_some_and(|t| t.dims.iter().any(|d| d.extent == extent))
            });
            if !bound {
                let dim = Dim::new(extent);
                self.input(vec![Axis { dim, length }], DType::I8, false);
            }
        }
    }
    fn sign(&mut self, results: &[Value]) {
        let types = |ir: &Ir, list: &[Value]| list.iter().map(|v| ir.value_type(*v)).collect();
        let arguments = self.ir.args(self.body).to_vec();
        let (inputs, outputs) = (types(&self.ir, &arguments), types(&self.ir, results));
        let signature = self.ir.function_type(inputs, outputs);
        let signature = self.ir.attr(AttrKind::Type(signature));
        self.ir.set_attr(self.program, "function_type", signature);
    }
}

/// An op with one region of one block.
pub fn region_op(ir: &mut Ir, def: &'static OpDef, attrs: &[Clause]) -> (Op, Block) {
    let region = ir.new_region();
    let block = ir.append_block(region);
    let attrs = attrs
        .iter()
        .map(|(key, attr)| (ir.sym(key), *attr))
        .collect();
    let new = NewOp {
        attrs,
        regions: SmallVec::from_elem(region, 1),
        ..NewOp::default()
    };
    (ir.create_op(def, new), block)
}
