//! The manager: nesting, statistics, failures, panics, stopping.

use std::sync::Arc;

use fuser_ir::def::{DialectDef, OpDef, Registry};
use fuser_ir::ir::{Ir, NewOp, Op};
use fuser_ir::{Diagnostics, Traits};
use fuser_pass::manager::run_pipeline;
use fuser_pass::pipeline::parse;
use fuser_pass::{Catalog, Failure, Instrument, Manager, PassDef, PassRun, Pipeline, StatDef};

static MODULE: OpDef = OpDef {
    name: "builtin.module",
    ..OpDef::EMPTY
};
static PROGRAM: OpDef = OpDef {
    name: "task.program",
    traits: Traits::ISOLATED,
    ..OpDef::EMPTY
};
static LEAF: OpDef = OpDef {
    name: "t.leaf",
    ..OpDef::EMPTY
};
static T: DialectDef = DialectDef {
    name: "t",
    doc: "",
    ops: &[&MODULE, &PROGRAM, &LEAF],
    discardable: &[],
};

static GROW: PassDef = PassDef {
    name: "grow",
    anchor: &["task.program"],
    statistics: &[StatDef {
        name: "ops",
        doc: "",
    }],
    run: |ctx| {
        let leaf = ctx.ir.create_op(&LEAF, NewOp::default());
        let block = ctx.ir.body(ctx.op, 0);
        if let Some(block) = block {
            ctx.ir.append_op(block, leaf);
        }
        ctx.count("ops", 1);
        Ok(())
    },
    ..PassDef::EMPTY
};
static CRASH_ON_B: PassDef = PassDef {
    name: "crash",
    run: |ctx| match ctx.function().as_deref() {
        Some("b") => panic!("as told"),
        _ => Ok(()),
    },
    ..PassDef::EMPTY
};
static REFUSE: PassDef = PassDef {
    name: "refuse",
    run: |_| Err(Diagnostics::default()),
    ..PassDef::EMPTY
};
static COUNT_OPS: PassDef = PassDef {
    name: "count-ops",
    statistics: &[StatDef {
        name: "seen",
        doc: "",
    }],
    run: |ctx| {
        let seen = ctx.ir.walk(ctx.op).len() as u64;
        ctx.count("seen", seen);
        Ok(())
    },
    ..PassDef::EMPTY
};

fn module(programs: &[&str]) -> (Ir, Op) {
    let mut ir = Ir::new(Arc::new(Registry::new(&[&T])));
    let module = ir.create_op(&MODULE, NewOp::default());
    let region = ir.new_region();
    ir.push_region(module, region);
    let block = ir.append_block(region);
    for name in programs {
        let program = ir.create_op(&PROGRAM, NewOp::default());
        let inner = ir.new_region();
        ir.push_region(program, inner);
        ir.append_block(inner);
        let name = ir.string_attr(name);
        ir.set_attr(program, "sym_name", name);
        ir.append_op(block, program);
    }
    (ir, module)
}
fn pipeline(text: &str) -> Pipeline {
    let catalog = Catalog {
        passes: &[&GROW, &CRASH_ON_B, &REFUSE, &COUNT_OPS],
        pipelines: &[],
        anchors: &["builtin.module", "task.program"],
    };
    parse(text, 0, &catalog).unwrap().pipeline
}
fn accept(_: &mut Ir, _: Op) -> Diagnostics {
    Diagnostics::default()
}

