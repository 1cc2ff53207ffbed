//! The `segment` pass.

use fuser_analysis::cost::{Cost, Kind, Limits, Model, Objective, Refusal};
use fuser_analysis::targets::{self, SHAPE, TARGET};
use fuser_dialects::task;
use fuser_dialects::task::positions;
use fuser_ir::diag::CodeDef;
use fuser_ir::{Block, Diagnostics, Ir, Op};
use fuser_pass::{OptionDef, OptionKind, PassContext, PassDef, Remark, RemarkKind, StatDef};
use rustc_hash::FxHashSet;

use super::apply::{Draw, draw};
use super::boundaries::Hint;
use super::explain;
use super::explicit;
use super::graph::{Graph, Index};
use super::labels;
use super::layers::Layers;
use super::record::{Action, Record};
use super::rounds::{Foreseen, has_plan, prices, rematerialize, rounds};
use super::search::{Options, Segmentation, segment};
use crate::planner::{CostResult, Planner};

/// The codes of segmentation.
pub static CODES: &[CodeDef] = &[BROKEN_HINT, UNKNOWN_HINT, GROUPING, UNKNOWN_VALUE];

/// A hint that cannot be fulfilled.
pub const BROKEN_HINT: CodeDef = CodeDef {
    code: "FIR0710",
    title: "a hint cannot be kept",
    explanation: "Ops with one `together:NAME` hint must share a kernel. Here they cannot: a boundary lies between them, they \
                  have no common iteration space, or a path leads from one to the other through a third kernel. The reason \
                  is in the message. Hints are kept or refused, never dropped.",
    example: "$ fuser-opt x.fir --segment\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                %a = fusion.exp %x {fusion.hint = \"together:p\"}\n  \
                %s = fusion.segment_set %a\n  \
                %y = fusion.neg %s {fusion.hint = \"together:p\"}\n  \
                task.return %y\n\
              }",
};
/// An unknown hint.
pub const UNKNOWN_HINT: CodeDef = CodeDef {
    code: "FIR0711",
    title: "unknown hint",
    explanation: "`fusion.hint` is `together:NAME`, `apart` or `barrier`.",
    example: "$ fuser-opt x.fir --segment\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                %y = fusion.exp %x {fusion.hint = \"alone\"}\n  \
                task.return %y\n\
              }",
};
/// A grouping that is illegal.
pub const GROUPING: CodeDef = CodeDef {
    code: "FIR0712",
    title: "an illegal grouping",
    explanation: "A grouping given by a file lists every op in at least one segment, names only ops of the program, and its \
                  segments can run in some order. The message names the op or the path at fault.",
    example: "$ fuser-opt x.fir --segment='from={\"segments\":[]}'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                %y = fusion.exp %x\n  \
                task.return %y\n\
              }",
};
/// The name of a value to explain that is not in the program.
pub const UNKNOWN_VALUE: CodeDef = CodeDef {
    code: "FIR0714",
    title: "a value to explain is not in the program",
    explanation: "`--explain=%a,%b` asks about two values by their names. Passes that run before segmentation may merge or \
                  remove values: ask about one that is still there, or run fewer passes.",
    example: "$ fuser-opt x.fir --segment --explain=%no_such,%y\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
              %y = fusion.exp %x\n  \
              task.return %y\n\
              }",
};

