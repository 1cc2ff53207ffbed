//! Each elementwise op on complex numbers, at all pairs of edges: compiled code gives the results of the interpreter,
//! and those that the evaluator with NumPy admits.
//!
//! Random programs seldom meet two edges in one number, such as a negative real part beside an imaginary part of `-0`.

use std::collections::BTreeMap;

use fuser_fuzzing::Stats;
use fuser_fuzzing::campaign::QUICK;
use fuser_fuzzing::generate::fusion::{self, facts};
use fuser_fuzzing::generate::{Case, Input, Tier};
use fuser_fuzzing::models::check::{self, Bench, Level};
use fuser_fuzzing::models::evaluator::Evaluators;
use fuser_fuzzing::oracle::compiled::{self, Outcome};
use fuser_fuzzing::oracle::execute;
use fuser_ir::def::{ClauseKind, OpDef, Traits};
use fuser_ir::{DType, Ir};

/// Per cent of the elements that a comparison of close numbers may leave open.
const OPEN: u64 = 5;

/// The edges of a part.
fn edges(dtype: DType) -> [f64; 11] {
    let [least, greatest] = match dtype.part() {
        DType::F32 => [1e-40, 3e38],
        _ => [1e-310, 1e308],
    };
    let infinity = f64::INFINITY;
    let numbers = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, least, greatest];
    let [a, b, c, d, e, f, g, h] = numbers;
    [a, b, c, d, e, f, g, h, infinity, -infinity, f64::NAN]
}

/// All complex numbers with these parts.
fn numbers(dtype: DType) -> Vec<Vec<u8>> {
    let part = |x: f64| match dtype.part() {
        DType::F32 => (x as f32).to_le_bytes().to_vec(),
        _ => x.to_le_bytes().to_vec(),
    };
    let edges = edges(dtype);
    let pairs = edges.iter().flat_map(|a| edges.map(|b| (*a, b)));
    pairs.map(|(a, b)| [part(a), part(b)].concat()).collect()
}

/// The type of an op's result, and its clauses.
fn signature(def: &OpDef, dtype: DType) -> (DType, Vec<String>) {
    let other = match dtype {
        DType::C64 => DType::C128,
        _ => DType::C64,
    };
    match (def.name, def.clauses.first().map(|clause| &clause.kind)) {
        ("fusion.compare", _) => (
            DType::I1,
            ["eq", "ne"].map(|word| format!("predicate {word}")).into(),
        ),
        (_, Some(ClauseKind::DType)) => (other, vec![format!("to {}", other.name())]),
        ("fusion.isnan" | "fusion.isfinite", _) => (DType::I1, vec![String::new()]),
        ("fusion.real" | "fusion.imag" | "fusion.abs", _) => (dtype.part(), vec![String::new()]),
        _ => (dtype, vec![String::new()]),
    }
}

/// An op on all numbers, or on all pairs of them.
fn case(def: &OpDef, dtype: DType, clause: &str, result: DType) -> Case {
    let all = numbers(dtype);
    let operands = def.operands.len();
    let count = all.len().pow(operands as u32);
    let names = &["%a", "%b"][..operands];
    let tensor = |dtype: DType| format!("tensor<{count}x{}>", dtype.name());
    let parameters: Vec<String> = names
        .iter()
        .map(|name| format!("{name}: {}", tensor(dtype)))
        .collect();
    let text = format!(
        "task.program @f({}) -> {} {{\n  %y = {} {} {clause}\n  task.return %y\n}}\n",
        parameters.join(", "),
        tensor(result),
        def.name,
        names.join(", "),
    );
    let input = |at: u32| Input {
        dtype,
        axes: vec![(count as u64, false)],
        bytes: (0..count)
            .flat_map(|i| all[i / all.len().pow(at) % all.len()].clone())
            .collect(),
    };
    let mut ir = Ir::new(fuser_dialects::registry());
    let parsed = fuser_ir::parse::parse_str(&mut ir, &text);
    let module = parsed.module.expect("the text is a program");
    let body = ir.body(module, 0).expect("a module has a body");
    let program = ir.first_op(body).expect("the module holds the program");
    // Of powers of two only those of real integers are exact.
    let exact = facts::may_be_exact(def) && def.name != "fusion.exp2";
    Case {
        program,
        ir,
        module,
        inputs: (0..operands as u32).map(input).collect(),
        extents: BTreeMap::new(),
        tier: if exact { Tier::Exact } else { Tier::Bounded },
    }
}

#[test]
fn every_op_on_complex_numbers_agrees_at_their_edges() {
    let evaluators = Evaluators::default();
    let missing = evaluators.missing();
    if let Some(why) = &missing {
        println!("skipped: {why}; edges are compared with the interpreter alone");
    }
    let levels = [Level::host()];
    let bench = Bench {
        levels: &levels,
        evaluators: Some(&evaluators),
    };
    let (mut faults, mut ops, mut stats) = (Vec::new(), 0, Stats::default());
    for dtype in [DType::C64, DType::C128] {
        // A bit cast knows reals, and so does what moves pairs of them.
        let takes = |def: &&'static OpDef| {
            let all = |def: &OpDef| def.operands.iter().all(|o| o.ty.dtypes.contains(dtype));
            def.traits.contains(Traits::ELEMENTWISE) && all(def) && def.name != "fusion.bitcast"
        };
        for def in fusion::ops(true).filter(takes) {
            ops += 1;
            let (result, clauses) = signature(def, dtype);
            for clause in clauses {
                let case = case(def, dtype, &clause, result);
                let expected = execute::expected(&case).expect("edges have results");
                let options = QUICK.compile_options(None);
                match compiled::check(&case, &expected, def.name, options) {
                    Outcome::Agrees { .. } => {}
                    Outcome::Refused(what) => faults.push(what),
                    Outcome::Found(finding) => faults.push(finding.to_string()),
                }
                if missing.is_none() {
                    let found = check::again(&case, bench, &mut stats);
                    faults.extend(found.iter().map(|f| format!("{} {clause}: {f}", def.name)));
                }
            }
        }
    }
    println!("count: {ops} ops on complex numbers, at all pairs of edges");
    assert_eq!(faults, Vec::<String>::new());
    assert!(ops >= 2 * 30, "{ops}");
    if missing.is_none() {
        let elements = stats.of("elements", "compared or open");
        let open = stats.of("elements", "open");
        println!(
            "count: {} elements at edges that NumPy confirms, {} known to the bit",
            elements - open,
            stats.of("elements", "known to the bit")
        );
        assert!(elements > 0 && 100 * open <= OPEN * elements, "{stats}");
    }
}
