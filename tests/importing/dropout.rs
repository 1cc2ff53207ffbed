//! Attention with dropout: how much is left out, what stays, and that gradients leave out the same.
//!
//! Queries are zero, so that every key has the same part of a softmax, and values are a unit matrix: then the result is the parts that
//! were kept, and with a unit matrix as its gradient that of the values is the same, turned.

use fuser::compile::CompileOptions;
use fuser::session::Session;
use fuser_frontends::Format;
use fuser_runtime::Inputs;

use super::{load, session, tensors};

/// Heads, and queries and keys of each.
const HEADS: usize = 7;
const LENGTH: usize = 33;

fn definition(body: &str) -> String {
    let shape = format!("[1, {HEADS}, {LENGTH}, {LENGTH}]");
    let tensor = |name: &str| {
        format!(
            "    {name} = fd.define_tensor(shape={shape}, contiguity=[None, True, True, True], dtype=DataType.Float)\n"
        )
    };
    let head: String = ["T0", "T1"].map(tensor).concat();
    format!("def nvfuser_fusion_id0(fd : FusionDefinition) -> None :\n{head}{body}")
}

/// Attention of `T0`, which is zero, with the values `T1`, which are the unit matrix.
fn forward(dropout: f64) -> String {
    format!("    T2, T3, T4, T5 = fd.ops.sdpfa_fwd(T0, T0, T1, dropout_p={dropout:?})\n")
}

/// The results of a definition of which `T0` is zero and `T1` the unit matrix, with more inputs behind.
fn results(session: &Session, body: &str, more: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let text = definition(body);
    let loaded = load(session, Format::NvFuser, "f.py", &text);
    let loaded = loaded.unwrap_or_else(|told| panic!("{told}"));
    let like = session
        .resolve(&loaded, &Default::default(), &Default::default())
        .unwrap();
    let places = 0..HEADS * LENGTH * LENGTH;
    let unit = places.map(|at| f64::from(u8::from(at / LENGTH % LENGTH == at % LENGTH)));
    let mut values = vec![vec![0.0; HEADS * LENGTH * LENGTH], unit.collect()];
    values.extend_from_slice(more);
    let inputs = Inputs {
        tensors: tensors(session, &like.tensors, &values),
        extents: like.extents,
    };
    let interpreted = session.interpret(&loaded, &inputs).unwrap();
    let run = session.run_cpu(&loaded, &inputs, &CompileOptions::default(), 1);
    let outputs = run.unwrap().outputs;
    assert!(session.check(&loaded, &inputs, &outputs).unwrap().ok());
    assert_eq!(interpreted.outputs.len(), outputs.len());
    outputs.iter().map(|x| x.values().collect()).collect()
}

/// A matrix of each head with rows and columns exchanged.
fn turned(x: &[f64]) -> Vec<f64> {
    let heads = x.chunks(LENGTH * LENGTH);
    let turned = |head: &[f64]| {
        let places = (0..LENGTH * LENGTH).map(|at| head[at % LENGTH * LENGTH + at / LENGTH]);
        places.collect::<Vec<f64>>()
    };
    heads.flat_map(turned).collect()
}

#[test]
fn dropout_leaves_out_its_share_and_keeps_the_mean() {
    let session = session();
    let body = |p: f64| forward(p) + "    fd.add_output(T2)\n    fd.add_output(T3)\n";
    let state = [vec![5.0], vec![11.0]];
    let plain = &results(&session, &body(0.0), &[])[1];
    for p in [0.1, 0.5, 0.75] {
        let found = results(&session, &body(p), &state);
        let parts: Vec<f64> = found[0].iter().map(|x| x * LENGTH as f64).collect();
        let count = parts.len() as f64;
        let left_out = parts.iter().filter(|x| **x == 0.0).count() as f64;
        // Five times the deviation of so many draws, and of a mean of parts that are 0 or 1 / (1 - p).
        let deviation = (count * p * (1.0 - p)).sqrt();
        assert!(
            (left_out - count * p).abs() < 5.0 * deviation,
            "{p}: {left_out} of {count}"
        );
        let mean = parts.iter().sum::<f64>() / count;
        let deviation = deviation / (1.0 - p) / count;
        assert!((mean - 1.0).abs() < 5.0 * deviation, "{p}: {mean}");
        let kept = parts.iter().filter(|x| **x != 0.0);
        let furthest = kept.fold(0.0, |most: f64, x| most.max((x * (1.0 - p) - 1.0).abs()));
        assert!(furthest < 1e-5, "{p}: {furthest}");
        // The sums are those of all parts.
        let distances = found[1].iter().zip(plain).map(|(a, b)| (a - b).abs());
        assert!(distances.fold(0.0, f64::max) < 1e-5);
    }
}

