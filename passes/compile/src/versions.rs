//! Versions of a program: plans for extents of different size classes, and the conditions on the extents for each.
//!
//! A plan keeps values in fast memory. With static extents their size is known, and the scheduler refuses a plan that
//! does not fit. With a named extent the size is known only at run time. A plan with a kernel whose memory depends on
//! named extents is therefore one version, which requires that it fits. The next version is planned for extents so long
//! that no value depending on them fits; it keeps values of static size, or none. The first version whose requirements
//! hold is the one that runs.
//!
//! On a GPU, rows of named length start anywhere and are loaded element by element. Each plan except the last is
//! therefore preceded by an equal plan for extents that are multiples of [`ALIGNED`] and determine the distance of
//! rows. That plan loads vectors and has no remainder, and the original plan is then specialized to odd lengths. The
//! first aligned plan is preceded by one for lengths near the assumed ones: a thread then has so few vectors of a row
//! that they stay in its registers.
//!
//! A launch has a maximum number of blocks. On a GPU, a version whose grids depend on named extents requires that they
//! fit. After the last version comes the same with kernels whose blocks run several iterations (pass `stride-grids`),
//! at the cost of some instructions.
//!
//! On a CPU, a result that exceeds the last-level cache is stored past it. If its size depends on named extents, a
//! version has its kernels twice. One set stores normally, for extents under which all such results fit; the other
//! streams. The plan for long extents only streams.
//!
//! A version is planned when no earlier version can run, and its kernels are compiled when it runs. An artifact, which
//! runs without a compiler, contains the code of all versions.
//!
//! Guarantees: on a GPU, no version exceeds the limits of a block under the extents for which it runs. The last version
//! has no requirement, unless one of its kernels was given in the text. On a CPU the requirement concerns only speed
//! (fitting into the caches), and the last version runs in any case. Several threads may ask for versions at once:
//! while one compiles, the others wait.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use fuser_artifact::{Artifact, Bound, BufferKind, Multiple, SizeExpr, Step};
use fuser_dialects::kernel::rounds::{self, Rounds};
use fuser_ir::{Diagnostic, Diagnostics, Ir, Op, Place, TypeKind};
use fuser_passes::cost::Bindings;
use serde::{Deserialize, Serialize};

use super::code::{check, generate};
use super::{CompileOptions, Compiled, Lowered, TOO_LARGE, Target, find_program, lower, one};

/// An extent so great that no fast memory holds an axis of it, and so small that the bytes of two such axes do not
/// overflow.
const LONG: u64 = 1 << 26;

/// The multiple of row lengths in versions for aligned rows: 16 bytes of the narrowest type.
const ALIGNED: u32 = 16;

/// The same on a CPU: 64 bytes of the narrowest type.
const LINE: u32 = 64;

/// The longest rows that a block has in registers.
const LONGEST: u32 = 1 << 16;

/// A program whose versions are compiled when extents first ask for them.
pub struct Versions {
    original: Ir,
    module: Op,
    /// In the order in which they are asked whether they run.
    plans: Vec<Plan>,
}

/// A version that runs under given extents.
#[derive(Clone, Copy, Debug)]
pub struct Version<'a> {
    /// Its number, counted from 1.
    pub number: usize,
    /// Its kernels and its plan; no other version stands behind it.
    pub compiled: &'a Compiled,
}

/// Versions with their stores, and true where they are all.
type Found<'a> = (Vec<(&'a Plan, Stores)>, bool);

/// The conditions on the extents under which a version runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Class {
    /// The bounds of its kernels; for a version without code, the bounds known so far.
    pub requires: Vec<Bound>,
    /// Extents that are multiples.
    pub multiples: Vec<Multiple>,
}

/// The conditions of the first versions of a program, in order. They determine the version to run without planning.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Classes {
    /// The names of the extents.
    pub extents: Vec<String>,
    /// A class for each version.
    pub versions: Vec<Class>,
    /// True if the list is complete: the last version runs if no other does.
    pub ended: bool,
    /// The number of versions that were planned.
    pub known: usize,
}

/// A plan of the program, and what was made by it so far.
struct Plan {
    options: CompileOptions,
    planned: OnceLock<Result<Planned, Diagnostics>>,
    /// By [`Stores`].
    compiled: [OnceLock<Result<Compiled, Diagnostics>>; 2],
}

