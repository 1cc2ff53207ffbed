//! The top-down groups: ops that share values and that no border separates.
//!
//! Borders are read from tables and hints, and from nowhere else: the `BARRIER` trait, the hints `barrier` and `apart`,
//! `Placement::Memory` on an operand or a result, and views of what lies in memory anyway. Crossing one raises an op's
//! *level*; a group is a connected set of ops of one level. Levels never fall along an edge, so groups are acyclic by
//! construction.

use fuser_analysis::cost::keeps_memory;
use fuser_ir::def::{OpClass, Placement};
use fuser_ir::{Ir, Op, Traits};

use super::graph::{Edge, Graph, Index};

/// The hint of an op.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Hint {
    /// One group with all ops of the same name.
    Together(String),
    /// A group of its own.
    Apart,
    /// Nothing that uses its results shares its group.
    Barrier,
}

impl Hint {
    /// The hint `fusion.hint` of `op`: `together:NAME`, `apart` or `barrier`. An unknown one is the text itself.
    pub fn of(ir: &Ir, op: Op) -> Option<Result<Hint, String>> {
        let text = ir.str_of(op, "fusion.hint")?;
        Some(match text {
            "apart" => Ok(Hint::Apart),
            "barrier" => Ok(Hint::Barrier),
            _ => match text.strip_prefix("together:") {
                Some(name) if !name.is_empty() => Ok(Hint::Together(name.into())),
                _ => Err(text.into()),
            },
        })
    }
}

/// The borders of an op.
#[derive(Clone, Copy, Default, Debug)]
struct Border {
    /// It shares a group with nobody.
    alone: bool,
    /// Nothing it reads may be made in its group.
    before: bool,
    /// Nothing that reads its results may be in its group.
    after: bool,
    /// It is a view of what lies in memory anyway: it joins other such views only.
    view: bool,
}

/// The groups of the top-down phase, each ascending, in order of their first op.
pub(super) fn components(ir: &Ir, graph: &Graph) -> Vec<Vec<Index>> {
    let mut borders = borders(ir, graph);
    let mut levels = levels(graph, &borders);
    if add_crossing_names(ir, graph, &mut borders, &levels) {
        levels = self::levels(graph, &borders);
    }
    delay(graph, &borders, &mut levels);
    let mut sets = Sets::new(graph.len());
    let class = |op: Index| (levels[op as usize], borders[op as usize].view);
    for edge in &graph.edges {
        let maker = edge.maker.filter(|&m| !graph.free[m as usize]);
        // Reading the same value without bytes (a scalar, an empty tensor) is no reason to share a kernel. Where an op makes it,
        // maker and readers join all the same: a group that left one of them out could come both before and after it.
        let mut last = std::collections::BTreeMap::new();
        let shared = edge.bytes > 0 || maker.is_some();
        let readers = edge.readers.iter().filter(|_| shared);
        for op in maker.into_iter().chain(readers.copied()) {
            let joins = !borders[op as usize].alone;
            if let Some(other) = joins.then(|| last.insert(class(op), op)).flatten() {
                sets.join(other, op);
            }
        }
    }
    sets.lists(graph)
}

/// True if a border lies between the maker of a value and a reader.
pub(super) fn separated(ir: &Ir, maker: Op, reader: Op) -> bool {
    after(ir, maker) || before(ir, reader)
}

/// True if a hint keeps the op in a group of its own.
pub(super) fn is_alone(ir: &Ir, op: Op) -> bool {
    matches!(Hint::of(ir, op), Some(Ok(Hint::Apart)))
}

fn borders(ir: &Ir, graph: &Graph) -> Vec<Border> {
    let views = final_views(ir, graph);
    let border = |(&op, view)| Border {
        alone: is_alone(ir, op),
        before: before(ir, op),
        after: after(ir, op),
        view,
    };
    graph.ops.iter().zip(views).map(border).collect()
}

fn before(ir: &Ir, op: Op) -> bool {
    let operands = ir.def(op).map_or(&[][..], |d| d.operands);
    is_alone(ir, op) || operands.iter().any(|o| o.placement == Placement::Memory)
}

fn after(ir: &Ir, op: Op) -> bool {
    let hinted = matches!(Hint::of(ir, op), Some(Ok(Hint::Apart | Hint::Barrier)));
    let results = ir.def(op).map_or(&[][..], |d| d.results);
    hinted
        || ir.has(op, Traits::BARRIER)
        || results.iter().any(|r| r.placement == Placement::Memory)
}

