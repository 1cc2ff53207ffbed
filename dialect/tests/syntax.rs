//! Parser and printer on the real dialects: round trips of every op's example, and of whole programs.

use fuser_ir::parse::{ParseOptions, parse};
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, Op, equal};

fn read(text: &str) -> Result<(Ir, Op), String> {
    let mut ir = Ir::new(fuser_dialects::registry());
    let options = ParseOptions {
        allow_unregistered: true,
        ..ParseOptions::default()
    };
    let result = parse(&mut ir, 0, text, &options);
    match result.module {
        Some(module) => Ok((ir, module)),
        None => Err(format!("{:#?}", result.diagnostics.items)),
    }
}

/// Prints `text`'s program in every form and reads it again: the same program each time.
fn round_trip(text: &str) {
    let (ir, module) = read(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let forms = [
        PrintOptions::default(),
        PrintOptions::canonical(),
        PrintOptions {
            debuginfo: true,
            ..PrintOptions::default()
        },
        PrintOptions {
            types: false,
            debuginfo: true,
            ..PrintOptions::default()
        },
    ];
    for options in forms {
        let once = print(&ir, module, &options);
        let (again, root) = read(&once).unwrap_or_else(|e| panic!("{e}\n{once}"));
        let twice = print(&again, root, &options);
        assert_eq!(
            once, twice,
            "printed, read and printed again with {options:?}"
        );
        let differs = equal::difference((&ir, module), (&again, root));
        if let Some(difference) = differs.filter(|_| options.debuginfo) {
            panic!("{difference}\n{once}");
        }
    }
}

/// The example of an op as a program: values named in its first comment are made by an unknown op.
fn whole(example: &str) -> String {
    let Some(rest) = example.strip_prefix("//") else {
        return example.into();
    };
    let (header, body) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut text = String::new();
    let mut depth = 0;
    let mut start = 0;
    for (at, c) in header.char_indices().chain([(header.len(), ',')]) {
        match c {
            '<' | '(' | '[' => depth += 1,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                if let Some((name, ty)) = header[start..at].split_once(':') {
                    text += &format!("{} = \"test.value\"() : () -> {}\n", name.trim(), ty.trim());
                }
                start = at + 1;
            }
            _ => {}
        }
    }
    text + body
}

#[test]
fn every_example_round_trips() {
    for op in fuser_dialects::registry().ops() {
        round_trip(&whole(op.example));
    }
}

#[test]
fn layer_norm_round_trips() {
    round_trip(
        "// Layer normalization over the last axis.
task.program @layer_norm(%x: tensor<[B]x1024xbf16>, %w: tensor<1024xf32>, %eps: f32) -> tensor<[B]x1024xbf16> {
  %xf   = fusion.cast %x to f32
  %var, %mean = fusion.var_mean %xf dims [1] correction 0
  %mu   = fusion.broadcast %mean dims [0] shape [[B], 1024]
  %d    = fusion.sub %xf, %mu
  %e    = fusion.add %var, %eps
  %r    = fusion.rsqrt %e
  %rs   = fusion.broadcast %r dims [0] shape [[B], 1024]
  %n    = fusion.mul %d, %rs
  %ws   = fusion.broadcast %w dims [1] shape [[B], 1024]
  %s    = fusion.mul %n, %ws
  %y    = fusion.cast %s to bf16
  task.return %y
}
",
    );
}
