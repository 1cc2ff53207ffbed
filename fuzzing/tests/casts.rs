//! Chains of two casts, on every value of the small types and the edges of the others: the passes that fold casts keep
//! their meaning.

use std::collections::BTreeMap;

use fuser_fuzzing::Stats;
use fuser_fuzzing::generate::{Case, Input, Tier};
use fuser_fuzzing::oracle::{execute, passes};
use fuser_ir::{DType, Ir};

/// The pipelines under test: each pass alone and all in the usual order.
const PIPELINES: [&str; 4] = [
    "fold-casts",
    "swap-casts",
    "canonicalize",
    "fold-casts,swap-casts,canonicalize,cse",
];
const FUEL: u64 = 1 << 28;

/// Little-endian elements: all of 4, 8 and 16 bits; else powers of two, their neighbours and their negatives.
fn elements(dtype: DType) -> Vec<u8> {
    let size = dtype.bytes() as usize;
    let integers = |bits: u32| -> Vec<i64> {
        let powers = (0..bits).map(|bit| 1i64.wrapping_shl(bit));
        let near = powers.flat_map(|p| [p.wrapping_sub(1), p, p.wrapping_add(1)]);
        near.flat_map(|n| [n, n.wrapping_neg()]).collect()
    };
    let reals = || {
        let exponents = [
            -1080, -1074, -1022, -150, -149, -126, -24, -14, -2, -1, 0, 1, 7, 8, 15, 16,
        ];
        let large = [31, 32, 53, 62, 63, 64, 127, 128, 1023];
        let powers = exponents
            .into_iter()
            .chain(large)
            .map(|e| f64::from(e).exp2());
        let near = powers.flat_map(|p| [p.next_down(), p, p.next_up(), 1.5 * p, p - 1.0]);
        let special = [0.0, f64::INFINITY, f64::NAN, f64::MAX];
        near.chain(special)
            .flat_map(|x| [x, -x])
            .collect::<Vec<f64>>()
    };
    match dtype {
        DType::I1 => vec![0, 1],
        DType::F4E2M1FN => (0..16).collect(),
        DType::I8 | DType::U8 => (0..=255).collect(),
        _ if dtype.bits() == 16 => (0..=u16::MAX).flat_map(u16::to_le_bytes).collect(),
        DType::F32 => reals()
            .into_iter()
            .flat_map(|x| (x as f32).to_le_bytes())
            .collect(),
        DType::F64 => reals().into_iter().flat_map(f64::to_le_bytes).collect(),
        _ => {
            let all = integers(dtype.bits()).into_iter();
            all.flat_map(|n| n.to_le_bytes()[..size].to_vec()).collect()
        }
    }
}

/// `x`, cast to `middle` and from there to every type.
fn case(from: DType, middle: DType) -> Case {
    let bytes = elements(from);
    let count = bytes.len() as u64 / from.bytes();
    let tensor = |dtype: DType| format!("tensor<{count}x{}>", dtype.name());
    let types: Vec<String> = DType::REAL.into_iter().map(tensor).collect();
    let lines: Vec<String> = DType::REAL
        .iter()
        .enumerate()
        .map(|(i, to)| format!("  %y{i} = fusion.cast %m to {}\n", to.name()))
        .collect();
    let names: Vec<String> = (0..types.len()).map(|i| format!("%y{i}")).collect();
    let text = format!(
        "task.program @f(%x: {}) -> ({}) {{\n  %m = fusion.cast %x to {}\n{}  task.return {}\n}}\n",
        tensor(from),
        types.join(", "),
        middle.name(),
        lines.concat(),
        names.join(", "),
    );
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, &text);
    let module = parsed.module.expect("the text is a program");
    let program = ir
        .block_ops(ir.body(module, 0).expect("a module has a body"))
        .next();
    Case {
        program: program.expect("the module holds the program"),
        ir,
        module,
        inputs: vec![Input {
            dtype: from,
            axes: vec![(count, false)],
            bytes,
        }],
        extents: BTreeMap::new(),
        tier: Tier::Exact,
    }
}

#[test]
fn chains_of_casts_keep_their_meaning() {
    let mut stats = Stats::default();
    for from in DType::REAL {
        for middle in DType::REAL {
            let case = case(from, middle);
            let expected = execute::expected(&case).expect("casts are defined everywhere");
            for text in PIPELINES {
                let parsed = fuser_pass::pipeline::parse(text, 0, &fuser::catalog());
                let pipeline = parsed
                    .unwrap_or_else(|_| panic!("`{text}` is a pipeline"))
                    .pipeline;
                let outcome = passes::check(&case, &expected, &pipeline, FUEL, &mut stats);
                let (from, middle) = (from.name(), middle.name());
                assert_eq!(outcome.findings, Vec::new(), "{from} -> {middle} by {text}");
            }
        }
    }
    assert!(stats.of("pass changed", "fold-casts") >= 50, "{stats}");
    assert_eq!(stats.of("execution", "out of fuel"), 0, "{stats}");
}
