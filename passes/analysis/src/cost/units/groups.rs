//! The roots of a unit that share a loop nest.
//!
//! A *part* is a set of roots whose iteration spaces outside the tile nest, and whose axes are connected by values that
//! the part itself touches. A connection in a later sweep does not count. A sweep is lowered by itself, so the roots
//! would have distinct axes there, and the loop nest would iterate the product of their spaces. Parts with no common
//! computed value share a loop nest if they are islands of equal shape (`axes/islands.rs`) with the same axes.
//!
//! ```text
//! %a = sum %x dims [1] ; %b = sum %y dims [0] ; %g = %a * %x + %b * %y       sweeps: %a | %b | %g
//! %a = sum %x dims [1] ; %b = sum %x dims [0] ; %g = %a * %x + %b * %x       sweeps: %a %b | %g
//! ```
//!
//! A value that a part computes inside a window only connects axes of the group, and none of the part's own. `plan.rs`
//! finds loop nests that would iterate such a product; then each root with such a window is alone (`windows_apart`).
//!
//! A loop nest of more axes serves a root only if none of these axes may be empty: nothing would be computed then. A
//! root whose window reads a value of an earlier unit is alone: in memory, that value has no axes that connect two loop
//! nests.

use std::cmp::Reverse;

use fuser_ir::def::OpClass;
use rustc_hash::FxHashMap;

use super::super::body::{Mask, Source, bits};
use super::Units;

/// A set of values: results by the index of their op, then inputs.
type Values = Vec<u64>;

/// The facts about an op and everything that its unit computes for it.
#[derive(Clone, Default)]
struct Closure {
    /// Axes that it iterates.
    space: Mask,
    /// The values that it reads and computes.
    touched: Values,
    /// True if a window in it reads a value of an earlier unit, or computes what it reads where these are alone.
    alone: bool,
}

/// Roots that share one loop nest by the values that they touch.
struct Part {
    roots: Vec<u32>,
    /// Axes outside the tile.
    outer: Mask,
    touched: Values,
    alone: bool,
}

/// Facts in which two islands must agree to share their axes: the axes, outermost first, and the masks of iterated,
/// scanned and reduced axes.
type Shape = (Vec<usize>, [Mask; 3]);