/// `segment`
pub static SEGMENT: PassDef = PassDef {
    name: "segment",
    summary: "decides which ops share a kernel",
    doc: "Groups ops so that as few bytes as possible cross slow memory: first everything that no boundary separates, as one \
          kernel; where that has no schedule or moves bytes twice, bottom-up from single ops, the best merge first, under \
          several orders of equal gains; what few ops neighbouring kernels have is put together in the best way there is; then, in turns, what crosses is rematerialized \
          and what that leaves is merged, while the total falls. Each group becomes a `task.segment`; ops are moved, never rewritten, and ops that make values from nothing are copied \
          into each segment that uses them. What the program has as `task.pattern` becomes labels (`label-patterns`); each is asked \
          about as one kernel, and groups that begin with those that are one are taken where they cost no more than without. Each decision is a remark with its reason and its numbers. `fusion.hint` on an op \
          (`together:NAME`, `apart`, `barrier`) is kept or refused with an error. A program that has segments already stays \
          as it is.",
    makes: "task.segment",
    anchor: &["task.program"],
    options: &[
        OptionDef {
            name: "objective",
            kind: OptionKind::Choice(&["bytes", "time", "kernels"]),
            default: "bytes",
            doc: "what is to be small",
        },
        TARGET,
        SHAPE,
        OptionDef {
            name: "top-down",
            kind: OptionKind::Bool,
            default: "true",
            doc: "begin with whole components",
        },
        OptionDef {
            name: "refine",
            kind: OptionKind::Bool,
            default: "true",
            doc: "move and copy ops across the cuts that merging leaves",
        },
        OptionDef {
            name: "restarts",
            kind: OptionKind::Bool,
            default: "true",
            doc: "put the ops of neighbouring groups together in the best way where they are up to 14 parts: ops, or sets of ops that \
                  nothing better parts; grow components of up to 128 ops under several orders of equal gains, and take the optimum over \
                  what all orders agree on; at most 4096 ops are planned for it, and 8 for each op of the program",
        },
        OptionDef {
            name: "views",
            kind: OptionKind::Bool,
            default: "true",
            doc: "in components of more than 128 ops, merge views that stand between two groups, and broadcasts of arguments, with what reads \
                  them before all else: groups grow evenly then",
        },
        OptionDef {
            name: "layers",
            kind: OptionKind::Bool,
            default: "true",
            doc: "of 16 or more equal layers, one behind the other, search with 8 and draw the others as those in the middle, where these are alike",
        },
        OptionDef {
            name: "horizontal",
            kind: OptionKind::Bool,
            default: "true",
            doc: "merge unrelated kernels of equal shape where one walk serves both",
        },
        OptionDef {
            name: "labels",
            kind: OptionKind::Choice(&["first", "ignore"]),
            default: "first",
            doc: "first: begin with the patterns of the program too, and take that where it costs no more",
        },
        OptionDef {
            name: "search",
            kind: OptionKind::Choice(&["greedy", "exact"]),
            default: "greedy",
            doc: "exact: the optimum of components of up to 14 ops, the yardstick of the search",
        },
        OptionDef {
            name: "rounds",
            kind: OptionKind::COUNT,
            default: "4",
            doc: "rounds of rematerialization and of merging what it leaves, while the cost falls; a budget of work bounds them, so \
                  programs of more than 16384 ops get none",
        },
        OptionDef {
            name: "max-ops",
            kind: OptionKind::COUNT,
            default: "1024",
            doc: "ops per kernel",
        },
        OptionDef {
            name: "max-sweeps",
            kind: OptionKind::COUNT,
            default: "0",
            doc: "sweeps per kernel; 0: any number",
        },
        OptionDef {
            name: "from",
            kind: OptionKind::Text,
            default: "",
            doc: "a grouping to apply instead of searching one: the text of a segment report",
        },
        OptionDef {
            name: "explain",
            kind: OptionKind::List,
            default: "",
            doc: "two values, %a,%b: why they are in different segments; --explain=%a,%b shows the answer",
        },
    ],
    statistics: &[
        StatDef {
            name: "segments",
            doc: "segments drawn",
        },
        StatDef {
            name: "kernels",
            doc: "segments that are kernels",
        },
        StatDef {
            name: "merges",
            doc: "merges of the bottom-up phase",
        },
        StatDef {
            name: "moves",
            doc: "moves and copies across cuts",
        },
        StatDef {
            name: "refinements",
            doc: "moves and copies that were looked at",
        },
        StatDef {
            name: "refined-ops",
            doc: "ops in the groups that were asked about for them",
        },
        StatDef {
            name: "rounds",
            doc: "rounds of rematerialization and merging that were kept",
        },
        StatDef {
            name: "questions",
            doc: "groups whose cost was asked for",
        },
        StatDef {
            name: "asked-ops",
            doc: "ops in those groups: each is looked at, to know whether an equal group was asked about",
        },
        StatDef {
            name: "plans",
            doc: "plans made: questions that no equal group had answered",
        },
        StatDef {
            name: "planned-ops",
            doc: "ops in those plans",
        },
        StatDef {
            name: "axis-questions",
            doc: "pairs of groups that were asked for one iteration space",
        },
        StatDef {
            name: "axis-steps",
            doc: "work done for them: ops added to classes of axes, nodes of classes followed",
        },
    ],
    run,
    ..PassDef::EMPTY
};

