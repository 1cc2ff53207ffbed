//! Programs on several devices: meshes and shardings of Shardy, per-device programs, and collectives.
//!
//! ```text
//! sdy.mesh @mesh = <["x"=2]>                                         task.mesh axes ["x"] sizes [2]
//! sdy.sharding_constraint %a <@mesh, [{"x"}, {}]>             =>     task.shard %a to [["x"], []]
//! sdy.manual_computation(%a) ... (%b: tensor<2x8xf32>) {             task.devices %a body @part_0 in [[["x"], []]] out [[[]]]
//!   "stablehlo.all_reduce"(%b) ... dense<[[0, 1]]>                     fusion.all_reduce %b over ["x"] combine sum
//! ```
//!
//! A module of Shardy may have several meshes over the same devices; Fuser has one. Its axes are the finest ones: they
//! separate all device strides of any axis of any mesh, or of any part of an axis (`"x":(1)2`). An axis of the text is
//! a sequence of these.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fuser_dialects::task::mesh::{MOST, Mesh, Sharding};
use fuser_dialects::{fusion, task};
use fuser_ir::build::Clause;
use fuser_ir::def::OpDef;
use fuser_ir::types::{Dim, TypeId};
use fuser_ir::{AttrKind, DType, NewOp, Value, parse};

use super::ast::{self, Attr, Block, Item, Param};
use super::control::Results;
use super::op::{self, Reading, atom};
use super::{Frame, Importer, reduce};
use crate::codes::{LIMIT, UNSUPPORTED};
use crate::program::{Draft, Fault, Made};

/// The most meshes of a module, and the most axes of one.
const MOST_MESHES: usize = 64;
const MOST_AXES: usize = 64;
/// The maximum number of bytes in which a part of an axis is written, such as `"x":(1)2`.
const LONGEST_PART: usize = 64;

/// The meshes of a module.
#[derive(Default)]
pub(super) struct Meshes<'s> {
    /// The mesh of the program, whose axes are the finest.
    finest: Mesh,
    /// The axes of each mesh of the text.
    named: HashMap<&'s str, Vec<Axis<'s>>>,
    /// The symbols of meshes, in the order of the text.
    order: Vec<(&'s str, &'s ast::Op)>,
}

/// An axis of a mesh in the text: neighbors along it are `low` devices apart, and it ends at a stride of `high`.
#[derive(Clone, Copy)]
struct Axis<'s> {
    name: &'s str,
    high: i64,
    low: i64,
}

impl<'s> Axis<'s> {
    /// The axis, or the part of it denoted by a sub-axis such as `"x":(1)2`.
    fn part(self, part: Option<(i64, i64)>) -> Option<Self> {
        let Some((before, size)) = part else {
            return Some(self);
        };
        let whole = before.checked_mul(size);
        let whole = whole.filter(|&whole| before > 0 && whole > 0)?;
        let devices = self.high / self.low;
        (devices % whole == 0).then(|| Self {
            high: self.high / before,
            low: self.high / whole,
            ..self
        })
    }
}

impl Meshes<'_> {
    /// True if there are several devices.
    pub fn are_many(&self) -> bool {
        !self.finest.axes.is_empty()
    }
    /// The finest axes that an axis of the text is.
    fn axes(&self, axis: Axis<'_>) -> impl Iterator<Item = usize> {
        let mut high = self.finest.devices();
        let sizes = self.finest.axes.iter().enumerate();
        sizes.filter_map(move |(at, (_, size))| {
            let own = high <= axis.high && high / size >= axis.low;
            high /= size;
            own.then_some(at)
        })
    }
}

/// A sharding of the text, by finest axes.
struct Stated {
    dims: Vec<Vec<usize>>,
    /// Some axis may be cut further, as the compiler likes.
    open: bool,
    /// The axes along which devices hold summands.
    partial: Vec<usize>,
}

/// The text before `end`, and the text after it.
fn until(text: &str, end: char) -> Option<(&str, &str)> {
    text.split_once(end)
}

/// `"x"`, `"x":(1)2`: the name and the part.
fn named(text: &str) -> Option<(&str, Option<(i64, i64)>)> {
    let (name, rest) = text.trim().strip_prefix('"')?.split_once('"')?;
    if rest.is_empty() {
        return Some((name, None));
    }
    let (before, size) = rest.strip_prefix(":(")?.split_once(')')?;
    Some((name, Some((before.parse().ok()?, size.parse().ok()?))))
}

/// The pieces `<@mesh, ...>` of a list of shardings.
fn pieces(text: &str) -> Vec<&str> {
    text.match_indices("<@")
        .map(|(at, _)| {
            let rest = &text[at..];
            rest.split_once('>').map_or(rest, |(piece, _)| piece)
        })
        .collect()
}

