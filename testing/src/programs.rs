//! Random programs of squares and rows, as text: sums, what is spread from rows, transposes, factorings, casts, boundaries and elementwise ops.

use std::fmt::Write;

use super::{Builder, Random};

/// The programs that are drawn.
#[derive(Clone, Copy, Debug)]
pub struct Squares {
    /// The side of a square and the length of a row: a multiple of 8.
    pub side: usize,
    /// Puts boundaries between ops, at which kernels end.
    pub boundaries: bool,
}

impl Squares {
    /// A program of so many ops or one more. Values that nothing reads are returned.
    pub fn text(self, random: &mut Random, ops: usize) -> String {
        let side = self.side;
        let (square, row) = (
            format!("tensor<{side}x{side}xf32>"),
            format!("tensor<{side}xf32>"),
        );
        let mut squares = vec!["%x".to_owned(), "%z".to_owned()];
        let mut rows = vec!["%w".to_owned()];
        let mut body = String::new();
        let mut made: Vec<(String, &str)> = Vec::new();
        let mut op = 0;
        while op < ops {
            let [a, b] = [(); 2].map(|()| squares[random.below(squares.len())].clone());
            let r = rows[random.below(rows.len())].clone();
            let (by, dim) = (random.below(3), random.below(2));
            let mut detour = |there: String| {
                let _ = writeln!(body, "  %v{op} = fusion.{there}");
                op += 1;
                format!("%v{}", op - 1)
            };
            // Most ops are elementwise, or end what one kernel may hold.
            let (call, ty) = match (random.below(8), random.below(4)) {
                (0, _) => (format!("sum {a} dims [{dim}]"), &row),
                (1, _) => {
                    let spread = format!("broadcast {r} dims [{dim}] shape [{side}, {side}]");
                    let spread = detour(spread);
                    (format!("mul {a}, {spread}"), &square)
                }
                (2, _) => (format!("permute {a} dims [1, 0]"), &square),
                (3, _) if self.boundaries => (format!("segment_set {a}"), &square),
                (3, _) | (4, 0) => {
                    let parts = [
                        vec![side * side],
                        vec![2 * side, side / 2],
                        vec![side / 8, 8, side],
                    ];
                    let parts = detour(format!("reshape {a} shape {:?}", parts[by]));
                    (format!("reshape {parts} shape [{side}, {side}]"), &square)
                }
                (4, 1) => {
                    let parts = [[side / 4, 4], [4, side / 4], [2, side / 2]];
                    let parts = detour(format!("reshape {r} shape {:?}", parts[by]));
                    (format!("reshape {parts} shape [{side}]"), &row)
                }
                (4, 2) => {
                    let narrow = detour(format!("cast {a} to bf16"));
                    (format!("cast {narrow} to f32"), &square)
                }
                (4, _) if self.boundaries => (format!("segment_set {r}"), &row),
                (4, _) => (format!("exp {r}"), &row),
                _ => (format!("add {a}, {b}"), &square),
            };
            let name = format!("%v{op}");
            let _ = writeln!(body, "  {name} = fusion.{call}");
            match ty == &row {
                true => rows.push(name.clone()),
                false => squares.push(name.clone()),
            }
            made.push((name, ty));
            op += 1;
        }
        let words = || body.split([' ', ',', '\n']);
        made.retain(|(name, _)| words().filter(|word| word == name).count() == 1);
        let types: Vec<&str> = made.iter().map(|(_, ty)| *ty).collect();
        let names: Vec<&str> = made.iter().map(|(name, _)| name.as_str()).collect();
        format!(
            "task.program @f(%x: {square}, %z: {square}, %w: {row}) -> ({}) {{\n{body}  task.return {}\n}}\n",
            types.join(", "),
            names.join(", ")
        )
    }
    /// The same as a block with its ops, but for what ends it.
    pub fn block(self, random: &mut Random, ops: usize) -> Builder {
        Builder::of(&self.text(random, ops))
    }
}
