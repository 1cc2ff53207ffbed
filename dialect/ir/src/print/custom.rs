//! The custom form of an op by its table: the test that it fits, its head, its clauses.

use super::attrs::{is_scalar, number};
use super::ops::Printer;
use super::text::Writer;
use super::types::is_function;
use crate::attr::{AttrId, AttrKind};
use crate::check;
use crate::def::{ClauseDef, ClauseKind, OpDef, OpParts};
use crate::ir::{Op, Region, Value};
use crate::types::{DType, TypeId, TypeKind};

impl<'a> Printer<'a> {
    /// True if the custom form of `op` parses to the same op.
    pub(super) fn fits_custom_form(&self, op: Op) -> bool {
        let ir = self.ir;
        let Some(def) = ir.def(op) else {
            return ir.name(op) == "builtin.module" && self.is_plain_module(op);
        };
        let known = |key: &str| key.contains('.') || check::known_attributes(def).any(|k| k == key);
        let missing = |c: &ClauseDef| c.required && ir.get_attr(op, c.name).is_none();
        let regions = ir.op_regions(op);
        let least = def.regions.iter().filter(|r| !r.optional).count();
        ir.attrs(op).iter().all(|(key, _)| known(ir.str(*key)))
            && !def.clauses.iter().any(missing)
            && (least..=def.regions.len()).contains(&regions.len())
            && regions.iter().all(|r| self.region_fits(*r, def))
            && (!def.syntax.symbol || self.symbol_fits(op))
            && (!def.syntax.signature || self.signature_fits(op))
            && (def.infer.is_some() || !ir.results(op).is_empty() || def.results.is_empty())
    }
    fn is_plain_module(&self, op: Op) -> bool {
        let ir = self.ir;
        let region = ir.op_regions(op).first().and_then(|r| ir.entry_block(*r));
        let block = region.filter(|b| ir.args(*b).is_empty());
        ir.op_regions(op).len() == 1
            && block.is_some_and(|b| ir.block_name(b).is_none())
            && ir.operand_count(op) == 0
            && ir.results(op).is_empty()
            && ir
                .attrs(op)
                .iter()
                .all(|(key, _)| ir.str(*key).contains('.'))
    }
    /// A region needs a block, and a terminator in its last one; otherwise the parser would add them.
    fn region_fits(&self, region: Region, def: &OpDef) -> bool {
        let Some(last) = self.ir.region_blocks(region).last() else {
            return false;
        };
        def.syntax.terminator.is_none() || self.ir.terminator(last).is_some()
    }
    fn symbol_fits(&self, op: Op) -> bool {
        match self.ir.get_attr(op, "sym_name") {
            Some(name) => {
                let plain = matches!(self.ir.attr_kind(name), AttrKind::String(_));
                plain && !self.writer.shared.is_long(name)
            }
            None => true,
        }
    }
    fn signature_fits(&self, op: Op) -> bool {
        let ir = self.ir;
        let Some((inputs, results)) = self.signature_types(op) else {
            return false;
        };
        let args = ir.body(op, 0).map(|b| ir.args(b)).unwrap_or_default();
        let types = args.iter().map(|a| ir.value_type(*a));
        let named = ir.body(op, 0).is_some_and(|b| ir.block_name(b).is_some());
        let long = |name: &str| {
            let attr = ir.get_attr(op, name);
            attr.is_some_and(|a| self.writer.shared.is_long(a))
        };
        let list = |name: &str, count: usize| match ir.attr_of(op, name) {
            None => true,
            // Its entries are written in place.
            Some(_) if long(name) => false,
            Some(AttrKind::Array(dicts)) => {
                let is_dict = |d: &AttrId| matches!(ir.attr_kind(*d), AttrKind::Dict(_));
                // All empty would be left out and not come back.
                let empty = |d: &AttrId| *ir.attr_kind(*d) == AttrKind::Dict(Vec::new());
                dicts.len() == count && dicts.iter().all(is_dict) && !dicts.iter().all(empty)
            }
            Some(_) => false,
        };
        types.eq(inputs.iter().copied())
            && !named
            && list("arg_attrs", inputs.len())
            && list("res_attrs", results.len())
    }
    fn signature_types(&self, op: Op) -> Option<(&'a [TypeId], &'a [TypeId])> {
        let ty = self.ir.attr_of(op, "function_type")?.as_type()?;
        match self.ir.ty(ty) {
            TypeKind::Function { inputs, results } => Some((inputs, results)),
            _ => None,
        }
    }

