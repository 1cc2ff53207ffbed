//! Texts and files of other systems, identified by their contents, and advice on the tools that read them.
//!
//! Consulted only after input was refused as `.fir`, so it never decides how input is read. A binary is identified by
//! its first bytes, a text by its first words ([`TEXTS`]), and MLIR by the dialects of its operations. Linear in the
//! text. A text with an operation of ours is never identified as another format.

use std::collections::BTreeSet;

use fuser_frontends::Format;
use fuser_ir::def::{Elsewhere, Registry};
use fuser_ir::span::Span;
use fuser_ir::{Diagnostic, Diagnostics, Place};

use crate::driver::codes::FOREIGN;

/// A kind of file that is not a program, and advice on it; `{file}` stands for the file's name.
struct Kind {
    what: &'static str,
    advice: &'static str,
}

const fn kind(what: &'static str, advice: &'static str) -> Kind {
    Kind { what, advice }
}

/// Advice for programs of JAX.
const OF_JAX: &str = "in JAX `jax.jit(f).lower(*args).as_text()` gives text that `fuser-translate --import=stablehlo` reads";
/// Advice for programs of PyTorch.
const OF_TORCH: &str = "torch-mlir and torch_xla write StableHLO as text, and nvFuser prints a definition: `fuser-translate --import=stablehlo` \
                        and `--import=nvfuser-python` read these";
/// Advice for models of ONNX.
const OF_ONNX: &str = "onnx-mlir lowers it to StableHLO (`--convert-onnx-to-stablehlo`), whose text `fuser-translate --import=stablehlo` reads";
const STABLEHLO: &str = "`fuser-translate --import=stablehlo {file} -o program.fir` reads it";
const NVFUSER: &str = "`fuser-translate --import=nvfuser-python {file} -o program.fir` reads it";
const UNPACK: &str = "unpack it first";
const UTF8: &str = "save it as UTF-8";
const INPUT: &str = "`fuser-run` reads it as the input of a program: `--input NAME=@{file}`";

/// Beginnings of binary files.
const BINARIES: &[(&[u8], Kind)] = &[
    (b"\x93NUMPY", kind("an array of NumPy", INPUT)),
    (b"\x1f\x8b", kind("a gzip archive", UNPACK)),
    (
        b"PK\x03\x04",
        kind(
            "a zip archive, as .npz files and models of PyTorch are",
            UNPACK,
        ),
    ),
    (b"BZh", kind("a bzip2 archive", UNPACK)),
    (b"\xfd7zXZ", kind("an xz archive", UNPACK)),
    (b"\x28\xb5\x2f\xfd", kind("a Zstandard archive", UNPACK)),
    (
        b"\x7fELF",
        kind(
            "a program or a library of this machine",
            "give the text of a program",
        ),
    ),
    (
        b"BC\xc0\xde",
        kind("LLVM bitcode", "give a program of Fuser"),
    ),
    (
        b"\x89HDF",
        kind("an HDF5 file", "it holds data, not a program"),
    ),
    (b"\x89PNG", kind("an image", "give the text of a program")),
    (b"%PDF", kind("a PDF file", "give the text of a program")),
    (b"\xff\xfe", kind("text in UTF-16", UTF8)),
    (b"\xfe\xff", kind("text in UTF-16", UTF8)),
    (b"\x80\x02", kind("a pickle of Python", OF_TORCH)),
    (b"\x80\x04", kind("a pickle of Python", OF_TORCH)),
    (b"\x80\x05", kind("a pickle of Python", OF_TORCH)),
];

/// The beginning of MLIR bytecode.
const BYTECODE: &[u8] = b"ML\xefR";
/// The number of bytes that are examined to recognize a binary format without a signature.
const SAMPLE: usize = 256;

