//! An op of the syntax tree from a reader's point of view: operands, attributes by name in custom and generic form,
//! regions.

use std::collections::HashMap;

use fuser_ir::Value;
use fuser_ir::span::Span;
use fuser_ir::types::TypeId;

use super::ast::{Attr, Block, Item, Op, Param};
use crate::program::{Fault, Made};

/// An op whose operands are known.
pub struct Reading<'s> {
    /// The op.
    pub op: &'s Op,
    /// Its operands; of `x init: i` first all `x`, then all `i`.
    pub operands: Vec<Value>,
    /// The stated types of its results.
    pub outputs: Vec<TypeId>,
    /// The values that its regions use from outside.
    pub captured: HashMap<&'s str, Value>,
    /// The text of the file.
    pub source: &'s str,
}

impl<'s> Reading<'s> {
    /// The text of a range.
    pub fn text(&self, span: Span) -> &'s str {
        let range = span.start as usize..span.end as usize;
        self.source.get(range).unwrap_or("")
    }
    /// Operand `index`.
    pub fn operand(&self, index: usize) -> Made {
        let missing = || Fault::form(format!("has no operand {index}"));
        self.operands.get(index).copied().ok_or_else(missing)
    }
    /// The stated type of the result.
    pub fn output(&self) -> Made<TypeId> {
        let missing = || Fault::form("states no type of its result");
        self.outputs.first().copied().ok_or_else(missing)
    }
    /// The attribute with one of `names`, its names in the custom and the generic form.
    pub fn attr(&self, names: &[&str]) -> Option<&'s Attr> {
        names
            .iter()
            .find_map(|name| attr(self.source, self.op, name))
    }
    /// The list of integers called by one of `names`.
    pub fn ints(&self, names: &[&str]) -> Made<Vec<i64>> {
        let found = self.attr(names);
        let found = found.ok_or_else(|| Fault::form(format!("has no `{}`", names[0])))?;
        self.numbers(found)
            .ok_or_else(|| Fault::form(format!("`{}` is no list of integers", names[0])))
    }
    /// The integer called by one of `names`.
    pub fn int(&self, names: &[&str]) -> Made<i64> {
        match self.ints(names)?.as_slice() {
            [number] => Ok(*number),
            _ => Err(Fault::form(format!("`{}` is no integer", names[0]))),
        }
    }
    /// The numbers of a list, of `array<i64: 1, 2>`, of `dense<[1, 2]>`, or one alone.
    pub fn numbers(&self, attr: &Attr) -> Option<Vec<i64>> {
        match attr {
            Attr::List(items) => {
                let one = |item: &Attr| self.text(atom(item)?).parse().ok();
                items.iter().map(one).collect()
            }
            Attr::Atom(span) => {
                let text = self.text(*span);
                if let Ok(number) = text.parse() {
                    return Some(vec![number]);
                }
                let (_, inside) = text.split_once('<')?;
                let inside = inside.trim_end_matches('>');
                let list = match inside.split_once(':') {
                    Some((_, list)) => list,
                    None if text.starts_with("array") => "",
                    None => inside.trim_start_matches('[').trim_end_matches(']'),
                };
                let items = list.split(',').map(str::trim).filter(|i| !i.is_empty());
                items.map(|item| item.parse().ok()).collect()
            }
            Attr::Range(_) | Attr::Dict(_) | Attr::Function => None,
        }
    }
    /// The words among the operands: `GT`, `across`.
    pub fn words(&self) -> impl Iterator<Item = &'s str> {
        self.op.items.iter().filter_map(|item| match item {
            Item::Word(word) => Some(self.text(*word)),
            _ => None,
        })
    }
    /// The integers of a field in an attribute's text, such as `#stablehlo.gather<offset_dims = [1], index_vector_dim =
    /// 1>`; empty if the field is missing.
    pub fn field(&self, names: &[&str], field: &str) -> Made<Vec<i64>> {
        let found = self.attr(names).and_then(atom).map(|span| self.text(span));
        let text = found.ok_or_else(|| Fault::form(format!("has no `{}`", names[0])))?;
        let mut rest = text;
        while let Some(at) = rest.find(field) {
            let before = rest[..at].chars().next_back();
            rest = &rest[at + field.len()..];
            let Some(value) = rest.trim_start().strip_prefix('=') else {
                continue;
            };
            if before.is_some_and(|c| c.is_alphanumeric() || c == '_') {
                continue;
            }
            let value = value.trim_start();
            let list = match value.strip_prefix('[') {
                Some(list) => list.split(']').next().unwrap_or(""),
                None => value.split([',', '>']).next().unwrap_or(""),
            };
            let items = list.split(',').map(str::trim).filter(|i| !i.is_empty());
            let numbers: Option<Vec<i64>> = items.map(|item| item.parse().ok()).collect();
            return numbers.ok_or_else(|| Fault::form(format!("`{field}` is no list of integers")));
        }
        Ok(Vec::new())
    }
    /// The first region.
    pub fn region(&self) -> Option<&'s Block> {
        blocks(self.op).next()
    }
}

