//! Random programs on random meshes: divided over devices they give the results of the whole program, bit for bit if
//! those are exact. Without the decisions their text is unchanged.

use fuser::compile::run_passes;
use fuser_devices::decide::CUT;
use fuser_devices::rule::{Kind, Rule};
use fuser_dialects::task::mesh::{MARK, Mesh, Sharding, strings_attr};
use fuser_dialects::task::{self, marks};
use fuser_fuzzing::generate::fusion::{Config, generate};
use fuser_fuzzing::generate::{Case, Tier};
use fuser_fuzzing::oracle::execute::{exact, expected};
use fuser_fuzzing::{Source, Stats};
use fuser_interp::compare::compare_exact;
use fuser_ir::build::{Builder, Point};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{AttrId, AttrKind, Ir, Op, Value};

const PROGRAMS: u64 = 2000;
const BOUNDED: u64 = 400;
const FUEL: u64 = 1 << 28;
const DECIDE: &str = "builtin.module(task.program(label-patterns,shard))";
const FORGET: &str = "builtin.module(task.program(shard{forget=true}))";
const DIVIDE: &str = "builtin.module(task.program(label-patterns,shard),partition)";
const COLLECTIVES: [&str; 5] = [
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "all_to_all",
    "axis_index",
];

/// A mesh of one to three axes, with names that say nothing.
fn mesh(source: &mut Source) -> Mesh {
    let count = 1 + source.below(3);
    let axes = (0..count).map(|at| (format!("m{at}"), 1 + source.below(4) as i64));
    Mesh {
        axes: axes.collect(),
    }
}

/// A random sharding that `value` can have; mesh axes in any order.
fn sharding(ir: &Ir, mesh: &Mesh, value: Value, source: &mut Source) -> Option<Sharding> {
    let tensor = ir.value_kind(value).as_tensor()?;
    let mut own = Sharding::replicated(tensor.dims.len());
    let mut axes: Vec<usize> = (0..mesh.axes.len()).collect();
    while !axes.is_empty() {
        let axis = axes.remove(source.below(axes.len() as u64) as usize);
        let dim = source.below(tensor.dims.len() as u64 + 1) as usize;
        if dim < tensor.dims.len() {
            own.dims[dim].push(axis);
            if own.fits(ir, mesh, ir.value_type(value)).is_err() {
                own.dims[dim].pop();
            }
        }
    }
    Some(own)
}

/// Puts a mesh into the module, and says of some values how they lie.
fn mark(case: &mut Case, source: &mut Source) -> Mesh {
    let mesh = mesh(source);
    let ir = &mut case.ir;
    let names: Vec<&str> = mesh.axes.iter().map(|(name, _)| name.as_str()).collect();
    let sizes: Vec<i64> = mesh.axes.iter().map(|(_, size)| *size).collect();
    let mut builder = Builder::before(ir, case.program);
    let clauses = [builder.words("axes", &names), builder.ints("sizes", &sizes)];
    builder.op(&task::MESH, &[], &clauses).unwrap();
    let body = ir.body(case.program, 0).unwrap();
    let end = ir.terminator(body).unwrap();
    let lists = [ir.args(body).to_vec(), ir.operands(end).collect::<Vec<_>>()];
    for (list, values) in marks::LISTS.into_iter().zip(lists) {
        let mut marked: Vec<(usize, AttrId)> = Vec::new();
        for (index, &value) in values.iter().enumerate() {
            // What overwrites an argument lies as this does.
            let free = list == marks::LISTS[0]
                || task::updates::argument(ir, case.program, index).is_none();
            if free
                && source.chance(2, 3)
                && let Some(own) = sharding(ir, &mesh, value, source)
            {
                let attr = own.attr(ir, &mesh);
                marked.push((index, attr));
            }
        }
        marks::put(ir, case.program, list, values.len(), &marked, MARK);
    }
    let ops: Vec<Op> = ir.block_ops(body).collect();
    for op in ops {
        let Some(&value) = ir.results(op).first() else {
            continue;
        };
        if source.chance(1, 5)
            && let Some(own) = sharding(ir, &mesh, value, source)
        {
            let to = own.attr(ir, &mesh);
            let users: Vec<Op> = ir.users(value).collect();
            let mut builder = Builder::after(ir, op);
            assert_ne!(builder.point, Point::Detached);
            let made = builder
                .value(&task::SHARD, &[value], &[("to", to)])
                .unwrap();
            for user in users {
                for index in 0..ir.operand_count(user) {
                    if ir.operand(user, index) == value {
                        ir.set_operand(user, index, made);
                    }
                }
            }
        }
    }
    mesh
}