/// The kind of a binary file that begins so.
fn binary(bytes: &[u8]) -> Option<&'static Kind> {
    const ARTIFACT: Kind = kind(
        "MLIR bytecode, as JAX serializes programs",
        "give its text, which `jax.export.deserialize(data).mlir_module()` and `stablehlo-translate --deserialize \
         {file}` print, to `fuser-translate --import=stablehlo`",
    );
    const MLIR: Kind = kind(
        "MLIR bytecode",
        "`mlir-opt {file}` prints its text; that of StableHLO is read by `fuser-translate --import=stablehlo`",
    );
    const ONNX: Kind = kind(
        "a protocol buffer, as models of ONNX and TensorFlow are",
        OF_ONNX,
    );
    const TENSORS: Kind = kind("a file of safetensors", "it holds data, not a program");
    let sample = &bytes[..bytes.len().min(SAMPLE)];
    let holds = |word: &[u8]| sample.windows(word.len()).any(|window| window == word);
    if bytes.starts_with(BYTECODE) {
        return Some(if holds(b"StableHLO") {
            &ARTIFACT
        } else {
            &MLIR
        });
    }
    let known = BINARIES.iter().find(|(start, _)| bytes.starts_with(start));
    if let Some((_, kind)) = known {
        return Some(kind);
    }
    // Field 1, a small number, then field 2, a string or a message; the length of a header, then JSON.
    match sample {
        [0x08, 0..=0x20, 0x12 | 0x3a | 0x42, ..] => Some(&ONNX),
        [..] if sample.get(8..10) == Some(b"{\"") && sample.get(3..8) == Some(&[0; 5]) => {
            Some(&TENSORS)
        }
        _ => None,
    }
}

/// A text, as far as it is looked at.
struct Text<'a> {
    text: &'a str,
    /// The first line that says something: no comment of ours.
    first: &'a str,
}

impl Text<'_> {
    fn line_begins(&self, words: &[&str]) -> bool {
        self.text
            .lines()
            .any(|line| words.iter().any(|word| line.starts_with(word)))
    }
}