/// The ops that only rename the memory of a value that lies there anyway, and whose own users are the program's results or
/// stand behind a border.
fn final_views(ir: &Ir, graph: &Graph) -> Vec<bool> {
    let mut renames = vec![false; graph.len()];
    for place in (0..graph.len()).rev() {
        renames[place] = only_renames(ir, graph, place as Index, &renames);
    }
    let mut views = renames.clone();
    for place in 0..graph.len() {
        let source = graph.reads[place]
            .first()
            .map(|&e| &graph.edges[e as usize]);
        let in_memory = |source: &Edge| match source.maker {
            None => true,
            Some(maker) => {
                // Of several names for one value one is stored: so is the value itself, and all names are views.
                let names = source.readers.iter().filter(|&&r| renames[r as usize]);
                source.escapes
                    || views[maker as usize]
                    || after(ir, graph.ops[maker as usize])
                    || names.count() > 1
            }
        };
        views[place] = renames[place] && source.is_some_and(in_memory);
    }
    views
}

/// Makes views of the ops that rename a value which somebody behind a border reads as well. Says whether there were any.
fn add_crossing_names(ir: &Ir, graph: &Graph, borders: &mut [Border], levels: &[u32]) -> bool {
    let mut renames = vec![false; graph.len()];
    for place in (0..graph.len()).rev() {
        renames[place] = only_renames(ir, graph, place as Index, &renames);
    }
    let mut found = false;
    for place in 0..graph.len() {
        let source = graph.reads[place]
            .first()
            .map(|&e| &graph.edges[e as usize]);
        let crosses = source.is_some_and(|source| {
            let level = source.maker.map_or(0, |m| levels[m as usize]);
            let mut others = source.readers.iter().filter(|&&r| r as usize != place);
            others.any(|&r| levels[r as usize] > level)
        });
        if renames[place] && crosses && !borders[place].view {
            borders[place].view = true;
            found = true;
        }
    }
    found
}

/// True if the op keeps memory as it is, and nothing that shares its kernel uses its results.
fn only_renames(ir: &Ir, graph: &Graph, place: Index, later: &[bool]) -> bool {
    let op = graph.ops[place as usize];
    if ir.def(op).is_none_or(|d| d.class != OpClass::Shape) {
        return false;
    }
    let mut written = graph.writes[place as usize].iter();
    let escapes = written.any(|&e| graph.edges[e as usize].escapes);
    let mut readers = graph.consumers(place).map(|(r, _)| r).peekable();
    let used = escapes || readers.peek().is_some();
    let leaves = after(ir, op) || readers.all(|r| later[r as usize]);
    used && leaves && keeps_memory(ir, op)
}

fn levels(graph: &Graph, borders: &[Border]) -> Vec<u32> {
    let mut levels = vec![0u32; graph.len()];
    for place in 0..graph.len() {
        let own = &borders[place];
        let through = graph.producers(place as Index).map(|(maker, _)| {
            let other = &borders[maker as usize];
            let crosses = own.before || other.after || own.view != other.view;
            levels[maker as usize] + u32::from(crosses)
        });
        levels[place] = through.max().unwrap_or(0);
    }
    levels
}

/// Raises ops to the level of their readers where all of these stand behind a border and no more bytes cross it then: a
/// weight is broadcast, or a constant widened, where it is used.
fn delay(graph: &Graph, borders: &[Border], levels: &mut [u32]) {
    for place in (0..graph.len()).rev() {
        let (own, op) = (&borders[place], place as Index);
        // Free ops are copied to each of their readers, whose levels do not follow from theirs.
        if graph.free[place] || own.alone || own.after || own.view {
            continue;
        }
        let bytes = |edges: &[u32]| {
            let bytes = edges.iter().map(|&e| graph.edges[e as usize].bytes);
            bytes.fold(0, u64::saturating_add)
        };
        let (reads, writes) = (&graph.reads[place], &graph.writes[place]);
        let escapes = writes.iter().any(|&e| graph.edges[e as usize].escapes);
        let readers = graph.consumers(op).map(|(reader, _)| {
            let other = &borders[reader as usize];
            levels[reader as usize] - u32::from(other.before || other.view)
        });
        let latest = readers.min().unwrap_or(levels[place]);
        if !escapes && bytes(reads) <= bytes(writes) {
            levels[place] = levels[place].max(latest);
        }
    }
}

/// Disjoint sets of ops.
struct Sets {
    parent: Vec<Index>,
}

impl Sets {
    fn new(len: usize) -> Self {
        Self {
            parent: (0..len as Index).collect(),
        }
    }
    fn find(&mut self, mut op: Index) -> Index {
        while self.parent[op as usize] != op {
            let up = self.parent[self.parent[op as usize] as usize];
            self.parent[op as usize] = up;
            op = up;
        }
        op
    }
    /// The smaller index is the root, so a set is named by its first op.
    fn join(&mut self, a: Index, b: Index) {
        let (a, b) = (self.find(a), self.find(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parent[high as usize] = low;
    }
    fn lists(mut self, graph: &Graph) -> Vec<Vec<Index>> {
        let mut lists = std::collections::BTreeMap::<Index, Vec<Index>>::new();
        for op in 0..graph.len() as Index {
            if !graph.free[op as usize] {
                lists.entry(self.find(op)).or_default().push(op);
            }
        }
        lists.into_values().collect()
    }
}
