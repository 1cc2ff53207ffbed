//! Attributes and locations: the actions of the grammar that make them.

use super::actions::{ItemValue, Named, Parser};
use super::literal;
use super::shape::Reader;
use crate::attr::{AttrId, AttrKind};
use crate::codes;
use crate::float;
use crate::intern::Sym;
use crate::loc::{Fused, LocId, LocKind};
use crate::span::Span;
use crate::types::{DType, TypeId, TypeKind};

impl Parser<'_> {
    fn unit(&mut self) -> AttrId {
        self.ir.attr(AttrKind::Unit)
    }
    /// Reports a malformed attribute, and gives something in its place.
    fn bad_attr(&mut self, span: Span, message: impl Into<String>) -> AttrId {
        self.error(&codes::BAD_ATTRIBUTE, span, message);
        self.unit()
    }

    /// A number with or without its type: `i64` and `f64` go without saying.
    pub fn number_attr(&mut self, span: Span, ty: Option<TypeId>) -> AttrId {
        let float = literal::is_float(self.text(span));
        let default = if float { DType::F64 } else { DType::I64 };
        let ty = ty.unwrap_or_else(|| self.ir.scalar(default));
        self.typed_number(span, ty)
    }
    /// A number of a type.
    pub fn typed_number(&mut self, span: Span, ty: TypeId) -> AttrId {
        let text = self.text(span);
        match *self.ir.ty(ty) {
            TypeKind::Scalar(dtype) if dtype.is_float() => self.float_number(span, dtype, ty),
            TypeKind::Scalar(dtype) if !dtype.is_complex() => {
                let signed = literal::signedness(dtype);
                self.integer_number(span, ty, dtype.bits(), signed)
            }
            TypeKind::Integer { width, signed } => self.integer_number(span, ty, width, signed),
            TypeKind::None if self.statement.failed => self.unit(),
            _ => self.bad_attr(span, format!("`{text}` needs an integer or float type")),
        }
    }
    fn float_number(&mut self, span: Span, dtype: DType, ty: TypeId) -> AttrId {
        match literal::float_bits(dtype, self.text(span)) {
            Ok(bits) => {
                let bits = float::widen(dtype, bits);
                self.ir.attr(AttrKind::Float { bits, ty })
            }
            Err(message) => self.bad_attr(span, message),
        }
    }
    fn integer_number(
        &mut self,
        span: Span,
        ty: TypeId,
        width: u32,
        signed: Option<bool>,
    ) -> AttrId {
        let text = self.text(span);
        if literal::is_float(text) {
            return self.bad_attr(span, format!("`{text}` is no integer"));
        }
        let Some(value) = literal::integer(text) else {
            let message = "an integer literal has at most 128 bits";
            self.error(&codes::LIMIT_INTEGER, span, message);
            return self.unit();
        };
        let (low, high) = literal::integer_range(width, signed);
        if value < low || value > high {
            return self.bad_attr(
                span,
                format!("`{text}` does not fit a type of {width} bits"),
            );
        }
        self.ir.attr(AttrKind::Int { value, ty })
    }
    /// `dense<...> : T`
    pub fn dense_attr(&mut self, span: Span, ty: TypeId) -> AttrId {
        let Some((dtype, shape)) = self.dense_shape(ty) else {
            let message = "dense elements need a tensor or vector type with static extents";
            return self.bad_attr(span, message);
        };
        let limit = self.options.limits.dense_elements;
        let count = shape.iter().try_fold(1u64, |n, d| n.checked_mul(*d));
        let splat = !self.text(span).contains('[');
        if !splat && count.is_none_or(|n| n > limit as u64) {
            let message = format!("a dense attribute has at most {limit} elements");
            self.error(&codes::LIMIT_DENSE, span, message);
            return self.unit();
        }
        match literal::dense(self.text(span), dtype, &shape, limit) {
            Ok(data) => self.ir.attr(AttrKind::Dense {
                ty,
                dtype,
                splat: data.splat,
                bytes: data.bytes,
            }),
            Err(message) => self.bad_attr(span, message),
        }
    }
    fn dense_shape(&self, ty: TypeId) -> Option<(DType, Vec<u64>)> {
        match self.ir.ty(ty) {
            TypeKind::Vector { shape, dtype } => Some((*dtype, shape.clone())),
            TypeKind::Tensor(tensor) => {
                let extents = tensor.dims.iter().map(|d| match d.extent {
                    crate::types::Extent::Static(v) => Some(v),
                    _ => None,
                });
                Some((tensor.dtype, extents.collect::<Option<_>>()?))
            }
            _ => None,
        }
    }
    /// The text of a string literal.
    pub fn string(&mut self, span: Span) -> Sym {
        self.check_string(span);
        let text = self.text(span);
        match literal::unescape(text) {
            Some(text) => self.ir.sym(&text),
            None => {
                let message = "an escape in this string is unknown, or its bytes are not UTF-8";
                self.error(&codes::BAD_STRING, span, message);
                self.ir.sym("")
            }
        }
    }
    /// `"text"`
    pub fn string_attr(&mut self, span: Span) -> AttrId {
        let text = self.string(span);
        self.ir.attr(AttrKind::String(text))
    }
    /// `"text"` as the value of a clause.
    pub fn item_string(&mut self, span: Span) -> ItemValue {
        ItemValue::Str(self.string(span))
    }
    /// `array<i64: ...>`
    pub fn array_attr(&mut self, span: Span) -> AttrId {
        match literal::i64_array(self.text(span)) {
            Ok(Some(values)) => self.ir.attr(AttrKind::I64Array(values)),
            Ok(None) => self.opaque_attr(span),
            Err(message) => self.bad_attr(span, message),
        }
    }
    /// `extents<...>`
    pub fn extents_attr(&mut self, span: Span) -> AttrId {
        let text = self.text(span);
        match Reader::new(self.ir, &self.options.limits, text).extents() {
            Ok(dims) => self.ir.attr(AttrKind::Extents(dims)),
            Err(error) => {
                self.shape_error(span, error);
                self.unit()
            }
        }
    }
    /// `#dialect.attr<...>`, `affine_map<...>`: kept as text.
    pub fn opaque_attr(&mut self, span: Span) -> AttrId {
        self.check_string(span);
        let text = self.text(span);
        let text = self.ir.sym(text);
        self.ir.attr(AttrKind::Opaque { text })
    }
    /// `true`, `unit`, or a type.
    pub fn word_attr(&mut self, span: Span) -> AttrId {
        let word = self.text(span);
        if literal::is_special(word) {
            return self.number_attr(span, None);
        }
        let kind = match word {
            "true" => AttrKind::Bool(true),
            "false" => AttrKind::Bool(false),
            "unit" => AttrKind::Unit,
            _ => match self.type_of_word(word) {
                Some(ty) => AttrKind::Type(ty),
                None => {
                    let message = format!("`{word}` is no attribute");
                    let help = format!("text is written in quotes: \"{word}\"");
                    self.error_with_help(&codes::BAD_ATTRIBUTE, span, message, help);
                    AttrKind::Unit
                }
            },
        };
        self.ir.attr(kind)
    }
    /// `[a, b]`
    pub fn list_attr(&mut self, span: Span, items: Vec<AttrId>) -> AttrId {
        let parts: Vec<_> = items.iter().map(|a| (*a).into()).collect();
        let attr = self.ir.attr(AttrKind::Array(items));
        self.weigh(attr, &parts, span);
        attr
    }
    /// `{k = v}`
    pub fn dict_attr(&mut self, entries: Vec<Named>) -> AttrId {
        let mut sorted: Vec<(Sym, AttrId)> = Vec::with_capacity(entries.len());
        self.check_duplicates(&entries);
        sorted.extend(entries.iter().map(|e| (e.key, e.value)));
        let strings = &self.ir.strings;
        sorted.sort_by(|a, b| strings.get(a.0).cmp(strings.get(b.0)));
        let parts: Vec<_> = sorted.iter().map(|e| e.1.into()).collect();
        let span = entries.first().map_or(Span::default(), |e| e.span);
        let attr = self.ir.attr(AttrKind::Dict(sorted));
        self.weigh(attr, &parts, span);
        attr
    }
    /// Reports duplicate names.
    pub fn check_duplicates(&mut self, entries: &[Named]) {
        if entries.len() < 2 {
            return;
        }
        let mut seen = rustc_hash::FxHashSet::default();
        for entry in entries {
            if !seen.insert(entry.key) {
                self.duplicate(entry.key, entry.span);
            }
        }
    }
    /// Reports one attribute that was given before.
    pub fn duplicate(&mut self, key: Sym, span: Span) {
        let message = format!("`{}` is given twice", self.ir.str(key));
        self.error(&codes::DUPLICATE_ATTRIBUTE, span, message);
    }
    /// `k` alone in a dictionary.
    pub fn unit_entry(&mut self, (key, span): (Sym, Span)) -> Named {
        let value = self.unit();
        Named { key, value, span }
    }
    /// `k = v`
    pub fn entry(&mut self, (key, span): (Sym, Span), value: AttrId) -> Named {
        Named { key, value, span }
    }
    /// The name of an attribute.
    pub fn key(&mut self, span: Span) -> (Sym, Span) {
        self.check_identifier(span);
        let text = self.text(span);
        (self.ir.sym(text), span)
    }
    /// The name of an attribute, in quotes.
    pub fn string_key(&mut self, span: Span) -> (Sym, Span) {
        (self.string(span), span)
    }
    /// The name of `@name`.
    pub fn symbol_text(&mut self, span: Span) -> Sym {
        self.check_identifier(span);
        let text = self.text(span).trim_start_matches('@');
        if text.starts_with('"') {
            return self.string(Span::new(span.start + 1, span.end));
        }
        self.ir.sym(text)
    }
    /// `@a`
    pub fn symbol_ref(&mut self, path: Vec<Span>) -> AttrId {
        let path = path.into_iter().map(|s| self.symbol_text(s)).collect();
        self.ir.attr(AttrKind::SymbolRef(path))
    }
    /// `@a::@b`
    pub fn nested_symbol_ref(&mut self, first: Span, rest: Vec<Span>) -> AttrId {
        let path = std::iter::once(first).chain(rest).collect();
        self.symbol_ref(path)
    }
    /// A type as an attribute.
    pub fn type_attr(&mut self, ty: TypeId) -> AttrId {
        let attr = self.ir.attr(AttrKind::Type(ty));
        self.weigh(attr, &[ty.into()], Span::default());
        attr
    }
    /// A location as an attribute.
    pub fn loc_attr(&mut self, loc: LocId) -> AttrId {
        let attr = self.ir.attr(AttrKind::Loc(loc));
        self.weigh(attr, &[loc.into()], Span::default());
        attr
    }

    // --- locations

    fn bad_loc(&mut self, span: Span, message: impl Into<String>) -> LocId {
        self.error(&codes::BAD_LOCATION, span, message);
        self.ir.unknown_loc()
    }
    /// `unknown`
    pub fn word_loc(&mut self, span: Span) -> LocId {
        match self.text(span) {
            "unknown" => self.ir.unknown_loc(),
            word => self.bad_loc(span, format!("`{word}` is no location")),
        }
    }
    /// `"name"`, `"name"(child)`
    pub fn name_loc(&mut self, span: Span, child: Option<LocId>) -> LocId {
        let name = self.string(span);
        let loc = self.ir.loc(LocKind::Name { name, child });
        if let Some(child) = child {
            self.weigh(loc, &[child.into()], span);
        }
        loc
    }
    /// `"file":line:column`
    pub fn file_loc(&mut self, file: Span, line: Span, column: Span) -> LocId {
        let file = self.string(file);
        let number = |span| self.text(span).parse::<u32>().ok();
        match (number(line), number(column)) {
            (Some(line), Some(column)) => self.ir.loc(LocKind::File { file, line, column }),
            _ => self.bad_loc(line.to(column), "line and column have at most 32 bits"),
        }
    }
    /// `callsite(callee at caller)`
    pub fn call_loc(&mut self, word: Span, callee: LocId, at: Span, caller: LocId) -> LocId {
        if self.text(word) != "callsite" || self.text(at) != "at" {
            return self.bad_loc(word, "expected `callsite(callee at caller)`");
        }
        let loc = self.ir.loc(LocKind::CallSite { callee, caller });
        self.weigh(loc, &[callee.into(), caller.into()], word);
        loc
    }
    /// `fused[a, b]`
    pub fn fused_loc(&mut self, word: Span, meta: Option<AttrId>, parts: Vec<LocId>) -> LocId {
        if self.text(word) != "fused" {
            return self.bad_loc(word, "expected `fused[a, b]`");
        }
        if meta.is_some() {
            let message = "the metadata of a fused location is not kept";
            self.warning(&codes::BAD_LOCATION, word, message);
        }
        let weights: Vec<_> = parts.iter().map(|l| (*l).into()).collect();
        let loc = self.ir.loc(LocKind::Fused(Box::new(Fused { parts })));
        self.weigh(loc, &weights, word);
        loc
    }
}
