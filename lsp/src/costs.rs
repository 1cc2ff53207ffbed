//! The segments of a document and their bytes, computed on a separate thread so that typing never waits.
//!
//! Programs without segments are segmented as in a compile for the default target; existing segments are used
//! unchanged. A newer version of a document cancels the work on an older one between two passes.

use std::collections::{BTreeMap, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use fuser_dialects::task;
use fuser_ir::def::Registry;
use fuser_ir::{Ir, LocId, LocKind, Op};
use fuser_pass::{Instrument, Manager, PassRun, pipeline};
use fuser_passes::cost::Model;
use fuser_passes::report::{Report, SegmentReport, report};

use crate::analysis::Analysis;
use crate::text::Text;

/// The pause in typing before segments are computed: longer than most intervals between keystrokes.
const PAUSE: Duration = Duration::from_millis(400);

/// A version of a document whose costs are wanted.
pub struct Job {
    /// The document.
    pub uri: String,
    /// Its version.
    pub version: i32,
    /// Its text.
    pub text: Arc<Text>,
    /// The name in locations.
    pub name: String,
    /// True once the result is no longer wanted.
    pub cancelled: Arc<AtomicBool>,
}

/// The costs of one version of a document.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
    /// The document.
    pub uri: String,
    /// Its version.
    pub version: i32,
    /// The costs.
    pub costs: Costs,
}

/// A line and a column in a document, as locations have them.
pub type Spot = (u32, u32);

/// The programs of a document.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Costs {
    /// Each program with its place.
    pub programs: Vec<(Spot, Report)>,
    /// The segments in the text: the location, the program, the number of the segment.
    pub written: BTreeMap<Spot, (usize, usize)>,
    /// For each op its segments.
    pub ops: BTreeMap<Spot, Vec<(usize, usize)>>,
}

impl Costs {
    /// A segment by the numbers of its program and its own.
    pub fn segment(&self, (program, segment): (usize, usize)) -> Option<&SegmentReport> {
        self.programs.get(program)?.1.segments.get(segment)
    }
}

/// Serves jobs until the channel closes; of several jobs for one document only the last.
pub fn serve(registry: &Arc<Registry>, jobs: &Receiver<Job>, found: &dyn Fn(Found)) {
    let mut waiting: HashMap<String, Job> = HashMap::new();
    loop {
        let next = match waiting.is_empty() {
            true => jobs.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => jobs.recv_timeout(PAUSE),
        };
        match next {
            Ok(job) => _ = waiting.insert(job.uri.clone(), job),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let mut ready: Vec<Job> = waiting.drain().map(|(_, job)| job).collect();
                ready.sort_by(|a, b| a.uri.cmp(&b.uri));
                ready.iter().for_each(|job| found(find(registry, job)));
            }
        }
    }
}

/// The costs that a job requests; empty if the job is cancelled or the compiler fails.
pub fn find(registry: &Arc<Registry>, job: &Job) -> Found {
    let costs = catch_unwind(AssertUnwindSafe(|| of(registry, job)));
    Found {
        uri: job.uri.clone(),
        version: job.version,
        costs: costs.unwrap_or_default(),
    }
}

fn of(registry: &Arc<Registry>, job: &Job) -> Costs {
    let analysis = Analysis::new(registry, job.text.clone(), &job.name);
    let mut costs = Costs::default();
    for part in analysis.parts {
        let (mut ir, Some(module)) = (part.ir, part.module) else {
            continue;
        };
        let drawn = ir.walk(module).iter().any(|op| ir.is(*op, &task::SEGMENT));
        if (drawn || segment(&mut ir, module, job)) && !job.cancelled.load(Ordering::Relaxed) {
            collect(&ir, module, drawn, &mut costs);
        }
    }
    costs
}

/// Stops a run of passes when the job is cancelled.
struct Cancel<'a>(&'a AtomicBool);

impl Instrument for Cancel<'_> {
    fn allows(&mut self, _: &Ir, _: PassRun<'_>) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Draws the segments of all programs.
fn segment(ir: &mut Ir, module: Op, job: &Job) -> bool {
    let text = format!("task.program({})", fuser_passes::FRONT);
    let Ok(parsed) = pipeline::parse(&text, 0, &fuser_passes::catalog()) else {
        return false;
    };
    let mut cancel = Cancel(&job.cancelled);
    let mut manager = Manager {
        without_remarks: true,
        ..Manager::default()
    };
    manager.watch(&mut cancel);
    manager.run(ir, module, &parsed.pipeline).ok()
}

fn collect(ir: &Ir, module: Op, written: bool, costs: &mut Costs) {
    let model = Model::default();
    let programs = ir.children(module).into_iter();
    for program in programs.filter(|op| ir.is(*op, &task::PROGRAM)) {
        let number = costs.programs.len();
        let segments = ir.children(program).into_iter();
        let segments = segments.filter(|op| ir.is(*op, &task::SEGMENT));
        for (at, segment) in segments.enumerate() {
            for spot in spots(ir, ir.op_loc(segment))
                .into_iter()
                .filter(|_| written)
            {
                costs.written.insert(spot, (number, at));
            }
            for op in ir.walk(segment) {
                for spot in spots(ir, ir.op_loc(op)) {
                    let known = costs.ops.entry(spot).or_default();
                    if known.last() != Some(&(number, at)) {
                        known.push((number, at));
                    }
                }
            }
        }
        if let Some(&spot) = spots(ir, ir.op_loc(program)).first() {
            costs.programs.push((spot, report(ir, program, &model)));
        }
    }
}

/// The places in files that a location names; only the first ones if there are very many.
pub fn spots(ir: &Ir, loc: LocId) -> Vec<Spot> {
    /// Ops that were merged into one are few.
    const MOST: usize = 64;
    let (mut pending, mut spots) = (vec![loc], Vec::new());
    while let Some(loc) = pending.pop()
        && pending.len() + spots.len() < MOST
    {
        match ir.loc_kind(loc) {
            LocKind::Unknown => {}
            LocKind::File { line, column, .. } => spots.push((*line, *column)),
            LocKind::Name { child, .. } => pending.extend(*child),
            LocKind::CallSite { callee, .. } => pending.push(*callee),
            LocKind::Fused(fused) => pending.extend(fused.parts.iter().rev()),
        }
    }
    spots
}