/// Gives random shardings to some ops, at any cost.
fn cut(case: &mut Case, mesh: &Mesh, source: &mut Source) {
    let ir = &mut case.ir;
    let body = ir.body(case.program, 0).unwrap();
    for op in ir.block_ops(body).collect::<Vec<Op>>() {
        let rule = Rule::of(ir, op);
        let factors = rule.factors.len();
        // Sums are cut as often as all else.
        let partial = rule
            .factors
            .iter()
            .position(|own| matches!(own.kind, Kind::Partial(_)));
        if factors == 0 || source.chance(1, 2) {
            continue;
        }
        let mut lists = vec![Vec::new(); factors];
        for (name, _) in &mesh.axes {
            if source.chance(2, 3) {
                let any = source.below(factors as u64) as usize;
                let factor = partial.filter(|_| source.chance(2, 3)).unwrap_or(any);
                lists[factor].push(name.as_str());
            }
        }
        let lists = lists.iter().map(|names| strings_attr(ir, names)).collect();
        let attr = ir.attr(AttrKind::Array(lists));
        ir.set_attr(op, CUT, attr);
    }
}

fn told<T>(seed: u64, error: &dyn std::fmt::Debug, text: &str) -> T {
    panic!("seed {seed}: {error:?}\n{text}")
}

fn text(ir: &Ir, module: Op) -> String {
    print(ir, module, &PrintOptions::default())
}

#[test]
fn divided_programs_of_any_op_stay_within_bounds() {
    let (mut judged, mut collectives) = (Stats::default(), 0);
    for seed in 0..BOUNDED {
        let mut source = Source::seed(seed);
        let config = Config {
            unknown: false,
            lengths: &[4, 2, 8, 12, 3, 1],
            ..Config::small(Tier::Bounded)
        };
        let mut case = generate(&mut source, &config);
        let Ok(expected) = expected(&case) else {
            continue;
        };
        let mesh = mark(&mut case, &mut source);
        cut(&mut case, &mesh, &mut source);
        let written = text(&case.ir, case.module);
        let mut ir = case.ir.clone();
        run_passes(&mut ir, case.module, DIVIDE).unwrap_or_else(|e| told(seed, &e, &written));
        let made = text(&ir, case.module);
        collectives += made.matches("combine ").count();
        let results = exact(&ir, case.program, &case.inputs, FUEL, false);
        let results = results.unwrap_or_else(|e| told(seed, &e, &made));
        if let Some(fault) = expected.fault(&results) {
            panic!("seed {seed}: {fault}\n{written}\n{made}");
        }
        expected.count(&mut judged);
    }
    println!("{judged}");
    println!(
        "count: {BOUNDED} random programs of any op on random meshes, {collectives} sums and extrema of devices"
    );
    assert!(collectives > 50, "{collectives}");
}

#[test]
fn divided_programs_give_what_the_whole_gives() {
    let mut stats = Stats::default();
    let (mut divided, mut elements, mut apart) = (0, 0, 0);
    for seed in 0..PROGRAMS {
        let mut source = Source::seed(seed);
        let config = Config {
            unknown: false,
            lengths: &[4, 2, 8, 12, 3, 1],
            ..Config::small(Tier::Exact)
        };
        let mut case = generate(&mut source, &config);
        let mesh = mark(&mut case, &mut source);
        // Every other program has decisions of the test.
        let decides = seed % 2 == 1;
        if decides {
            cut(&mut case, &mesh, &mut source);
        }
        let written = text(&case.ir, case.module);
        let found = fuser_ir::verify(&mut case.ir, case.module);
        assert!(!found.has_errors(), "seed {seed}: {found:?}\n{written}");
        let run = |ir: &Ir| {
            exact(ir, case.program, &case.inputs, FUEL, false)
                .unwrap_or_else(|e| told(seed, &e, &written))
        };
        let before = run(&case.ir);
        // Decisions are attributes: without them the text is there again.
        let mut decided = case.ir.clone();
        run_passes(&mut decided, case.module, DECIDE).unwrap_or_else(|e| told(seed, &e, &written));
        let mut plain = case.ir.clone();
        run_passes(
            &mut plain,
            case.module,
            "builtin.module(task.program(label-patterns))",
        )
        .unwrap_or_else(|e| told(seed, &e, &written));
        run_passes(&mut decided, case.module, FORGET).unwrap_or_else(|e| told(seed, &e, &written));
        if !decides {
            let [decided, plain] = [decided, plain].map(|ir| text(&ir, case.module));
            assert_eq!(decided, plain, "seed {seed}");
            apart += 1;
        }
        let mut ir = case.ir.clone();
        run_passes(&mut ir, case.module, DIVIDE).unwrap_or_else(|e| told(seed, &e, &written));
        let made = text(&ir, case.module);
        for name in COLLECTIVES {
            stats.add(
                "collective",
                name,
                made.matches(&format!("fusion.{name}")).count() as u64,
            );
        }
        divided += usize::from(made.contains("task.devices"));
        let after = run(&ir);
        assert_eq!(before.len(), after.len());
        for (number, (a, b)) in before.iter().zip(&after).enumerate() {
            let report = compare_exact(b, a);
            assert!(
                report.ok(),
                "seed {seed}, result {number}: {a:?} became {b:?}\n{written}\n{made}"
            );
            elements += report.compared;
        }
    }
    println!("{stats}");
    println!(
        "count: {PROGRAMS} random programs on random meshes, {divided} divided, {apart} put together again, {elements} elements"
    );
    assert!(divided as u64 * 10 > PROGRAMS * 8, "{divided} divided");
    for name in COLLECTIVES {
        assert!(stats.of("collective", name) > 10, "{name}: {stats}");
    }
}
