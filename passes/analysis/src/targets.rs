//! Pass options with the facts to decide for: `target`, the machine, and `shape`, the lengths of named extents. Every
//! pass that evaluates costs, plans or lowers has these two options. Passes that make kernels also have `multiples`,
//! divisors of the extents.

use crate::cost::{Bindings, Model};
use fuser_ir::diag::CodeDef;
use fuser_ir::suggest::nearest;
use fuser_ir::{Diagnostics, Sym};
use fuser_pass::{OptionDef, OptionKind, PassContext};
use fuser_target::text::{self, Fault, Wrong};
use rustc_hash::FxHashMap;

use fuser_target::{GENERIC, Target, processors, table};

/// The codes of these options.
pub static CODES: &[CodeDef] = &[UNKNOWN_OPTION];

/// An option value that cannot be understood.
pub const UNKNOWN_OPTION: CodeDef = CodeDef {
    code: "FIR0713",
    title: "a value of an option is not understood",
    explanation: "`shape` is a list of `NAME=LENGTH`: which length each named extent counts with, or `NAME=LEAST..MOST`, between which it lies. `multiples` is one of `NAME=POWER`, a power of two that divides the extent.",
    example: "$ fuser-opt x.fir --segment='shape=B'\n\
              task.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  \
                %y = fusion.exp %x\n  \
                task.return %y\n\
              }",
};

/// The option that names the target. Tools that know the target fill it in where the text of a pipeline omits it.
pub const TARGET: OptionDef = OptionDef {
    name: "target",
    kind: OptionKind::Checked {
        what: "<target>",
        check: |value| read(value).map(|_| ()),
    },
    default: "",
    doc: "the target: a name such as h100, or a description, 'name=...; base=...'; left out: --target's, or generic",
};

/// The option that gives lengths to named extents. Tools fill it in too.
pub const SHAPE: OptionDef = OptionDef {
    name: "shape",
    kind: OptionKind::List,
    default: "",
    doc: "lengths of named extents, for decisions: B=64,S=128; others count as 1024, or *=N as N; N=912..1024 says that no other comes",
};

/// The option that lists named extents with the power of two that divides each.
pub const MULTIPLES: OptionDef = OptionDef {
    name: "multiples",
    kind: OptionKind::List,
    default: "",
    doc: "named extents that are multiples of a power of two: N=16,S=16",
};

/// The name in `shape` that stands for all names not listed.
pub const OTHERS: &str = "*";

/// The target that a pass's options name.
pub fn of(ctx: &PassContext<'_>) -> Target {
    // The value was checked when the pipeline was read.
    read(ctx.options.text(TARGET.name)).unwrap_or(GENERIC)
}

/// Named extents that a pass's options declare as multiples of a power of two, each with that power.
pub fn multiples(ctx: &PassContext<'_>) -> Result<FxHashMap<Sym, i64>, Diagnostics> {
    let mut known = FxHashMap::default();
    for item in ctx.options.list(MULTIPLES.name) {
        let pair = item.split_once('=');
        let of = pair.and_then(|(name, of)| Some((name.trim(), of.trim().parse::<u32>().ok()?)));
        let Some((name, of)) = of.filter(|(_, of)| of.is_power_of_two()) else {
            let message = format!("'{item}' is not of the form NAME=POWER, with a power of two");
            let error = ctx.error_at(ctx.op, &UNKNOWN_OPTION, message);
            return Err(Diagnostics { items: vec![error] });
        };
        if let Some(name) = ctx.ir.strings.lookup(name) {
            known.insert(name, i64::from(of));
        }
    }
    Ok(known)
}

/// The cost model that a pass's options describe, with the default limits and the default objective.
pub fn model(ctx: &PassContext<'_>) -> Result<Model, Diagnostics> {
    Ok(Model {
        target: of(ctx),
        bindings: bindings(ctx)?,
        ..Model::default()
    })
}

