//! Text that is parsed, printed and parsed again is the same program, in every form.

use crate::common::{printed, round_trip, round_trip_ir, valid};
use fuser_ir::parse::{parse_attr, parse_type};
use fuser_ir::print::{PrintOptions, print, print_attr, print_type, print_value};

/// Types whose text is canonical.
const TYPES: &[&str] = &[
    "f32",
    "bf16",
    "f64",
    "i1",
    "i64",
    "ui8",
    "ui16",
    "ui32",
    "ui64",
    "index",
    "i16",
    "si32",
    "ui4",
    "i4",
    "none",
    "f8E4M3FN",
    "f8E5M2",
    "tensor<4xf8E8M0FNU>",
    "tensor<4xf4E2M1FN>",
    "tf32",
    "tensor<f32>",
    "tensor<0xf32>",
    "tensor<4x[B]x?xf32>",
    "tensor<b4xb[B]xb?xbf16>",
    "tensor<[B*S+1]xf32>",
    "tensor<[2*B-S]xindex>",
    "tensor<[B*B*S+B-3]xi8>",
    "tensor<*xf32>",
    "tensor<4xf32, #fir.layout<\"a>b\">>",
    "tensor<4x8xf32, array<i64: 0, 1>>",
    "tensor<4xi16>",
    "tensor<4xi4>",
    "tensor<4xcomplex<f32>>",
    "complex<f64>",
    "vector<16xf32>",
    "vector<4x8xi1>",
    "vector<[4]xf32>",
    "memref<?x16xf32>",
    "memref<?x[B]xf32, tile>",
    "memref<4xf32, local>",
    "memref<4xf32, strided<[2], offset: 1>>",
    "memref<4xf32, 3>",
    "!llvm.ptr",
    "!a.b<c, [1], \"}\">",
    "tuple<>",
    "tuple<f32, tuple<i1>>",
    "() -> ()",
    "(f32, i1) -> f32",
    "((f32) -> f32) -> ((i1) -> ())",
    "(f32) -> (i1, i8)",
];

/// Attributes whose text is canonical.
const ATTRS: &[&str] = &[
    "unit",
    "true",
    "false",
    "42",
    "-1",
    "0",
    "1 : i1",
    "-128 : i8",
    "255 : ui8",
    "18446744073709551615 : ui64",
    "dense<[0, 18446744073709551615]> : tensor<2xui64>",
    "dense<[-32768, 32767]> : tensor<2xi16>",
    "7 : index",
    "3 : i16",
    "170141183460469231731687303715884105727 : i128",
    "1.0",
    "-0.0",
    "0.1 : f32",
    "1.0e-5 : bf16",
    "3.4028235e38 : f32",
    "1.0e-45 : f32",
    "5.0e-324",
    "0x7FC00000 : f32",
    "0xFF800000 : f32",
    "0x7E01 : f16",
    "0x7FF0000000000000 : f64",
    "65500.0 : f16",
    "\"\"",
    "\"a\\n\\t\\22\\\\b\\07 é\"",
    "[]",
    "[1, \"a\", [true], {}]",
    "{}",
    "{a, b = 1, \"c d\" = [2], e.f = unit_word}",
    "array<i64>",
    "array<i64: 1, -2>",
    "array<i32: 1, 2>",
    "array<f32: 1.0>",
    "array<i1: true>",
    "@f",
    "@a::@b",
    "@\"a b\"::@c",
    "f32",
    "tensor<4xf32>",
    "(f32) -> ()",
    "!llvm.ptr",
    "dense<1.0> : tensor<4xf32>",
    "dense<[1, 2]> : tensor<2xi64>",
    "dense<[[1, 2], [3, 4], [-5, 6]]> : tensor<3x2xi8>",
    "dense<true> : tensor<i1>",
    "dense<[true, false]> : vector<2xi1>",
    "dense<> : tensor<0x4xf32>",
    "dense<[0x7F800000, 1.5]> : tensor<2xf32>",
    "dense<[[[7]]]> : tensor<1x1x1xui8>",
    "extents<>",
    "extents<[B], 1024, ?, b16, b[S]>",
    "#fir.enc",
    "#fir.enc<a, <b>, \"c>\">",
    "affine_map<(d0, d1)[s0] -> (d0 + s0, d1 floordiv 2)>",
    "affine_set<(d0) : (d0 >= 0)>",
    "dense_resource<blob> ",
    "loc(unknown)",
    "loc(\"a.py\":1:2)",
    "loc(\"n\"(\"m\"))",
    "loc(callsite(\"f\" at fused[\"a\":1:2, unknown]))",
];

#[test]
fn types_print_as_written() {
    for text in TYPES {
        let mut ir = crate::common::ir();
        let ty = parse_type(&mut ir, text).unwrap_or_else(|e| panic!("{text}: {e:#?}"));
        assert_eq!(print_type(&ir, ty), *text);
    }
}

