//! Emits kernel-dialect operations: index arithmetic that folds constants, loops, loads and stores.
//!
//! Guarantees: a constant [`Idx`] becomes an op only if it is used as an operand. Independent of schedules.

use fuser_ir::def::{Computes, OpDef};
use fuser_ir::ir::NewOp;
use fuser_ir::types::{ExtentExpr, MemSpace};
use fuser_ir::{
    AttrId, AttrKind, Block, DType, Ir, LocId, Op, Region, Sym, TypeId, TypeKind, Value,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use fuser_dialects::kernel::bounds::multiple;
use fuser_dialects::kernel::rounds;
use fuser_dialects::{fusion, kernel};

/// The next shorter vectors of a rest have this many times fewer lanes.
const SHORTER: u64 = 4;

/// An index: known now, or a value of type `index`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Idx {
    /// Known when lowering.
    Const(i64),
    /// Known when running.
    Value(Value),
}

impl Idx {
    /// Zero.
    pub const ZERO: Idx = Idx::Const(0);
    /// True if it is the constant `c`.
    pub fn is(self, c: i64) -> bool {
        self == Idx::Const(c)
    }
}

/// The mapping of a loop's iterations to workers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Map {
    /// In order, by one thread.
    Seq,
    /// Over workers.
    Grid,
    /// Over so many groups of a worker's threads.
    Group(i64),
    /// Over the threads of a worker.
    Thread,
}

impl Map {
    const fn name(self) -> &'static str {
        match self {
            Map::Seq => "seq",
            Map::Grid => "grid",
            Map::Group(_) => "group",
            Map::Thread => "thread",
        }
    }
}

/// A loop whose body is being filled.
pub struct OpenLoop {
    region: Region,
    outer: Block,
    operands: Vec<Value>,
    types: Vec<TypeId>,
    /// The induction variable.
    pub iv: Value,
    /// The carried values.
    pub args: Vec<Value>,
}

/// A part of a range with one vector width: full vectors, or the remainder in single elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// Its first index.
    pub from: Idx,
    /// One past its last index.
    pub to: Idx,
    /// Lanes of a step; `None` for single elements.
    pub lanes: Option<u64>,
    /// True for one masked vector: only its lanes before `to` are active.
    pub some: bool,
}

impl Interval {
    /// The bounds of its loop.
    pub fn bounds(self) -> [Idx; 3] {
        [
            self.from,
            self.to,
            Idx::Const(self.lanes.unwrap_or(1) as i64),
        ]
    }
}

/// A conditional whose body is being filled.
pub struct OpenIf {
    region: Region,
    outer: Block,
}

/// The insertion point and what is known at it.
pub struct KernelBuilder<'a> {
    /// The program.
    pub ir: &'a mut Ir,
    /// The insertion point: the end of this block.
    pub block: Block,
    /// The entry block of the kernel: its ops run before the grid loop.
    pub entry: Block,
    /// Location of new ops.
    pub loc: LocId,
    /// The `index` parameters that carry named extents.
    pub extents: FxHashMap<Sym, Value>,
    /// The powers of two that some of them are multiples of.
    pub multiples: FxHashMap<Value, i64>,
}

