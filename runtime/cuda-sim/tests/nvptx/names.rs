//! Names in the tables of LLVM's back end, each judged by `names.txt`.
//!
//! The back end prints an instruction from a table of beginnings, which stands in LLVM's library as one run of text. A name may be the end of a
//! longer one there, as the table shares ends: `max.s32` is the end of `atom.max.s32`.

use std::collections::BTreeSet;
use std::path::Path;

use fuser_cuda_sim::compute;
use fuser_cuda_sim::device::{Device, Options};

/// A name that stands in the table, with what follows it there.
const SURE: &[u8] = b"min.relu.s32 \t\0";

/// The names in the tables of a library; none where it has no such back end.
fn names(library: &[u8]) -> BTreeSet<String> {
    let Some(at) = library.windows(SURE.len()).position(|part| part == SURE) else {
        return BTreeSet::new();
    };
    let is_text = |byte: u8| matches!(byte, 0 | b'\t' | b'\n' | 32..127);
    let ends = |at: usize| !is_text(library[at]) || (library[at] == 0 && library[at + 1] == 0);
    let start = (0..at).rev().find(|at| ends(*at)).map_or(0, |at| at + 1);
    let end = (at..library.len() - 1).find(|at| ends(*at)).unwrap_or(at);
    let texts = library[start..end].split(|byte| *byte == 0);
    let whole: BTreeSet<String> = texts.filter_map(name).collect();
    let first = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let roots: BTreeSet<String> = whole.iter().map(|name| first(name)).collect();
    let ends = whole.iter().flat_map(|name| {
        let rests = name.match_indices('.').map(|(at, _)| &name[at + 1..]);
        rests
            .filter(|rest| roots.contains(&first(rest)))
            .map(str::to_owned)
    });
    ends.chain(whole.iter().cloned()).collect()
}

/// The name of an instruction at the beginning of a text.
fn name(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | ':');
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', ':']);
    name.starts_with(|c: char| c.is_ascii_lowercase())
        .then(|| name.to_owned())
}

/// A section of `names.txt`: its heading, and patterns with `*` for anything.
struct Section {
    heading: &'static str,
    patterns: Vec<&'static str>,
}

fn sections() -> Vec<Section> {
    let text = include_str!("names.txt");
    let parts = text.split("\n== ").skip(1);
    let section = |part: &'static str| {
        let (heading, rest) = part.split_once('\n').unwrap_or((part, ""));
        Section {
            heading,
            patterns: rest.split_whitespace().collect(),
        }
    };
    parts.map(section).collect()
}

/// True if a name is of the form of a pattern.
fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut last = None;
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        Some(part) => name.ends_with(part),
    }
}

/// Instructions with operands of their own: a statement of each that is decoded.
const FORMS: [(&str, &str); 28] = [
    ("st", "st.global.b32 [%rd1], %r1;"),
    ("bra.uni", "bra.uni $L;"),
    ("ret", "ret;"),
    ("call.uni", "call.uni g, ();"),
    ("add.cc.s64", "add.cc.s64 %rd2, %rd1, %rd1;"),
    ("addc.cc.s64", "addc.cc.s64 %rd2, %rd1, %rd1;"),
    ("sub.cc.s64", "sub.cc.s64 %rd2, %rd1, %rd1;"),
    ("subc.cc.s64", "subc.cc.s64 %rd2, %rd1, %rd1;"),
    ("bfi.b32", "bfi.b32 %r1, %r2, %r3, 8, 8;"),
    ("bfi.b64", "bfi.b64 %rd2, %rd1, %rd1, 8, 8;"),
    ("cvta.to.global.u64", "cvta.to.global.u64 %rd2, %rd1;"),
    (
        "mapa.shared::cluster.u64",
        "mapa.shared::cluster.u64 %rd2, %rd1, %r1;",
    ),
    (
        "barrier.cluster.arrive.aligned",
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    ),
    (
        "barrier.cluster.wait.aligned",
        "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;",
    ),
    ("bar.sync", "bar.sync 0;"),
    ("barrier.sync", "barrier.sync 0;"),
    ("shfl.sync.up.b32", "shfl.sync.up.b32 %r1, %r2, 1, 0, -1;"),
    (
        "shfl.sync.down.b32",
        "shfl.sync.down.b32 %r1, %r2, 1, 31, -1;",
    ),
    (
        "shfl.sync.bfly.b32",
        "shfl.sync.bfly.b32 %r1, %r2, 1, 31, -1;",
    ),
    (
        "shfl.sync.idx.b32",
        "shfl.sync.idx.b32 %r1, %r2, 1, 31, -1;",
    ),
    ("redux.sync.add.s32", "redux.sync.add.s32 %r1, %r2, -1;"),
    ("redux.sync.max.s32", "redux.sync.max.s32 %r1, %r2, -1;"),
    ("redux.sync.max.u32", "redux.sync.max.u32 %r1, %r2, -1;"),
    ("redux.sync.min.s32", "redux.sync.min.s32 %r1, %r2, -1;"),
    ("redux.sync.min.u32", "redux.sync.min.u32 %r1, %r2, -1;"),
    (
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r1, %r2, %r3, %r4}, [%rd1];",
    ),
    (
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r1, %r2, %r3, %r4}, [%rd1];",
    ),
    ("mov.pred", "mov.pred %p1, %p2;"),
];

