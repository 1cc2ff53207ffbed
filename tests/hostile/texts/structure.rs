//! Brackets that never close, nesting that does, aliases.

use super::{Kind, between, kind, lines, nested, repeat};

/// A small program behind `before`, then as many `line`s as it takes.
fn with_uses(before: &str, line: &str, bytes: usize) -> Vec<u8> {
    between(before, line, "", bytes.saturating_sub(before.len()))
}

/// Aliases of which each doubles the one before, then ops that use the last.
fn doubled(
    sign: char,
    first: &str,
    step: [&str; 3],
    depth: usize,
    line: &str,
    bytes: usize,
) -> Vec<u8> {
    let mut text = format!("{sign}a0 = {first}\n");
    for at in 1..=depth {
        let last = format!("{sign}a{}", at - 1);
        text += &format!(
            "{sign}a{at} = {}{last}{}{last}{}\n",
            step[0], step[1], step[2]
        );
    }
    text += &line.replace('$', &format!("{sign}a{depth}"));
    let uses = line.replace('$', &format!("{sign}a{depth}"));
    let more = bytes.saturating_sub(text.len());
    text += &uses.repeat(more / uses.len());
    text.into_bytes()
}

const LIST: [&str; 3] = ["[", ", ", "]"];
const TUPLE: [&str; 3] = ["tuple<", ", ", ">"];