/// The token of an attribute that is one.
pub fn atom(attr: &Attr) -> Option<Span> {
    match attr {
        Attr::Atom(span) => Some(*span),
        _ => None,
    }
}

/// The attribute called `name` at any nesting level, such as `stride` in `window = {stride = [1]}`.
pub fn attr<'s>(source: &str, op: &'s Op, name: &str) -> Option<&'s Attr> {
    op.items.iter().find_map(|item| match item {
        Item::Named(key, attr) if is(source, *key, name) => Some(attr),
        Item::Named(_, Attr::Dict(entries)) | Item::Dict(entries) => entry(source, entries, name),
        _ => None,
    })
}

/// The attribute called `name` of a dictionary.
pub fn entry<'s>(source: &str, entries: &'s [(Span, Attr)], name: &str) -> Option<&'s Attr> {
    let found = entries.iter().find(|(key, _)| is(source, *key, name));
    found.map(|(_, attr)| attr)
}

fn is(source: &str, key: Span, name: &str) -> bool {
    let text = source.get(key.start as usize..key.end as usize);
    text.is_some_and(|text| text.trim_matches('"') == name)
}

/// True if an op of this name ends a block.
pub fn is_return(name: &str) -> bool {
    let names = [
        "return",
        "func.return",
        "stablehlo.return",
        "sdy.return",
        "mhlo.return",
        "chlo.return",
    ];
    names.contains(&name.trim_matches('"'))
}

/// The operands of an op, in their order.
pub fn operands(op: &Op) -> Vec<Span> {
    let mut operands = Vec::new();
    let mut inits = Vec::new();
    for item in &op.items {
        match item {
            Item::Value(value) => operands.push(*value),
            Item::Parens(list) => {
                for param in list {
                    match param {
                        Param::Value(value) => operands.push(*value),
                        Param::Init(value, init) => {
                            operands.push(*value);
                            inits.push(*init);
                        }
                        Param::Bound(_, value) => operands.push(*value),
                        Param::Typed(..) | Param::Named | Param::Region(_) => {}
                    }
                }
            }
            _ => {}
        }
    }
    operands.extend(inits);
    operands
}

/// The blocks of an op's regions.
pub fn blocks(op: &Op) -> impl Iterator<Item = &Block> {
    op.items.iter().chain(&op.tail).flat_map(|item| {
        let regions: Vec<&Vec<Block>> = match item {
            Item::Region(region) => vec![region],
            Item::Parens(list) => {
                let regions = list.iter().filter_map(|param| match param {
                    Param::Region(region) => Some(region),
                    _ => None,
                });
                regions.collect()
            }
            _ => Vec::new(),
        };
        regions.into_iter().flatten()
    })
}