#[test]
fn a_dropout_of_nothing_is_none_and_one_of_everything_leaves_nothing() {
    let session = session();
    let program = |call: &str| {
        let text = definition(&format!("    {call}\n    fd.add_output(T2)\n"));
        let loaded = load(&session, Format::NvFuser, "f.py", &text);
        let loaded = loaded.unwrap_or_else(|told| panic!("{told}"));
        fuser_ir::print::print(&loaded.ir, loaded.module, &Default::default())
    };
    let none = program("T2, T3, T4, T5 = fd.ops.sdpfa_fwd(T0, T0, T1)");
    let zero = program("T2, T3, T4, T5 = fd.ops.sdpfa_fwd(T0, T0, T1, dropout_p=0.0)");
    assert_eq!(none, zero);
    assert!(none.contains("fusion.sdpa") && !none.contains("bernoulli"));
    let all = forward(1.0) + "    fd.add_output(T2)\n";
    let all = results(&session, &all, &[vec![5.0], vec![11.0]]);
    assert!(all[0].iter().all(|x| *x == 0.0));
    for p in ["1.5", "-0.25", "float(\"nan\")"] {
        let text = format!("    T2, T3, T4, T5 = fd.ops.sdpfa_fwd(T0, T0, T1, dropout_p={p})\n");
        let told = load(&session, Format::NvFuser, "f.py", &definition(&text)).err();
        let told = told.unwrap_or_else(|| panic!("{p} is read"));
        assert!(
            told.contains("f.py:4:") && told.contains("which is no probability"),
            "{told}"
        );
    }
}

#[test]
fn gradients_leave_out_what_attention_did() {
    let session = session();
    let backward =
        "    T6, T7, T8 = fd.ops.sdpfa_bwd(T1, T0, T0, T1, T2, T3, 0.5, None, T4, T5, None)\n";
    let outputs = |names: &[&str]| -> String {
        let lines = names
            .iter()
            .map(|name| format!("    fd.add_output({name})\n"));
        lines.collect()
    };
    let state = [vec![5.0], vec![11.0]];
    let both = forward(0.5) + backward + &outputs(&["T2", "T3", "T4", "T5", "T8"]);
    let found = results(&session, &both, &state);
    assert_eq!(found[2], [5.0, 11.0]);
    assert_eq!(found[4], turned(&found[0]));
    // The same of a definition of its own, which gets seed and offset as PyTorch gives them, today and before.
    let tensor = |name: &str, shape: &str, dtype: &str| {
        format!("    {name} = fd.define_tensor(shape={shape}, dtype=DataType.{dtype})\n")
    };
    let own = tensor("T2", &format!("[1, {HEADS}, {LENGTH}, {LENGTH}]"), "Float")
        + &tensor("T3", &format!("[1, {HEADS}, {LENGTH}]"), "Float");
    let list = tensor("T4", "[2]", "UInt64") + &tensor("T5", "[]", "UInt64");
    let two = tensor("T4", "[]", "Int") + &tensor("T5", "[]", "Int");
    let gradient = |state: &str, values: [Vec<f64>; 2]| {
        let body = own.clone() + state + backward + &outputs(&["T8"]);
        let [seed, offset] = values;
        let more = [found[0].clone(), found[1].clone(), seed, offset];
        results(&session, &body, &more).remove(0)
    };
    assert_eq!(
        gradient(&list, [found[2].clone(), found[3].clone()]),
        found[4]
    );
    assert_eq!(gradient(&two, [vec![5.0], vec![11.0]]), found[4]);
    for other in [[6.0, 11.0], [5.0, 12.0]] {
        let [seed, offset] = other.map(|n| vec![n]);
        assert_ne!(gradient(&two, [seed, offset]), found[4]);
    }
    let three = own.clone() + &list.replace("[2]", "[3]") + backward;
    let told = load(&session, Format::NvFuser, "f.py", &definition(&three)).err();
    let told = told.unwrap_or_else(|| panic!("three numbers are read"));
    assert!(told.contains("an axis has extent 3 and 2"), "{told}");
    // Another draw of the same definition leaves out other parts.
    let again = forward(0.5) + &forward(0.5).replace("T2, T3, T4, T5", "T6, T7, T8, T9");
    let twice = results(&session, &(again + &outputs(&["T2", "T6"])), &state);
    assert_eq!(twice[0], found[0]);
    assert_ne!(twice[1], found[0]);
}