/// The stores of results whose bytes depend on named extents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stores {
    /// As usual: all fit into the last cache.
    Cached,
    /// Streams the results that exceed the last-level cache under the assumed extents, or all results if none exceeds
    /// it.
    Streamed,
}

/// A lowered program without code.
struct Planned {
    ir: Ir,
    lowered: Lowered,
    /// Without the memory that the code has of its own.
    requires: Vec<Bound>,
    /// The blocks of its launches, where they follow from the extents.
    grids: Vec<Bound>,
    /// Further requirements of [`Stores::Cached`].
    cached: Vec<Bound>,
    multiples: Vec<Multiple>,
    /// Milliseconds that it took.
    ms: f64,
}

impl Versions {
    /// The versions of the program that `options` imply, all still unplanned.
    pub fn new(original: Ir, module: Op, options: &CompileOptions) -> Self {
        let plan = |options| Plan {
            options,
            planned: OnceLock::new(),
            compiled: Default::default(),
        };
        let apart = apart(&original, module, options);
        let plans = plans(options, &apart).into_iter().map(plan).collect();
        Self {
            original,
            module,
            plans,
        }
    }

    /// The version that runs under these extents, compiled on demand.
    pub fn version(&self, extents: &BTreeMap<String, i64>) -> Result<Version<'_>, Diagnostics> {
        let (found, _) = self.up_to(extents)?;
        let ((last, stores), number) = (found[found.len() - 1], found.len());
        let compiled = last.compiled(self, stores)?;
        Ok(Version { number, compiled })
    }

    /// The number of versions that were planned so far.
    pub fn known(&self) -> usize {
        let made = |plan: &Plan| match plan.planned.get() {
            Some(Ok(planned)) => planned.stores(&plan.options).len(),
            _ => 0,
        };
        self.plans.iter().map(made).sum()
    }

    /// The versions up to the one that runs under these extents, compiled and chained; all versions if no extents are
    /// given.
    pub fn chain(&self, extents: &BTreeMap<String, i64>) -> Result<Compiled, Diagnostics> {
        let mut versions = Vec::new();
        for (plan, stores) in self.up_to(extents)?.0 {
            versions.push(plan.compiled(self, stores)?);
        }
        let artifact = versions.iter().rev().fold(None, |otherwise, version| {
            let artifact = version.artifact.clone();
            Some(Box::new(Artifact {
                otherwise,
                ..artifact
            }))
        });
        let mut first = versions[0].clone();
        first.compile_ms = versions.iter().map(|version| version.compile_ms).sum();
        first.artifact = artifact.map_or(first.artifact, |artifact| *artifact);
        check(&first.artifact)?;
        Ok(first)
    }

    /// The conditions of the versions up to the one that runs under these extents.
    pub fn classes(&self, extents: &BTreeMap<String, i64>) -> Result<Classes, Diagnostics> {
        let (found, ended) = self.up_to(extents)?;
        let mut classes = Classes {
            known: self.known(),
            ended,
            ..Classes::default()
        };
        for (plan, stores) in found {
            let planned = plan.planned(self)?;
            let requires = match plan.compiled[stores as usize].get() {
                Some(Ok(compiled)) => compiled.artifact.requires.clone(),
                _ => {
                    let cached = planned.cached.iter().filter(|_| stores == Stores::Cached);
                    let all = planned.requires.iter().chain(cached).chain(&planned.grids);
                    all.cloned().collect()
                }
            };
            classes
                .extents
                .clone_from(&planned.lowered.artifact.extents);
            classes.versions.push(Class {
                requires,
                multiples: planned.multiples.clone(),
            });
        }
        Ok(classes)
    }

    /// The versions up to the one that runs under these extents; at least one. The flag is true if that is the last
    /// version.
    fn up_to(&self, extents: &BTreeMap<String, i64>) -> Result<Found<'_>, Diagnostics> {
        let mut ended = true;
        let mut found: Vec<(&Plan, Stores)> = Vec::new();
        let mut kept: Vec<(&Planned, bool)> = Vec::new();
        let mut refused = None;
        'plans: for plan in &self.plans {
            let planned = plan.planned(self)?;
            let (artifact, requires) = (&planned.lowered.artifact, &planned.requires);
            if let Some(never) = requires.iter().find(|bound| is_never(bound)) {
                refused.get_or_insert_with(|| planned.too_large(never, &plan.options.target));
                continue;
            }
            let strided = plan.options.any_grid;
            let same = |&(last, other): &(&Planned, bool)| {
                let alike = last.requires == *requires && last.multiples == planned.multiples;
                alike && other == strided
            };
            // One for any grid is the last one, behind another that is not for all.
            let needless = || {
                let bounded = kept.last().is_some_and(|(last, _)| !last.grids.is_empty());
                strided && (!bounded || !requires.is_empty())
            };
            if kept.iter().any(same) || needless() || planned.is_idle(&plan.options) {
                continue;
            }
            kept.push((planned, strided));
            let runs = |requires: &[Bound]| {
                holds(&artifact.extents, requires, &planned.multiples, extents)
            };
            for &stores in planned.stores(&plan.options) {
                found.push((plan, stores));
                let fits = stores == Stores::Streamed || runs(&planned.cached);
                let fits = fits && runs(&planned.grids) && runs(requires);
                if fits && runs(&plan.compiled(self, stores)?.artifact.requires) {
                    ended = false;
                    break 'plans;
                }
            }
        }
        match refused {
            Some(refused) if found.is_empty() => Err(one(refused)),
            _ => Ok((found, ended)),
        }
    }
}