#[test]
fn attributes_print_as_written() {
    for text in ATTRS {
        let text = text.trim().replace(" = unit_word", "");
        let mut ir = crate::common::ir();
        let attr = parse_attr(&mut ir, &text).unwrap_or_else(|e| panic!("{text}: {e:#?}"));
        assert_eq!(print_attr(&ir, attr), text);
        round_trip(&format!("\"x.y\"() {{a = {text}}} : () -> ()"));
        round_trip(&format!("t.all {{a.b = {text}}}"));
        round_trip(&format!("t.all {{any = {text}}}"));
    }
}

#[test]
fn spellings_that_mean_the_same() {
    let pairs = [
        ("0x10", "16"),
        ("1e-5", "1.0e-5"),
        ("1.", "1.0"),
        ("- 1", "-1"),
        ("1 : f32", "1.0 : f32"),
        ("u8", "ui8"),
        ("u64", "ui64"),
        ("tensor< 4 x [ S * B ] x f32 >", "tensor<4x[B*S]xf32>"),
        ("tensor<[B+0*S]xf32>", "tensor<[B]xf32>"),
        ("tensor<[2*2]xf32>", "tensor<4xf32>"),
        (
            "tensor<b1x4xb1xf32, [2, 1, 0]>",
            "tensor<1x4x1xf32, [2, 1, 0]>",
        ),
        ("extents<b1, b4, b[2-1]>", "extents<1, b4, 1>"),
        ("memref<4xf32, global>", "memref<4xf32>"),
        (
            "dense<\"0x0100000002000000\"> : tensor<2xi32>",
            "dense<[1, 2]> : tensor<2xi32>",
        ),
        ("{b = 1, a = 2}", "{a = 2, b = 1}"),
        ("loc(fused<\"m\">[unknown])", "loc(fused[unknown])"),
    ];
    for (text, canonical) in pairs {
        let mut ir = crate::common::ir();
        let attr = parse_attr(&mut ir, text).unwrap_or_else(|e| panic!("{text}: {e:#?}"));
        assert_eq!(print_attr(&ir, attr), canonical);
    }
}

#[test]
fn large_dense_data_prints_as_bytes() {
    let values: Vec<String> = (0..101).map(|v| format!("{v}.5")).collect();
    let text = format!("dense<[{}]> : tensor<101xf32>", values.join(", "));
    let mut ir = crate::common::ir();
    let attr = parse_attr(&mut ir, &text).unwrap();
    let printed = print_attr(&ir, attr);
    assert!(
        printed.starts_with("dense<\"0x0000003F0000C03F"),
        "{printed}"
    );
    assert_eq!(parse_attr(&mut ir, &printed).unwrap(), attr);
}

#[test]
fn every_clause_kind() {
    round_trip(
        "%0:2 = t.all dims [0, -2] shape [[B], 4, ?, b8, b[S*2+1]] to bf16 ty tensor<4xf32> count -3 value 0.5
           kind \"k\" predicate le flag callee @f::@g names [\"a\", \"b, c\"] any [1, [\"x\"]] {u.v, w.x = 1} : f32, i1",
    );
    round_trip("t.all dims [] shape [] names [] any true");
    round_trip(
        "t.all any \"s\"\nt.all any f32\nt.all any @a\nt.all any affine_map<(d) -> (d)>\nt.all any #a.b<1>",
    );
    round_trip(
        "%a = t.const value 3 : i8\n%b = t.const value 3 : f16\n%c = t.const value 0x7FC0 : bf16",
    );
    round_trip("%a = t.const value dense<[1, 2]> : tensor<2xi8>\n%b = t.const value true : i1");
    round_trip("%a = t.const value -1.5e-3 : tensor<4xf32>");
    // Not what the clause would read: they stand in the dictionary.
    round_trip("%a = t.const {value = 3 : i16} : f32\nt.all {count = 3 : i8, any = {a = 1}}");
    let text = printed("t.all {dims = array<i64: 1>, predicate = \"lt\"}");
    assert_eq!(text, "module {\n  t.all dims [1] predicate lt\n}\n");
}

#[test]
fn numbers_lean_on_operands_where_types_are_not_written() {
    round_trip(
        "%a = t.const value 1.5 : f32\nt.all %a value 2.5\nt.all value 2.5\nt.all value 2\nt.all %a value 2",
    );
}

