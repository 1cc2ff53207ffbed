//! A call of a program that a caller holds allocates nothing.
#![cfg(feature = "codegen")]

mod counting;

use fuser::compile::CompileOptions;
use fuser::session::Session;
use fuser_runtime::{HostTensor, RuntimeConfig};

const PROGRAM: &str =
    "task.program @f(%x: tensor<[N]x33xf32>) -> (tensor<[N]xf32>, tensor<[N]x33xbf16>) {
  %e = fusion.exp %x
  %s = fusion.segment_set %e
  %y = fusion.sum %s dims [1]
  %z = fusion.cast %s to bf16
  task.return %y, %z
}";

#[test]
fn a_call_allocates_nothing() {
    let config = RuntimeConfig {
        threads: Some(1),
        memory_limit: None,
    };
    let session = Session::new(config).unwrap();
    let (ir, module, _) = session.parse(0, "f.fir", PROGRAM).unwrap();
    let loaded = session.load(ir, module, None).unwrap();
    let extents = [("N".to_string(), 7)].into();
    let inputs = session
        .resolve(&loaded, &Default::default(), &extents)
        .unwrap();
    let mut executable = session
        .prepare(&loaded, &extents, &CompileOptions::default())
        .unwrap();
    let given: Vec<&[u8]> = inputs.tensors.iter().map(HostTensor::bytes).collect();
    let memory = |bytes: &usize| session.runtime().heap().allocate(*bytes).unwrap();
    let mut outputs: Vec<_> = executable.output_bytes().iter().map(memory).collect();
    let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(|output| &mut output[..]).collect();
    let before = counting::allocations();
    for _ in 0..100 {
        executable.run(&given, &mut places).unwrap();
    }
    assert_eq!(counting::allocations(), before);
    let expected = session
        .run_cpu(&loaded, &inputs, &CompileOptions::default(), 1)
        .unwrap();
    for (output, expected) in places.iter().zip(&expected.outputs) {
        assert!(**output == *expected.bytes());
    }
}