fn run(ctx: &mut PassContext<'_>) -> Result<(), Diagnostics> {
    let Some(block) = ctx.ir.body(ctx.op, 0) else {
        return Ok(());
    };
    let model = model(ctx)?;
    let drawn = ctx
        .ir
        .block_ops(block)
        .any(|op| ctx.ir.is(op, &task::SEGMENT));
    let mut records = Vec::new();
    if drawn && !ctx.options.text("from").is_empty() {
        let message = "the program has segments, so that no grouping is applied to it";
        let error = ctx.error_at(ctx.op, &GROUPING, message);
        return Err(one(
            error.help("'--inline-tasks' before '--segment' takes them away")
        ));
    }
    if drawn {
        // The user's segments stay.
    } else if ctx.options.text("from").is_empty() {
        check_hints(ctx, block)?;
        task::labels::note(ctx.ir, ctx.op);
        records = search(ctx, block, model.clone())?;
    } else {
        task::labels::note(ctx.ir, ctx.op);
        force(ctx, block, &model)?;
    }
    crate::report::emit(ctx, &model);
    explain::emit(ctx, &model, &records)
}

fn search(
    ctx: &mut PassContext<'_>,
    block: Block,
    model: Model,
) -> Result<Vec<Record>, Diagnostics> {
    let mut planner = Planner::new(model);
    planner.progress = ctx.progress.clone();
    let options = Options {
        evaluations: ctx.limits.segment_evaluations,
        top_down: ctx.options.bool("top-down"),
        exact: ctx.options.text("search") == "exact",
        refine: ctx.options.bool("refine"),
        restarts: ctx.options.bool("restarts"),
        views: ctx.options.bool("views"),
        horizontal: ctx.options.bool("horizontal"),
        labels: ctx.options.text("labels") == "first",
    };
    let layers = (ctx.options.bool("layers") && !options.exact)
        .then(|| Layers::find(ctx.ir, block, &mut planner))
        .flatten();
    positions::note(ctx.ir, ctx.op);
    let drawn = match layers {
        Some(layers) => draw_layers(ctx, block, &layers, &mut planner, &options)?,
        None => None,
    };
    let ((records, remarks), foreseen) = match drawn {
        Some(drawn) => drawn,
        None => (draw_whole(ctx, block, &mut planner, &options)?, None),
    };
    positions::settle(ctx.ir, ctx.op);
    if let Some(foreseen) = foreseen {
        planner.solutions.foresee(ctx.ir, &planner.model, foreseen);
    }
    remarks.into_iter().for_each(|remark| ctx.remark(remark));
    count(ctx, &records, &planner);
    // The `remat` pass starts with the solutions found by the look-ahead of rounds.
    ctx.kept.leave(planner.solutions);
    Ok(records)
}

/// Decisions, and the remarks about them.
type Decided = (Vec<Record>, Vec<Remark>);

/// Draws the segments of a program from a search with part of its layers, and predicts the rematerialization if
/// possible. `None`, with an unchanged program, if the layers are not grouped alike.
fn draw_layers(
    ctx: &mut PassContext<'_>,
    block: Block,
    layers: &Layers,
    planner: &mut Planner,
    options: &Options,
) -> Result<Option<(Decided, Option<Foreseen>)>, Diagnostics> {
    let whole = ctx.ir.clone();
    layers.shorten(ctx.ir, block);
    let found = draw_whole(ctx, block, planner, options);
    let mut shortened = std::mem::replace(ctx.ir, whole);
    let (mut records, mut remarks) = found?;
    let graph = Graph::build(ctx.ir, block, &planner.model.bindings);
    let Some(extended) = layers.extend(&graph, &shortened, ctx.op) else {
        return Ok(None);
    };
    // Records that name values removed with the shortened program are dropped.
    records.retain(|record| record.is_of(ctx.ir));
    records.push(layers.record(ctx.ir, &graph));
    remarks.extend(tell(ctx, &records[records.len() - 1..]));
    draw(ctx.ir, block, &extended.draws(&graph), &graph.free_ops());
    let foreseen = match rematerialize(&mut shortened, ctx.op, planner) {
        true => extended
            .rematerialized(ctx.ir, ctx.op, &shortened)
            .map(Foreseen::Computes),
        false => Some(Foreseen::Nothing),
    };
    Ok(Some(((records, remarks), foreseen)))
}

