//! The `target` option: the machine that a pass decides for. Every pass that prices, plans or lowers has it, and it is the same one.

use fuser_ir::suggest::nearest;
use fuser_pass::{OptionDef, OptionKind, PassContext};
use fuser_target::text::{self, Fault, Wrong};
use fuser_target::{GENERIC, Target, table};

/// The name of the option; tools that know the target set it where the text of a pipeline leaves it out.
pub const NAME: &str = "target";

/// The option.
pub const TARGET: OptionDef = OptionDef {
    name: NAME,
    kind: OptionKind::Checked {
        what: "<target>",
        check: |value| read(value).map(|_| ()),
    },
    default: "",
    doc: "the target: a name such as h100, or a description, 'name=...; base=...'; left out: --target's, or generic",
};

/// The target that the options of a pass name.
pub fn of(ctx: &PassContext<'_>) -> Target {
    // Checked when the pipeline was read.
    read(ctx.options.text(NAME)).unwrap_or(GENERIC)
}

fn read(value: &str) -> Result<Target, String> {
    match value {
        "" => Ok(GENERIC),
        value => {
            text::read_option(value).map_err(|faults| faults.first().map(told).unwrap_or_default())
        }
    }
}

/// A mistake in one line, with what comes near.
fn told(fault: &Fault) -> String {
    let hint = hint(fault).map_or(String::new(), |hint| format!("; {hint}"));
    format!("{fault}{hint}")
}

/// What to write instead of a word that is not known.
pub fn hint(fault: &Fault) -> Option<String> {
    let near = match &fault.what {
        Wrong::Key(key) => nearest(key, text::keys())?,
        Wrong::Name(name, "target") => match nearest(name, table::names()) {
            Some(near) if !name.starts_with("cuda:") => near,
            _ => return Some(format!("targets are {}", list(table::names()))),
        },
        Wrong::Name(name, _) => {
            let names = fuser_target::processors::names;
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

fn list(names: impl Iterator<Item = &'static str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}