#[test]
fn names_are_kept_and_made_unique() {
    round_trip(
        "%a = t.const value 1 : i8
         %7 = t.add %a, %a
         %r:3 = t.all : i8, i8, f32
         %x, %y = t.all %r#0, %r#2 : i8, f32
         %p:2, %q = t.all %x : i8, i8, i8
         t.all %p#1, %q",
    );
    let (mut ir, module) =
        valid("%a = t.const value 1 : i8\n%b = t.const value 1 : i8\n%c = t.add %a, %b");
    let (a, weird) = (ir.sym("a"), ir.sym("1 é%"));
    let block = ir.body(module, 0).unwrap();
    let ops: Vec<_> = ir.block_ops(block).collect();
    ir.set_value_name(ir.result(ops[1], 0), Some(a));
    ir.set_value_name(ir.result(ops[2], 0), Some(weird));
    let text = print(&ir, module, &PrintOptions::default());
    assert!(text.contains("%a_1 = t.const"), "{text}");
    assert!(
        text.contains("%_1____ = t.add %a, %a_1") || text.contains("%_1___ = t.add %a, %a_1"),
        "{text}"
    );
    assert_eq!(print_value(&ir, ir.result(ops[1], 0)), "%a_1");
    round_trip_ir(&ir, module);
}

#[test]
fn suffixes_do_not_meet_names_that_have_one() {
    let (mut ir, module) =
        valid("%a_1 = t.const value 1 : i8\n%b = t.const value 1 : i8\n%c = t.const value 1 : i8");
    let a = ir.sym("a");
    let block = ir.body(module, 0).unwrap();
    for op in ir.block_ops(block).skip(1).collect::<Vec<_>>() {
        let value = ir.result(op, 0);
        ir.set_value_name(value, Some(a));
    }
    let text = print(&ir, module, &PrintOptions::default());
    assert!(
        text.contains("%a_1 =") && text.contains("%a =") && text.contains("%a_2 ="),
        "{text}"
    );
    round_trip_ir(&ir, module);
}

#[test]
fn results_of_a_region_op_may_have_a_name_of_the_inside() {
    let text = "module {
  t.func @f(%x: f32) -> f32 {
    %y = t.group @g {
      %y = t.add %x, %x : f32
      t.end %y
    } : f32
    t.end %y
  }
  t.func @g(%x: f32) {
  }
}
";
    assert_eq!(printed(text), text);
    round_trip(text);
}

#[test]
fn regions_with_labels_and_else() {
    round_trip(
        "t.func @f(%x: i1 {a.b = 1}, %y: f32) -> (f32 {alias = 0}, f32) {
           %r:2 = t.group %x {
           ^bb0(%i: index):
             t.end %y, %i
           } else {
             t.all %x
           }
           t.end %y, %y
         }",
    );
}

#[test]
fn control_flow_and_values_used_before_their_definition() {
    round_trip(
        "\"x.func\"() ({
         ^entry(%c: i1):
           \"x.br\"(%c)[^loop(%c : i1), ^bb2] : (i1) -> ()
         ^bb2:
           \"x.use\"(%late, %pair#1) : (f32, i8) -> ()
           \"x.ret\"() : () -> ()
         ^loop(%i: i1):
           %late = \"x.def\"() : () -> f32
           %pair:2 = \"x.def\"() : () -> (i1, i8)
           \"x.in\"() ({
             \"x.use\"(%later) : (f32) -> ()
             %z = t.add %later, %later : f32
           }) : () -> ()
           %later = \"x.def\"() : () -> f32
           \"x.br\"()[^bb2] : () -> ()
         }) : () -> ()",
    );
}

#[test]
fn a_name_used_early_is_not_taken_by_another_value() {
    // The inner use is of the outer value; the inner definition has another name although both hints are `a`.
    let (mut ir, module) = valid(
        "\"x.in\"() ({
           \"x.use\"(%a) : (f32) -> ()
           %b = \"x.def\"() : () -> f32
           \"x.use\"(%b) : (f32) -> ()
         }) : () -> ()
         %a = \"x.def\"() : () -> f32",
    );
    let a = ir.sym("a");
    let inner = ir.walk(module).into_iter().find(|op| {
        let name = ir.results(*op).first().and_then(|v| ir.value_name(*v));
        name == Some("b")
    });
    let value = ir.result(inner.unwrap(), 0);
    ir.set_value_name(value, Some(a));
    round_trip_ir(&ir, module);
}

#[test]
fn aliases_in_any_order() {
    let text = "#b = [#a, !u]
!u = tuple<!t, !t>
\"x.y\"() {k = #b, l = #m} : () -> () loc(#loc1)
!t = tensor<4xf32, #enc>
#a = 1 : i8
#enc = #fir.e<1>
#m = affine_map<(d0) -> (d0)>
#loc1 = loc(fused[#loc0, \"x\"])
#loc0 = loc(\"f\":1:2)
";
    round_trip(text);
    let enc = "tensor<4xf32, #fir.e<1>>";
    assert!(
        printed(text).contains(&format!("k = [1 : i8, tuple<{enc}, {enc}>]")),
        "{}",
        printed(text)
    );
}

