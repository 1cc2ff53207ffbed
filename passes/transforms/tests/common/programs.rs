//! Programs of any size as text, for measurements of how work grows.

use std::fmt::Write;

/// A kind of program, and how to make one of about so many ops.
pub type Family = (&'static str, fn(usize) -> String);

/// What is measured.
#[allow(dead_code)] // Not every user measures all of them.
pub const FAMILIES: [Family; 4] = [
    ("chain", chain),
    ("tree", tree),
    ("layers", |ops| layers(ops.div_ceil(LAYER_OPS))),
    ("cuts", cuts),
];

/// Ops of one layer of [`layers`].
pub const LAYER_OPS: usize = 20;

/// One elementwise op after the other.
pub fn chain(ops: usize) -> String {
    let mut text = String::from("task.program @chain(%v0: tensor<[N]xf32>) -> tensor<[N]xf32> {\n");
    for op in 0..ops {
        let name = ["neg", "abs", "sin"][op % 3];
        let _ = writeln!(text, "  %v{} = fusion.{name} %v{op}", op + 1);
    }
    let _ = writeln!(text, "  task.return %v{ops}\n}}");
    text
}

/// Sums of pairs, and of their sums; of 50,000 inputs at most, in turn.
pub fn tree(ops: usize) -> String {
    let ty = "tensor<33x65xf32>";
    let count = (ops + 1).min(50_000);
    let inputs: Vec<String> = (0..count).map(|i| format!("%x{i}: {ty}")).collect();
    let mut text = format!("task.program @tree({}) -> {ty} {{\n", inputs.join(", "));
    let name = |place: usize| match place.checked_sub(ops + 1) {
        None => format!("%x{}", place % count),
        Some(op) => format!("%v{op}"),
    };
    for op in 0..ops {
        let (a, b) = (name(2 * op), name(2 * op + 1));
        let _ = writeln!(text, "  %v{op} = fusion.add {a}, {b}");
    }
    let _ = writeln!(text, "  task.return %v{}\n}}", ops - 1);
    text
}

/// Layers of a transformer; borders stand where its products would.
pub fn layers(count: usize) -> String {
    let shape = "4096x1024";
    let weights: Vec<String> = (0..count)
        .map(|i| format!("%w{i}: tensor<1024xf32>"))
        .collect();
    let mut text = format!(
        "task.program @layers(%x0: tensor<{shape}xbf16>, {}) -> tensor<{shape}xbf16> {{\n",
        weights.join(", ")
    );
    text.push_str("  %scale = fusion.constant value 0.0009765625 : f32\n");
    text.push_str("  %eps = fusion.constant value 0.00001 : f32\n");
    let body = "\
        %h@ = fusion.cast %x@ to f32
        %q@ = fusion.mul %h@, %h@
        %s@ = fusion.sum %q@ dims [1]
        %m@ = fusion.mul %s@, %scale
        %e@ = fusion.add %m@, %eps
        %r@ = fusion.rsqrt %e@
        %rb@ = fusion.broadcast %r@ dims [0] shape [4096, 1024]
        %n@ = fusion.mul %h@, %rb@
        %wb@ = fusion.broadcast %w@ dims [1] shape [4096, 1024]
        %y@ = fusion.mul %n@, %wb@
        %yc@ = fusion.cast %y@ to bf16
        %p@ = fusion.segment_set %yc@
        %g@ = fusion.cast %p@ to f32
        %t@ = fusion.tanh %g@
        %u@ = fusion.mul %g@, %t@
        %uc@ = fusion.cast %u@ to bf16
        %d@ = fusion.segment_set %uc@
        %df@ = fusion.cast %d@ to f32
        %a@ = fusion.add %h@, %df@
        %x# = fusion.cast %a@ to bf16
";
    for layer in 0..count {
        let text_of = body.replace('@', &layer.to_string());
        text.push_str(&text_of.replace('#', &(layer + 1).to_string()));
    }
    let _ = writeln!(text, "  task.return %x{count}\n}}");
    text
}

/// Steps that cannot share a kernel: each adds a square to its transpose.
pub fn cuts(ops: usize) -> String {
    let ty = "tensor<512x512xf32>";
    let mut text = format!("task.program @cuts(%x0: {ty}) -> {ty} {{\n");
    let steps = ops.div_ceil(3);
    for step in 0..steps {
        let _ = writeln!(text, "  %p{step} = fusion.permute %x{step} dims [1, 0]");
        let _ = writeln!(text, "  %e{step} = fusion.exp %p{step}");
        let _ = writeln!(text, "  %x{} = fusion.add %x{step}, %e{step}", step + 1);
    }
    let _ = writeln!(text, "  task.return %x{steps}\n}}");
    text
}