#[test]
fn nested_passes_run_on_each_program_and_statistics_add_up() {
    let (mut ir, root) = module(&["a", "b", "c"]);
    let pipeline = pipeline("builtin.module(task.program(grow,grow))");
    let report = run_pipeline(&mut ir, root, &pipeline, accept);
    assert!(report.ok());
    assert_eq!(report.executed, 6);
    assert_eq!(report.statistics, [[3], [3]]);
    assert_eq!(ir.walk(root).len(), 1 + 3 + 6);
}
#[test]
fn a_panic_is_an_internal_error_and_siblings_go_on() {
    let (mut ir, root) = module(&["a", "b", "c"]);
    let pipeline = pipeline("builtin.module(task.program(crash,grow),count-ops)");
    let report = run_pipeline(&mut ir, root, &pipeline, accept);
    let Some(Failure::Internal {
        pass,
        message,
        ordinal,
        panicked: true,
        ..
    }) = report.failure
    else {
        panic!("{:?}", report.failure)
    };
    assert_eq!((pass, message.as_str(), ordinal), ("crash", "as told", 2));
    // `grow` ran for a and c; nothing ran after the nest.
    assert_eq!(report.statistics, [vec![], vec![2], vec![0]]);
    let text = &report.diagnostics.items[0].message;
    assert_eq!(
        text,
        "internal error: pass 'crash' panicked on 'task.program' @b: as told"
    );
}
#[test]
fn invalid_ir_after_a_pass_is_an_internal_error() {
    fn reject_leaves(ir: &mut Ir, op: Op) -> Diagnostics {
        let mut found = Diagnostics::default();
        if ir.walk(op).iter().any(|&o| ir.is(o, &LEAF)) {
            let code = &fuser_pass::codes::INVALID_AFTER_PASS;
            found.push(fuser_ir::Diagnostic::error(
                code,
                Default::default(),
                "leaf",
            ));
        }
        found
    }
    let (mut ir, root) = module(&["a"]);
    let report = run_pipeline(&mut ir, root, &pipeline("grow"), reject_leaves);
    assert!(matches!(
        report.failure,
        Some(Failure::Internal {
            panicked: false,
            ..
        })
    ));
    assert_eq!(report.diagnostics.items[0].pass.as_deref(), Some("grow"));
}
#[test]
fn errors_of_the_program_stop_the_pipeline() {
    let (mut ir, root) = module(&["a"]);
    let report = run_pipeline(&mut ir, root, &pipeline("refuse,grow"), accept);
    assert_eq!(
        report.failure,
        Some(Failure::Diagnostics { pass: "refuse" })
    );
    assert_eq!(report.executed, 1);
}
#[test]
fn stopping_gives_the_ir_before_an_execution() {
    for stop in 0..=4 {
        let (mut ir, root) = module(&["a", "b"]);
        let mut manager = Manager::new(accept);
        manager.stop_before = Some(stop);
        let report = manager.run(&mut ir, root, &pipeline("grow,grow"));
        assert_eq!(report.executed, stop);
        assert_eq!(ir.walk(root).len() as u64, 3 + stop);
    }
}
#[test]
fn instruments_may_skip_passes() {
    struct Bisect(u64);
    impl Instrument for Bisect {
        fn allows(&mut self, _: &Ir, run: PassRun<'_>) -> bool {
            run.ordinal < self.0
        }
    }
    let (mut ir, root) = module(&["a"]);
    let mut bisect = Bisect(1);
    let mut manager = Manager::new(accept);
    manager.watch(&mut bisect);
    let report = manager.run(&mut ir, root, &pipeline("grow,grow,grow"));
    assert!(report.ok());
    assert_eq!(ir.walk(root).len(), 3);
}
#[test]
fn what_no_pass_edited_is_not_verified_again() {
    #[derive(Default)]
    struct Count(u32);
    impl Instrument for Count {
        fn before_verify(&mut self) {
            self.0 += 1;
        }
    }
    let verified = |programs: &[&str], text: &str| {
        let (mut ir, root) = module(programs);
        let mut count = Count::default();
        let mut manager = Manager::new(accept);
        manager.watch(&mut count);
        assert!(manager.run(&mut ir, root, &pipeline(text)).ok());
        count.0
    };
    // Nothing is known of what comes in.
    assert_eq!(verified(&["a"], "count-ops,count-ops"), 1);
    let text = "builtin.module(task.program(count-ops,grow,count-ops,grow))";
    assert_eq!(verified(&["a"], text), 3);
    // That a program is valid says nothing of another, nor of the module; that the module is, all.
    let text = "builtin.module(task.program(count-ops))";
    assert_eq!(verified(&["a", "b"], text), 2);
    let text = "builtin.module(task.program(count-ops),count-ops)";
    assert_eq!(verified(&["a"], text), 2);
    let text = "builtin.module(count-ops,task.program(count-ops))";
    assert_eq!(verified(&["a", "b"], text), 1);
}
