//! Mistakes, names, wide things, numbers, bytes, comments that the tools read, and long programs.

use fuser_testing::Random;

use super::{Kind, between, kind, lines, program, repeat};

pub const KINDS: &[Kind] = &[
    // Many mistakes, or long ones.
    kind("unknown-ops", |n| repeat("x.nothing\n", n)),
    kind("unknown-values", |n| {
        program(|at| format!("  %a{at} = fusion.neg %b{at}\n"), n)
    }),
    kind("unknown-near", |n| {
        let names = |at| match at % 2 {
            0 => format!("  %name{at} = fusion.neg %x\n"),
            _ => format!("  %other{at} = fusion.neg %nome{at}\n"),
        };
        program(names, n)
    }),
    kind("unknown-symbols", |n| {
        lines(
            "",
            |at| format!("\"x.y\"() {{callee = @f{at}}} : () -> ()\n"),
            "",
            n,
        )
    }),
    kind("unknown-callees", |n| {
        let launch = |at| {
            format!(
                "task.program @f{at}(%x: tensor<4xf32>) {{\n  %y = kernel.launch %x callee @g{at} : tensor<4xf32>\n  task.return\n}}\n"
            )
        };
        lines("", launch, "", n)
    }),
    kind("symbols-deep", |n| {
        let depth = (n / 60).min(9_000);
        let (open, close) = ("module @a {\n".repeat(depth), "}\n".repeat(depth));
        let launch = "%y = kernel.launch %x callee @g : tensor<4xf32>\n".repeat(n / 100);
        format!("{open}task.program @f(%x: tensor<4xf32>) {{\n{launch}task.return\n}}\n{close}")
            .into_bytes()
    }),
    kind("one-line-of-errors", |n| repeat("x.nothing ", n)),
    kind("one-line-of-types", |n| {
        between("\"x.y\"() : () -> (", "wrong, ", "f32)", n)
    }),
    kind("one-wide-line", |n| {
        between("// ", "\u{8a9e}\t", "\u{1b}\nx.nothing", n)
    }),
    kind("wide-characters", |n| repeat("\u{8a9e}\u{301}", n)),
    kind("wrong-types", |n| {
        program(
            |at| format!("  %a{at} = fusion.neg %x : tensor<5xf32>\n"),
            n,
        )
    }),
    kind("unverified-lines", |n| {
        program(|at| format!("  %a{at} = fusion.sum %x dims [7]\n"), n)
    }),
    kind("twice", |n| program(|_| "  %a = fusion.neg %x\n".into(), n)),
    kind("programs-twice", |n| {
        repeat("task.program @f() {\n  task.return\n}\n", n)
    }),
    kind("wrong-clauses", |n| {
        program(|at| format!("  %a{at} = fusion.sum %x dimms [0]\n"), n)
    }),
    // Names.
    kind("suffixes", |n| {
        program(|at| format!("  %a_{at} = fusion.neg %x\n"), n)
    }),
    kind("colliding-names", |n| {
        let scope = |at| {
            format!(
                "\"x.y\"() ({{\n  %a = \"x.z\"() : () -> f32\n  %a_{at} = \"x.z\"() : () -> f32\n}}) : () -> ()\n"
            )
        };
        lines("", scope, "", n)
    }),
    kind("long-names", |n| {
        let name = "n".repeat(4000);
        let text = format!("%{name} = \"x.y\"() : () -> f32\n\"x.y\"(%{name}) : (f32) -> ()\n");
        repeat(&format!("\"x.z\"() ({{\n{text}}}) : () -> ()\n"), n)
    }),
    kind("too-long-name", |n| between("%", "a", " = x.y", n)),
    kind("long-extent", |n| {
        let name = "n".repeat(n.min(120_000) / 40);
        let sum: Vec<String> = (0..20).map(|at| format!("{name}{at}")).collect();
        let head = format!("task.program @f(%x: tensor<[{}]xf32>) {{\n", sum.join("+"));
        let half = "  %y = fusion.neg %x\n".len();
        let ops = (0..n / 2 / half).map(|at| format!("  %{at} = fusion.neg %x\n"));
        (head + &ops.collect::<String>() + "  task.return\n}\n").into_bytes()
    }),
    kind("forward-uses", |n| {
        lines(
            "",
            |at| format!("%a{at} = \"x.y\"(%a{}) : (f32) -> f32\n", at + 1),
            "",
            n,
        )
    }),
    kind("forward-one", |n| {
        between(
            "",
            "\"x.y\"(%a) : (f32) -> ()\n",
            "%a = \"x.y\"() : () -> f32\n",
            n,
        )
    }),
    kind("labels", |n| {
        lines(
            "\"x.y\"() ({\n",
            |at| format!("^bb{at}:\n\"x.z\"() : () -> ()\n"),
            "}) : () -> ()\n",
            n,
        )
    }),
    kind("unknown-labels", |n| {
        lines(
            "\"x.y\"() ({\n",
            |at| format!("\"x.z\"()[^bb{at}] : () -> ()\n"),
            "}) : () -> ()\n",
            n,
        )
    }),
    // Wide things.
    kind("attributes", |n| {
        lines(
            "\"x.y\"() {k",
            |at| format!(", k{at} = 1"),
            "} : () -> ()\n",
            n,
        )
    }),
    kind("attributes-twice", |n| {
        between("\"x.y\"() {k = 1", ", k = 1", "} : () -> ()\n", n)
    }),
    kind("operands", |n| {
        between(
            "%a = \"x.y\"() : () -> f32\n\"x.y\"(%a",
            ", %a",
            ") : () -> ()\n",
            n,
        )
    }),
    kind("results", |n| {
        between("%a:65535 = \"x.y\"() : () -> (f32", ", f32", ")\n", n)
    }),
    kind("result-counts", |n| repeat("%a:65535 = x.y\n", n)),
    kind("definitions", |n| {
        lines("", |at| format!("%a{at}, "), "%b = x.y\n", n)
    }),
    kind("definitions-again", |n| repeat("%a, %b = ", n)),
    kind("parameters", |n| {
        lines(
            "task.program @f(",
            |at| format!("%a{at}: f32, "),
            "%b: f32) {\n  task.return\n}\n",
            n,
        )
    }),
    kind("axes", |n| {
        between("\"x.y\"() : () -> tensor<", "1x", "f32>\n", n)
    }),
    kind("extent-terms", |n| {
        between("\"x.y\"() : () -> tensor<[A", "*A", "]xf32>\n", n)
    }),
    kind("extent-sums", |n| {
        lines(
            "\"x.y\"() : () -> tensor<[A",
            |at| format!("+A{at}"),
            "]xf32>\n",
            n,
        )
    }),
    kind("symbol-path", |n| {
        between("\"x.y\"() {k = @a", "::@a", "} : () -> ()\n", n)
    }),
    kind("dotted", |n| between("x", ".y", "\n", n)),
    kind("clauses", |n| {
        between("%y = fusion.neg %x", " dims [1]", "\n", n)
    }),
    kind("list-of-clause", |n| {
        between("%y = fusion.sum %x dims [1", ", 1", "]\n", n)
    }),
    kind("list-of-lists", |n| {
        between("%y = fusion.sum %x dims [1", ", [1]", "]\n", n)
    }),
    kind("array-of-integers", |n| {
        between("\"x.y\"() {k = array<i64: 1", ", 1", ">} : () -> ()\n", n)
    }),
    kind("fused-locations", |n| {
        between(
            "\"x.y\"() : () -> () loc(fused[unknown",
            ", unknown",
            "])\n",
            n,
        )
    }),
    // Numbers and data.
    kind("long-integer", |n| {
        between("\"x.y\"() {k = ", "9", "} : () -> ()\n", n)
    }),
    kind("long-float", |n| {
        between("\"x.y\"() {k = 0.", "9", "} : () -> ()\n", n)
    }),
    kind("long-exponent", |n| {
        between("\"x.y\"() {k = 1e", "9", "} : () -> ()\n", n)
    }),
    kind("long-hex", |n| {
        between("\"x.y\"() {k = 0x", "f", " : i64} : () -> ()\n", n)
    }),
    kind("long-extent-number", |n| {
        between("\"x.y\"() : () -> tensor<", "9", "xf32>\n", n)
    }),
    kind("floats", |n| {
        between(
            "\"x.y\"() {k = [1.0",
            ", 1e-320, 4.9e99999",
            "]} : () -> ()\n",
            n,
        )
    }),
    kind("dense-list", |n| {
        between(
            "\"x.y\"() {k = dense<[1",
            ", 1",
            "]> : tensor<9xi8>} : () -> ()\n",
            n,
        )
    }),
    kind("dense-spaces", |n| {
        between(
            "\"x.y\"() {k = dense<[1",
            " ",
            "]> : tensor<1xi8>} : () -> ()\n",
            n,
        )
    }),
    kind("dense-odd", |n| {
        between(
            "\"x.y\"() {k = dense<\"0x0",
            "00",
            "\"> : tensor<9xi8>} : () -> ()\n",
            n,
        )
    }),
    kind("dense-whole", |n| {
        let n = n / 4;
        let list = "1, ".repeat(n);
        format!(
            "\"x.y\"() {{k = dense<[{list}1]> : tensor<{}xf32>}} : () -> ()\n",
            n + 1
        )
        .into_bytes()
    }),
    kind("splat", |_| {
        b"\"x.y\"() {k = dense<1.0> : tensor<4294967296x1073741824xf32>} : () -> ()\n".to_vec()
    }),
    kind("long-string", |n| {
        between("\"x.y\"() {k = \"", "\\0A", "\"} : () -> ()\n", n)
    }),
    kind("bad-escapes", |n| {
        between("\"x.y\"() {k = \"", "\\ff", "\"} : () -> ()\n", n)
    }),
    // Bytes.
    kind("zero-bytes", |n| vec![0; n]),
    kind("not-utf8", |n| vec![0xff; n]),
    kind("marks", |n| repeat("\u{feff}", n)),
    kind("carriage-returns", |n| repeat("x.nothing\r", n)),
    kind("blank", |n| repeat(" ", n)),
    kind("empty-lines", |n| between("", "\n", "x.nothing", n)),
    kind("random-bytes", |n| {
        let mut random = Random(1);
        (0..n).map(|_| b' ' + random.below(95) as u8).collect()
    }),
    // Comments that the tools read.
    kind("markers", |n| repeat("// -----\n", n)),
    kind("markers-errors", |n| repeat("x.nothing\n// -----\n", n)),
    kind("markers-programs", |n| {
        repeat(
            "task.program @f(%x: f32) -> f32 {\n  %y = fusion.neg %x : i8\n  task.return %y\n}\n// -----\n",
            n,
        )
    }),
    kind("expected", |n| repeat("// expected-error {{a}}\n", n)),
    kind("expected-below", |n| {
        repeat("x.nothing // expected-error {{nothing}}\n", n)
    }),
    kind("expected-patterns", |n| {
        repeat("// expected-error-re {{a {{.*x.*y.*z.*}}}}\n", n)
    }),
    kind("expected-one-pattern", |n| {
        between("// expected-error-re {{a {{", "(a|b)*", "}}}}\n", n)
    }),
    kind("expected-one-line", |n| {
        repeat("// expected-error {{a}} ", n)
    }),
    // Programs that are right, and long.
    kind("chain", |n| {
        lines(
            "task.program @f(%a0: tensor<4xf32>) -> tensor<4xf32> {\n",
            |at| format!("  %a{} = fusion.neg %a{at}\n", at + 1),
            "  task.return %a0\n}\n",
            n,
        )
    }),
    kind("programs", |n| {
        lines(
            "",
            |at| format!("task.program @f{at}(%x: f32) -> f32 {{\n  task.return %x\n}}\n"),
            "",
            n,
        )
    }),
    kind("returned-often", |n| {
        let count = n / 20;
        let types = vec!["f32"; count].join(", ");
        let values = vec!["%x"; count].join(", ");
        format!("task.program @f(%x: f32) -> ({types}) {{\n  task.return {values}\n}}\n")
            .into_bytes()
    }),
];