impl KernelBuilder<'_> {
    /// Makes an op at the insertion point.
    pub fn op(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        attrs: &[(&str, AttrId)],
        results: &[TypeId],
    ) -> Op {
        let attrs = attrs
            .iter()
            .map(|(name, attr)| (self.ir.sym(name), *attr))
            .collect();
        let new = NewOp {
            operands: operands.iter().copied().collect(),
            results: results.iter().map(|&ty| (ty, None)).collect(),
            attrs,
            loc: Some(self.loc),
            ..NewOp::default()
        };
        let op = self.ir.create_op(def, new);
        self.ir.append_op(self.block, op);
        op
    }
    /// Makes an op with one result.
    pub fn value(
        &mut self,
        def: &'static OpDef,
        operands: &[Value],
        attrs: &[(&str, AttrId)],
        ty: TypeId,
    ) -> Value {
        let op = self.op(def, operands, attrs, &[ty]);
        self.ir.result(op, 0)
    }

    // --- index arithmetic ------------------------------------------------------------------------------------------

    /// The index as an operand.
    pub fn index(&mut self, idx: Idx) -> Value {
        match idx {
            Idx::Value(v) => v,
            Idx::Const(c) => self.int_constant(c, DType::Index),
        }
    }
    /// An integer constant.
    pub fn int_constant(&mut self, value: impl Into<i128>, dtype: DType) -> Value {
        let ty = self.ir.scalar(dtype);
        let attr = self.ir.attr(AttrKind::Int {
            value: value.into(),
            ty,
        });
        self.value(&fusion::CONSTANT, &[], &[("value", attr)], ty)
    }
    /// Zero, or false.
    pub fn zero(&mut self, dtype: DType) -> Value {
        match dtype.is_float() {
            true => self.float_constant(0.0, dtype),
            false => self.int_constant(0, dtype),
        }
    }
    /// A float constant; `value` must be exact in `dtype`.
    pub fn float_constant(&mut self, value: f64, dtype: DType) -> Value {
        let ty = self.ir.scalar(dtype);
        let attr = self.ir.attr(AttrKind::Float {
            bits: value.to_bits(),
            ty,
        });
        self.value(&fusion::CONSTANT, &[], &[("value", attr)], ty)
    }
    fn index_op(&mut self, def: &'static OpDef, a: Idx, b: Idx) -> Idx {
        let (a, b) = (self.index(a), self.index(b));
        let ty = self.ir.scalar(DType::Index);
        Idx::Value(self.value(def, &[a, b], &[], ty))
    }
    /// `a + b`
    pub fn add(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (Idx::Const(0), x) | (x, Idx::Const(0)) => x,
            (Idx::Const(x), Idx::Const(y)) => Idx::Const(x.wrapping_add(y)),
            (Idx::Value(x), Idx::Value(y)) => match self.undivided(x, y) {
                Some((before, whole)) => self.add(before, whole),
                None => self.index_op(&fusion::ADD, a, b),
            },
            _ => self.index_op(&fusion::ADD, a, b),
        }
    }
    /// The sum of `a` and `b` without a division, for `a = (x + i / n) * n` and `b = i % n`: returns `x * n` and `i`.
    /// `x` may be absent.
    fn undivided(&mut self, a: Value, b: Value) -> Option<(Idx, Idx)> {
        let parts = |ir: &Ir, value: Value, computes: Computes| {
            let by = ir.made_as(value, computes)?;
            Some((ir.operand(by, 0), ir.operand(by, 1)))
        };
        let (i, by) = parts(self.ir, b, Computes::Rem)?;
        let (rows, length) = parts(self.ir, a, Computes::Mul)?;
        let number = |value| rounds::literal(self.ir, value);
        let n = number(by).filter(|&n| n > 0 && number(length) == Some(n))?;
        let is_row = |value| {
            let row = parts(self.ir, value, Computes::Div);
            row.is_some_and(|(of, by)| of == i && number(by) == Some(n))
        };
        if is_row(rows) {
            return Some((Idx::ZERO, Idx::Value(i)));
        }
        let (x, y) = parts(self.ir, rows, Computes::Add)?;
        let before = match (is_row(x), is_row(y)) {
            (true, _) => y,
            (_, true) => x,
            _ => return None,
        };
        let before = self.mul(Idx::Value(before), Idx::Const(n));
        Some((before, Idx::Value(i)))
    }
    /// `a - b`
    pub fn sub(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (x, Idx::Const(0)) => x,
            (Idx::Const(x), Idx::Const(y)) => Idx::Const(x.wrapping_sub(y)),
            _ => self.index_op(&fusion::SUB, a, b),
        }
    }
    /// `a * b`
    pub fn mul(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (Idx::Const(0), _) | (_, Idx::Const(0)) => Idx::ZERO,
            (Idx::Const(1), x) | (x, Idx::Const(1)) => x,
            (Idx::Const(x), Idx::Const(y)) => Idx::Const(x.wrapping_mul(y)),
            _ => self.index_op(&fusion::MUL, a, b),
        }
    }
    /// `a / b`, toward zero; `b` is positive.
    pub fn div(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (x, Idx::Const(1)) => x,
            (Idx::Const(x), Idx::Const(y)) if y != 0 => Idx::Const(x.wrapping_div(y)),
            _ => self.index_op(&fusion::DIV, a, b),
        }
    }
    /// `a % b`; `b` is positive.
    pub fn rem(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (_, Idx::Const(1)) => Idx::ZERO,
            (Idx::Const(x), Idx::Const(y)) if y != 0 => Idx::Const(x.wrapping_rem(y)),
            (Idx::Value(x), Idx::Const(y @ 1..))
                if multiple(self.ir, x, &self.multiples) % y == 0 =>
            {
                Idx::ZERO
            }
            _ => self.index_op(&fusion::REM, a, b),
        }
    }
    /// The smaller one.
    pub fn min(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (Idx::Const(x), Idx::Const(y)) => Idx::Const(x.min(y)),
            _ => self.index_op(&fusion::MINIMUM, a, b),
        }
    }
    /// The larger one.
    pub fn max(&mut self, a: Idx, b: Idx) -> Idx {
        match (a, b) {
            (Idx::Const(x), Idx::Const(y)) => Idx::Const(x.max(y)),
            _ => self.index_op(&fusion::MAXIMUM, a, b),
        }
    }
    /// `ceil(a / b)` for `a >= 0`, `b > 0`.
    pub fn ceil_div(&mut self, a: Idx, b: Idx) -> Idx {
        if b.is(1) {
            return a;
        }
        let less = self.sub(b, Idx::Const(1));
        let sum = self.add(a, less);
        self.div(sum, b)
    }
    /// The value of an extent polynomial; `None` if it uses a name that is no parameter of the kernel.
    pub fn extent(&mut self, expr: &ExtentExpr) -> Option<Idx> {
        let mut sum = Idx::ZERO;
        for (names, coefficient) in &expr.terms {
            let mut product = Idx::Const(*coefficient);
            for name in names {
                let value = *self.extents.get(name)?;
                product = self.mul(product, Idx::Value(value));
            }
            sum = self.add(sum, product);
        }
        Some(sum)
    }

    // --- structure -------------------------------------------------------------------------------------------------

    /// Opens a loop over `lower..upper` by `step`: ops go into its body until [`KernelBuilder::close_loop`].
    pub fn open_loop(&mut self, bounds: [Idx; 3], inits: &[Value]) -> OpenLoop {
        let mut operands: Vec<Value> = bounds.into_iter().map(|b| self.index(b)).collect();
        operands.extend(inits);
        let region = self.ir.new_region();
        let inner = self.ir.append_block(region);
        let index_ty = self.ir.scalar(DType::Index);
        let name = self.ir.sym("i");
        let iv = self.ir.append_arg(inner, index_ty, Some(name));
        let types: Vec<TypeId> = inits.iter().map(|&v| self.ir.value_type(v)).collect();
        let args = types
            .iter()
            .map(|&ty| self.ir.append_arg(inner, ty, None))
            .collect();
        let outer = std::mem::replace(&mut self.block, inner);
        OpenLoop {
            region,
            outer,
            operands,
            types,
            iv,
            args,
        }
    }
    /// Closes a loop. `next` are the carried values of the next iteration; for a thread loop, `combine` names the
    /// functions that combine the threads' values. Returns the final values.
    pub fn close_loop(
        &mut self,
        open: OpenLoop,
        next: &[Value],
        map: Map,
        combine: &[&str],
    ) -> Vec<Value> {
        self.op(&kernel::YIELD, next, &[], &[]);
        self.block = open.outer;
        let map_attr = self.ir.string_attr(map.name());
        let mut attrs: SmallVec<[(Sym, AttrId); 4]> = smallvec![(self.ir.sym("map"), map_attr)];
        if let Map::Group(groups) = map {
            attrs.push((self.ir.sym("groups"), self.ir.int_attr(groups)));
        }
        if !combine.is_empty() {
            let list = self.ir.string_array_attr(combine);
            attrs.push((self.ir.sym("combine"), list));
        }
        let new = NewOp {
            operands: open.operands.into_iter().collect(),
            results: open.types.iter().map(|&ty| (ty, None)).collect(),
            attrs,
            regions: smallvec![open.region],
            loc: Some(self.loc),
            ..NewOp::default()
        };
        let op = self.ir.create_op(&kernel::FOR, new);
        self.ir.append_op(self.block, op);
        self.ir.results(op).to_vec()
    }
    /// A loop whose body needs nothing but the builder.
    pub fn for_loop<E>(
        &mut self,
        bounds: [Idx; 3],
        inits: &[Value],
        map: Map,
        combine: &[&str],
        body: impl FnOnce(&mut Self, Value, &[Value]) -> Result<Vec<Value>, E>,
    ) -> Result<Vec<Value>, E> {
        let open = self.open_loop(bounds, inits);
        let next = body(self, open.iv, &open.args)?;
        Ok(self.close_loop(open, &next, map, combine))
    }
    /// Splits `from..to` into full vectors and a remainder. Intervals known to be empty are omitted. A remainder of
    /// known length is split into shorter vectors first, unless threads share it.
    pub fn intervals(
        &mut self,
        from: Idx,
        to: Idx,
        lanes: Option<u64>,
        map: Map,
    ) -> SmallVec<[Interval; 2]> {
        let mut list: SmallVec<[Interval; 2]> = SmallVec::new();
        let mut start = from;
        let known = matches!((from, to), (Idx::Const(_), Idx::Const(_))) && map != Map::Thread;
        for width in lanes.into_iter().flat_map(|most| widths(most, known)) {
            let count = self.sub(to, start);
            let rest = self.rem(count, Idx::Const(width as i64));
            let end = self.sub(to, rest);
            list.push(Interval {
                from: start,
                to: end,
                lanes: Some(width),
                some: false,
            });
            start = end;
        }
        list.push(Interval {
            from: start,
            to,
            lanes: None,
            some: false,
        });
        list.retain(|s| s.from != s.to);
        list
    }
    /// Splits `from..to` into full vectors and one masked tail vector. A tail whose known length fits shorter vectors
    /// uses those instead. Intervals known to be empty are omitted.
    pub fn masked_intervals(&mut self, from: Idx, to: Idx, lanes: u64) -> SmallVec<[Interval; 2]> {
        let count = self.sub(to, from);
        let rest = self.rem(count, Idx::Const(lanes as i64));
        let shorter = |rest| rest == 1 || widths(lanes, true).any(|width| rest == width as i64);
        if matches!(rest, Idx::Const(rest) if shorter(rest)) {
            return self.intervals(from, to, Some(lanes), Map::Seq);
        }
        let end = self.sub(to, rest);
        let part = |from, to, some| Interval {
            from,
            to,
            lanes: Some(lanes),
            some,
        };
        let mut list = SmallVec::from_buf([part(from, end, false), part(end, to, true)]);
        list.retain(|s| s.from != s.to);
        list
    }
    /// Opens the body of a `kernel.if` without results.
    pub fn open_if(&mut self) -> OpenIf {
        let region = self.ir.new_region();
        let inner = self.ir.append_block(region);
        let outer = std::mem::replace(&mut self.block, inner);
        OpenIf { region, outer }
    }
    /// Closes it: the body runs where `condition` (an `i1`) holds.
    pub fn close_if(&mut self, open: OpenIf, condition: Value) {
        self.close_body(&kernel::IF, open, SmallVec::from_slice(&[condition]));
    }
    /// Closes a body that runs only in the last of `count` grid iterations to arrive with the same `at`. Values of `at`
    /// are less than `places`.
    pub fn close_last(&mut self, open: OpenIf, [at, places, count]: [Idx; 3]) {
        let outer = std::mem::replace(&mut self.block, open.outer);
        let operands = [at, places, count].map(|idx| self.index(idx));
        self.block = outer;
        self.close_body(&kernel::LAST, open, SmallVec::from_slice(&operands));
    }
    fn close_body(&mut self, def: &'static OpDef, open: OpenIf, operands: SmallVec<[Value; 4]>) {
        self.op(&kernel::YIELD, &[], &[], &[]);
        self.block = open.outer;
        let new = NewOp {
            operands,
            regions: smallvec![open.region],
            loc: Some(self.loc),
            ..NewOp::default()
        };
        let op = self.ir.create_op(def, new);
        self.ir.append_op(self.block, op);
    }
    /// `a == b` on indices; `None` where it is known to hold.
    pub fn equals(&mut self, a: Idx, b: Idx) -> Option<Value> {
        if a == b {
            return None;
        }
        let (a, b) = (self.index(a), self.index(b));
        Some(self.compare("eq", a, b))
    }
    /// `a predicate b`, splatting whichever is a scalar.
    pub fn compare(&mut self, predicate: &str, a: Value, b: Value) -> Value {
        let lanes = self.lanes_of(a).or(self.lanes_of(b));
        let (a, b) = (self.splat(a, lanes), self.splat(b, lanes));
        let ty = self.lane_type(DType::I1, lanes);
        let predicate = self.ir.string_attr(predicate);
        self.value(&fusion::COMPARE, &[a, b], &[("predicate", predicate)], ty)
    }
    /// `then` where `condition` holds, else `otherwise`; scalars among them count for every lane.
    pub fn select(&mut self, condition: Value, then: Value, otherwise: Value) -> Value {
        let all = [condition, then, otherwise];
        let lanes = all.into_iter().find_map(|v| self.lanes_of(v));
        let all = all.map(|v| self.splat(v, lanes));
        let ty = self.ir.value_type(all[1]);
        self.value(&fusion::WHERE, &all, &[], ty)
    }

    // --- memory ----------------------------------------------------------------------------------------------------

    /// Allocates scratch memory for the product of `sizes` elements. The allocation is at the kernel's entry, so the
    /// sizes must be known there: constants and extents.
    pub fn alloc(&mut self, sizes: &[Idx], dtype: DType) -> Value {
        self.alloc_in(MemSpace::Tile, sizes, dtype)
    }
    /// As [`Self::alloc`], in a memory space of one thread or block.
    pub fn alloc_in(&mut self, space: MemSpace, sizes: &[Idx], dtype: DType) -> Value {
        let here = std::mem::replace(&mut self.block, self.entry);
        let size = sizes.iter().fold(Idx::Const(1), |a, &b| self.mul(a, b));
        let size = staggered(size, dtype);
        let (extent, operands) = match size {
            Idx::Const(c) => (fuser_ir::Extent::Static(c.max(0) as u64), vec![]),
            Idx::Value(v) => (fuser_ir::Extent::Unknown, vec![v]),
        };
        let ty = self.ir.type_id(TypeKind::MemRef {
            dims: vec![extent],
            dtype,
            space,
        });
        let memory = self.value(&kernel::ALLOC, &operands, &[], ty);
        self.block = here;
        memory
    }
    /// A buffer with the elements of a constant of type `ty`, created at the kernel's entry.
    pub fn table(&mut self, value: AttrId, ty: TypeId) -> Value {
        let here = std::mem::replace(&mut self.block, self.entry);
        let constant = self.value(&fusion::CONSTANT, &[], &[("value", value)], ty);
        let tensor = self.ir.ty(ty);
        let dtype = tensor.dtype().unwrap_or(DType::F32);
        let dims = tensor.as_tensor().map_or(&[][..], |t| &t.dims);
        let size = |d: &fuser_ir::Dim| match d.extent {
            fuser_ir::Extent::Static(n) if !d.broadcast => n,
            _ => 1,
        };
        let count = dims.iter().map(size).fold(1, u64::saturating_mul);
        let ty = self.ir.type_id(TypeKind::MemRef {
            dims: vec![fuser_ir::Extent::Static(count)],
            dtype,
            space: MemSpace::Global,
        });
        let memory = self.value(&kernel::TABLE, &[constant], &[], ty);
        self.block = here;
        memory
    }
    /// Loads one element, or `lanes` consecutive ones.
    pub fn load(&mut self, memory: Value, at: Idx, lanes: Option<u64>) -> Value {
        self.load_strided(memory, at, lanes, 1)
    }
    /// Loads one element, or `lanes` elements at a distance of `stride` elements.
    pub fn load_strided(
        &mut self,
        memory: Value,
        at: Idx,
        lanes: Option<u64>,
        stride: i64,
    ) -> Value {
        let dtype = self.ir.value_kind(memory).dtype().unwrap_or(DType::F32);
        let ty = self.lane_type(dtype, lanes);
        let at = self.index(at);
        let clauses = self.stride(lanes.is_some(), stride);
        self.value(&kernel::LOAD, &[memory, at], &clauses, ty)
    }
    /// The clause of a distance of lanes, where there is one.
    fn stride(&mut self, vector: bool, stride: i64) -> Vec<(&'static str, AttrId)> {
        let apart = (vector && stride != 1).then(|| ("stride", self.ir.int_attr(stride)));
        apart.into_iter().collect()
    }
    /// Loads a vector at element `at` with only the lanes `first..end` active; the other lanes come from `fill`.
    pub fn load_within(
        &mut self,
        memory: Value,
        at: Idx,
        fill: Value,
        [first, end]: [Idx; 2],
    ) -> Value {
        let ty = self.ir.value_type(fill);
        let operands = [
            memory,
            self.index(at),
            fill,
            self.index(first),
            self.index(end),
        ];
        self.value(&kernel::LOAD_WITHIN, &operands, &[], ty)
    }
    /// Asks for the line of an element.
    pub fn prefetch(&mut self, memory: Value, at: Idx) {
        let at = self.index(at);
        self.op(&kernel::PREFETCH, &[memory, at], &[], &[]);
    }
    /// Stores a scalar, or a vector to consecutive elements.
    pub fn store(&mut self, value: Value, memory: Value, at: Idx) {
        self.store_strided(value, memory, at, 1);
    }
    /// Stores a scalar, or the lanes of a vector at a distance of `stride` elements.
    pub fn store_strided(&mut self, value: Value, memory: Value, at: Idx, stride: i64) {
        let at = self.index(at);
        let vector = self.is_vector(value);
        let clauses = self.stride(vector, stride);
        self.op(&kernel::STORE, &[value, memory, at], &clauses, &[]);
    }
    /// Stores the first lanes of a vector, so many of them.
    pub fn store_some(&mut self, value: Value, memory: Value, at: Idx, some: Idx) {
        let operands = [value, memory, self.index(at), self.index(some)];
        self.op(&kernel::STORE, &operands, &[], &[]);
    }
    /// As [`Self::store`], to an address that `align` divides.
    pub fn store_aligned(&mut self, value: Value, memory: Value, at: Idx, align: u64) {
        let at = self.index(at);
        let align = self.ir.int_attr(align as i64);
        self.op(
            &kernel::STORE,
            &[value, memory, at],
            &[("align", align)],
            &[],
        );
    }
    /// `dtype`, or a vector of it.
    pub fn lane_type(&mut self, dtype: DType, lanes: Option<u64>) -> TypeId {
        match lanes {
            Some(lanes) => self.ir.vector(lanes, dtype),
            None => self.ir.scalar(dtype),
        }
    }
    /// True if `value` is a vector.
    pub fn is_vector(&self, value: Value) -> bool {
        matches!(self.ir.value_kind(value), TypeKind::Vector { .. })
    }
    /// `value` in every lane, if it is a scalar and lanes are wanted.
    pub fn splat(&mut self, value: Value, lanes: Option<u64>) -> Value {
        match lanes {
            Some(n) if !self.is_vector(value) => {
                let dtype = self.ir.value_kind(value).dtype().unwrap_or(DType::F32);
                let ty = self.ir.vector(n, dtype);
                self.value(&kernel::SPLAT, &[value], &[], ty)
            }
            _ => value,
        }
    }
    /// `value` converted to `dtype`.
    pub fn cast(&mut self, value: Value, dtype: DType) -> Value {
        let kind = self.ir.value_kind(value);
        if kind.dtype() == Some(dtype) {
            return value;
        }
        let lanes = match kind {
            TypeKind::Vector { shape, .. } => shape.first().copied(),
            _ => None,
        };
        let ty = self.lane_type(dtype, lanes);
        let element = self.ir.scalar(dtype);
        let to = self.ir.attr(AttrKind::Type(element));
        self.value(&fusion::CAST, &[value], &[("to", to)], ty)
    }
    /// `a op b`, splatting whichever is a scalar.
    pub fn binary(&mut self, def: &'static OpDef, a: Value, b: Value) -> Value {
        let lanes = self.lanes_of(a).or(self.lanes_of(b));
        let (a, b) = (self.splat(a, lanes), self.splat(b, lanes));
        let ty = self.ir.value_type(a);
        self.value(def, &[a, b], &[], ty)
    }
    /// Lanes of a vector.
    pub fn lanes_of(&self, value: Value) -> Option<u64> {
        match self.ir.value_kind(value) {
            TypeKind::Vector { shape, .. } => shape.first().copied(),
            _ => None,
        }
    }
}

/// The vector widths used for an interval, the longest first.
pub fn widths(most: u64, shorter: bool) -> impl Iterator<Item = u64> {
    let next = move |width: &u64| Some(width / SHORTER).filter(|&w| shorter && w > 1);
    std::iter::successors(Some(most), next)
}

/// Pads a size that is a multiple of 4 KiB, so that the next allocation starts at another page offset. Processors
/// compare loads with earlier stores by the low 12 bits of the address. Without padding, equal rows of two such buffers
/// would stall on each other.
fn staggered(size: Idx, dtype: DType) -> Idx {
    const PAGE: i64 = 4096;
    const SHIFT: i64 = 192;
    let element = dtype.bytes() as i64;
    match size {
        Idx::Const(n) if n > 0 && n.saturating_mul(element) % PAGE == 0 => {
            Idx::Const(n + SHIFT / element)
        }
        other => other,
    }
}
