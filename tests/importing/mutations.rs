//! Texts that somebody broke: whatever a text holds, importing it ends in a program or in diagnostics that say where.
//!
//! Mutations are drawn from a seed: tokens go, come twice, change places or become others of the same text, lines go, control characters
//! come, the text ends early.

use std::collections::BTreeMap;

use fuser_frontends::{FORMATS, Format, import};
use fuser_ir::Place;

use super::texts;

/// Numbers from a seed (Knuth's MMIX generator, upper bits).
struct Draw(u64);

impl Draw {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit.max(1)
    }
}

/// Pieces of a text: words, and everything else character by character.
fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_alphanumeric() || "_%.@".contains(c);
        let length = match word(first) {
            true => rest.find(|c| !word(c)).unwrap_or(rest.len()),
            false => first.len_utf8(),
        };
        pieces.push(&rest[..length]);
        rest = &rest[length..];
    }
    pieces
}

const STRANGE: [&str; 16] = [
    "\0",
    "\u{1b}",
    "é",
    "\"",
    "<",
    ">",
    "{",
    "}",
    "(",
    "[",
    "-1",
    "9223372036854775807",
    "99999999999999999999",
    "?",
    "#",
    "\n",
];

fn mutated(text: &str, draw: &mut Draw) -> String {
    let mut pieces = pieces(text);
    for _ in 0..1 + draw.below(3) {
        if pieces.is_empty() {
            break;
        }
        let (at, other) = (draw.below(pieces.len()), draw.below(pieces.len()));
        match draw.below(6) {
            0 => {
                pieces.remove(at);
            }
            1 => pieces.insert(at, pieces[other]),
            2 => pieces.swap(at, other),
            3 => pieces[at] = STRANGE[draw.below(STRANGE.len())],
            4 => pieces[at] = pieces[other],
            _ => pieces.truncate(at.max(1)),
        }
    }
    pieces.concat()
}

/// Imports a text. Mistakes have places inside of it.
fn survives(format: Format, text: &str) -> bool {
    let registry = fuser_dialects::registry();
    let Err(found) = import(format, &registry, 0, "x", text, &BTreeMap::new()) else {
        return true;
    };
    assert!(found.has_errors(), "{text}");
    for told in &found.items {
        if let Place::Span { span, .. } = told.place {
            assert!(
                span.start <= span.end && span.end as usize <= text.len(),
                "{told:?}\n{text}"
            );
        }
    }
    false
}

#[test]
fn broken_texts_give_diagnostics() {
    let mut draw = Draw(11);
    let (mut whole, mut broken) = (0, 0);
    let folders = [
        (Format::StableHlo, "tests/importing/stablehlo"),
        (Format::NvFuser, "tests/importing/nvfuser"),
    ];
    for (format, folder) in folders {
        for (name, text) in texts(folder) {
            if !name.ends_with(".mlir") && !name.ends_with(".py") {
                continue;
            }
            for _ in 0..40 {
                match survives(format, &mutated(&text, &mut draw)) {
                    true => whole += 1,
                    false => broken += 1,
                }
            }
        }
    }
    assert!(
        broken > 800 && whole > 100,
        "{broken} broken, {whole} whole"
    );
    println!("count: {} mutated texts", broken + whole);
}

#[test]
fn deep_and_long_texts_end_soon() {
    let deep = 100_000;
    for text in [
        "(".repeat(deep),
        "{".repeat(deep),
        "module {\n".repeat(deep),
        "tensor<".repeat(deep),
        "#a<".repeat(deep),
        format!("%0 = a.b {} : tensor<f32>", "loc(\"a\"(".repeat(deep)),
        format!("x = {}", "a.".repeat(deep)),
        format!(
            "def f(fd : F) -> None :\n  fd.add_output({})",
            "[".repeat(deep)
        ),
        format!(
            "def f(fd : F) -> None :\n  x = fd.ops.add(fd{})",
            ".a".repeat(deep)
        ),
        "def f(fd) :\n".repeat(deep / 10),
        format!(
            "#loc0 = loc(#loc1)\n#loc1 = loc(#loc0)\n{}",
            "#loc2 = loc(\"a\"(#loc2))\n".repeat(1000)
        ),
    ] {
        for (_, format) in FORMATS {
            assert!(!survives(*format, &text));
        }
    }
}

#[test]
fn calls_that_double_are_cut_off() {
    let mut text = String::from(
        "func.func @f0(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.add %x, %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n",
    );
    for level in 1..40 {
        let below = level - 1;
        let public = if level == 39 {
            "@main"
        } else {
            &format!("private @f{level}")
        };
        text += &format!(
            "func.func {public}(%x: tensor<f32>) -> tensor<f32> {{\n  %0 = call @f{below}(%x) : (tensor<f32>) -> tensor<f32>\n  \
             %1 = call @f{below}(%0) : (tensor<f32>) -> tensor<f32>\n  return %1 : tensor<f32>\n}}\n"
        );
    }
    let found = import(
        Format::StableHlo,
        &fuser_dialects::registry(),
        0,
        "x",
        &text,
        &BTreeMap::new(),
    )
    .err()
    .unwrap();
    assert_eq!(found.items[0].code, "FIR1108", "{:?}", found.items[0]);
}