/// Draws the segments found by the search.
fn draw_whole(
    ctx: &mut PassContext<'_>,
    block: Block,
    planner: &mut Planner,
    options: &Options,
) -> Result<Decided, Diagnostics> {
    let (program, most) = (ctx.op, ctx.options.count("rounds"));
    let (graph, mut found) = segment(ctx.ir, block, planner, options);
    // Remarks are made before drawing, since values that they name may be removed later.
    let mut remarks = tell(ctx, &found.records);
    let mut told = found.records.len();
    if let Some(errors) = broken(ctx, &found) {
        remarks.into_iter().for_each(|remark| ctx.remark(remark));
        return Err(errors);
    }
    let draw = |ir: &mut Ir, planner: &mut Planner, graph: &Graph, found: &mut Segmentation| {
        draw(
            ir,
            block,
            &Draw::all(graph, &found.groups),
            &graph.free_ops(),
        );
        found
            .records
            .extend(rounds(ir, program, planner, options, most));
    };
    let other = found.is_labelled.then(|| ctx.ir.clone());
    draw(ctx.ir, planner, &graph, &mut found);
    if let Some(mut ir) = other {
        // Groups from labels must cost no more in the end, both as drawn and after rematerialization.
        let without = Options {
            labels: false,
            ..*options
        };
        let (graph, mut plain) = segment(&ir, block, planner, &without);
        draw(&mut ir, planner, &graph, &mut plain);
        let before = prices(&ir, program, planner).into_iter();
        let pairs = before.zip(prices(ctx.ir, program, planner));
        let decide = |(b, a): (Cost, Cost)| labels::decision(planner, graph.len(), b, a);
        let dearer = pairs.map(decide).find(|record| record.refusal.is_some());
        if let Some(record) = dearer {
            *ctx.ir = ir;
            (found, told) = (plain, 0);
            found.records.push(record);
        }
    }
    remarks.extend(tell(ctx, &found.records[told..]));
    Ok((found.records, remarks))
}

/// Counts statistics of the search and of the drawn segments.
fn count(ctx: &mut PassContext<'_>, records: &[Record], planner: &Planner) {
    let accepted = |actions: &[Action]| {
        let all = records.iter().filter(|r| r.refusal.is_none());
        all.filter(|r| actions.contains(&r.action)).count() as u64
    };
    ctx.count("merges", accepted(&[Action::Merge]));
    ctx.count("moves", accepted(&[Action::Move, Action::Copy]));
    ctx.count("rounds", accepted(&[Action::Round]));
    ctx.count("refinements", planner.refinements);
    ctx.count("refined-ops", planner.refined_ops);
    ctx.count("questions", planner.questions);
    ctx.count("asked-ops", planner.asked_ops);
    ctx.count("plans", planner.plans);
    ctx.count("planned-ops", planner.planned_ops);
    ctx.count("axis-questions", planner.axis_questions);
    ctx.count("axis-steps", planner.axis_steps);
    let children = ctx.ir.children(ctx.op).into_iter();
    let segments: Vec<Op> = children
        .filter(|&op| ctx.ir.is(op, &task::SEGMENT))
        .collect();
    let kernel = Some(Kind::Kernel.name());
    let kernels = segments.iter();
    let kernels = kernels.filter(|&&s| ctx.ir.str_of(s, "kind") == kernel);
    let kernels = kernels.count() as u64;
    ctx.count("kernels", kernels);
    ctx.count("segments", segments.len() as u64);
}