/// True if the simulator decodes the instruction.
fn is_known(name: &str) -> bool {
    let form = FORMS.iter().find(|(known, _)| *known == name);
    let Some((_, statement)) = form else {
        return compute::find(name).is_some();
    };
    let text = format!(
        ".version 8.0\n.target sm_80\n.address_size 64\n.func g()\n{{\nret;\n}}\n.visible .entry k()\n{{\n\
         .reg .pred %p<4>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<9>;\n{statement}\n$L:\nret;\n}}\n"
    );
    let loaded = Device::new(Options::default()).load(&text);
    loaded.is_ok_and(|_| true)
}

#[test]
fn each_name_of_llvm_is_known_or_no_kernel_has_it() {
    let Some(tools) = super::tools() else {
        return;
    };
    let library = library(&tools.join("../lib"));
    let found = names(&library);
    assert!(found.len() > 1000, "{} names", found.len());
    let sections = sections();
    let (mut wrong, mut known, mut idle) = (Vec::new(), 0, Vec::new());
    for name in &found {
        let of = |section: &&Section| {
            section
                .patterns
                .iter()
                .any(|pattern| matches(pattern, name))
        };
        let Some(section) = sections.iter().find(of) else {
            wrong.push(format!(
                "{name}: in no section, {}",
                if is_known(name) { "known" } else { "unknown" }
            ));
            continue;
        };
        let is_stated = section.heading == "known";
        known += u32::from(is_stated);
        if is_stated && !is_known(name) {
            wrong.push(format!("{name}: '{}', and it is not", section.heading));
        }
    }
    for pattern in sections.iter().flat_map(|section| &section.patterns) {
        if !found.iter().any(|name| matches(pattern, name)) {
            idle.push(*pattern);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(idle.is_empty(), "of no name: {}", idle.join(" "));
    println!(
        "count: {known} known instructions of {} in LLVM's tables",
        found.len()
    );
}

/// LLVM's shared library.
fn library(folder: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(folder).unwrap().flatten();
    let names = files.map(|file| file.path());
    let mut libraries: Vec<_> = names
        .filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("libLLVM") && name.contains(".so") && !name.contains("Polly")
        })
        .collect();
    libraries.sort();
    let first = libraries.first().expect("no libLLVM beside LLVM's tools");
    std::fs::read(first).unwrap()
}

#[test]
fn patterns_are_matched_whole() {
    for (pattern, name, holds) in [
        ("add.s32", "add.s32", true),
        ("add.s3", "add.s32", false),
        ("tex.*", "tex.1d", true),
        ("*.sat.*", "add.rn.sat.f32", true),
        ("*.ftz", "a.ftz.b", false),
        ("a*b", "ab", true),
    ] {
        assert_eq!(matches(pattern, name), holds, "{pattern} {name}");
    }
}