/// Tells if a text is of a kind.
type IsKind = fn(&Text<'_>) -> bool;

/// Texts that are no MLIR, in the order in which they are tried.
static TEXTS: &[(IsKind, Kind)] = &[
    (
        |t| t.first.starts_with("HloModule "),
        kind("HLO, the text of XLA", OF_JAX),
    ),
    (
        |t| t.first.starts_with("{ lambda ") || t.first.starts_with("{ \u{3bb} "),
        kind("a jaxpr", OF_JAX),
    ),
    (
        |t| {
            t.text.contains("FusionDefinition")
                && t.line_begins(&["def ", "with ", "import ", "from "])
        },
        kind("Python with a definition of nvFuser", NVFUSER),
    ),
    (
        |t| {
            t.first.starts_with("ExportedProgram")
                || t.first.starts_with("graph():")
                || t.first.starts_with("graph(")
        },
        kind("a graph of PyTorch", OF_TORCH),
    ),
    (
        |t| t.text.contains("import torch") || t.text.contains("torch.nn"),
        kind("Python, which Fuser does not run", OF_TORCH),
    ),
    (
        |t| {
            let python = [
                "import ",
                "from ",
                "def ",
                "class ",
                "@jax",
                "@jit",
                "#!/usr/bin/env python",
                "async def ",
                "\"\"\"",
            ];
            t.line_begins(&python) && !t.first.starts_with("module") || t.text.contains("jnp.")
        },
        kind("Python, which Fuser does not run", OF_JAX),
    ),
    (
        |t| {
            t.first.starts_with("ir_version")
                || t.first.starts_with("<ir_version")
                || t.text.contains("opset_import")
        },
        kind("the text of a model of ONNX", OF_ONNX),
    ),
    (
        |t| {
            t.first.starts_with("; ModuleID")
                || t.text.contains("\ntarget triple = ")
                || t.first.starts_with("source_filename")
        },
        kind(
            "LLVM IR",
            "`fuser-translate --emit=llvm-ir` writes such text; nothing reads it",
        ),
    ),
    (
        |t| t.text.contains(".version ") && t.text.contains(".target sm_"),
        kind(
            "PTX",
            "`fuser-translate --emit=ptx` writes such text; nothing reads it",
        ),
    ),
    (
        |t| t.first.starts_with("#include") || t.text.contains("__global__"),
        kind("C, C++ or CUDA", "give a program of Fuser"),
    ),
    (
        |t| t.first.starts_with("version https://git-lfs"),
        kind(
            "a pointer of Git LFS, not the file itself",
            "`git lfs pull` brings the file",
        ),
    ),
    (
        |t| {
            let first = t.first.to_ascii_lowercase();
            first.starts_with("<!doctype") || first.starts_with("<html")
        },
        kind(
            "a page of HTML",
            "save the text of the program that it shows",
        ),
    ),
    (
        |t| t.first.starts_with("diff --git") || t.first.starts_with("--- a/"),
        kind("a patch", "`git apply` applies it"),
    ),
    (
        |t| t.line_begins(&["<<<<<<< "]) && t.line_begins(&[">>>>>>> "]),
        kind(
            "a file with a conflict of a merge",
            "choose between the lines at `<<<<<<<` and `>>>>>>>`",
        ),
    ),
    (
        |t| t.first.starts_with("```"),
        kind(
            "Markdown",
            "the program is what stands between the lines of ```",
        ),
    ),
    (
        |t| {
            t.first.starts_with("{\"")
                || t.first.starts_with("[{")
                || (t.first == "{" && t.text.contains("\": "))
        },
        kind(
            "JSON",
            "a grouping of segments is read by `fuser-opt --segments-from={file}`, the folder of a map.json by `fuser-run`",
        ),
    ),
    (
        |t| t.line_begins(&["base = \"", "name = \""]),
        kind("a target", "it is read by `--target-file={file}`"),
    ),
];

/// Dialects of MLIR that are no StableHLO, by which their text is known.
const DIALECTS: &[&str] = &[
    "affine",
    "amdgpu",
    "amx",
    "arith",
    "arm_neon",
    "async",
    "bufferization",
    "cf",
    "complex",
    "emitc",
    "flow",
    "func",
    "gpu",
    "hal",
    "index",
    "iree_linalg_ext",
    "krnl",
    "linalg",
    "llvm",
    "math",
    "memref",
    "mhlo",
    "ml_program",
    "nvgpu",
    "nvvm",
    "omp",
    "onnx",
    "quant",
    "rocdl",
    "scf",
    "sdy",
    "shape",
    "sparse_tensor",
    "spirv",
    "stream",
    "tensor",
    "tf",
    "tf_executor",
    "tfl",
    "torch",
    "torch_c",
    "tosa",
    "transform",
    "tt",
    "ttg",
    "ttir",
    "ub",
    "vector",
    "vhlo",
    "x86vector",
    "xla_hlo",
];
/// Dialects of which `--import=stablehlo` reads.
const READ: &[&str] = &["stablehlo", "chlo"];
/// Bytes of a text in which words are looked for.
const LOOKED_AT: usize = 1 << 16;
/// Translations of operations that are told.
const TRANSLATIONS: usize = 4;

/// The message and advice for a refused file whose contents identify it.
pub fn of_bytes(bytes: &[u8], file: &str) -> Option<(String, String)> {
    let kind = binary(bytes)?;
    Some((
        format!("this is {}", kind.what),
        kind.advice.replace("{file}", file),
    ))
}

/// A single error for a refused text whose contents identify it as another format.
pub fn of_text(registry: &Registry, file: u32, name: &str, text: &str) -> Option<Diagnostic> {
    let (message, advice) = told(registry, name, text)?;
    let span = Span::default();
    Some(Diagnostic::error(&FOREIGN, Place::Span { file, span }, message).help(advice))
}

/// An error for a text refused as `format`, if its contents identify it as another format.
pub fn in_place_of(
    format: Format,
    registry: &Registry,
    file: u32,
    name: &str,
    text: &str,
    errors: Diagnostics,
) -> Diagnostics {
    let ours = operations(text).iter().any(|op| is_ours(registry, op));
    let told = match ours {
        true => {
            let place = Place::Span {
                file,
                span: Span::default(),
            };
            let advice = "it is read without `--import`";
            Some(Diagnostic::error(&FOREIGN, place, "this is a program of Fuser").help(advice))
        }
        false => of_text(registry, file, name, text),
    };
    let wanted = match format {
        Format::StableHlo => "this is StableHLO",
        Format::NvFuser => "this is Python",
    };
    match told.filter(|told| !told.message.starts_with(wanted)) {
        Some(told) => Diagnostics { items: vec![told] },
        None => errors,
    }
}

fn told(registry: &Registry, name: &str, text: &str) -> Option<(String, String)> {
    let shown = if name.starts_with('<') { "FILE" } else { name };
    if let Some(told) = of_bytes(text.as_bytes(), shown) {
        return Some(told);
    }
    let operations = operations(text);
    if operations.iter().any(|op| is_ours(registry, op)) {
        return None;
    }
    let dialects: BTreeSet<&str> = operations
        .iter()
        .filter_map(|op| Some(op.split_once('.')?.0))
        .collect();
    let has = |list: &[&str]| dialects.iter().any(|dialect| list.contains(dialect));
    if has(READ) {
        return Some((
            "this is StableHLO".into(),
            STABLEHLO.replace("{file}", shown),
        ));
    }
    let lines = || text.lines().map(str::trim);
    let first = lines()
        .find(|line| !line.is_empty() && !line.starts_with("//"))
        .unwrap_or("");
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let text = Text {
        text: &text[..end],
        first,
    };
    if let Some((_, kind)) = TEXTS.iter().find(|(is, _)| is(&text)) {
        return Some((
            format!("this is {}", kind.what),
            kind.advice.replace("{file}", shown),
        ));
    }
    // A function alone may be a first try at a program of ours.
    let others: Vec<&str> = dialects
        .iter()
        .filter(|d| DIALECTS.contains(*d))
        .copied()
        .collect();
    others.iter().any(|dialect| *dialect != "func").then(|| {
        let message = format!(
            "this is MLIR of the dialects {}, which Fuser does not read",
            others.join(", ")
        );
        (message, translated(registry, &operations))
    })
}

/// Advice on MLIR: the operations that have a counterpart, by name.
fn translated(registry: &Registry, operations: &BTreeSet<&str>) -> String {
    let here = |op: &&str| match registry.foreign(op) {
        Some(Elsewhere::Op(here)) => Some(format!("`{op}` is `{here}`")),
        _ => None,
    };
    let here: Vec<String> = operations
        .iter()
        .filter_map(here)
        .take(TRANSLATIONS)
        .collect();
    let lower = "lower to StableHLO instead, which `fuser-translate --import=stablehlo` reads";
    match here.is_empty() {
        true => lower.into(),
        false => format!("{lower}; by hand {}", here.join(", ")),
    }
}

fn is_ours(registry: &Registry, op: &str) -> bool {
    let dialect = op.split('.').next().unwrap_or("");
    dialect != "builtin" && registry.dialects().iter().any(|ours| ours.name == dialect)
}

/// The names of operations: the word at the start of a line or after its `=`, quoted or not.
fn operations(text: &str) -> BTreeSet<&str> {
    let name = |line| {
        let line: &str = line;
        let line = line.trim_start();
        let line = match line.split_once(" = ") {
            Some((values, op)) if values.starts_with('%') => op.trim_start(),
            _ => line,
        };
        let line = line.strip_prefix('"').unwrap_or(line);
        let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
        let end = line.find(|c| !part(c)).unwrap_or(line.len());
        // A call of Python has a parenthesis right behind its name, and no quote.
        let called = line[end..].starts_with('(') || line[end..].trim_start().starts_with('=');
        let (name, quoted) = (&line[..end], line[end..].starts_with('"'));
        let dotted = name.contains('.')
            && !name.ends_with('.')
            && name.starts_with(|c: char| c.is_ascii_lowercase());
        // `%0 = f.g(%x)`: an operation of MLIR may have its parenthesis there, too, with values behind it.
        let values = line[end..].starts_with("(%") || line[end..].starts_with("()");
        (dotted && (quoted || !called || values)).then_some(name)
    };
    text.lines().filter_map(name).collect()
}

/// Advice on `name`, which was given as a program format but is not one; of a file name, the advice on its ending.
pub fn of_format(name: &str) -> Option<&'static str> {
    let name = name.to_ascii_lowercase();
    let name = name.rfind('.').map_or(&*name, |at| &name[at..]);
    let known = [
        (&["jax", "jaxpr", "flax", "hlo", "xla"][..], OF_JAX),
        (
            &[
                "torch",
                "pytorch",
                "fx",
                "torchscript",
                "aten",
                "torch-mlir",
                "pt2",
            ],
            OF_TORCH,
        ),
        (&["onnx", "tf", "tensorflow", "keras", "tflite"], OF_ONNX),
        (
            &[
                "nvfuser",
                "nvfuser_python",
                "python",
                "fusiondefinition",
                "thunder",
            ],
            "did you mean 'nvfuser-python'?",
        ),
        (
            &[
                "mlir",
                "shlo",
                "stable-hlo",
                "stablehlo-mlir",
                "chlo",
                "mhlo",
            ],
            "did you mean 'stablehlo'?",
        ),
        (
            &[".mlir", ".txt", ".stablehlo"],
            "the format stands before the file: '--import=stablehlo FILE'",
        ),
        (
            &[".py"],
            "the format stands before the file: '--import=nvfuser-python FILE'",
        ),
        (
            &["fir", ".fir", "fuser"],
            "a program of Fuser is read without the flag",
        ),
    ];
    known
        .iter()
        .find(|(names, _)| names.contains(&name))
        .map(|(_, advice)| *advice)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn what(text: &str) -> String {
        let registry = fuser_dialects::registry();
        told(&registry, "x", text).map_or("nothing".into(), |(what, _)| what)
    }

    #[test]
    fn texts_of_other_systems() {
        let cases = [
            (
                "module @m {\n  func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n    %0 = stablehlo.sine %a : tensor<4xf32>\n",
                "StableHLO",
            ),
            (
                "func.func @f(%a: tensor<f32>) {\n  %0 = \"stablehlo.abs\"(%a) : (tensor<f32>) -> tensor<f32>\n",
                "StableHLO",
            ),
            (
                "func.func @f() {\n  %0 = arith.constant 1.0 : f32\n  %1 = linalg.fill ins(%0 : f32)\n",
                "MLIR of the dialects arith, func, linalg",
            ),
            (
                "#map = affine_map<(d0) -> (d0)>\nfunc.func @f() {\n  %1 = tensor.empty() : tensor<4xf32>\n",
                "MLIR of the dialects func, tensor",
            ),
            (
                "HloModule jit_f, entry_computation_layout={}\n\nENTRY main {\n",
                "HLO, the text of XLA",
            ),
            (
                "{ lambda ; a:f32[4]. let b:f32[4] = sin a in (b,) }\n",
                "a jaxpr",
            ),
            (
                "import jax.numpy as jnp\n\ndef f(x):\n  return jnp.sin(x)\n",
                "Python, which Fuser does not run",
            ),
            (
                "import torch\nx = torch.ones(3)\n",
                "Python, which Fuser does not run",
            ),
            (
                "def nvfuser_fusion_id0(fd : FusionDefinition) -> None :\n    T0 = fd.define_tensor(shape=[4])\n",
                "Python with a definition of nvFuser",
            ),
            (
                "graph():\n    %x : [num_users=1] = placeholder[target=x]\n",
                "a graph of PyTorch",
            ),
            (
                "<ir_version: 8, opset_import: [\"\" : 17]>\n",
                "the text of a model of ONNX",
            ),
            ("; ModuleID = 'x'\n", "LLVM IR"),
            ("<!DOCTYPE html>\n<html>\n", "a page of HTML"),
            ("{\"segments\": []}\n", "JSON"),
            ("name = \"mine\"\nbase = \"h100\"\n", "a target"),
        ];
        for (text, expected) in cases {
            assert!(
                what(text).starts_with(&format!("this is {expected}")),
                "{text}: {}",
                what(text)
            );
        }
    }

    #[test]
    fn programs_with_mistakes_are_programs() {
        for text in [
            "task.program @f(%x: tensor<4xf32>) {\n  %y = stablehlo.exp %x\n",
            "func.func @f(%x: tensor<4xf32>) {\n  %y = fusion.exp %x\n  %z = arith.addf %y, %y\n",
            "func.func @f() { }\n",
            "module {\n",
            "",
            "%y = exp %x\n",
        ] {
            assert_eq!(what(text), "nothing", "{text}");
        }
    }

    #[test]
    fn binary_files() {
        let what = |bytes: &[u8]| of_bytes(bytes, "x").map(|(what, _)| what);
        let cases: [(&[u8], &str); 6] = [
            (
                b"ML\xefR\rStableHLO_v1.15.0\0",
                "this is MLIR bytecode, as JAX serializes programs",
            ),
            (b"ML\xefR\rMLIR22.0.0\0", "this is MLIR bytecode"),
            (b"\x93NUMPY\x01\0", "this is an array of NumPy"),
            (b"\x1f\x8b\x08", "this is a gzip archive"),
            (b"\x08\x08\x12\x07pytorch", "this is a protocol buffer"),
            (
                b"\x40\0\0\0\0\0\0\0{\"x\":",
                "this is a file of safetensors",
            ),
        ];
        for (bytes, expected) in cases {
            assert!(
                what(bytes).is_some_and(|what| what.starts_with(expected)),
                "{bytes:?}: {:?}",
                what(bytes)
            );
        }
        for bytes in [&b""[..], b"M", b"task", b"\xff", b"\x08\x08", b"\0\0\0"] {
            assert_eq!(what(bytes), None, "{bytes:?}");
        }
    }
}