/// Draws the segments of a file. A segment that cannot be one kernel is an error, unless the refusal is that of a
/// single op in it.
fn force(ctx: &mut PassContext<'_>, block: Block, model: &Model) -> Result<(), Diagnostics> {
    // Records the positions of ops before some are removed.
    positions::note(ctx.ir, ctx.op);
    let (graph, segments) = grouped(ctx, block, model)?;
    for op in explicit::unlisted(ctx.ir, &graph, &segments) {
        ctx.ir.erase(op);
    }
    let mut planner = Planner::new(model.clone());
    let mut answers = Vec::with_capacity(segments.len());
    let mut draws = Vec::with_capacity(segments.len());
    let mut made = FxHashSet::default();
    for segment in &segments {
        let answer = planner.evaluate(ctx.ir, &graph, &segment.members);
        draws.push(Draw {
            name: segment.name.clone(),
            kind: answer
                .as_ref()
                .map_or(Kind::Kernel.name(), |answer| answer.kind.name()),
            ops: segment.ops(ctx.ir, &graph, &made),
        });
        made.extend(graph.ops_at(&segment.members));
        answers.push(known(ctx.ir, &graph, segment, answer, &mut planner));
    }
    let kernel = Kind::Kernel.name();
    let kernels = draws.iter().filter(|draw| draw.kind == kernel).count();
    ctx.count("kernels", kernels as u64);
    ctx.count("segments", draws.len() as u64);
    let drawn = draw(ctx.ir, block, &draws, &graph.free_ops());
    let mut errors = Diagnostics::default();
    let loc = ctx.ir.op_loc(ctx.op);
    for ((op, segment), answer) in drawn.into_iter().zip(&segments).zip(answers) {
        // Once drawn, with ops computed twice and values read from other segments, it may have a plan that the set of
        // ops does not have.
        let refusal = answer.err().filter(|_| !has_plan(ctx.ir, op, &mut planner));
        match refusal {
            // A requested segment gets a location: a later pass that cannot keep it whole reports an error there
            // instead of splitting it.
            None => ctx.ir.set_loc(op, loc),
            // A segment with an op unknown to the model may be split later, like segments from the search.
            Some(None) => {}
            Some(Some(refusal)) => {
                let reason = refusal.render(ctx.ir);
                let message = format!("segment '{}' cannot be one kernel: {reason}", segment.name);
                let last = segment.members.last().map(|&m| graph.ops[m as usize]);
                errors.push(ctx.error_at(last.unwrap_or(op), &GROUPING, message));
            }
        }
    }
    positions::settle(ctx.ir, ctx.op);
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(()),
    }
}

/// The refusal of a segment; `Err(None)` if it is the refusal of one of its ops alone. A single op is always a kernel.
fn known(
    ir: &Ir,
    graph: &Graph,
    segment: &explicit::ExplicitSegment,
    answer: Result<CostResult, Refusal>,
    planner: &mut Planner,
) -> Result<(), Option<Refusal>> {
    let members = &segment.members;
    match answer {
        Err(refusal) if members.len() > 1 => {
            let alone =
                |&m: &Index| planner.evaluate(ir, graph, &[m]).err().as_ref() == Some(&refusal);
            let is_of_one = members.iter().any(alone);
            Err(Some(refusal).filter(|_| !is_of_one))
        }
        _ => Ok(()),
    }
}

/// Reads the grouping given in the options.
fn grouped(
    ctx: &mut PassContext<'_>,
    block: Block,
    model: &Model,
) -> Result<(Graph, Vec<explicit::ExplicitSegment>), Diagnostics> {
    let program = ctx.function().unwrap_or_default();
    let read = |ir: &mut Ir| {
        let grouping = explicit::Grouping::parse(&program, ctx.options.text("from"))?;
        let mut graph = Graph::build(ir, block, &model.bindings);
        let members = grouping.members(ir, &graph)?;
        let reads = grouping.reads(ir, &graph);
        if explicit::merge_equal(ir, block, &graph, &members, &reads) {
            graph = Graph::build(ir, block, &model.bindings);
        }
        let segments = grouping.read(ir, &graph)?;
        Ok((graph, segments))
    };
    read(ctx.ir).map_err(|error: explicit::GroupingError| {
        let message = error.message(ctx.ir);
        let mut told = ctx.error_at(error.op().unwrap_or(ctx.op), &GROUPING, message);
        for (op, text) in error.steps(ctx.ir) {
            told = told.note(ctx.place(op), text);
        }
        one(match error.help() {
            Some(help) => told.help(help),
            None => told,
        })
    })
}