pub const KINDS: &[Kind] = &[
    // Brackets and quotes that never close.
    kind("resources", |n| repeat("{-# ", n)),
    kind("resources-strings", |n| repeat("{-# \"a\" ", n)),
    kind("resources-hashes", |n| repeat("{-# #", n)),
    kind("attribute-bodies", |n| repeat("#a<", n)),
    kind("attribute-bodies-wrong", |n| between("", "#a<", ")", n)),
    kind("attribute-bodies-equal", |n| repeat("#a<= ", n)),
    kind("attribute-bodies-strings", |n| repeat("#a< // \"\\\n", n)),
    kind("type-bodies", |n| repeat("!t.u<(", n)),
    kind("dense-bodies", |n| repeat("dense<[", n)),
    kind("array-bodies", |n| repeat("array<i64: ", n)),
    kind("tensor-bodies", |n| repeat("tensor<4x", n)),
    kind("vector-bodies", |n| repeat("vector<4x(", n)),
    kind("affine-bodies", |n| repeat("affine_map<(", n)),
    kind("distinct", |n| repeat("distinct[", n)),
    kind("distinct-closed", |n| {
        nested("", "distinct[0]<", "", ">", "", n)
    }),
    kind("tuples", |n| repeat("tuple<", n)),
    kind("strings", |n| repeat("\"a\n", n)),
    kind("symbols", |n| repeat("@\"", n)),
    kind("escapes", |n| between("\"", "\\", "", n)),
    kind("parentheses", |n| repeat("(", n)),
    kind("squares", |n| repeat("[", n)),
    kind("braces", |n| repeat("{", n)),
    kind("angles", |n| repeat("<", n)),
    kind("closers", |n| repeat("}", n)),
    kind("mixed-brackets", |n| repeat("([{<", n)),
    kind("wrong-closers", |n| between("x.y ", "(]", "", n)),
    kind("comment", |n| between("//", " /", "", n)),
    kind("comments", |n| repeat("// a\n", n)),
    // Nesting that closes.
    kind("nested-lists", |n| {
        nested("\"x.y\"() {k = ", "[", "1", "]", "} : () -> ()", n)
    }),
    kind("nested-dictionaries", |n| {
        nested("\"x.y\"() {k = ", "{a = ", "1", "}", "} : () -> ()", n)
    }),
    kind("nested-tuples", |n| {
        nested("\"x.y\"() {k = ", "tuple<", "f32", ">", "} : () -> ()", n)
    }),
    kind("nested-functions", |n| {
        nested("\"x.y\"() {k = ", "(", "", ") -> ()", "} : () -> ()", n)
    }),
    kind("nested-locations", |n| {
        nested(
            "\"x.y\"() : () -> () loc(",
            "callsite(",
            "unknown",
            " at unknown)",
            ")",
            n,
        )
    }),
    kind("nested-names", |n| {
        nested(
            "\"x.y\"() : () -> () loc(",
            "\"a\"(",
            "unknown",
            ")",
            ")",
            n,
        )
    }),
    kind("nested-encodings", |n| {
        nested(
            "\"x.y\"() {k = ",
            "tensor<4xf32, ",
            "1",
            ">",
            "} : () -> ()",
            n,
        )
    }),
    kind("nested-regions", |n| {
        nested("", "\"x.y\"() ({\n", "", "}) : () -> ()\n", "", n)
    }),
    kind("nested-modules", |n| nested("", "module {", "", "}", "", n)),
    kind("open-regions", |n| repeat("module {\n", n)),
    // Aliases.
    kind("lists-doubled", |n| {
        doubled('#', "[1, 1]", LIST, 17, "\"x.y\"() {k = $} : () -> ()\n", n)
    }),
    kind("lists-doubled-once", |n| {
        doubled(
            '#',
            "[1, 1]",
            LIST,
            (n / 24).min(17),
            "\"x.y\"() {k = $} : () -> ()\n",
            0,
        )
    }),
    kind("tuples-doubled", |n| {
        doubled('!', "tuple<f32>", TUPLE, 17, "\"x.y\"() : () -> $\n", n)
    }),
    kind("tuples-parameters", |n| {
        doubled(
            '!',
            "tuple<f32>",
            TUPLE,
            18,
            "task.program @f(%a: $, %b: $, %c: $, %d: $, %e: $, %f: $) {\n  task.return\n}\n",
            n.min(600),
        )
    }),
    kind("dictionaries-doubled", |n| {
        doubled(
            '#',
            "{a = 1}",
            ["{a = ", ", b = ", "}"],
            17,
            "\"x.y\"() {k = $} : () -> ()\n",
            n,
        )
    }),
    kind("encodings-doubled", |n| {
        doubled(
            '#',
            "[1, 1]",
            LIST,
            17,
            "\"x.y\"() : () -> tensor<4xf32, $>\n",
            n,
        )
    }),
    kind("locations-doubled", |n| {
        doubled(
            '#',
            "loc(\"f\":1:1)",
            ["loc(callsite(", " at ", "))"],
            17,
            "\"x.y\"() : () -> () loc($)\n",
            n,
        )
    }),
    kind("locations-as-attributes", |n| {
        doubled(
            '#',
            "loc(\"f\":1:1)",
            ["loc(fused[", ", ", "])"],
            17,
            "\"x.y\"() {k = $} : () -> ()\n",
            n,
        )
    }),
    kind("doubled-beyond", |n| {
        doubled(
            '#',
            "[1, 1]",
            LIST,
            n / 24,
            "\"x.y\"() {k = $} : () -> ()\n",
            n,
        )
    }),
    kind("alias-of-long-string", |n| {
        with_uses(
            &format!("#a = \"{}\"\n", "s".repeat(n / 2)),
            "\"x.y\"() {k = #a} : () -> ()\n",
            n,
        )
    }),
    kind("alias-of-long-list", |n| {
        with_uses(
            &format!("#a = [{}1]\n", "1, ".repeat(n / 6)),
            "\"x.y\"() {k = #a} : () -> ()\n",
            n,
        )
    }),
    kind("alias-of-dense", |n| {
        let data = format!(
            "#a = dense<\"0x{}\"> : tensor<{}xi8>\n",
            "00".repeat(n / 4),
            n / 4
        );
        with_uses(&data, "\"x.y\"() {k = #a} : () -> ()\n", n)
    }),
    kind("alias-of-opaque", |n| {
        with_uses(
            &format!("#a = #b.c<\"{}\">\n", "s".repeat(n / 2)),
            "\"x.y\"() {k = #a} : () -> ()\n",
            n,
        )
    }),
    kind("alias-of-opaque-type", |n| {
        with_uses(
            &format!("!a = !b.c<\"{}\">\n", "s".repeat(n / 2)),
            "\"x.y\"() : () -> !a\n",
            n,
        )
    }),
    kind("alias-of-long-location", |n| {
        let name = format!("#a = loc(\"{}\":1:1)\n", "s".repeat(n / 2));
        with_uses(&name, "\"x.y\"() : () -> () loc(#a)\n", n)
    }),
    kind("alias-chain", |n| {
        lines("#a0 = 1\n", |at| format!("#a{} = #a{at}\n", at + 1), "", n)
    }),
    kind("alias-chain-lists", |n| {
        lines(
            "#a0 = 1\n",
            |at| format!("#a{} = [#a{at}]\n", at + 1),
            "",
            n,
        )
    }),
    kind("alias-chain-backwards", |n| {
        lines("", |at| format!("#a{at} = #a{}\n", at + 1), "", n)
    }),
    kind("alias-cycle", |n| {
        lines(
            "",
            |at| format!("#a{at} = [#a{}]\n", at + 1),
            "#a0 = [#a1]\n",
            n,
        )
    }),
    kind("alias-of-itself", |n| {
        lines("", |at| format!("#a{at} = #a{at}\n"), "", n)
    }),
    kind("alias-uses-all", |n| {
        lines("#a = [", |at| format!("#a{at}, "), "1]\n", n)
    }),
    kind("alias-twice", |n| repeat("#a = 1\n", n)),
    kind("alias-unknown", |n| {
        let half = lines("", |at| format!("#alias{at} = 1\n"), "", n / 2);
        let uses = lines(
            "",
            |at| format!("\"x.y\"() {{k = #allas{at}}} : () -> ()\n"),
            "",
            n / 2,
        );
        [half, uses].concat()
    }),
    kind("alias-signs", |n| repeat("#a     !", n)),
];
