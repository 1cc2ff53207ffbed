//! Diagnostics of malformed text: place, message, help; several mistakes in one run, each reported once.

use crate::common::{codes, ir, mistakes};
use fuser_ir::Place;
use fuser_ir::diag::Fix;
use fuser_ir::parse::{ParseOptions, parse};

/// The whole rendering of a wrong text.
fn expect(text: &str, rendered: &str) {
    assert_eq!(mistakes(text), rendered.trim_start_matches('\n'), "{text}");
}

#[test]
fn independent_mistakes_are_all_found_and_chains_once() {
    expect(
        "t.func @f(%x: f32) -> f32 {
  %a = t.ad %x, %x
  %b = t.add %a, %a
  %c = t.add %b, %x
  %d = t.add %x %x
  %e:2 = t.add %d, %d
  t.end %c
}
t.func @g() {
  t.end %e
}
",
        "
t.fir:2:8: error: [FIR0104] unknown operation `t.ad`
2 |   %a = t.ad %x, %x
  |        ^^^^
help: did you mean `t.add`?
t.fir:5:17: error: [FIR0101] unexpected `%x`
5 |   %d = t.add %x %x
  |                 ^^
help: operands are separated by commas
t.fir:10:9: error: [FIR0106] `%e` is not defined here
10 |   t.end %e
   |         ^^
",
    );
}

/// Advice that says what was meant is a fix: of a name at each of its uses.
#[test]
fn what_was_meant_is_a_fix() {
    let fixes = |text: &str| {
        let mut ir = ir();
        let found = parse(&mut ir, 0, text, &ParseOptions::default()).diagnostics;
        let fixes = found.items.into_iter().flat_map(|d| d.fixes);
        let fix = |fix: Fix| match fix.place {
            Place::Span { span, .. } => (
                text[span.start as usize..span.end as usize].to_owned(),
                fix.replacement,
            ),
            _ => Default::default(),
        };
        Vec::from_iter(fixes.map(fix))
    };
    let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
    assert_eq!(fixes("t.ennd\n"), [pair("t.ennd", "t.end")]);
    let text = "t.func @f(%long: f32) {\n  %a = t.add %lon, %lon#0\n  t.end\n}\n";
    assert_eq!(
        fixes(text),
        [pair("%lon", "%long"), pair("%lon#0", "%long#0")]
    );
    assert_eq!(fixes("t.func @f(%x: f32) {\n  t.end %nothing\n}\n"), []);
}

/// Dots stand on either side for what is left out, and the mark below the place all the same, where characters have
/// several bytes too.
#[test]
fn of_a_long_line_the_part_around_the_place_is_shown() {
    let padding = "é".repeat(300);
    let text = format!("t.end // {padding}\n// {padding}\nt.ad // {padding}\n");
    let dots = "é".repeat(192);
    let first = format!(
        "t.fir:3:1: error: [FIR0104] unknown operation `t.ad`\n3 | t.ad // {dots}...\n  | ^^^^\n"
    );
    assert!(mistakes(&text).starts_with(&first), "{}", mistakes(&text));
    let inputs: Vec<String> = (0..40).map(|i| format!("%long{i:02}: f32")).collect();
    let text = format!("t.func @f({}, %long20: f32) -> f32 {{", inputs.join(", "));
    let shown = mistakes(&text);
    let lines: Vec<&str> = shown.lines().collect();
    let at = lines[2].find('^').unwrap_or_default();
    assert!(lines[0].starts_with("t.fir:1:571: error"), "{shown}");
    assert_eq!(lines[1].get(at..at + 7), Some("%long20"), "{shown}");
    assert!(lines[1].starts_with("1 | ..."), "{shown}");
}

