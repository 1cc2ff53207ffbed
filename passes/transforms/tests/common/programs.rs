//! Programs of any size as text, for measurements of the growth of work.

use std::fmt::Write;

use fuser_testing::Squares;

/// A kind of program, and how to make one of about so many ops.
pub type Family = (&'static str, fn(usize) -> String);

/// The families that are measured.
#[allow(dead_code)] // Not every user measures all of them.
pub const FAMILIES: [Family; 4] = [
    ("chain", chain),
    ("tree", tree),
    ("layers", |ops| layers(ops.div_ceil(LAYER_OPS))),
    ("cuts", cuts),
];

/// The families with an op, a value or a chain that is wider or knottier than those of models.
#[allow(dead_code)]
pub const KNOTS: [Family; 3] = [("parts", parts), ("pads", pads), ("turns", turns)];

/// The families that read or make thousands of values at once: more than a kernel may have ops.
#[allow(dead_code)]
pub const WIDE: [Family; 2] = [("parts", parts), ("users", users)];

/// The random programs.
#[allow(dead_code)]
pub const SQUARES: Squares = Squares::cut(512);

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

/// Layers of a transformer; boundaries stand where its products would.
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

/// Layers that end in column sums, which the next ones add to all rows: kernels of many sweeps, each of which adds all sums before it again.
#[allow(dead_code)]
pub fn sums(count: usize) -> String {
    let ty = "tensor<512x1024xf32>";
    let weights: Vec<String> = (0..count)
        .map(|i| format!("%w{i}: tensor<1024xf32>"))
        .collect();
    let mut text = format!(
        "task.program @sums(%x0: {ty}, {}) -> {ty} {{\n",
        weights.join(", ")
    );
    let body = "\
        %s@ = fusion.sum %x@ dims [1]
        %sb@ = fusion.broadcast %s@ dims [0] shape [512, 1024]
        %d@ = fusion.sub %x@, %sb@
        %q@ = fusion.mul %d@, %d@
        %v@ = fusion.sum %q@ dims [1]
        %r@ = fusion.rsqrt %v@
        %rb@ = fusion.broadcast %r@ dims [0] shape [512, 1024]
        %n@ = fusion.mul %d@, %rb@
        %wb@ = fusion.broadcast %w@ dims [1] shape [512, 1024]
        %y@ = fusion.mul %n@, %wb@
        %t@ = fusion.tanh %y@
        %c@ = fusion.sum %t@ dims [0]
        %cb@ = fusion.broadcast %c@ dims [1] shape [512, 1024]
        %x# = fusion.add %x@, %cb@
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

/// A tensor cut into rows, each by itself, and put together again.
pub fn parts(ops: usize) -> String {
    let count = (ops / 2).max(1);
    let ty = format!("tensor<{count}x4xf32>");
    let mut text = format!("task.program @parts(%x: {ty}) -> {ty} {{\n");
    for row in 0..count {
        let name = ["sin", "exp"][row % 2];
        let _ = writeln!(
            text,
            "  %a{row} = fusion.slice %x starts [{row}, 0] shape [1, 4]"
        );
        let _ = writeln!(text, "  %b{row} = fusion.{name} %a{row}");
    }
    let rows: Vec<String> = (0..count).map(|row| format!("%b{row}")).collect();
    let _ = writeln!(text, "  %r = fusion.cat {} dim 0", rows.join(", "));
    text.push_str("  task.return %r\n}\n");
    text
}

/// A tensor read by many ops, each with a constant of its own.
pub fn users(ops: usize) -> String {
    let count = (ops / 2).max(1);
    let types = vec!["tensor<512xf32>"; count].join(", ");
    let mut text = format!("task.program @users(%x: tensor<512xf32>) -> ({types}) {{\n");
    for result in 0..count {
        let _ = writeln!(
            text,
            "  %c{result} = fusion.constant value {result}.5 : f32"
        );
        let _ = writeln!(text, "  %y{result} = fusion.add %x, %c{result}");
    }
    let results: Vec<String> = (0..count).map(|result| format!("%y{result}")).collect();
    let _ = writeln!(text, "  task.return {}\n}}", results.join(", "));
    text
}

/// A tensor that grows by a border, again and again.
pub fn pads(ops: usize) -> String {
    let steps = (ops / 2).max(1);
    let mut text = format!(
        "task.program @pads(%x: tensor<8xf32>) -> tensor<{}xf32> {{\n",
        8 + 2 * steps
    );
    text.push_str("  %z = fusion.constant value 0.0 : f32\n  %a0 = fusion.exp %x\n");
    for step in 1..=steps {
        let before = step - 1;
        let _ = writeln!(
            text,
            "  %p{step} = fusion.pad %a{before}, %z low [1] high [1]"
        );
        let _ = writeln!(text, "  %a{step} = fusion.exp %p{step}");
    }
    let _ = writeln!(text, "  task.return %a{steps}\n}}");
    text
}

/// Transposes, sums along one axis and the other that are spread again, and elementwise ops in turn.
pub fn turns(ops: usize) -> String {
    let ty = "tensor<64x64xf32>";
    let mut text = format!("task.program @turns(%x: {ty}) -> {ty} {{\n  %a0 = fusion.exp %x\n");
    let steps = (ops * 3 / 5).max(3) / 3 * 3;
    for step in 1..=steps {
        let (before, axis) = (step - 1, step % 2);
        let _ = match step % 3 {
            0 => writeln!(text, "  %a{step} = fusion.permute %a{before} dims [1, 0]"),
            1 => writeln!(text, "  %a{step} = fusion.exp %a{before}"),
            _ => writeln!(
                text,
                "  %s{step} = fusion.sum %a{before} dims [{axis}]\n  \
                   %b{step} = fusion.broadcast %s{step} dims [{}] shape [64, 64]\n  \
                   %a{step} = fusion.add %b{step}, %a{}",
                1 - axis,
                step - 2
            ),
        };
    }
    let _ = writeln!(text, "  task.return %a{steps}\n}}");
    text
}