impl Classes {
    /// The number of the version that runs under these extents, counted from 1; `None` if the known conditions do not
    /// determine it.
    pub fn find(&self, extents: &BTreeMap<String, i64>) -> Option<usize> {
        let runs = |class: &Class| holds(&self.extents, &class.requires, &class.multiples, extents);
        let found = self.versions.iter().position(runs);
        let last = || self.versions.len().checked_sub(1).filter(|_| self.ended);
        Some(found.or_else(last)? + 1)
    }
    /// True if it contains more versions, or more of their conditions, than `others`.
    pub fn tells_more_than(&self, others: &Self) -> bool {
        let size = |classes: &Self| {
            let conditions = classes.versions.iter().map(|class| class.requires.len());
            (
                classes.versions.len(),
                classes.ended,
                conditions.sum::<usize>(),
            )
        };
        size(self) > size(others)
    }
}

impl Plan {
    fn planned(&self, of: &Versions) -> Result<&Planned, Diagnostics> {
        let plan = || {
            let start = Instant::now();
            let mut ir = of.original.clone();
            let lowered = lower(&mut ir, of.module, &self.options)?;
            let requires = require(&lowered.artifact, &self.options.target);
            let grids = match self.options.any_grid {
                true => Vec::new(),
                false => grids(
                    &lowered.artifact,
                    lowered.launched.funcs.len(),
                    &self.options.target,
                ),
            };
            let cached = results(&lowered.artifact, &self.options.target);
            let of = |(name, of): (&String, &u32)| {
                let extent = lowered.artifact.extents.iter().position(|n| n == name)?;
                let extent = u32::try_from(extent).ok()?;
                let within = self.options.lengths.get(name).copied();
                let of = *of;
                Some(Multiple { extent, of, within })
            };
            let multiples = self.options.multiples.iter().filter_map(of).collect();
            Ok(Planned {
                ir,
                lowered,
                requires,
                grids,
                cached,
                multiples,
                ms: start.elapsed().as_secs_f64() * 1e3,
            })
        };
        self.planned
            .get_or_init(plan)
            .as_ref()
            .map_err(Clone::clone)
    }
    fn compiled(&self, of: &Versions, stores: Stores) -> Result<&Compiled, Diagnostics> {
        let compile = || {
            let planned = self.planned(of)?;
            let start = Instant::now();
            let (options, lowered) = (&self.options, &planned.lowered);
            let streamed = stores == Stores::Streamed;
            let given = options.shapes.iter();
            let given =
                given.map(|(name, &n)| (name.clone(), i64::try_from(n).unwrap_or(i64::MAX)));
            let fits = holds(
                &lowered.artifact.extents,
                &planned.cached,
                &[],
                &given.collect(),
            );
            let length = |name: &str| {
                let given = options.shapes.get(name).filter(|_| !fits);
                streamed.then(|| given.copied().unwrap_or(LONG))
            };
            let mut artifact = generate(&planned.ir, of.module, lowered, options, length)?;
            artifact.requires = require(&artifact, &self.options.target);
            if stores == Stores::Cached {
                artifact.requires.extend(planned.cached.iter().cloned());
            }
            artifact.requires.extend(planned.grids.iter().cloned());
            artifact.multiples.clone_from(&planned.multiples);
            if let Some(never) = artifact.requires.iter().find(|bound| is_never(bound)) {
                return Err(one(planned.too_large(never, &self.options.target)));
            }
            check(&artifact)?;
            Ok(Compiled {
                artifact,
                diagnostics: planned.lowered.diagnostics.clone(),
                other_plans: planned.lowered.other_plans.clone(),
                drawn: Arc::clone(&planned.lowered.drawn),
                compile_ms: planned.ms + start.elapsed().as_secs_f64() * 1e3,
            })
        };
        self.compiled[stores as usize]
            .get_or_init(compile)
            .as_ref()
            .map_err(Clone::clone)
    }
}