#[test]
fn a_name_is_suggested_for_an_unknown_one() {
    expect(
        "%value = t.const value 1 : i8\nt.add %valu, %value",
        "
t.fir:2:7: error: [FIR0106] `%valu` is not defined here
2 | t.add %valu, %value
  |       ^^^^^
help: did you mean `%value`?
",
    );
    expect(
        "%a = t.all predicate lq : f32",
        "
t.fir:1:22: error: [FIR0213] clause `predicate` takes one of lt, le, eq, not `lq`
1 | %a = t.all predicate lq : f32
  |                      ^^
help: did you mean `lt`?
",
    );
    expect(
        "t.all cuont 1",
        "
t.fir:1:7: error: [FIR0214] `t.all` has no clause `cuont`
1 | t.all cuont 1
  |       ^^^^^
help: did you mean `count`?
",
    );
    expect(
        "add %a, %a",
        "
t.fir:1:1: error: [FIR0104] unknown operation `add`
1 | add %a, %a
  | ^^^
help: did you mean `t.add`?
t.fir:1:5: error: [FIR0106] `%a` is not defined here
1 | add %a, %a
  |     ^^
t.fir:1:9: note: used here too (1 further uses)
1 | add %a, %a
  |         --
",
    );
    expect(
        "\"x.br\"()[^lop] : () -> ()\n^loop:",
        "
t.fir:1:11: error: [FIR0115] block `^lop` is not defined in this region
1 | \"x.br\"()[^lop] : () -> ()
  |           ^^^^
help: did you mean `^loop`?
"
        .replace("t.fir:1:11", "t.fir:1:10")
        .replace("          ^^^^", "         ^^^^")
        .as_str(),
    );
    expect(
        "#map = 1\nt.all {a.b = #mp}",
        "
t.fir:2:14: error: [FIR0117] alias `#mp` is not defined
2 | t.all {a.b = #mp}
  |              ^^^
help: did you mean `#map`?
",
    );
}

#[test]
fn a_second_definition_shows_the_first() {
    expect(
        "%a = t.const value 1 : i8\n%a = t.const value 2 : i8",
        "
t.fir:2:1: error: [FIR0107] `%a` is defined twice
2 | %a = t.const value 2 : i8
  | ^^
t.fir:1:1: note: defined here before
1 | %a = t.const value 1 : i8
  | --
",
    );
    // A region sees the names around it, so it cannot have its own.
    assert_eq!(
        codes("%a = t.const value 1 : i8\nt.group {\n  %a = t.const value 1 : i8\n}"),
        ["FIR0107"]
    );
    // Behind a region its names are free, and an isolated region begins anew.
    assert_eq!(
        codes(
            "t.group {\n  %a = t.const value 1 : i8\n}\n%a = t.const value 1 : i8\nt.func @f(%a: i8) {}"
        ),
        [""; 0]
    );
    assert_eq!(
        codes("%a = t.const value 1 : i8\nt.func @f() {\n  t.end %a\n}"),
        ["FIR0106"]
    );
}

#[test]
fn types_that_do_not_fit_show_both_and_the_definition() {
    expect(
        "%a = t.const value 1 : i8\n%b = t.add %a, %a : i16",
        "
t.fir:2:21: error: [FIR0218] `t.add`: result 0 is stated as `i16`, but is `i8`
2 | %b = t.add %a, %a : i16
  |                     ^^^
t.fir:1:1: note: the operand is defined here, of type `i8`
1 | %a = t.const value 1 : i8
  | --
",
    );
    expect(
        "%a = t.const value 1 : i8\n\"x.y\"(%a) : (f32) -> ()",
        "
t.fir:2:7: error: [FIR0118] `%a` has type `i8`, but `f32` is written
2 | \"x.y\"(%a) : (f32) -> ()
  |       ^^
t.fir:1:1: note: the operand is defined here, of type `i8`
1 | %a = t.const value 1 : i8
  | --
",
    );
    assert_eq!(
        codes("\"x.y\"(%a) : (f32) -> ()\n%a = t.const value 1 : i8"),
        ["FIR0118"]
    );
    assert_eq!(codes("%a = t.const value 1"), ["FIR0219"]);
}

#[test]
fn a_region_survives_a_wrong_header_and_a_wrong_tail() {
    // The names that the lost header would have given are not reported.
    assert_eq!(
        codes("t.func @f(%x f32) {\n  t.end %x\n}\nt.nothing"),
        ["FIR0101", "FIR0104"]
    );
    assert_eq!(
        codes("%r = t.group {\n  t.end\n} : nonsense\nt.end %r\nt.nothing"),
        ["FIR0110", "FIR0104"]
    );
    assert_eq!(
        codes("%r = t.group {\n  t.end %q\n}\nt.end %r"),
        ["FIR0106"]
    );
    assert_eq!(
        codes("t.group {\n  t.nothing\n} esle {\n  t.nothing\n}"),
        ["FIR0104", "FIR0122", "FIR0104"]
    );
    assert_eq!(codes("t.unknown {\n  t.nothing\n}"), ["FIR0104", "FIR0104"]);
}

#[test]
fn an_open_bracket_costs_one_statement() {
    assert_eq!(
        codes("t.all dims [1, 2\n%a = t.nothing"),
        ["FIR0101", "FIR0104"]
    );
    assert_eq!(
        codes("\"x.y\"(%a : () -> ()\n%a = t.nothing"),
        ["FIR0101", "FIR0104"]
    );
}

#[test]
fn brackets_of_regions() {
    expect(
        "t.group {\n  t.group {\n  }\n",
        "
t.fir:1:9: error: [FIR0102] this region is never closed
1 | t.group {
  |         ^
help: a `}` is missing before the end of the file
",
    );
    expect(
        "t.group {\n}\n}\nt.nothing",
        "
t.fir:3:1: error: [FIR0103] this `}` closes nothing
3 | }
  | ^
t.fir:4:1: error: [FIR0104] unknown operation `t.nothing`
4 | t.nothing
  | ^^^^^^^^^
help: `fuser-opt --show-dialects` lists all operations
",
    );
}

#[test]
fn lexical_mistakes() {
    expect(
        "t.all kind \"abc\nt.all ; 1\n\"x.y\"() {a = #b<c} : () -> ()",
        "
t.fir:1:12: error: [FIR0002] this string does not end on its line
1 | t.all kind \"abc
  |            ^
t.fir:2:7: error: [FIR0001] `;` begins nothing
2 | t.all ; 1
  |       ^
help: operations end with their line, and comments begin with `//`
t.fir:3:14: error: [FIR0003] the `<` after `#b` is never closed
3 | \"x.y\"() {a = #b<c} : () -> ()
  |              ^^
",
    );
    assert_eq!(codes("t.all kind \"\\q\""), ["FIR0004"]);
}

#[test]
fn forms_that_people_try() {
    expect(
        "%a = t.const value 1 : i8\n%b = t.add(%a, %a)",
        "
t.fir:2:14: error: [FIR0101] expected `:`, found `,`
2 | %b = t.add(%a, %a)
  |              ^
help: operands follow the operation's name without parentheses: `fusion.add %a, %b`
",
    );
    expect(
        "%a = t.all : tensor<BxSxf32>",
        "
t.fir:1:21: error: [FIR0111] unknown element type `BxSxf32`
1 | %a = t.all : tensor<BxSxf32>
  |                     ^^^^^^^
help: a named extent stands in brackets: `[B]`
",
    );
    expect(
        "t.all to fp32",
        "
t.fir:1:10: error: [FIR0110] unknown type `fp32`
1 | t.all to fp32
  |          ^^^^
help: did you mean `f32`?
",
    );
    expect(
        "%r = t.group : f32 {\n  t.end\n}",
        "
t.fir:1:20: error: [FIR0101] expected `,`, `loc(` or the end of the operation, found `{` of a region
1 | %r = t.group : f32 {
  |                    ^
help: the types of an operation with regions stand after its last `}`
",
    );
}

#[test]
fn clause_values() {
    for (text, code) in [
        ("t.all dims [1, a]", "FIR0213"),
        ("t.all dims 1", "FIR0213"),
        ("t.all dims [9223372036854775808]", "FIR0213"),
        ("t.all shape [B]", "FIR0111"),
        ("t.all shape [[B+]]", "FIR0111"),
        ("t.all count 9223372036854775808", "FIR0213"),
        ("t.all count 99999999999999999999", "FIR0112"),
        ("t.all count 1.5", "FIR0112"),
        ("t.all value 300 : i8", "FIR0112"),
        ("t.all flag 1", "FIR0213"),
        ("t.all names [a]", "FIR0213"),
        ("t.all callee f", "FIR0213"),
        ("t.all count", "FIR0213"),
        ("t.all count 1 count 2", "FIR0114"),
        ("t.all count 1 {count = 1}", "FIR0114"),
        ("t.all {a.b = 1, a.b = 2}", "FIR0114"),
        ("t.all {b = 1}", "FIR0214"),
        ("t.const : f32", "FIR0212"),
        ("t.add (%a: f32) -> f32", "FIR0121"),
        ("t.all @f", "FIR0121"),
        ("t.func @f {}", "FIR0101"),
        ("t.all any [1, b]", "FIR0112"),
        ("t.all value dense<[1]>", "FIR0219"),
        ("t.all loc(here)", "FIR0120"),
        ("t.all loc(\"f\":1:99999999999)", "FIR0120"),
        ("t.group {\n  #a = 1\n}", "FIR0117"),
        ("#a = 1\n#a = 2", "FIR0117"),
    ] {
        assert_eq!(codes(text), [code], "{text}");
    }
}

#[test]
fn unknown_dialects_must_be_allowed() {
    let result = parse(
        &mut ir(),
        0,
        "\"x.y\"() : () -> ()",
        &ParseOptions::default(),
    );
    let found = &result.diagnostics.items[0];
    assert_eq!(found.code, "FIR0105");
    assert_eq!(
        found.helps,
        ["allow such operations with --allow-unregistered-dialect"]
    );
}
