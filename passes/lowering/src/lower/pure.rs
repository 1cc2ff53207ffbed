//! Pure values inside a nest: loads, elementwise ops and creations, each emitted at the depth of the loops along which
//! it varies.
//!
//! Shape ops cost nothing: an element of their result is an element of their operand at the same point of the iteration
//! space. Refuses ops for which there is no code generation, by name.

use fuser_dialects::{fusion, kernel};
use fuser_ir::def::{Computes, OpClass};
use fuser_ir::ir::NewOp;
use fuser_ir::{AttrKind, DType, Op, Value};
use rustc_hash::FxHashMap;

use super::build::Idx;
use super::combine::Combine;
use super::effects::Nest;
use super::nest::Scopes;
use super::sweep::{SweepLowering, Unsupported};

impl SweepLowering<'_> {
    pub(super) fn emit_pure(
        &mut self,
        nest: &Nest,
        depth: usize,
        scopes: &mut Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<(), Unsupported> {
        for &value in &nest.loads {
            if self.depth(nest, value) == depth {
                let loaded = self.load_global(value, ivs, lanes, self.innermost)?;
                self.put(value, loaded, depth, scopes);
            }
        }
        for &op in &nest.ops {
            let result = self.ir().result(op, 0);
            if self.depth(nest, result) == depth && !self.scalars.contains_key(&result) {
                let values = match nest.scans.iter().find(|scan| scan.op == op) {
                    Some(scan) => self.emit_scan(scan, scopes, ivs, lanes)?,
                    None => self.emit_op(op, scopes, ivs, lanes)?,
                };
                for (index, value) in values.into_iter().enumerate() {
                    let result = self.ir().result(op, index);
                    self.put(result, value, depth, scopes);
                }
            }
        }
        Ok(())
    }
    pub(super) fn put(&mut self, value: Value, computed: Value, depth: usize, scopes: &mut Scopes) {
        if depth == 0 {
            self.scalars.insert(value, computed);
        } else if let Some(scope) = scopes.last_mut() {
            scope.insert(value, computed);
        }
    }
    pub(super) fn load_global(
        &mut self,
        value: Value,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
        along: Option<usize>,
    ) -> Result<Value, Unsupported> {
        let tables = self.tables.get(&value);
        let Some(&memory) = tables.or_else(|| self.global.get(&value)) else {
            return self.refuse_sweep("a value of another sweep was not kept in memory");
        };
        let at = self.offset(value, ivs)?;
        if self.some.is_some() {
            return Ok(self.load_lanes(memory, at, lanes));
        }
        let stride = along.and_then(|axis| self.lane_stride(value, axis));
        Ok(self.k.load_strided(memory, at, lanes, stride.unwrap_or(1)))
    }
    /// A value at the current point: computed, or read from tile memory.
    pub(super) fn get(
        &mut self,
        value: Value,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        if let Some(found) = scopes
            .iter()
            .rev()
            .find_map(|s| s.get(&value))
            .or(self.scalars.get(&value))
        {
            return Ok(*found);
        }
        let Some(resident) = self.resident.get(&value).cloned() else {
            return self.refuse_sweep("a value is used before the step computes it");
        };
        let vector = resident
            .dims
            .last()
            .is_some_and(|(axis, _)| self.is_vector_axis(*axis, lanes));
        let at = self.resident_index(&resident, ivs);
        let loaded = self.load_lanes(resident.memory, at, lanes.filter(|_| vector));
        let dtype = self.k.ir.value_kind(value).dtype().unwrap_or(DType::F32);
        Ok(self.k.cast(loaded, dtype))
    }
    /// True if the lanes run along `axis`: they run along the innermost loop.
    pub(super) fn is_vector_axis(&self, axis: usize, lanes: Option<u64>) -> bool {
        lanes.is_some() && self.innermost == Some(axis)
    }
    pub(super) fn emit_op(
        &mut self,
        op: Op,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Vec<Value>, Unsupported> {
        let Some(def) = self.ir().def(op) else {
            return self.refuse(
                op,
                "no dialect defines it",
                "only known ops can be compiled",
            );
        };
        if def.class == OpClass::Creation {
            return Ok(vec![self.emit_creation(op, scopes, ivs, lanes)?]);
        }
        if def.shifts() || self.axes.window(op).is_some() {
            return Ok(vec![self.emit_window(op, scopes, ivs, lanes)?]);
        }
        let mut operands = Vec::new();
        for operand in self.ir().operands(op).collect::<Vec<_>>() {
            operands.push(self.get(operand, scopes, ivs, lanes)?);
        }
        match def.class {
            OpClass::Reduction if Combine::of(self.ir(), op).is_some() => {
                Ok(vec![self.emit_trivial_reduction(op, operands[0])])
            }
            OpClass::Shape => Ok(vec![operands[0]]),
            OpClass::Scan => Ok(self.emit_single_scan(op, operands)),
            OpClass::Elementwise => Ok(vec![self.emit_elementwise(op, operands)]),
            _ => self.refuse(
                op,
                format!("'{}' has no code generation", def.name),
                "use the interpreter, or rewrite it in terms of other ops",
            ),
        }
    }
    /// A reduction over axes of extent 1, which combines each element with the identity once. A reduction over no axes
    /// returns its operand: `-0` and NaN are preserved.
    pub(super) fn emit_trivial_reduction(&mut self, op: Op, operand: Value) -> Value {
        let dims = self.ir().i64s_of(op, "dims");
        let reductions = dims.is_none_or(|dims| !dims.is_empty());
        let Some(combine) = Combine::of(self.ir(), op).filter(|_| reductions) else {
            return operand;
        };
        let identity = self.identity(combine, op);
        let dtype = self.result_dtype(op);
        let wide = self.k.cast(operand, combine.accumulator(dtype));
        let value = combine.apply(&mut self.k, identity, wide);
        self.k.cast(value, dtype)
    }
    pub(super) fn emit_elementwise(&mut self, op: Op, operands: Vec<Value>) -> Value {
        let lanes = operands.iter().find_map(|&v| self.k.lanes_of(v));
        let operands: Vec<Value> = operands
            .into_iter()
            .map(|v| self.k.splat(v, lanes))
            .collect();
        let dtype = self.result_dtype(op);
        let ty = self.k.lane_type(dtype, lanes);
        let attrs = self
            .k
            .ir
            .attrs(op)
            .iter()
            .filter(|(name, _)| !self.k.ir.str(*name).contains('.'))
            .copied()
            .collect();
        let name = self.k.ir.name_id(op);
        let loc = Some(self.k.ir.op_loc(op));
        let hint = self.k.ir.value_name_sym(self.k.ir.result(op, 0));
        let new = NewOp {
            operands: operands.into_iter().collect(),
            results: [(ty, hint)].into_iter().collect(),
            attrs,
            loc,
            ..NewOp::default()
        };
        let new = self.k.ir.create(name, new);
        self.k.ir.append_op(self.k.block, new);
        self.note_nonpositive(op, new);
        self.k.ir.result(new, 0)
    }
    pub(super) fn emit_creation(
        &mut self,
        op: Op,
        scopes: &Scopes,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        match self.ir().computes(op) {
            Some(Computes::Full) => {
                let operand = self.ir().operand(op, 0);
                return self.get(operand, scopes, ivs, lanes);
            }
            Some(Computes::Constant) => return self.emit_constant(op),
            Some(Computes::Index) => return self.emit_iota(op, ivs, lanes),
            Some(Computes::Size) => return self.emit_size(op),
            _ => {}
        }
        let name = self.ir().name(op).to_string();
        self.refuse(
            op,
            format!("'{name}' has no code generation"),
            "use the interpreter",
        )
    }
    /// True if `op` is a constant with different elements. It is read from a table, like an input from its buffer.
    pub(super) fn is_table(&self, op: Op) -> bool {
        let dense = |kind: &AttrKind| matches!(kind, AttrKind::Dense { splat: false, .. });
        self.ir().computes(op) == Some(Computes::Constant)
            && self.ir().attr_of(op, "value").is_some_and(dense)
    }
    /// Makes the tables of all such constants.
    pub(super) fn make_tables(&mut self) {
        let ops = self.flat.ops.iter().map(|(op, _)| *op);
        for op in ops.filter(|op| self.is_table(*op)).collect::<Vec<_>>() {
            let value = self.ir().result(op, 0);
            let ty = self.ir().value_type(value);
            if let Some(attr) = self.ir().get_attr(op, "value") {
                let memory = self.k.table(attr, ty);
                self.tables.insert(value, memory);
            }
        }
    }
    pub(super) fn emit_constant(&mut self, op: Op) -> Result<Value, Unsupported> {
        let dtype = self.result_dtype(op);
        let attr = self.k.ir.get_attr(op, "value");
        let kind = attr.map(|a| self.k.ir.attr_kind(a).clone());
        if let (Some(attr), Some(AttrKind::Dense { splat: true, .. })) = (attr, &kind) {
            let ty = self.k.ir.scalar(dtype);
            return Ok(self.k.value(&fusion::CONSTANT, &[], &[("value", attr)], ty));
        }
        match kind {
            Some(AttrKind::Float { bits, .. }) => {
                Ok(self.k.float_constant(f64::from_bits(bits), dtype))
            }
            Some(kind) if kind.as_int().is_some() => {
                let value = kind.as_int().unwrap_or(0);
                Ok(if dtype.is_float() {
                    self.k.float_constant(value as f64, dtype)
                } else {
                    self.k.int_constant(value, dtype)
                })
            }
            _ => self.refuse(
                op,
                "a constant of this kind has no code generation",
                "write it as a number or a list of elements",
            ),
        }
    }
    pub(super) fn emit_size(&mut self, op: Op) -> Result<Value, Unsupported> {
        let dims = match self.ir().attr_of(op, "shape") {
            Some(AttrKind::Extents(dims)) => dims.clone(),
            _ => Vec::new(),
        };
        let mut product = Idx::Const(1);
        for dim in dims {
            let Some(expr) = self.ir().extent_as_expr(dim.extent) else {
                return self.refuse(op, "one of its extents is `?`", "name the extent, `[N]`");
            };
            let extent = self.eval(&expr)?;
            product = self.k.mul(product, extent);
        }
        Ok(self.k.index(product))
    }
    /// The index along axis `dim`, in mixed radix over the loop axes that form it.
    pub(super) fn emit_iota(
        &mut self,
        op: Op,
        ivs: &FxHashMap<usize, Idx>,
        lanes: Option<u64>,
    ) -> Result<Value, Unsupported> {
        let result = self.ir().result(op, 0);
        let dim = self.ir().int_of(op, "dim").unwrap_or(0) as usize;
        let Some(list) = self.axes.value(result).get(dim).map(|d| d.axes.to_vec()) else {
            return self.refuse(op, "its axis does not exist", "choose an axis of the shape");
        };
        let mut index = Idx::ZERO;
        // From one lane to the next.
        let mut step = None;
        for axis in list {
            let Some(at) = self
                .spec
                .loop_of(axis)
                .filter(|&l| self.spec.loops[l].axes.len() == 1)
            else {
                return self.refuse(
                    op,
                    "its axis is walked together with another one",
                    "walk it as a loop of its own",
                );
            };
            let inner = ivs.get(&at).copied().unwrap_or(Idx::ZERO);
            let here = self.k.add(self.base[at], inner);
            let extent = self.extent[at];
            index = self.k.mul(index, extent);
            index = self.k.add(index, here);
            step = match self.is_vector_axis(at, lanes) {
                true => Some(Idx::Const(1)),
                false => step.map(|step| self.k.mul(step, extent)),
            };
        }
        Ok(self.emit_index(op, index, lanes.zip(step)))
    }
    /// The index `first` as an element of the type of `op`; with `lanes`, a vector with that number of lanes and that
    /// step.
    pub(super) fn emit_index(&mut self, op: Op, first: Idx, lanes: Option<(u64, Idx)>) -> Value {
        let dtype = self.result_dtype(op);
        let scalar = self.k.index(first);
        let value = match lanes {
            Some((n, step)) => {
                let ty = self.k.ir.vector(n, DType::Index);
                let mut lane = self.k.value(&kernel::IOTA, &[], &[], ty);
                if step != Idx::Const(1) {
                    let step = self.k.index(step);
                    lane = self.k.binary(&fusion::MUL, lane, step);
                }
                self.k.binary(&fusion::ADD, lane, scalar)
            }
            None => scalar,
        };
        self.k.cast(value, dtype)
    }
}
