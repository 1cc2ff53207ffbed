//! Segments that have no schedule: those of the text stay and are errors, those that a pass drew are cut.

use fuser_artifact::{DType, SizeExpr, TensorSpec};
use fuser_dialects::task;
use fuser_ir::loc::LocKind;
use fuser_ir::parse::parse_str;
use fuser_ir::{Diagnostics, Ir, Op};

use fuser_target::A100;

use super::segments::describe;
use super::{CompileOptions, Lowered, Target, find_program, lower, run_passes};

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

/// Callers give and get `[N]`, the program has twice its half, and buffers have half as many bytes as there are elements of 4 bits.
#[test]
fn halves_of_extents_are_seen_by_nobody() {
    let text = "task.program @f(%x: tensor<[M]x[N]xf4E2M1FN>, %b: tensor<[N]xf32>) -> tensor<[N]x[2*M]xf4E2M1FN> {
      %w = fusion.cast %x to f32
      %bb = fusion.broadcast %b dims [1] shape [[M], [N]]
      %s = fusion.mul %w, %bb
      %n = fusion.cast %s to f4E2M1FN
      %t = fusion.permute %n dims [1, 0]
      %y = fusion.cat %t, %t dim 1
      task.return %y
    }";
    let mut ir = Ir::new(fuser_dialects::registry());
    let module = parse_str(&mut ir, text).module.unwrap();
    let options = CompileOptions {
        shapes: [("N".to_string(), 64)].into(),
        ..CompileOptions::default()
    };
    let lowered = lower(&mut ir, module, &options).unwrap();
    let artifact = &lowered.artifact;
    assert_eq!(artifact.extents, ["M", "N"]);
    let [m, n] = [0, 1].map(SizeExpr::extent);
    let dims = |tensor: &TensorSpec| -> Vec<SizeExpr> {
        tensor.dims.iter().map(|dim| dim.extent.clone()).collect()
    };
    let (x, y) = (&artifact.inputs[0], &artifact.outputs[0]);
    assert_eq!((x.dtype, y.dtype), (DType::F4E2M1FN, DType::F4E2M1FN));
    assert_eq!(dims(x), [m.clone(), n.clone()]);
    assert_eq!(dims(&artifact.inputs[1]), dims(x)[1..]);
    assert_eq!(dims(y), [n, SizeExpr::constant(2) * m]);
    let bytes = |buffer: u32| artifact.buffers[buffer as usize].bytes().evaluate(&[3, 8]);
    assert_eq!([bytes(x.buffer), bytes(y.buffer)], [Ok(12), Ok(24)]);
    let moved = artifact.segments.iter().map(|segment| {
        let bytes = [&segment.read_bytes, &segment.write_bytes];
        bytes.map(|bytes| bytes.evaluate(&[3, 8]).unwrap())
    });
    assert_eq!(moved.collect::<Vec<_>>(), [[12 + 32, 24]]);
}

/// Three layers of kernels with windows, several walks and values that these hand to each other and to the caller.
#[test]
fn segments_of_one_form_are_described_as_each_is_by_itself() {
    let (mut body, mut results) = (String::new(), String::new());
    for n in 0..3 {
        body += &format!(
            "%a{n} = fusion.slice %x{n} starts [0, 1] shape [[N], 63]
             %b{n} = fusion.slice %x{n} starts [0, 0] shape [[N], 63]
             %d{n} = fusion.sub %a{n}, %b{n}
             %s{n} = fusion.sum %d{n} dims [1]
             %r{n} = fusion.broadcast %s{n} dims [0] shape [[N], 64]
             %y{n} = fusion.mul %x{n}, %r{n}
             %e{n} = fusion.exp %y{n}
             %z{n} = fusion.segment_set %e{n}
             %c{n} = fusion.sum %z{n} dims [0]
             %v{n} = fusion.broadcast %c{n} dims [1] shape [[N], 64]
             %u{n} = fusion.mul %z{n}, %v{n}
             %x{next} = fusion.segment_set %u{n}\n",
            next = n + 1
        );
        results += &format!("%c{n}, ");
    }
    let text = format!(
        "task.program @f(%x0: tensor<[N]x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<[N]x64xf32>) {{
           {body} task.return {results}%x3
         }}"
    );
    let mut ir = Ir::new(fuser_dialects::registry());
    let module = parse_str(&mut ir, &text).module.unwrap();
    let passes = "builtin.module(task.program(segment,remat,schedule))";
    run_passes(&mut ir, module, passes).unwrap();
    let program = find_program(&ir, module, None).unwrap();
    let together = describe(&ir, program, &super::plan::extent_table(&ir, program));
    for (segment, number) in ir.children(program).into_iter().zip(0..) {
        // Nothing else has the form of this one.
        let mark = ir.int_attr(number);
        ir.set_attr(segment, "test.mark", mark);
    }
    assert_eq!(
        together,
        describe(&ir, program, &super::plan::extent_table(&ir, program))
    );
    assert_eq!(together.len(), 6);
}