impl Planned {
    /// The kinds of stores for the kernels of the plan, in the order in which versions are tried.
    fn stores(&self, options: &CompileOptions) -> &'static [Stores] {
        match (self.cached.is_empty(), options.nominal) {
            (true, _) => &[Stores::Cached],
            (false, Some(LONG)) => &[Stores::Streamed],
            (false, _) => &[Stores::Cached, Stores::Streamed],
        }
    }
    /// True if kernels for a range of lengths make nothing of it.
    fn is_idle(&self, options: &CompileOptions) -> bool {
        let written_out = |&kernel: &Op| {
            let threads = self.ir.int_of(kernel, "threads").unwrap_or(1);
            let mut loops = self.ir.walk(kernel).into_iter();
            loops.any(|op| {
                let rounds = Rounds::of(&self.ir, op, threads);
                rounds.is_some_and(|_| rounds::literal(&self.ir, self.ir.operand(op, 1)).is_none())
            })
        };
        !options.lengths.is_empty() && !self.lowered.launched.funcs.iter().any(written_out)
    }
    /// A kernel asks for more than a block may have, whatever the extents.
    fn too_large(&self, bound: &Bound, target: &Target) -> Diagnostic {
        let kernel = self.lowered.launched.funcs.get(bound.kernel as usize);
        let name = kernel.and_then(|&kernel| self.ir.symbol_name(kernel));
        let message = format!(
            "a block of kernel '{}' asks for {} bytes of shared memory, {} has {} for one",
            name.unwrap_or_default(),
            bound.amount.as_constant().unwrap_or(i64::MAX),
            target.name,
            bound.at_most
        );
        Diagnostic::error(&TOO_LARGE, Place::Unknown, message)
    }
}

/// True if all requirements hold under these extents; a requirement on an extent without a value does not hold.
fn holds(
    names: &[String],
    requires: &[Bound],
    multiples: &[Multiple],
    extents: &BTreeMap<String, i64>,
) -> bool {
    let values = names.iter().map(|name| extents.get(name).copied());
    let values: Vec<i64> = values.collect::<Option<_>>().unwrap_or_default();
    requires.iter().all(|bound| bound.holds(&values))
        && multiples.iter().all(|multiple| multiple.holds(&values))
}

/// True if a requirement holds under no extents.
fn is_never(bound: &Bound) -> bool {
    bound.amount.as_constant().is_some() && !bound.holds(&[])
}