    pub(super) fn custom_head(&mut self, op: Op) {
        let ir = self.ir;
        let Some(def) = ir.def(op) else {
            self.text("module");
            return self.module_dict(op, &[]);
        };
        let module = def.name == "builtin.module";
        self.text(if module { "module" } else { def.name });
        if let Some(name) = ir.symbol_name(op).filter(|_| def.syntax.symbol) {
            self.text(" ");
            self.writer.symbol(name);
        }
        if def.syntax.signature {
            self.signature(op);
        }
        let operands = self.plain_operands(op);
        if !operands.is_empty() {
            self.text(" ");
            self.values(operands.into_iter());
        }
        if ir.successor_count(op) > 0 {
            self.text(" ");
            self.successors(op);
        }
        let mut written: Vec<&str> = Vec::new();
        if def.syntax.symbol {
            written.push("sym_name");
        }
        if def.syntax.signature {
            written.extend(["function_type", "arg_attrs", "res_attrs"]);
        }
        for clause in def.clauses {
            if let Some(attr) = ir.get_attr(op, clause.name)
                && self.clause(op, clause, attr)
            {
                written.push(clause.name);
            }
        }
        match module {
            true => self.module_dict(op, &written),
            false => self.dict(op, |key| !written.contains(&key)),
        }
    }
    /// The dictionary of a module follows the word that MLIR uses there.
    fn module_dict(&mut self, op: Op, written: &[&str]) {
        let ir = self.ir;
        let shown = |key: &str| key != crate::RESOURCES && !written.contains(&key);
        if ir.attrs(op).iter().any(|(key, _)| shown(ir.str(*key))) {
            self.text(" attributes");
        }
        self.dict(op, |key| !written.contains(&key));
    }
    fn signature(&mut self, op: Op) {
        let ir = self.ir;
        let Some((_, results)) = self.signature_types(op) else {
            return;
        };
        let args = ir.body(op, 0).map(|b| ir.args(b)).unwrap_or_default();
        self.text("(");
        for (index, arg) in args.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.typed_values(&[*arg]);
            self.attached(op, "arg_attrs", index);
        }
        self.text(")");
        if results.is_empty() {
            return;
        }
        let plain = results.len() == 1
            && !is_function(ir, results[0])
            && ir.get_attr(op, "res_attrs").is_none();
        self.text(if plain { " -> " } else { " -> (" });
        for (index, ty) in results.iter().enumerate() {
            if index > 0 {
                self.text(", ");
            }
            self.writer.ty(*ty);
            self.attached(op, "res_attrs", index);
        }
        self.text(if plain { "" } else { ")" });
    }
    /// Writes entry `index` of a list of dictionaries, if it is not empty.
    fn attached(&mut self, op: Op, list: &str, index: usize) {
        let Some(AttrKind::Array(dicts)) = self.ir.attr_of(op, list) else {
            return;
        };
        let Some(&dict) = dicts.get(index) else {
            return;
        };
        if *self.ir.attr_kind(dict) != AttrKind::Dict(Vec::new()) {
            self.text(" ");
            self.writer.attr(dict);
        }
    }
    /// Writes a clause; `false` if its value cannot be written as one, or may have an alias, and belongs in the
    /// dictionary.
    fn clause(&mut self, op: Op, clause: &ClauseDef, attr: AttrId) -> bool {
        let Some(value) = self.clause_text(op, clause.kind, attr) else {
            return false;
        };
        self.text(" ");
        self.text(clause.name);
        if clause.kind != ClauseKind::Unit {
            self.text(" ");
            self.text(&value);
        }
        true
    }
    fn clause_text(&self, op: Op, kind: ClauseKind, attr: AttrId) -> Option<String> {
        let ir = self.ir;
        if self.writer.shared.is_long(attr) {
            return None;
        }
        let whole = || Some(super::print_attr(ir, attr));
        match (kind, ir.attr_kind(attr)) {
            (ClauseKind::Unit, AttrKind::Unit) => Some(String::new()),
            (ClauseKind::I64Array | ClauseKind::Amounts, AttrKind::I64Array(values)) => {
                let items: Vec<String> = values.iter().map(i64::to_string).collect();
                Some(format!("[{}]", items.join(", ")))
            }
            (ClauseKind::Extents | ClauseKind::Amounts, AttrKind::Extents(dims)) => {
                let mut writer = Writer::new(ir, None);
                writer.text("[");
                writer.dims(dims);
                writer.text("]");
                Some(writer.out)
            }
            (ClauseKind::DType | ClauseKind::Type | ClauseKind::Any, AttrKind::Type(ty)) => {
                Some(super::print_type(ir, *ty)).filter(|_| !is_function(ir, *ty))
            }
            (ClauseKind::Int, AttrKind::Int { ty, .. }) if is_scalar(ir, *ty, DType::I64) => {
                whole()
            }
            (ClauseKind::Number, AttrKind::Int { ty, .. } | AttrKind::Float { ty, .. }) => {
                let text = number(ir, attr);
                (self.number_type(op, &text) == self.scalar_dtype(*ty)).then_some(text)
            }
            (ClauseKind::Number | ClauseKind::Any, AttrKind::Dense { ty, .. }) => {
                self.dense_clause(op, attr, *ty)
            }
            (ClauseKind::String | ClauseKind::Any, AttrKind::String(_)) => whole(),
            (ClauseKind::Keyword(words), AttrKind::String(text)) => {
                let text = ir.str(*text);
                words.contains(&text).then(|| text.to_owned())
            }
            (ClauseKind::Symbol | ClauseKind::Any, AttrKind::SymbolRef(_)) => whole(),
            (ClauseKind::StringArray, AttrKind::Array(items)) => {
                let string = |a: &AttrId| matches!(ir.attr_kind(*a), AttrKind::String(_));
                whole().filter(|_| items.iter().all(string))
            }
            (ClauseKind::Number | ClauseKind::Any, AttrKind::Bool(_)) => whole(),
            (
                ClauseKind::Any,
                AttrKind::Unit | AttrKind::Array(_) | AttrKind::I64Array(_) | AttrKind::Extents(_),
            ) => whole(),
            (ClauseKind::Any, AttrKind::Int { ty, .. }) if is_scalar(ir, *ty, DType::I64) => {
                whole()
            }
            (ClauseKind::Any, AttrKind::Float { bits, ty })
                if is_scalar(ir, *ty, DType::F64) && f64::from_bits(*bits).is_finite() =>
            {
                whole()
            }
            (ClauseKind::Any, AttrKind::Opaque { text }) => {
                whole().filter(|_| !ir.str(*text).starts_with('{'))
            }
            _ => None,
        }
    }
    fn scalar_dtype(&self, ty: TypeId) -> Option<DType> {
        match self.ir.ty(ty) {
            TypeKind::Scalar(dtype) => Some(*dtype),
            _ => None,
        }
    }
    /// The type that the parser gives a number in a clause.
    fn number_type(&self, op: Op, text: &str) -> Option<DType> {
        let dtype = |v: Value| self.ir.value_kind(v).dtype();
        let results = self.ir.results(op).first().copied();
        let stated = results
            .filter(|_| self.writes_types_of_number(op))
            .and_then(dtype);
        let operand = self.plain_operands(op).first().copied().and_then(dtype);
        let float = text.contains(['.', 'e']) && !text.starts_with("0x");
        let default = if float { DType::F64 } else { DType::I64 };
        Some(stated.or(operand).unwrap_or(default))
    }
    /// True if the result types are certain to be written, so that a number's type can be inferred from them.
    fn writes_types_of_number(&self, op: Op) -> bool {
        self.options.types || self.scratch.is_none() || !self.is_inferred(op)
    }
    fn dense_clause(&self, op: Op, attr: AttrId, ty: TypeId) -> Option<String> {
        let result = *self.ir.results(op).first()?;
        let leans = self.ir.value_type(result) == ty && self.writes_types_of_number(op);
        let AttrKind::Dense {
            dtype,
            splat,
            bytes,
            ..
        } = self.ir.attr_kind(attr)
        else {
            return None;
        };
        let count = bytes.len() as u64 / dtype.bytes();
        if !leans || self.options.elide.is_some_and(|most| count > most as u64) {
            return None;
        }
        let mut writer = Writer::new(self.ir, None);
        writer.dense(ty, *dtype, *splat, bytes);
        Some(writer.out)
    }
    /// True if the custom form states the result types.
    pub(super) fn writes_types(&self, op: Op) -> bool {
        !self.ir.results(op).is_empty() && (self.scratch.is_none() || !self.is_inferred(op))
    }
    /// True if the parser infers the result types of `op`.
    fn is_inferred(&self, op: Op) -> bool {
        let (Some(scratch), Some(def)) = (&self.scratch, self.ir.def(op)) else {
            return false;
        };
        let Some(infer) = def.infer.filter(|_| !self.names.is_early(op)) else {
            return false;
        };
        let operands = self.plain_operands(op);
        let parts = OpParts {
            operands: &operands,
            attrs: self.ir.attrs(op),
            regions: self.ir.op_regions(op),
            stated: None,
        };
        let types = self.ir.results(op).iter().map(|v| self.ir.value_type(*v));
        infer(&mut scratch.borrow_mut(), parts).is_ok_and(|inferred| types.eq(inferred))
    }
}
