//! No input makes the parser panic, hang or recurse: prefixes, soup, depth, width, limits.

use std::fmt::Write;

use crate::common::{codes, ir, read, round_trip, shown, valid};
use fuser_ir::limits::Limits;
use fuser_ir::parse::{ParseOptions, parse};
use fuser_ir::print::{PrintOptions, print};
use fuser_testing::Random;

const SAMPLE: &str = r#"// A bit of everything.
!t = tensor<4x[B]xb[S*2]x?xf32, #e>
#e = #fir.enc<"a>", [1]>
module @m attributes {a.b = "é\n"} {
  t.func @f(%x: f32 {k = 1}, %y: !t) -> (f32 {alias = 0}) {
    %a, %b:2 = t.all %x, %y dims [1, -2] shape [[B], 4] to bf16 value 1.5e-3 predicate lt flag any [1, "x"] {a.u = {v}} : f32, i1, index
    %g = t.group @g {
    ^bb0(%i: index):
      t.end %x
    } else {
      t.end %x
    } : f32 loc("f":1:2)
    t.end %g
  }
  "x.y"(%c)[^bb1(%c : i1), ^bb2] <{p = dense<[[1, 2]]> : tensor<1x2xi8>}> ({
  ^bb0:
  }, {
  }) {q = loc(callsite("a" at fused[unknown]))} : (i1) -> ()
^bb1(%d: i1):
  %c = "x.z"() : () -> i1
^bb2:
}
{-# r: { s: "0x00" } #-}
"#;

#[test]
fn the_sample_is_valid() {
    round_trip(SAMPLE);
}

#[test]
fn every_prefix_and_suffix_gives_diagnostics() {
    for at in (0..SAMPLE.len()).filter(|at| SAMPLE.is_char_boundary(*at)) {
        for text in [&SAMPLE[..at], &SAMPLE[at..]] {
            let result = read(&mut ir(), text);
            shown(text, &result);
            assert!(result.module.is_some() != result.diagnostics.has_errors());
        }
    }
}

#[test]
fn every_single_token_may_be_missing_or_doubled() {
    let tokens = fuser_ir::lex::lex(SAMPLE);
    for token in tokens {
        let (before, after) = (
            &SAMPLE[..token.start as usize],
            &SAMPLE[token.end as usize..],
        );
        let text = token.text(SAMPLE);
        for changed in [
            format!("{before}{after}"),
            format!("{before}{text} {text}{after}"),
        ] {
            let result = read(&mut ir(), &changed);
            shown(&changed, &result);
            if let Some(module) = result.module {
                assert!(module == module);
            }
        }
    }
}

#[test]
fn token_soup() {
    let pieces: Vec<&str> = fuser_ir::lex::lex(SAMPLE)
        .iter()
        .map(|t| t.text(SAMPLE))
        .collect();
    let extra = [
        "%", "\"", "<", "dense<", "tensor<", "{-#", "#", "é", "\\", "%x#9", "-", "?", "0x", "1e",
        "^", "@", "!", "loc(",
    ];
    for seed in 0..4000 {
        let mut random = Random(seed);
        let mut text = String::new();
        for _ in 0..random.below(40) {
            let pick = random.below(pieces.len() + extra.len());
            let piece = pieces.get(pick).or_else(|| extra.get(pick - pieces.len()));
            let _ = write!(text, "{} ", piece.unwrap_or(&""));
        }
        let mut ir = ir();
        let result = read(&mut ir, &text);
        shown(&text, &result);
        match result.module {
            Some(module) => {
                // Accepted text prints and parses again.
                let printed = print(&ir, module, &PrintOptions::default());
                valid(&printed);
            }
            None => assert!(result.diagnostics.has_errors(), "seed {seed}: {text}"),
        }
    }
}

#[test]
fn lines_of_the_sample_in_any_order() {
    let lines: Vec<&str> = SAMPLE.lines().collect();
    for seed in 0..2000 {
        let mut random = Random(seed ^ 0x5eed);
        let count = random.below(2 * lines.len());
        let text: Vec<&str> = (0..count)
            .map(|_| lines[random.below(lines.len())])
            .collect();
        let text = text.join("\n");
        let result = read(&mut ir(), &text);
        shown(&text, &result);
    }
}

#[test]
fn regions_ten_thousand_deep() {
    let depth = 9_999;
    let open = "t.group {\n".repeat(depth);
    round_trip_quick(&format!("{open}{}", "}\n".repeat(depth)));
    let generic = "\"x.y\"() ({\n".repeat(depth);
    let close = "}) : () -> ()\n".repeat(depth);
    round_trip_quick(&format!("{generic}{close}"));
    // Nothing is closed: one mistake.
    assert_eq!(codes(&open), ["FIR0102"]);
    assert_eq!(codes(&"t.group {\n".repeat(10_001)), ["FIR0902"]);
}

/// One form is enough where the text is deep: indentation makes it quadratic.
fn round_trip_quick(text: &str) {
    let (ir, module) = valid(text);
    let options = PrintOptions::default();
    let once = print(&ir, module, &options);
    let (again, root) = valid(&once);
    assert_eq!(print(&again, root, &options), once);
}

#[test]
fn deep_types_and_attributes() {
    let nested = |open: &str, inner: &str, close: &str, depth| {
        let (open, close) = (open.repeat(depth), close.repeat(depth));
        format!("\"x.y\"() {{k = {open}{inner}{close}}} : () -> ()")
    };
    round_trip(&nested("[", "1", "]", 250));
    round_trip(&nested("tuple<", "f32", ">", 250));
    round_trip(&nested("{a = ", "1", "}", 250));
    for text in [
        nested("[", "1", "]", 100_000),
        nested("tuple<", "f32", ">", 100_000),
        nested("{a = ", "1", "}", 100_000),
        nested("(", ") -> ()", "", 100_000),
        nested("loc(callsite(", "unknown", " at unknown))", 100_000),
        nested("[", "", "", 100_000),
        nested("tensor<4xf32, ", "1", ">", 300),
    ] {
        let found = codes(&text);
        assert!(!found.is_empty() && found.len() <= 3, "{found:?}");
    }
}

#[test]
fn aliases_that_grow_are_stopped() {
    let mut text = String::from("!t0 = tuple<f32, f32>\n");
    for at in 1..64 {
        let _ = writeln!(text, "!t{at} = tuple<!t{0}, !t{0}>", at - 1);
    }
    text += "\"x.y\"() {k = !t63} : () -> ()";
    let found = codes(&text);
    assert!(found.contains(&"FIR0910"), "{found:?}");
    let mut chain = String::from("#a0 = []\n");
    for at in 1..5000 {
        let _ = writeln!(chain, "#a{at} = [#a{}]", at - 1);
    }
    assert!(codes(&chain).contains(&"FIR0903"));
    assert!(codes("#a = [#b]\n#b = [#c]\n#c = [#a]\n").contains(&"FIR0117"));
}

/// Definitions of which each doubles the one before, then lines with the last for `$`.
fn doubled(name: &str, first: &str, [open, between, close]: [&str; 3], line: &str) -> String {
    let mut text = format!("{name}0 = {first}\n");
    for at in 1..=17 {
        let inner = format!("{name}{}", at - 1);
        let _ = writeln!(text, "{name}{at} = {open}{inner}{between}{inner}{close}");
    }
    text + &line.replace('$', &format!("{name}17")).repeat(40)
}

#[test]
fn what_stands_in_many_places_prints_once() {
    let list = ["[", ", ", "]"];
    let call = ["loc(callsite(", " at ", "))"];
    let long = format!("#a17 = \"{}\"\n", "s".repeat(100_000));
    let file = format!("#a17 = loc(\"{}\":1:1)\n", "s".repeat(100_000));
    let body = format!("!a17 = !f.e<\"{}\">\n", "s".repeat(100_000));
    let lines = |definition: &str, line: &str| definition.to_owned() + &line.repeat(40);
    for text in [
        doubled("#a", "[1, 1]", list, "\"x.y\"() {k = $} : () -> ()\n"),
        doubled("#a", "[1, 1]", list, "t.all any $\n"),
        doubled(
            "#a",
            "[1, 1]",
            list,
            "t.func @f() attributes {a.b = $} {\n  t.end\n}\n",
        ),
        doubled("#a", "{a = 1}", list, "\"x.y\"() {k = $} : () -> ()\n"),
        lines(&body, "t.all : !a17\n"),
        doubled(
            "!a",
            "tuple<f32>",
            ["tuple<", ", ", ">"],
            "t.all ty $ : $\n",
        ),
        doubled(
            "!a",
            "tuple<f32>",
            ["(", ", ", ") -> ()"],
            "\"x.y\"() {k = $} : () -> ()\n",
        ),
        doubled("#a", "loc(\"f\":1:1)", call, "t.all loc($)\n"),
        doubled(
            "#a",
            "loc(\"f\":1:1)",
            call,
            "\"x.y\"() {k = $} : () -> () loc($)\n",
        ),
        lines(&long, "t.all kind #a17 any #a17 {a.b = [#a17]}\n"),
        lines(&file, "t.all loc(#a17)\n"),
    ] {
        let (ir, module) = valid(&text);
        for generic in [false, true] {
            for local_scope in [false, true] {
                let options = PrintOptions {
                    generic,
                    local_scope,
                    debuginfo: true,
                    ..PrintOptions::default()
                };
                let once = print(&ir, module, &options);
                assert!(once.len() < 20 * text.len(), "{}", once.len());
                let (again, root) = valid(&once);
                assert_eq!(print(&again, root, &options), once);
                let canonical = PrintOptions::canonical();
                let whole = print(&ir, module, &canonical);
                assert_eq!(print(&again, root, &canonical), whole);
            }
        }
    }
}

#[test]
fn wide_operations() {
    let mut text = String::new();
    let names: Vec<String> = (0..60_000).map(|at| format!("%v{at}")).collect();
    let types = vec!["f32"; names.len()].join(", ");
    let _ = writeln!(text, "{} = \"x.y\"() : () -> ({types})", names.join(", "));
    let _ = writeln!(text, "\"x.y\"({}) : ({types}) -> ()", names.join(", "));
    round_trip_quick(&text);
    let many = vec!["%a"; 70_000].join(", ");
    assert!(codes(&format!("%a = \"x.y\"() : () -> f32\nt.all {many}")).contains(&"FIR0905"));
    assert!(codes("%a:70000 = t.all").contains(&"FIR0905"));
    assert!(codes("%a:99999999999999999999 = t.all").contains(&"FIR0905"));
}

#[test]
fn equal_hints_are_numbered_in_linear_time() {
    let (mut ir, module) = valid("%0 = t.const value 1 : i8");
    let block = ir.body(module, 0).unwrap();
    let first = ir.first_op(block).unwrap();
    let name = ir.sym("x");
    for _ in 0..50_000 {
        let op = ir.create(
            ir.name_id(first),
            fuser_ir::NewOp {
                results: smallvec::smallvec![(ir.value_type(ir.result(first, 0)), Some(name))],
                attrs: ir.attrs(first).iter().copied().collect(),
                ..Default::default()
            },
        );
        ir.append_op(block, op);
    }
    let text = print(&ir, module, &PrintOptions::default());
    assert!(text.contains("%x_49999 = "));
}

#[test]
fn limits_are_kept() {
    let limited = |limits: Limits, text: &str| -> Vec<&'static str> {
        let options = ParseOptions {
            allow_unregistered: true,
            limits,
            ..ParseOptions::default()
        };
        let result = parse(&mut ir(), 0, text, &options);
        result.diagnostics.items.iter().map(|d| d.code).collect()
    };
    let default = Limits::default();
    let all = "t.all\n".repeat(5);
    assert_eq!(
        limited(
            Limits {
                source_bytes: 10,
                ..default
            },
            &all
        ),
        ["FIR0901"]
    );
    assert_eq!(limited(Limits { ops: 4, ..default }, &all), ["FIR0904"]);
    assert_eq!(limited(Limits { ops: 5, ..default }, &all), [""; 0]);
    let long = "t.all {a.b = \"0123456789\"}";
    assert_eq!(
        limited(
            Limits {
                string_bytes: 8,
                ..default
            },
            long
        ),
        ["FIR0908"]
    );
    assert_eq!(
        limited(
            Limits {
                identifier_bytes: 2,
                ..default
            },
            "%abc = t.all : f32"
        ),
        ["FIR0908"]
    );
    let dense = "t.all {a.b = dense<[1, 2, 3]> : tensor<3xi8>}";
    assert_eq!(
        limited(
            Limits {
                dense_elements: 2,
                ..default
            },
            dense
        ),
        ["FIR0909"]
    );
    let rank = "t.all {a.b = tensor<1x1x1xf32>}";
    assert_eq!(limited(Limits { rank: 2, ..default }, rank), ["FIR0906"]);
    let errors = "t.nothing\n".repeat(9);
    let found = limited(
        Limits {
            errors: 4,
            ..default
        },
        &errors,
    );
    assert_eq!(found.len(), 5);
    assert_eq!(found.last(), Some(&"FIR0911"));
    let nested = "t.all {a.b = [[[1]]]}";
    assert!(
        limited(
            Limits {
                nesting: 3,
                ..default
            },
            nested
        )
        .contains(&"FIR0903")
    );
}

#[test]
fn a_splat_costs_nothing() {
    valid("t.all {a.b = dense<1.0> : tensor<4294967296x1073741824xf32>}");
    let missing = codes("t.all {a.b = dense<[1.0]> : tensor<4294967296x1073741824xf32>}");
    assert_eq!(missing, ["FIR0909"]);
    assert_eq!(
        codes("t.all {a.b = dense<\"0x00\"> : tensor<4294967296x1073741824xf32>}"),
        ["FIR0112"]
    );
}