impl Units<'_> {
    /// The roots of a unit: for each loop nest its parts, and for each part its roots.
    pub(super) fn groups(&self, unit: u32) -> Vec<Vec<Vec<u32>>> {
        let parts = self.parts(unit);
        if parts.len() < 2 {
            return parts.into_iter().map(|part| vec![part.roots]).collect();
        }
        let mut groups: Vec<(Option<Shape>, Vec<Part>)> = Vec::new();
        for part in parts {
            let shape = (!part.alone).then(|| self.shape(unit, &part));
            let alike = |(own, parts): &&mut (Option<Shape>, Vec<Part>)| {
                let (Some(own), Some(shape)) = (own, &shape) else {
                    return false;
                };
                let apart = |other: &Part| self.is_apart(unit, other, &part);
                parts.iter().all(apart) && self.agree((own, &parts[0]), (shape, &part))
            };
            match groups.iter_mut().find(alike) {
                Some((_, parts)) => parts.push(part),
                None => groups.push((shape, vec![part])),
            }
        }
        let roots = |parts: Vec<Part>| parts.into_iter().map(|p| p.roots).collect();
        groups.into_iter().map(|(_, parts)| roots(parts)).collect()
    }

    /// The parts of a unit; parts with more axes come first.
    fn parts(&self, unit: u32) -> Vec<Part> {
        let mut closures = self.closures(unit);
        let mut parts: Vec<Part> = Vec::new();
        let roots = self.roots[unit as usize].iter();
        let mut roots: Vec<(u32, Closure)> = roots
            .map(|&root| (root, closures.remove(&root).unwrap_or_default()))
            .collect();
        roots.sort_by_key(|(root, c)| (Reverse((c.space & !self.tile).count_ones()), *root));
        for (root, closure) in roots {
            let part = Part {
                roots: vec![root],
                outer: closure.space & !self.tile,
                touched: closure.touched,
                alone: closure.alone,
            };
            parts.push(part);
            // The values that it touches may merge parts that were separate without it.
            let mut newest = parts.len() - 1;
            let other = |parts: &[Part], newest: usize| {
                let all = 0..parts.len();
                all.filter(|&at| at != newest)
                    .find(|&at| self.share_a_walk(&parts[at], &parts[newest]))
            };
            while let Some(at) = other(&parts, newest) {
                let (first, second) = (at.min(newest), at.max(newest));
                let merged = parts.remove(second);
                let part = &mut parts[first];
                part.roots.extend(merged.roots);
                part.outer |= merged.outer;
                let both = part.touched.iter_mut().zip(&merged.touched);
                both.for_each(|(own, other)| *own |= other);
                newest = first;
            }
        }
        parts
    }

    /// True if a loop nest over the axes of one part serves the other.
    fn share_a_walk(&self, one: &Part, other: &Part) -> bool {
        let serves = |wide: &Part, narrow: &Part| {
            narrow.outer & !wide.outer == 0
                && wide.outer & !narrow.outer & self.body.may_be_empty == 0
                && narrow.outer & !self.common(&wide.touched, &narrow.touched) == 0
        };
        !one.alone && !other.alone && (serves(one, other) || serves(other, one))
    }

    fn closures(&self, unit: u32) -> FxHashMap<u32, Closure> {
        let nodes = self.body.nodes.len();
        let words = (nodes + self.body.inputs.len()).div_ceil(64);
        let mut closures = FxHashMap::<u32, Closure>::default();
        for &index in &self.contents[unit as usize] {
            let node = &self.body.nodes[index as usize];
            let mut own = Closure {
                space: node.space,
                touched: vec![0; words],
                alone: false,
            };
            let mut touch = |value: usize| own.touched[value / 64] |= 1 << (value % 64);
            touch(index as usize);
            for source in &node.sources {
                match *source {
                    Source::Input(input) => touch(nodes + input as usize),
                    Source::Node(p) => touch(p as usize),
                }
            }
            own.alone |= self.body.windows_apart && self.body.computes_in_window(index);
            for p in self.producers(index) {
                if self.crosses(p, unit) {
                    own.alone |= node.touches.is_some();
                } else if let Some(other) = closures.get(&p) {
                    own.space |= other.space;
                    own.alone |= other.alone;
                    let both = own.touched.iter_mut().zip(&other.touched);
                    both.for_each(|(own, other)| *own |= other);
                }
            }
            closures.insert(index, own);
        }
        closures
    }

    /// The axes of a value, stored or not, outermost first.
    fn logical(&self, value: usize) -> &[usize] {
        match value.checked_sub(self.body.nodes.len()) {
            Some(input) => &self.body.inputs[input].logical,
            None => &self.body.nodes[value].logical,
        }
    }

    /// The axes of values that are in both sets.
    fn common(&self, one: &[u64], other: &[u64]) -> Mask {
        let axes = both(one, other).flat_map(|value| self.logical(value));
        axes.fold(0, |m, axis| m | 1 << axis)
    }

    /// True if no value that both parts compute connects them. Constants, and values that both read through windows,
    /// connect nothing.
    fn is_apart(&self, unit: u32, one: &Part, other: &Part) -> bool {
        let made = |value: usize| {
            let node = self.body.nodes.get(value);
            node.is_some_and(|n| n.class != OpClass::Creation && !n.is_unwalked())
                && !self.crosses(value as u32, unit)
        };
        !both(&one.touched, &other.touched).any(made)
    }

    /// True if two islands share all axes: axes of values that both touch, and the others in order.
    fn agree(&self, one: (&Shape, &Part), other: (&Shape, &Part)) -> bool {
        let common = self.common(&one.1.touched, &other.1.touched);
        let rest = |order: &[usize]| -> Vec<usize> {
            let axes = order.iter().filter(|&&axis| common & 1 << axis == 0);
            axes.copied().collect()
        };
        let agreed = if common == 0 { 3 } else { 2 };
        let ((one, facts), (other, others)) = (one.0, other.0);
        facts[..agreed] == others[..agreed]
            && one.last() == other.last()
            && rest(one) == rest(other)
    }

    /// The shape of a part as an island.
    fn shape(&self, unit: u32, part: &Part) -> Shape {
        let nodes = &self.body.nodes;
        let inputs = |value: usize| value.checked_sub(nodes.len());
        let computed = both(&part.touched, &part.touched)
            .filter(|&value| inputs(value).is_none() && !self.crosses(value as u32, unit));
        let mut values: Vec<usize> = Vec::new();
        let [mut walked, mut reduced, mut scanned] = [0; 3];
        for index in computed {
            let node = &nodes[index];
            reduced |= node.reduced;
            scanned |= node.scanned;
            values.extend(node.sources.iter().map(|source| match *source {
                Source::Input(input) => nodes.len() + input as usize,
                Source::Node(p) => p as usize,
            }));
            values.push(index);
        }
        for &value in &values {
            walked |= match inputs(value) {
                Some(input) => self.body.inputs[input].stored,
                None => nodes[value].stored,
            };
        }
        // The last of the values with the most axes gives the order.
        let widest = values.iter();
        let widest = widest.max_by_key(|&&value| self.logical(value).len());
        let mut order: Vec<usize> = Vec::new();
        for &value in widest.into_iter().chain(&values) {
            for &axis in self.logical(value) {
                if !order.contains(&axis) {
                    order.push(axis);
                }
            }
        }
        (order, [walked | reduced, scanned, reduced])
    }
}

/// The values that are in both sets, ascending.
fn both<'a>(one: &'a [u64], other: &'a [u64]) -> impl Iterator<Item = usize> + 'a {
    let words = one.iter().zip(other).map(|(a, b)| a & b).enumerate();
    words.flat_map(|(word, set)| bits(Mask::from(set)).map(move |bit| word * 64 + bit))
}