/// The cost model that the options describe.
fn model(ctx: &PassContext<'_>) -> Result<Model, Diagnostics> {
    let sweeps = ctx.options.count("max-sweeps");
    let limits = Limits {
        ops: usize::try_from(ctx.options.count("max-ops")).unwrap_or(usize::MAX),
        sweeps: match sweeps {
            0 => usize::MAX,
            n => usize::try_from(n).unwrap_or(usize::MAX),
        },
    };
    let objective = match ctx.options.text("objective") {
        "time" => Objective::Time,
        "kernels" => Objective::Kernels,
        _ => Objective::Bytes,
    };
    Ok(Model {
        limits,
        objective,
        ..targets::model(ctx)?
    })
}

fn check_hints(ctx: &PassContext<'_>, block: Block) -> Result<(), Diagnostics> {
    let mut errors = Diagnostics::default();
    for op in ctx.ir.block_ops(block) {
        if let Some(Err(text)) = Hint::of(ctx.ir, op) {
            let message = format!("'{text}' is no hint");
            let error = ctx.error_at(op, &UNKNOWN_HINT, message);
            errors.push(error.help("hints are 'together:NAME', 'apart' and 'barrier'"));
        }
    }
    match errors.has_errors() {
        true => Err(errors),
        false => Ok(()),
    }
}

fn broken(ctx: &PassContext<'_>, found: &Segmentation) -> Option<Diagnostics> {
    let mut errors = Diagnostics::default();
    for (op, refusal) in &found.broken_hints {
        let hint = ctx.ir.str_of(*op, "fusion.hint").unwrap_or_default();
        let (reason, name) = (refusal.words(ctx.ir), refusal.name());
        let message = format!("the hint '{hint}' cannot be kept: {reason} ({name})");
        errors.push(ctx.error_at(*op, &BROKEN_HINT, message));
    }
    errors.has_errors().then_some(errors)
}

fn one(diagnostic: fuser_ir::Diagnostic) -> Diagnostics {
    Diagnostics {
        items: vec![diagnostic],
    }
}

/// The records as remarks, if remarks are requested.
fn tell(ctx: &PassContext<'_>, records: &[Record]) -> Vec<Remark> {
    let wanted = ctx.wants_remarks();
    let wanted = records.iter().filter(|_| wanted);
    wanted.map(|record| remark(ctx, record)).collect()
}

fn remark(ctx: &PassContext<'_>, record: &Record) -> Remark {
    let kind = match record.refusal {
        None => RemarkKind::Passed,
        Some(_) => RemarkKind::Missed,
    };
    let name = match record.action {
        Action::Component => "Component",
        Action::Merge => "Merge",
        Action::Horizontal => "Horizontal",
        Action::Regroup => "Regroup",
        Action::Move => "Move",
        Action::Copy => "Copy",
        Action::Round => "Round",
        Action::Label(_) => "Label",
        Action::Labels => "Labels",
        Action::Layers => "Layers",
    };
    let op = record.parts.last().and_then(|&v| ctx.ir.def_op(v));
    let place = op.map_or(fuser_ir::Place::Unknown, |op| ctx.place(op));
    let mut remark = Remark::new(kind, name, place, record.render(ctx.ir));
    if let Some(refusal) = &record.refusal {
        remark = remark.reason(refusal.render(ctx.ir));
    }
    let number = |n: u64| i64::try_from(n).unwrap_or(i64::MAX);
    if let Some(before) = &record.before {
        remark = remark.int("BytesBefore", number(before.bytes()));
    }
    if let Some(after) = &record.after {
        remark = remark.int("BytesAfter", number(after.bytes()));
    }
    remark
}