/// The plans in the order in which they are tried: as requested, for long extents, and without values in fast memory.
/// Each of the first two is preceded by a plan for extents in `apart` that are multiples of [`ALIGNED`], if there are
/// any. On a GPU, the general plans follow once more, for grids of any length.
fn plans(options: &CompileOptions, apart: &[String]) -> Vec<CompileOptions> {
    let long = CompileOptions {
        nominal: Some(LONG),
        shapes: Default::default(),
        ..options.clone()
    };
    let mut none = long.clone();
    none.target.tile_bytes = 0;
    let on_multiples = |options: &CompileOptions| {
        let multiples = apart
            .iter()
            .map(|name| (name.clone(), aligned(&options.target)));
        let multiples = multiples.collect();
        let aligned = CompileOptions {
            multiples,
            ..options.clone()
        };
        (!apart.is_empty()).then_some(aligned)
    };
    let (first, second) = (on_multiples(options), on_multiples(&long));
    let near = first
        .as_ref()
        .filter(|_| options.target.abilities().block_threads)
        .and_then(near);
    if !apart.is_empty() {
        none = odd(&none, apart);
    }
    let others = [options, &long].map(|options| match apart {
        [] => Some(options.clone()),
        _ => Some(odd(options, apart)),
    });
    let [own, long] = others;
    let plans = [near, first, own, second, long].into_iter();
    let last = options.target.scratch_limit().map(|_| none);
    let any_grid = |plan: &CompileOptions| CompileOptions {
        any_grid: true,
        ..plan.clone()
    };
    let mut plans: Vec<CompileOptions> = plans.chain([last]).flatten().collect();
    if options.target.grid_blocks > 0 {
        let others: Vec<CompileOptions> = plans
            .iter()
            .filter(|plan| plan.multiples.is_empty())
            .map(any_grid)
            .collect();
        plans.extend(others);
    }
    plans
}

/// The multiple of row lengths in versions for aligned rows: a vector of a GPU's thread, a cache line of a CPU.
fn aligned(target: &Target) -> u32 {
    match target.abilities().block_threads {
        true => ALIGNED,
        false => LINE,
    }
}

/// The plan for odd row lengths near the given ones. It applies to lengths that the plans for multiples of [`ALIGNED`]
/// leave over.
fn odd(options: &CompileOptions, apart: &[String]) -> CompileOptions {
    let nominal = options.nominal.unwrap_or(Bindings::default().nominal);
    let length = |name: &String| options.shapes.get(name).copied().unwrap_or(nominal);
    let odd = |name: &String| (name.clone(), length(name).saturating_sub(1) | 1);
    let mut shapes = options.shapes.clone();
    shapes.extend(apart.iter().map(odd));
    CompileOptions {
        shapes,
        ..options.clone()
    }
}

/// The plan for row lengths near the assumed ones, for which a thread has few vectors.
fn near(aligned: &CompileOptions) -> Option<CompileOptions> {
    let nominal = aligned.nominal.unwrap_or(Bindings::default().nominal);
    let length = |name: &String| aligned.shapes.get(name).copied().unwrap_or(nominal);
    let range = |name: &String| Some((name.clone(), lengths_near(length(name))?));
    let lengths: BTreeMap<String, [u32; 2]> = aligned.multiples.keys().filter_map(range).collect();
    (!lengths.is_empty()).then(|| CompileOptions {
        lengths,
        ..aligned.clone()
    })
}

/// The multiples of [`ALIGNED`] in the quarter octave around a length; `None` for rows so long that no block holds
/// their elements in registers.
fn lengths_near(length: u64) -> Option<[u32; 2]> {
    let length = u32::try_from(length).ok().filter(|&n| n <= LONGEST)?;
    let octave = 1 << length.checked_sub(1)?.checked_ilog2()?;
    let most = length.next_multiple_of(ALIGNED.max(octave / 4));
    Some([most + ALIGNED - ALIGNED.max(octave / 4), most])
}

/// The named extents that determine the distance between rows of some tensor: the innermost extent of a tensor with
/// several axes. Extents whose given length is no multiple of [`ALIGNED`] are omitted.
fn apart(ir: &Ir, module: Op, options: &CompileOptions) -> Vec<String> {
    let Ok(program) = find_program(ir, module, options.program.as_deref()) else {
        return Vec::new();
    };
    let mut names = BTreeSet::new();
    let args = ir.body(program, 0).map(|body| ir.args(body).to_vec());
    let results = ir.walk(program).into_iter().flat_map(|op| ir.results(op));
    for value in args.iter().flatten().chain(results) {
        let TypeKind::Tensor(tensor) = ir.value_kind(*value) else {
            continue;
        };
        let Some(inner) = tensor.dims.last().filter(|_| tensor.dims.len() > 1) else {
            continue;
        };
        let expr = ir.extent_as_expr(inner.extent);
        if let Some([(names_of, 1)]) = expr.as_ref().map(|expr| expr.terms.as_slice())
            && let [name] = names_of.as_slice()
        {
            names.insert(ir.str(*name).to_owned());
        }
    }
    let otherwise = if options.target.abilities().block_threads {
        0
    } else {
        1
    };
    let given = |name: &String| options.shapes.get(name).copied().unwrap_or(otherwise);
    let of = u64::from(aligned(&options.target));
    match names.iter().any(|name| given(name) % of != 0) {
        true => Vec::new(),
        false => names.into_iter().collect(),
    }
}

