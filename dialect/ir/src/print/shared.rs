//! Aliases for types, attributes and locations that are long and occur in many places, so that the text stays in
//! proportion to the program.
//!
//! A part that occurs in many places is stored once, and text can name it once: `#a = [#b, #b]`. Expanded everywhere, a
//! few lines become megabytes. Parts that are [`LONG`] and occur in several places are counted. If expanding them each
//! time would add more than [`MOST_REPEATED`] bytes, all of them get aliases after the program, like those of
//! locations. The output is then in proportion to the input, and the parser, which counts parts with aliases expanded,
//! accepts it as before. Other programs print without aliases.

use rustc_hash::FxHashMap;

use super::PrintOptions;
use super::locs::is_nested;
use crate::attr::AttrKind;
use crate::ir::{Ir, Op};
use crate::part::{Part, open};
use crate::types::{Extent, TypeKind};

/// Bytes from which on a part may get an alias. Types of real programs are shorter.
const LONG: usize = 256;
/// Bytes that may be spent on repeating text.
const MOST_REPEATED: usize = 1 << 20;

/// The long parts of a program, each with true if it occurs in several places; empty if no alias is needed.
#[derive(Default)]
pub struct Shared(FxHashMap<Part, bool>);

impl Shared {
    /// The parts that print as aliases in the text of `root`.
    pub fn of(ir: &Ir, root: Op, options: &PrintOptions) -> Self {
        let mut counter = Counter {
            ir,
            options,
            sizes: FxHashMap::default(),
            seen: FxHashMap::default(),
            repeated: 0,
            next: Vec::new(),
        };
        for op in ir.walk(root) {
            counter.op(op);
        }
        if counter.repeated <= MOST_REPEATED {
            return Self::default();
        }
        Self(counter.seen)
    }
    /// True if `part` is long, in a program with aliases.
    pub fn is_long(&self, part: impl Into<Part>) -> bool {
        !self.0.is_empty() && self.0.contains_key(&part.into())
    }
    /// True if `part` has an alias.
    pub fn has(&self, part: impl Into<Part>) -> bool {
        !self.0.is_empty() && self.0.get(&part.into()) == Some(&true)
    }
}

struct Counter<'a> {
    ir: &'a Ir,
    options: &'a PrintOptions,
    /// The printed bytes of each part, fully expanded.
    sizes: FxHashMap<Part, usize>,
    /// Long parts in the program, each with true if it occurs in several places.
    seen: FxHashMap<Part, bool>,
    repeated: usize,
    /// Parts of visited parts, each with true if it is a location that has an alias in any case.
    next: Vec<(Part, bool)>,
}

impl Counter<'_> {
    fn op(&mut self, op: Op) {
        let ir = self.ir;
        for (_, attr) in ir.attrs(op) {
            self.count((*attr).into());
        }
        for value in ir.results(op) {
            self.count(ir.value_type(*value).into());
        }
        if self.options.generic {
            for value in ir.operands(op) {
                self.count(ir.value_type(value).into());
            }
        }
        for region in ir.op_regions(op) {
            for block in ir.region_blocks(*region) {
                for arg in ir.args(block) {
                    self.count(ir.value_type(*arg).into());
                }
            }
        }
        if self.options.debuginfo {
            self.count(ir.op_loc(op).into());
        }
    }
    /// Counts a part of an op, and at its first occurrence the parts inside it.
    fn count(&mut self, part: Part) {
        if self.is_short(part) {
            return;
        }
        self.next.push((part, self.is_aliased(part)));
        while let Some((part, aliased)) = self.next.pop() {
            let size = self.size(part);
            if size <= LONG {
                continue;
            }
            if let Some(several) = self.seen.get_mut(&part) {
                *several = true;
                let more = if aliased { 0 } else { size };
                self.repeated = self.repeated.saturating_add(more);
                continue;
            }
            self.seen.insert(part, false);
            let mut inside = Vec::new();
            open(self.ir, part, &mut inside);
            let inner = inside.into_iter().filter(|p| !self.is_short(*p));
            let inner = inner.map(|p| (p, aliased && self.is_aliased(p)));
            let inner: Vec<_> = inner.collect();
            self.next.extend(inner);
        }
    }
    /// Locations with others inside have aliases in every program, unless they are part of an attribute.
    fn is_aliased(&self, part: Part) -> bool {
        match part {
            Part::Loc(loc) => !self.options.local_scope && is_nested(self.ir, loc),
            _ => false,
        }
    }
    /// True if `part` is evidently short, as most are; answered without counting.
    fn is_short(&self, part: Part) -> bool {
        let ir = self.ir;
        match part {
            Part::Type(ty) => match ir.ty(ty) {
                TypeKind::None | TypeKind::Scalar(_) | TypeKind::Integer { .. } => true,
                TypeKind::Tensor(tensor) => {
                    let named = |d: &crate::Dim| matches!(d.extent, Extent::Symbolic(_));
                    tensor.encoding.is_none() && !tensor.dims.iter().any(named)
                }
                _ => false,
            },
            Part::Attr(attr) => match ir.attr_kind(attr) {
                AttrKind::Unit | AttrKind::Bool(_) | AttrKind::Int { .. } => true,
                AttrKind::Float { .. } => true,
                AttrKind::String(text) => ir.str(*text).len() <= LONG,
                AttrKind::Type(ty) => self.is_short(Part::Type(*ty)),
                _ => false,
            },
            Part::Loc(loc) => match ir.loc_kind(loc) {
                crate::LocKind::Unknown => true,
                crate::LocKind::File { file, .. } => ir.str(*file).len() <= LONG / 2,
                _ => false,
            },
        }
    }
    /// The printed bytes of `part`, fully expanded.
    fn size(&mut self, part: Part) -> usize {
        if let Some(&size) = self.sizes.get(&part) {
            return size;
        }
        let mut stack = vec![(part, false)];
        while let Some((part, opened)) = stack.pop() {
            if self.sizes.contains_key(&part) {
                continue;
            }
            let mut inside = Vec::new();
            let own = open(self.ir, part, &mut inside);
            if opened || inside.is_empty() {
                let inner = inside.iter().filter_map(|p| self.sizes.get(p).copied());
                let size = inner.fold(own, usize::saturating_add);
                self.sizes.insert(part, size);
            } else {
                stack.push((part, true));
                stack.extend(inside.into_iter().map(|p| (p, false)));
            }
        }
        self.sizes.get(&part).copied().unwrap_or(0)
    }
}