impl<'s> Importer<'s> {
    /// Reads a mesh.
    pub(super) fn mesh(&mut self, op: &'s ast::Op, symbol: &'s str) {
        let custom = op.items.iter().find_map(|item| match item {
            Item::Named(_, Attr::Atom(span)) => Some(*span),
            _ => None,
        });
        let generic = || op::attr(self.source, op, "mesh").and_then(atom);
        let text = custom.or_else(generic).map_or("", |span| self.text(span));
        let list = text.split_once('[').map_or("", |(_, rest)| rest);
        let (list, behind) = until(list, ']').unwrap_or((list, ""));
        let mut axes = Vec::new();
        let mut devices = 1_i64;
        for axis in list.split(',').rev().filter(|axis| !axis.trim().is_empty()) {
            let (name, size) = axis.split_once('=').unwrap_or((axis, ""));
            let size = size.trim().parse().ok().filter(|size| *size > 0);
            let Some(size) = size else {
                let fault = Fault::form(format!("`{}` is no axis", axis.trim()));
                return self.draft.tell("sdy.mesh", op.name, fault);
            };
            let (low, name) = (devices, name.trim().trim_matches('"'));
            devices = devices.saturating_mul(size);
            let high = devices;
            axes.push(Axis { name, high, low });
        }
        let limit = match (devices > MOST, axes.len() > MOST_AXES) {
            (true, _) => Some(format!("`@{symbol}` is a mesh of more than {MOST} devices")),
            (_, true) => Some(format!("`@{symbol}` has more than {MOST_AXES} axes")),
            _ if self.meshes.order.len() < MOST_MESHES => None,
            _ => Some(format!("the module has more than {MOST_MESHES} meshes")),
        };
        if let Some(text) = limit {
            let fault = Fault::new(&LIMIT, text);
            return self.draft.tell("sdy.mesh", op.name, fault);
        }
        if devices > 1 && behind.contains("device_ids") {
            let text = format!("`@{symbol}` has its devices in another order");
            let fault = Fault::new(&UNSUPPORTED, text).help(
                "leave `device_ids` out: whoever runs the program says which device is which",
            );
            return self.draft.tell("sdy.mesh", op.name, fault);
        }
        axes.reverse();
        self.meshes.named.insert(symbol, axes);
        self.meshes.order.push((symbol, op));
    }
    /// Makes one mesh of all.
    pub(super) fn join_meshes(&mut self) {
        // The numbers of devices at which an axis of some mesh begins or ends.
        let mut steps = BTreeSet::new();
        let mut all = None;
        let parts = self.parts_of_axes();
        for &(symbol, op) in &self.meshes.order.clone() {
            let axes = self.meshes.named[symbol].clone();
            let devices = axes.first().map_or(1, |axis| axis.high);
            if devices == 1 {
                continue;
            }
            if *all.get_or_insert(devices) != devices {
                let text =
                    format!("`@{symbol}` is a mesh of {devices} devices, beside one of others");
                let fault = Fault::new(&UNSUPPORTED, text)
                    .help("a program runs on one set of devices: its meshes have the same number");
                return self.draft.tell("sdy.mesh", op.name, fault);
            }
            steps.extend(axes.iter().flat_map(|axis| [axis.high, axis.low]));
            for &(name, part) in &parts {
                let axis = axes.iter().find(|axis| axis.name == name);
                let axis = axis.and_then(|axis| axis.part(Some(part)));
                steps.extend(axis.iter().flat_map(|axis| [axis.high, axis.low]));
            }
        }
        let steps: Vec<i64> = steps.into_iter().rev().collect();
        if let Some(pair) = steps.windows(2).find(|pair| pair[0] % pair[1] != 0) {
            let op = self.meshes.order.last().map(|(_, op)| op.name);
            let text = format!(
                "axes of the meshes are steps over {} and {} devices, of which neither divides the other",
                pair[1], pair[0]
            );
            let fault = Fault::new(&UNSUPPORTED, text);
            return self.draft.tell("sdy.mesh", op.unwrap_or_default(), fault);
        }
        let mut axes: Vec<(String, i64)> = Vec::new();
        // Neighbouring steps bound one axis of the joined mesh. It keeps the name of a stated axis with equal bounds.
        for pair in steps.windows(2) {
            let order = self.meshes.order.iter();
            let stated = order.flat_map(|(symbol, _)| &self.meshes.named[symbol]);
            let around: Vec<&Axis<'_>> = stated
                .filter(|axis| axis.high >= pair[0] && axis.low <= pair[1])
                .collect();
            let same = around
                .iter()
                .find(|axis| (axis.high, axis.low) == (pair[0], pair[1]));
            let base = same.or(around.first()).map_or("axis", |axis| axis.name);
            let is_taken = |name: &str| axes.iter().any(|(own, _)| own == name);
            let mut name = base.to_owned();
            if same.is_none() || is_taken(&name) {
                let mut names = (0..).map(|number| format!("{base}_{number}"));
                name = names.find(|name| !is_taken(name)).unwrap_or_default();
            }
            axes.push((name, pair[0] / pair[1]));
        }
        if axes.is_empty() {
            return;
        }
        let (names, sizes): (Vec<&str>, Vec<i64>) =
            axes.iter().map(|(name, size)| (&**name, *size)).unzip();
        let ir = &mut self.draft.ir;
        let clauses = [
            (ir.sym("axes"), ir.string_array_attr(&names)),
            (ir.sym("sizes"), ir.i64_array_attr(&sizes)),
        ];
        let mesh = NewOp {
            attrs: clauses.into_iter().collect(),
            ..NewOp::default()
        };
        self.draft.mesh = Some(ir.create_op(&task::MESH, mesh));
        self.meshes.finest = Mesh { axes };
    }
    /// The parts of axes that the text names anywhere.
    fn parts_of_axes(&self) -> BTreeSet<(&'s str, (i64, i64))> {
        let source = self.source;
        let part = |(at, _): (usize, &str)| {
            let start = source[..at].rfind('"')?;
            let end = source[at..].char_indices().take(LONGEST_PART);
            let end = end.into_iter().find(|(_, c)| matches!(c, ',' | '}'))?.0;
            let (name, part) = named(&source[start..at + end])?;
            Some((name, part?))
        };
        source.match_indices("\":(").filter_map(part).collect()
    }
    /// The finest axes denoted by a list of names, such as `"x", "y":(1)2, ?`.
    fn listed(&self, mesh: &str, list: &str) -> Made<Vec<usize>> {
        let mut found = Vec::new();
        let items = list.split(',').map(str::trim);
        for item in items.filter(|item| !item.is_empty() && *item != "?") {
            let unknown = || Fault::form(format!("`{item}` is no axis of `@{mesh}`"));
            let (name, part) = named(item).ok_or_else(unknown)?;
            let axes = self.meshes.named.get(mesh).into_iter().flatten();
            let axis = axes.copied().find(|axis| axis.name == name);
            let axis = axis.and_then(|axis| axis.part(part)).ok_or_else(unknown)?;
            let own: Vec<usize> = self.meshes.axes(axis).collect();
            if self.meshes.finest.parts(&own) != axis.high / axis.low {
                return Err(unknown());
            }
            found.extend(own);
        }
        Ok(found)
    }
    /// Reads `<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}>`. Priorities and replicated axes are ignored,
    /// since they do not affect values.
    fn sharding(&self, text: &str) -> Made<Stated> {
        let form = || {
            let shown: String = text.chars().take(60).collect();
            Fault::form(format!("`{shown}` is no sharding"))
        };
        let (_, text) = text.split_once("<@").ok_or_else(form)?;
        let (mesh, rest) = until(text, ',').ok_or_else(form)?;
        let mesh = mesh.trim_matches('"');
        if !self.meshes.named.contains_key(mesh) {
            return Err(Fault::form(format!("`@{mesh}` is no mesh of the module")));
        }
        let (_, rest) = until(rest, '[').ok_or_else(form)?;
        let (list, behind) = until(rest, ']').ok_or_else(form)?;
        let mut dims = Vec::new();
        let mut open = false;
        for piece in list.split('{').skip(1) {
            let (inside, _) = until(piece, '}').ok_or_else(form)?;
            open |= inside.contains('?');
            dims.push(self.listed(mesh, inside)?);
        }
        let partial = behind.split_once("unreduced").map(|(_, rest)| rest);
        let partial = partial.and_then(|rest| until(rest, '{')?.1.split_once('}'));
        let partial = self.listed(mesh, partial.map_or("", |(list, _)| list))?;
        Ok(Stated {
            dims,
            open,
            partial,
        })
    }
    /// The texts of the shardings of a list.
    pub(super) fn shardings_of(&self, attr: Option<&'s Attr>) -> Vec<&'s str> {
        match attr {
            Some(Attr::List(items)) => {
                let texts = items.iter().filter_map(atom).map(|span| self.text(span));
                texts.collect()
            }
            Some(Attr::Atom(span)) => pieces(self.text(*span)),
            _ => Vec::new(),
        }
    }
    /// The axis whose parts would not be equal.
    fn uneven(&self, dims: &[Vec<usize>], value: &[Dim]) -> Option<usize> {
        let mesh = &self.meshes.finest;
        let uneven = |(cut, dim): (&Vec<usize>, &Dim)| match dim.extent {
            fuser_ir::Extent::Static(extent) => extent % mesh.parts(cut).max(1) as u64 != 0,
            _ => !cut.is_empty(),
        };
        dims.iter().zip(value).position(uneven)
    }

    /// Records the distribution of a function's arguments and results over the mesh.
    pub(super) fn lay(&mut self, function: &'s ast::Op) {
        if !self.meshes.are_many() {
            return;
        }
        let mut lists: [Vec<Option<&'s Attr>>; 2] = [Vec::new(), Vec::new()];
        let source = self.source;
        let entry = |entries: &'s Vec<_>| op::entry(source, entries, "sdy.sharding");
        for item in &function.items {
            match item {
                Item::Parens(params) => lists[0].extend(params.iter().map(|param| match param {
                    Param::Typed(_, _, entries, _) => entry(entries),
                    _ => None,
                })),
                Item::Results(types) => {
                    lists[1].extend(types.iter().map(|(_, entries)| entry(entries)));
                }
                _ => {}
            }
        }
        for (list, name) in lists.iter_mut().zip(["arg_attrs", "res_attrs"]) {
            if let Some(Attr::List(items)) = op::attr(source, function, name) {
                *list = items
                    .iter()
                    .map(|item| match item {
                        Attr::Dict(entries) => entry(entries),
                        _ => None,
                    })
                    .collect();
            }
        }
        for (which, list) in lists.into_iter().enumerate() {
            for (index, span) in list.into_iter().enumerate() {
                let Some(span) = span.and_then(atom) else {
                    continue;
                };
                match self.sharding(self.text(span)) {
                    Ok(stated) if !stated.partial.is_empty() => {
                        let text = "is of summands that are not added up (`unreduced`)";
                        let fault = Fault::new(&UNSUPPORTED, text).at(span);
                        let fault = fault.help("reduce it inside of the program");
                        self.draft.tell("sdy.sharding", span, fault);
                    }
                    Ok(stated) if stated.open => {}
                    Ok(Stated { dims, .. }) => {
                        let attr = Sharding { dims }.attr(&mut self.draft.ir, &self.meshes.finest);
                        self.draft.shardings[which].push((index, attr));
                    }
                    Err(fault) => self.draft.tell("sdy.sharding", span, fault.at(span)),
                }
            }
        }
    }
    /// The value with the sharding that the text states.
    pub(super) fn laid(&mut self, value: Value, text: &str) -> Made {
        if !self.meshes.are_many() || self.draft.device {
            return Ok(value);
        }
        let mut stated = self.sharding(text)?;
        let dims = self.draft.dims(value);
        if stated.open || dims.is_empty() {
            return Ok(value);
        }
        if stated.dims.len() != dims.len() {
            let text = format!("has {} entries for {} axes", stated.dims.len(), dims.len());
            return Err(Fault::form(text));
        }
        // All parts must be equal: an axis that does not divide evenly is not split.
        while let Some(axis) = self.uneven(&stated.dims, &dims) {
            stated.dims[axis].clear();
        }
        let mesh = &self.meshes.finest;
        let names: Vec<String> = mesh
            .names(&stated.partial)
            .into_iter()
            .map(Into::into)
            .collect();
        let to = Sharding { dims: stated.dims }.attr(&mut self.draft.ir, mesh);
        let mut clauses = vec![("to", to)];
        let mut b = self.draft.builder();
        if !names.is_empty() {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            clauses.push(b.words("partial", &names));
        }
        Ok(b.value(&task::SHARD, &[value], &clauses)?)
    }

    /// `sdy.manual_computation`: a program that runs on each device. Devices that differ only along axes that are not
    /// manual compute the same.
    pub(super) fn on_each_device(
        &mut self,
        op: &'s ast::Op,
        block: &'s Block,
        operands: &[Value],
        frame: &Frame<'s>,
    ) -> Made<Results> {
        if self.draft.device {
            let fault = Fault::new(&UNSUPPORTED, "stands inside of another one");
            return Err(fault.help("make all axes manual at once"));
        }
        let attr = |name| op::attr(self.source, op, name);
        let lists = ["in_shardings", "out_shardings"].map(|name| self.shardings_of(attr(name)));
        let mut texts = lists.iter().flatten();
        let mesh = texts.find_map(|text| until(text.split_once("<@")?.1, ','));
        let mesh = mesh.map_or("", |(mesh, _)| mesh.trim_matches('"'));
        let manual = match attr("manual_axes") {
            Some(Attr::Dict(entries)) => {
                let names = entries.iter().map(|(key, _)| self.text(*key));
                names.collect::<Vec<_>>().join(",")
            }
            Some(Attr::Atom(span)) => {
                let inside = self
                    .text(*span)
                    .split_once('{')
                    .map_or("", |(_, rest)| rest);
                until(inside, '}').map_or("", |(list, _)| list).to_owned()
            }
            _ => String::new(),
        };
        let manual = self.listed(mesh, &manual)?;
        let outputs = self.outputs(op)?;
        let mut shardings = [Vec::new(), Vec::new()];
        for ((list, own), count) in lists
            .iter()
            .zip(&mut shardings)
            .zip([operands.len(), outputs.len()])
        {
            if list.len() != count {
                let text = format!("has {} shardings for {count} values", list.len());
                return Err(Fault::form(text));
            }
            for text in list {
                let mut dims = self.sharding(text)?.dims;
                for cut in &mut dims {
                    cut.retain(|axis| manual.contains(axis));
                }
                own.push(Sharding { dims });
            }
        }
        let [inside, outside] = shardings;
        let symbol = self.draft.symbol("part");
        let outer = self.draft.begin();
        self.draft.device = true;
        let given = self.on_device(op, block, operands, frame);
        let inner = self.draft.leave(outer);
        let added = match given {
            Ok(Some(given)) => self.draft.add(inner, &symbol, &given).map(|_| true),
            Ok(None) => Ok(false),
            Err(fault) => Err(fault),
        };
        self.draft.device = false;
        if !added? {
            return Ok(self.substitutes(op));
        }
        // A complex number goes in and out by its parts.
        let (mut values, mut cuts, mut types) = (Vec::new(), [Vec::new(), Vec::new()], Vec::new());
        for (&value, cut) in operands.iter().zip(inside) {
            for part in self.parts(value)? {
                values.push(part);
                cuts[0].push(cut.clone());
            }
        }
        for (&ty, cut) in outputs.iter().zip(outside) {
            for part in self.types_of_parts(ty) {
                types.push(part);
                cuts[1].push(cut.clone());
            }
        }
        let mesh = &self.meshes.finest;
        let ir = &mut self.draft.ir;
        let mut list = |cuts: &[Sharding]| {
            let cuts = cuts.iter().map(|cut| cut.attr(ir, mesh)).collect();
            ir.attr(AttrKind::Array(cuts))
        };
        let [inside, outside] = [list(&cuts[0]), list(&cuts[1])];
        let symbol = ir.sym(&symbol);
        let body = ir.attr(AttrKind::SymbolRef(vec![symbol]));
        let clauses = [("body", body), ("in", inside), ("out", outside)];
        let mut b = self.draft.builder();
        let made = b.build(&task::DEVICES, &values, &clauses, &[], Some(&types))?;
        let mut made = self.draft.ir.results(made).to_vec().into_iter();
        let mut results = Vec::new();
        for ty in outputs {
            let dtype = self.draft.ir.ty(ty).dtype().unwrap_or(DType::F32);
            results.push(Some(self.joined(dtype, &mut made)?));
        }
        Ok(results)
    }
    /// Reads a body as the block of a per-device program; `None` if it has mistakes.
    fn on_device(
        &mut self,
        op: &'s ast::Op,
        block: &'s Block,
        operands: &[Value],
        frame: &Frame<'s>,
    ) -> Made<Option<Vec<Value>>> {
        let custom = op.items.iter().filter_map(|item| match item {
            Item::Parens(list) => Some(list),
            _ => None,
        });
        let custom = custom.flatten().filter_map(|param| match param {
            Param::Typed(name, ty, ..) => Some((*name, *ty)),
            _ => None,
        });
        let own = block.args.iter().map(|(name, ty, _)| (*name, *ty));
        let params: Vec<_> = custom.chain(own).collect();
        if params.len() != operands.len() {
            let text = format!("has {} operands, its body {}", operands.len(), params.len());
            return Err(Fault::form(text));
        }
        let mut inner = Frame {
            call: frame.call,
            depth: frame.depth,
            ..Frame::default()
        };
        for (name, ty) in params {
            let (ty, name) = (self.tensor(ty)?, self.text(name));
            let mut parts = Vec::new();
            for ty in self.types_of_parts(ty) {
                parts.push(self.draft.argument(ty, name.trim_start_matches('%')));
            }
            let dtype = self.draft.ir.ty(ty).dtype().unwrap_or(DType::F32);
            let value = self.joined(dtype, &mut parts.into_iter())?;
            inner.values.insert(name, vec![Some(value)]);
        }
        let errors = self.draft.found.items.len();
        let given: Option<Vec<Value>> = self.block(block, &mut inner).into_iter().collect();
        let Some(given) = given.filter(|_| self.draft.found.items.len() == errors) else {
            return Ok(None);
        };
        let mut results = Vec::new();
        for value in given {
            results.extend(self.parts(value)?);
        }
        Ok(Some(results))
    }
    /// The types of the parts of a value: two for a complex one.
    fn types_of_parts(&mut self, ty: TypeId) -> Vec<TypeId> {
        match self.draft.ir.ty(ty).dtype().filter(|d| d.is_complex()) {
            Some(dtype) => vec![self.draft.ir.with_dtype(ty, dtype.part()); 2],
            None => vec![ty],
        }
    }
}

/// `sdy.sharding_constraint`, `sdy.reshard`
pub(super) fn constrained<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let value = r.operand(0)?;
    let custom = r.op.items.iter().find_map(|item| match item {
        Item::Attr(Attr::Atom(span)) => Some(*span),
        _ => None,
    });
    let stated = custom.or_else(|| r.attr(&["sharding"]).and_then(atom));
    let Some(span) = stated else {
        return Ok(vec![value]);
    };
    let laid = im
        .laid(value, r.text(span))
        .map_err(|fault| fault.at(span))?;
    Ok(vec![laid])
}

/// The number of this device.
pub(super) fn number(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<Value>> {
    let ty = r.output()?;
    let is_partition = r.text(r.op.name).contains("partition_id");
    match (im.draft.device, is_partition) {
        (true, true) => {
            let names = all(&im.meshes.finest);
            let number = make(
                &mut im.draft,
                &fusion::AXIS_INDEX,
                &[],
                &im.meshes.finest,
                &names,
                &[],
            )?;
            let dtype = im.draft.ir.ty(ty).dtype().unwrap_or(DType::U32);
            Ok(vec![im.draft.cast(number, dtype)?])
        }
        // One replica of as many parts as the mesh has devices.
        (true, false) if im.devices <= im.meshes.finest.devices() as u64 => {
            Ok(vec![im.draft.number(0.0, ty)?])
        }
        (false, _) if im.devices == 1 && !im.meshes.are_many() => {
            Ok(vec![im.draft.number(0.0, ty)?])
        }
        _ => Err(several_devices()),
    }
}

fn several_devices() -> Fault {
    let text = "is of each device, and stands where the program is of all";
    Fault::new(&UNSUPPORTED, text)
        .help("collectives stand in an `sdy.manual_computation`, as `jax.shard_map` has them; or lower the program for one device")
}

fn all(mesh: &Mesh) -> Vec<usize> {
    (0..mesh.axes.len()).collect()
}

/// A collective over axes.
fn make(
    draft: &mut Draft,
    def: &'static OpDef,
    operands: &[Value],
    mesh: &Mesh,
    over: &[usize],
    clauses: &[Clause<'_>],
) -> Made {
    let mut b = draft.builder();
    let mut own = vec![b.words("over", &mesh.names(over))];
    own.extend_from_slice(clauses);
    Ok(b.value(def, operands, &own)?)
}

/// A collective.
pub(super) fn collective<'s>(im: &mut Importer<'s>, r: &Reading<'s>) -> Made<Vec<Value>> {
    let short = r.text(r.op.name).trim_matches('"');
    let short = short.split_once('.').map_or(short, |(_, short)| short);
    if !im.draft.device {
        return match alone(r) {
            true => Ok(r.operands.clone()),
            false => Err(several_devices()),
        };
    }
    if !im.meshes.are_many() {
        return Err(several_devices());
    }
    let devices = im.meshes.finest.devices();
    let (over, pairs) = match short {
        "collective_permute" => {
            let pairs = pairs(im, r)?;
            routes(&im.meshes.finest, &pairs)
        }
        _ => (groups(im, r, devices)?, Vec::new()),
    };
    let draft = &mut im.draft;
    let mut clauses: Vec<Clause<'static>> = Vec::new();
    let dims: &[(&str, &str)] = match short {
        "all_gather" => &[("all_gather_dim", "dim")],
        "reduce_scatter" => &[("scatter_dimension", "dim")],
        "all_to_all" => &[("split_dimension", "split"), ("concat_dimension", "concat")],
        _ => &[],
    };
    for (theirs, ours) in dims {
        clauses.push(draft.builder().int(ours, r.int(&[theirs])?));
    }
    let def = match short {
        "all_reduce" => &fusion::ALL_REDUCE,
        "all_gather" => &fusion::ALL_GATHER,
        "reduce_scatter" => &fusion::REDUCE_SCATTER,
        "all_to_all" => &fusion::ALL_TO_ALL,
        "collective_permute" => {
            clauses.push(draft.builder().ints("pairs", &pairs));
            &fusion::COLLECTIVE_PERMUTE
        }
        _ => {
            clauses.push(draft.builder().int("root", 0));
            &fusion::COLLECTIVE_BROADCAST
        }
    };
    let mut results = Vec::new();
    for (&value, &ty) in r.operands.iter().zip(&r.outputs) {
        let mut own = clauses.clone();
        if matches!(short, "all_reduce" | "reduce_scatter") {
            let word = combination(im, r, value)?;
            own.push(im.draft.builder().word("combine", word));
        }
        if !dims.is_empty() {
            let tensor = im
                .draft
                .ir
                .ty(ty)
                .as_tensor()
                .map(|tensor| tensor.dims.clone());
            let tensor = tensor.unwrap_or_default();
            own.push(im.draft.builder().shape("shape", &tensor));
        }
        let dtype = im.draft.dtype(value);
        let mut parts = Vec::new();
        for part in im.parts(value)? {
            parts.push(make(
                &mut im.draft,
                def,
                &[part],
                &im.meshes.finest,
                &over,
                &own,
            )?);
        }
        results.push(im.joined(dtype, &mut parts.into_iter())?);
    }
    Ok(results)
}

/// The word for the way in which a body combines elements.
fn combination(im: &Importer<'_>, r: &Reading<'_>, value: Value) -> Made<&'static str> {
    const HELP: &str =
        "bodies are `add`, `multiply`, `maximum`, `minimum`, and on truth values `and` and `or`";
    let bodies = reduce::pair(r, HELP)?;
    let [body] = bodies.as_slice() else {
        return Err(Fault::form("has a body of several results"));
    };
    let row = reduce::row(&im.draft, value, body, 0)?;
    let words = [
        (&fusion::SUM, "sum"),
        (&fusion::PROD, "prod"),
        (&fusion::MAX, "max"),
        (&fusion::MIN, "min"),
    ];
    let found = words
        .iter()
        .find(|(def, _)| std::ptr::eq(row.reduction, *def));
    let word = found.map(|(_, word)| *word);
    let complex = im.draft.dtype(value).is_complex();
    word.filter(|word| !complex || *word == "sum")
        .ok_or_else(|| Fault::form("combines complex numbers by other than `add`"))
}

/// True if a collective involves only one device: its groups, or its pairs, name only device 0.
fn alone(r: &Reading<'_>) -> bool {
    let stated = r.attr(&["replica_groups", "source_target_pairs"]);
    let text = stated.and_then(atom).map_or("", |span| r.text(span));
    let text = text.trim_matches(|c| "dense<[]>".contains(c));
    matches!(text, "0" | "0, 0")
}

/// The elements of a table of devices with the given number of columns, and the number of devices.
fn table(
    im: &mut Importer<'_>,
    r: &Reading<'_>,
    name: &str,
    most: usize,
) -> Made<(Vec<i64>, usize)> {
    let form = || Fault::form(format!("`{name}` is no table of devices"));
    let Some(stated) = r.attr(&[name]) else {
        return Ok((Vec::new(), 0));
    };
    let span = atom(stated).ok_or_else(form)?;
    let behind = r.source.get(span.end as usize..).unwrap_or("");
    let ty = behind.trim_start().strip_prefix(':').ok_or_else(form)?;
    let ty = ty.split_inclusive('>').next().ok_or_else(form)?;
    let text = format!("{} : {}", r.text(span), ty.trim());
    let ir = &mut im.draft.ir;
    let attr = parse::parse_attr(ir, &text).map_err(|_| form())?;
    let AttrKind::Dense {
        ty,
        dtype: DType::I64,
        splat,
        bytes,
    } = ir.attr_kind(attr)
    else {
        return Err(form());
    };
    let dims = ir
        .ty(*ty)
        .as_tensor()
        .map_or(&[][..], |tensor| &tensor.dims);
    let extents = dims.iter().map(|dim| match dim.extent {
        fuser_ir::Extent::Static(extent) => usize::try_from(extent).unwrap_or(usize::MAX),
        _ => usize::MAX,
    });
    let extents: Vec<usize> = extents.collect();
    let count = extents.iter().copied().fold(1, usize::saturating_mul);
    let (&[_, columns], true) = (extents.as_slice(), count <= most) else {
        return Err(form());
    };
    let words = bytes.chunks_exact(8).map(|chunk| {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        i64::from_le_bytes(word)
    });
    let mut words: Vec<i64> = words.collect();
    // Equal numbers are a device alone, or a pair of one with itself.
    if *splat {
        let number = words.first().copied().filter(|_| count <= 2);
        words = vec![number.ok_or_else(form)?; count];
    }
    Ok((words, columns))
}

/// The axes along which the devices of a group differ, in the order of their numbers in the group.
fn groups(im: &mut Importer<'_>, r: &Reading<'_>, devices: i64) -> Made<Vec<usize>> {
    let (members, size) = table(im, r, "replica_groups", devices as usize)?;
    let mesh = &im.meshes.finest;
    if members.is_empty() {
        return Ok(all(mesh));
    }
    grouped(mesh, &members, size).ok_or_else(|| {
        Fault::form("`replica_groups` are no devices along axes of the mesh")
            .help("a group is all devices that differ along some axes, in the order of these: name the axes that `axis_index_groups` stand for in the mesh")
    })
}

/// The axes whose groups are the rows of `members`.
fn grouped(mesh: &Mesh, members: &[i64], size: usize) -> Option<Vec<usize>> {
    let first = members.chunks(size).find(|row| row.first() == Some(&0))?;
    let step = |axis: usize| {
        mesh.axes[axis + 1..]
            .iter()
            .map(|(_, size)| size)
            .product::<i64>()
    };
    // The number that the second device along each axis has in the group of device 0.
    let mut found: Vec<(usize, usize)> = Vec::new();
    for axis in all(mesh) {
        let second = first.iter().position(|&device| device == step(axis));
        found.extend(second.map(|number| (number, axis)));
    }
    found.sort_unstable();
    let over: Vec<usize> = found.into_iter().rev().map(|(_, axis)| axis).collect();
    if mesh.parts(&over) != size as i64 || members.len() as i64 != mesh.devices() {
        return None;
    }
    let mut offsets = vec![0];
    for &axis in &over {
        let along = |base: i64| (0..mesh.axes[axis].1).map(move |index| base + index * step(axis));
        offsets = offsets.into_iter().flat_map(along).collect();
    }
    let mut seen = BTreeSet::new();
    let is_group = |row: &[i64]| {
        let base = row[0];
        let inside = (0..mesh.devices()).contains(&base);
        let place = mesh.place(base);
        let starts = over.iter().all(|&axis| place[axis] == 0);
        let members = row
            .iter()
            .zip(&offsets)
            .all(|(member, offset)| *member == base + offset);
        inside && starts && members && seen.insert(base)
    };
    members.chunks(size).all(is_group).then_some(over)
}

/// Sources and targets, devices of the whole mesh.
fn pairs(im: &mut Importer<'_>, r: &Reading<'_>) -> Made<Vec<[i64; 2]>> {
    let devices = im.meshes.finest.devices();
    let (members, columns) = table(im, r, "source_target_pairs", 2 * devices as usize)?;
    if !members.is_empty() && columns != 2 {
        return Err(Fault::form("`source_target_pairs` has no pairs"));
    }
    let pairs: Vec<[i64; 2]> = members
        .chunks_exact(2)
        .map(|pair| [pair[0], pair[1]])
        .collect();
    match pairs
        .iter()
        .flatten()
        .find(|device| !(0..devices).contains(*device))
    {
        Some(device) => Err(Fault::form(format!("names device {device} of {devices}"))),
        None => Ok(pairs),
    }
}

/// The axes along which sources and targets differ, and the pairs as numbers in a group; all axes if groups have
/// different pairs.
fn routes(mesh: &Mesh, pairs: &[[i64; 2]]) -> (Vec<usize>, Vec<i64>) {
    let places: Vec<[Vec<i64>; 2]> = pairs
        .iter()
        .map(|pair| pair.map(|rank| mesh.place(rank)))
        .collect();
    let differ = |axis: &usize| places.iter().any(|[from, to]| from[*axis] != to[*axis]);
    let over: Vec<usize> = all(mesh).into_iter().filter(differ).collect();
    let number = |place: &[i64]| {
        over.iter()
            .fold(0, |number, &axis| number * mesh.axes[axis].1 + place[axis])
    };
    let mut groups: BTreeMap<Vec<i64>, BTreeSet<[i64; 2]>> = BTreeMap::new();
    for [from, to] in &places {
        let mut group = from.clone();
        for &axis in &over {
            group[axis] = 0;
        }
        let pair = [number(from), number(to)];
        groups.entry(group).or_default().insert(pair);
    }
    let mut lists = groups.values();
    let first = lists.next().cloned().unwrap_or_default();
    let is_same = lists.all(|list| *list == first);
    let count = mesh.devices() / mesh.parts(&over);
    let complete = groups.len() as i64 == count
        && groups.values().map(BTreeSet::len).sum::<usize>() == pairs.len();
    match is_same && complete {
        true => (over, first.into_iter().flatten().collect()),
        false => {
            let mut pairs = pairs.to_vec();
            pairs.sort_unstable();
            (all(mesh), pairs.into_iter().flatten().collect())
        }
    }
}