#[test]
fn locations() {
    round_trip(
        "t.all loc(unknown)
         t.all loc(\"a\"(callsite(\"f.py\":1:2 at fused[\"g\", \"h\"(unknown)])))
         t.all loc(callsite(\"f.py\":1:2 at \"h\"))
         t.all",
    );
    let (ir, module) = valid("t.all loc(callsite(\"f\":1:2 at fused[\"g\":3:4]))");
    let text = print(
        &ir,
        module,
        &PrintOptions {
            debuginfo: true,
            ..PrintOptions::default()
        },
    );
    let expected = "module {\n  t.all loc(#loc0)\n} loc(\"t.fir\":1:1)\n\
                    #loc0 = loc(callsite(\"f\":1:2 at #loc1))\n#loc1 = loc(fused[\"g\":3:4])\n";
    assert_eq!(text, expected);
}

#[test]
fn modules() {
    for text in [
        "",
        "module {}",
        "module @m {}",
        "builtin.module {}",
        "\"builtin.module\"() ({^bb0:}) : () -> ()",
        "module attributes {a.b = 1} {}",
    ] {
        round_trip(text);
    }
    assert_eq!(printed(""), "module {\n}\n");
    assert_eq!(
        printed("module {} module {}"),
        "module {\n  module {\n  }\n  module {\n  }\n}\n"
    );
    assert_eq!(
        printed("module attributes {a.b} {}"),
        "module attributes {a.b = unit} {\n}\n"
    );
}

#[test]
fn resources_are_kept() {
    let text = "module {\n  t.all {a = dense_resource<b>}\n}\n\n{-#\n  dialect_resources: { builtin: { b: \"0x08000000#-}\" } }\n#-}\n";
    let text = &text.replace("{a =", "{a.b =");
    assert_eq!(printed(text), *text);
    round_trip(text);
}

#[test]
fn mlir_in_generic_form() {
    round_trip(
        r#""builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<?xf32>, index) -> f32, sym_name = "f"}> ({
  ^bb0(%arg0: tensor<?xf32> loc("a":1:2), %arg1: index):
    %0 = "arith.constant"() <{value = 1.000000e+00 : f32}> : () -> f32
    %1 = "arith.cmpf"(%0, %0) <{fastmath = #arith.fastmath<none>, predicate = 3 : i64}> : (f32, f32) -> i1
    "cf.cond_br"(%1)[^bb1, ^bb2] <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (i1) -> ()
  ^bb1:  // pred: ^bb0
    %2:2 = "scf.if"(%1) ({
      "scf.yield"(%0, %arg1) : (f32, index) -> ()
    }, {
      "scf.yield"(%0, %arg1) : (f32, index) -> ()
    }) {note = "x"} : (i1) -> (f32, index)
    "func.return"(%2#0) : (f32) -> ()
  ^bb2:  // pred: ^bb0
    "func.return"(%0) : (f32) -> ()
  }) {llvm.emit_c_interface} : () -> ()
}) {dlti.dl_spec = #dlti.dl_spec<index = 32>} : () -> ()
"#,
    );
}

#[test]
fn options_of_the_printer() {
    let (ir, module) =
        valid("%a = t.const value dense<[1, 2, 3]> : tensor<3xi8>\n%b = t.add %a, %a");
    let shown = |options| print(&ir, module, &options);
    let plain = PrintOptions::default();
    let anonymous = shown(PrintOptions {
        anonymous: true,
        ..plain
    });
    assert!(
        anonymous.contains("%1 = t.add %0, %0 : tensor<3xi8>"),
        "{anonymous}"
    );
    let types = shown(PrintOptions {
        types: false,
        ..plain
    });
    assert!(
        types.contains("%b = t.add %a, %a\n") && types.contains("dense<[1, 2, 3]> : tensor<3xi8>"),
        "{types}"
    );
    let elided = shown(PrintOptions {
        elide: Some(2),
        ..plain
    });
    assert!(
        elided.contains("value = dense_resource<__elided__>"),
        "{elided}"
    );
}

#[test]
fn what_breaks_its_table_prints_in_generic_form() {
    let (mut ir, module) = valid("%a = t.const value 1 : i8\nt.group {}");
    let block = ir.body(module, 0).unwrap();
    let ops: Vec<_> = ir.block_ops(block).collect();
    ir.remove_attr(ops[0], "value");
    let end = ir.body(ops[1], 0).and_then(|b| ir.last_op(b)).unwrap();
    ir.erase(end);
    let text = print(&ir, module, &PrintOptions::default());
    assert!(text.contains("%a = \"t.const\"() : () -> i8"), "{text}");
    assert!(
        text.contains("\"t.group\"() ({\n  ^bb0:\n  }) : () -> ()"),
        "{text}"
    );
    round_trip_ir(&ir, module);
}