/// The lengths that a pass's options give. A name that the program does not use binds nothing.
pub fn bindings(ctx: &PassContext<'_>) -> Result<Bindings, Diagnostics> {
    let mut bindings = Bindings::default();
    for item in ctx.options.list(SHAPE.name) {
        let parsed = item.split_once('=').and_then(|(name, length)| {
            let range = length.split_once("..");
            let (_, most) = lengths(range.unwrap_or((length, length)))?;
            Some((name.trim(), most, range.is_some()))
        });
        // `*` stands for all names, so it has no range.
        let parsed = parsed.filter(|(name, _, longest)| *name != OTHERS || !longest);
        let Some((name, length, longest)) = parsed else {
            let message =
                format!("'{item}' is not of the form NAME=LENGTH, NAME=LEAST..MOST or *=LENGTH");
            let error = ctx.error_at(ctx.op, &UNKNOWN_OPTION, message);
            return Err(Diagnostics { items: vec![error] });
        };
        if name == OTHERS {
            bindings.nominal = length;
        } else if let Some(sym) = ctx.ir.strings.lookup(name) {
            bindings.named.insert(sym, length);
            if longest {
                bindings.longest.insert(sym);
            }
        }
    }
    Ok(bindings)
}

/// The least and the greatest length of a range; `None` if the text is no range.
pub fn lengths((least, most): (&str, &str)) -> Option<(u64, u64)> {
    let (least, most) = (least.trim().parse().ok()?, most.trim().parse().ok()?);
    (least <= most).then_some((least, most))
}

fn read(value: &str) -> Result<Target, String> {
    match value {
        "" => Ok(GENERIC),
        value => {
            text::read_option(value).map_err(|faults| faults.first().map(told).unwrap_or_default())
        }
    }
}

/// One line for a mistake, with a similar name if there is one.
fn told(fault: &Fault) -> String {
    let hint = hint(fault).map_or(String::new(), |hint| format!("; {hint}"));
    format!("{fault}{hint}")
}

/// A suggestion for an unknown word.
pub fn hint(fault: &Fault) -> Option<String> {
    let near = match &fault.what {
        Wrong::Key(key) => nearest(key, text::keys())?,
        Wrong::Target(name) => match meant(name) {
            Some(near) => near,
            None => return Some(format!("targets are {}", list(table::names()))),
        },
        Wrong::Processor(name, kind) => {
            let names = || processors::of(*kind).into_iter();
            match nearest(name, names()) {
                Some(near) => near,
                None => return Some(format!("processors are {}", list(names()))),
            }
        }
        Wrong::Missing(_) => {
            return Some("or take what is not said from another: base = \"generic\"".into());
        }
        Wrong::Line
        | Wrong::Twice(_)
        | Wrong::NotOf(..)
        | Wrong::Value(..)
        | Wrong::Contradiction(_) => return None,
    };
    Some(format!("did you mean '{near}'?"))
}

/// The target that the user probably meant by `name`: by compute capability, a word for GPUs, or a similar name.
fn meant(name: &str) -> Option<&'static str> {
    let lower = name.to_ascii_lowercase();
    let digits: String = lower.chars().filter(char::is_ascii_digit).collect();
    let capability = ["sm", "cuda", "compute"]
        .iter()
        .any(|start| lower.starts_with(start));
    let of = format!("cuda:sm_{digits}");
    let mut known = table::names();
    match lower.as_str() {
        "amd" | "rocm" | "amdgpu" | "amdgcn" => known.find(|name| *name == "hip"),
        "gpu" | "nvidia" | "nvptx" | "nvptx64" | "ptx" => known.find(|name| *name == "cuda"),
        _ if capability && !digits.is_empty() => known.find(|name| *name == of),
        _ => {
            let same = known.find(|name| *name == lower);
            same.or_else(|| nearest(&lower, table::names()))
        }
    }
}

fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