/// The bounds under which the results of an artifact's launches fit into the last-level cache of a CPU. Only results
/// whose bytes depend on the extents have one.
fn results(artifact: &Artifact, target: &Target) -> Vec<Bound> {
    let mut bounds: Vec<Bound> = Vec::new();
    for step in artifact
        .steps
        .iter()
        .filter(|_| target.last_cache_bytes > 0)
    {
        let Step::Launch {
            kernel, buffers, ..
        } = step
        else {
            continue;
        };
        for buffer in buffers
            .iter()
            .filter_map(|&b| artifact.buffers.get(b as usize))
        {
            let bytes = buffer.bytes();
            let named = bytes.as_constant().is_none();
            let known = bounds.iter().any(|bound| bound.amount == bytes);
            if named && !known && !matches!(buffer.kind, BufferKind::Input(_)) {
                bounds.push(Bound {
                    kernel: *kernel,
                    amount: bytes,
                    at_most: target.last_cache_bytes,
                });
            }
        }
    }
    bounds
}

/// The bounds of the launches of an artifact: those that depend on the extents, and on a GPU those that never hold.
fn require(artifact: &Artifact, target: &Target) -> Vec<Bound> {
    let most = target.scratch_limit().unwrap_or(target.l2_bytes);
    let mut bounds: Vec<Bound> = Vec::new();
    for step in &artifact.steps {
        let Step::Launch {
            kernel,
            scratch_bytes,
            ..
        } = step
        else {
            continue;
        };
        let code = artifact.kernels.get(*kernel as usize);
        let own = code.map_or(0, |code| code.shared_bytes);
        let own = SizeExpr::constant(i64::try_from(own).unwrap_or(i64::MAX));
        let bound = Bound {
            kernel: *kernel,
            amount: scratch_bytes.clone() + own,
            at_most: most,
        };
        let matters = match bound.amount.as_constant() {
            Some(_) => target.scratch_limit().is_some() && is_never(&bound),
            None => true,
        };
        if matters && !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
    bounds
}

/// The bounds under which the grids of the first `kernels` kernels fit into a GPU launch. Only grids that depend on the
/// extents have one. Product kernels need none: their tiles are so large that no memory holds more of them than a
/// launch has blocks.
fn grids(artifact: &Artifact, kernels: usize, target: &Target) -> Vec<Bound> {
    let mut bounds: Vec<Bound> = Vec::new();
    for step in artifact
        .steps
        .iter()
        .filter(|_| target.abilities().block_threads)
    {
        let Step::Launch { kernel, grid, .. } = step else {
            continue;
        };
        let bound = Bound {
            kernel: *kernel,
            amount: grid.clone(),
            at_most: target.grid_blocks,
        };
        let named = grid.as_constant().is_none() && (*kernel as usize) < kernels;
        if named && !bounds.contains(&bound) {
            bounds.push(bound);
        }
    }
    bounds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_near_a_length_are_few() {
        assert_eq!(lengths_near(1024), Some([912, 1024]));
        assert_eq!(lengths_near(912), Some([912, 1024]));
        assert_eq!(lengths_near(896), Some([784, 896]));
        assert_eq!(lengths_near(64), Some([64, 64]));
        assert_eq!(lengths_near(80), Some([80, 80]));
        assert_eq!(lengths_near(4096), Some([3600, 4096]));
        for none in [0, 1, 1 << 40] {
            assert_eq!(lengths_near(none), None, "{none}");
        }
        for length in (16..=u64::from(LONGEST)).step_by(16) {
            let [least, most] = lengths_near(length).unwrap();
            assert!((u64::from(least)..=most.into()).contains(&length));
            assert!(
                5 * least >= 4 * most || most <= 16 + least,
                "{least}..{most}"
            );
            assert!(least % ALIGNED == 0 && most % ALIGNED == 0);
        }
    }
}
