//! Segments that have no schedule: those of the text stay and are errors, those that a pass drew are cut.

use fuser_dialects::task;
use fuser_ir::loc::LocKind;
use fuser_ir::parse::parse_str;
use fuser_ir::{Diagnostics, Ir, Op};

use fuser_target::A100;

use super::{CompileOptions, Lowered, Target, find_program, lower};

/// `%t` is a transposed `%e`: no walk has both. The constant is needed on both sides of each cut.
const TEXT: &str = "task.program @f(%x: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  %y, %s = task.segment @s {
    %c = fusion.constant value 2.0 : f32
    %e = fusion.mul %x, %c
    %t = fusion.permute %e dims [1, 0]
    %a = fusion.add %e, %t
    %y = fusion.mul %a, %c
    %s = fusion.sum %y dims [0]
    task.yield %y, %s
  }
  task.return %y, %s
}";

fn lowered(drawn: bool, target: Target) -> (Ir, Result<Lowered, Diagnostics>) {
    let mut ir = Ir::new(fuser_dialects::registry());
    let module = parse_str(&mut ir, TEXT).module.unwrap();
    let program = find_program(&ir, module, None).unwrap();
    if drawn {
        let is_segment = |op: &Op| ir.is(*op, &task::SEGMENT);
        let segment = ir.children(program).into_iter().find(is_segment).unwrap();
        let nowhere = ir.loc(LocKind::Unknown);
        ir.set_loc(segment, nowhere);
        ir.spans.forget(segment);
    }
    let options = CompileOptions {
        target,
        ..CompileOptions::default()
    };
    let lowered = lower(&mut ir, module, &options);
    (ir, lowered)
}

#[test]
fn a_segment_of_the_text_stays_whole() {
    let (_, refused) = lowered(false, Target::default());
    let told = refused.unwrap_err();
    let [error] = told.items.as_slice() else {
        panic!("{told:?}");
    };
    assert_eq!(error.code, "FIR0730");
    assert!(error.message.contains("self-mapped"), "{}", error.message);
}

#[test]
fn a_drawn_segment_is_cut_until_its_parts_run() {
    for target in [Target::default(), A100] {
        let (_, lowered) = lowered(true, target);
        let lowered = lowered.unwrap();
        let names = lowered.artifact.segments.iter().map(|s| s.name.as_str());
        assert_eq!(names.collect::<Vec<_>>(), ["sa", "sb"]);
        let told: Vec<&str> = lowered
            .other_plans
            .iter()
            .map(|r| r.message.as_str())
            .collect();
        assert_eq!(told, ["@s is cut into @sa and @sb"]);
        let reason = lowered.other_plans[0].reason.as_deref().unwrap();
        assert!(reason.contains("self-mapped"), "{reason}");
    }
}
