//! Manual pages, in the macros that `man` has had since Unix version 7.

use super::{Manual, Row, Value, dashed};

/// The page of a tool.
pub fn page(manual: &Manual) -> String {
    let Manual { tool, about, .. } = manual;
    let upper = tool.to_ascii_uppercase();
    let version = env!("CARGO_PKG_VERSION");
    let mut text = format!(
        ".TH {} 1 \"\" \"fuser {version}\" \"Fuser\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n{}\n.SH DESCRIPTION\n{}\n",
        escaped(&upper),
        escaped(tool),
        escaped(manual.summary),
        escaped(tool),
        escaped(manual.usage),
        paragraphs(about),
    );
    let mut heading = "";
    for row in &manual.flags {
        if row.heading != heading {
            heading = row.heading;
            text += &format!(".SH {}\n", escaped(&heading.to_uppercase()));
        }
        text += &flag(row);
    }
    if !manual.passes.is_empty() {
        text += ".SH PASSES\n";
    }
    for pass in &manual.passes {
        text += &format!(
            ".TP\n.B {}\n{}\n",
            escaped(&dashed(pass.name)),
            escaped(pass.summary)
        );
        for option in pass.options {
            let default = match option.default {
                "" => String::new(),
                default => format!(" (default: {default})"),
            };
            text += &format!(
                ".RS\n.TP\n.IR {}\n{}\n.RE\n",
                quoted(&format!("{}={}", option.name, option.kind.placeholder())),
                escaped(&format!("{}{default}", option.doc))
            );
        }
    }
    let others = super::all();
    let others = others.iter().filter(|other| other.tool != *tool);
    let others: Vec<String> = others
        .map(|other| format!(".BR {} (1)", escaped(other.tool)))
        .collect();
    text + &format!(
        ".SH EXIT STATUS\n{}\n.SH SEE ALSO\n{}\n",
        escaped(manual.exit),
        others.join(",\n")
    )
}

fn flag(row: &Row) -> String {
    let names: Vec<String> = row.names.iter().map(|name| dashed(name)).collect();
    let value = match row.value {
        Value::Nothing => String::new(),
        Value::Needed(value) => format!("={value}"),
        Value::Optional(value) => format!("[={value}]"),
    };
    let left = format!("{}{value}", names.join(", "));
    format!(".TP\n.B {}\n{}\n", quoted(&left), escaped(row.doc))
}

fn paragraphs(text: &str) -> String {
    let lines: Vec<String> = text.split("\n\n").map(escaped).collect();
    lines.join("\n.PP\n")
}

/// An argument of a macro.
fn quoted(text: &str) -> String {
    format!("\"{}\"", escaped(text).replace('"', "\\(dq"))
}

/// Text in which nothing is a command.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with(['.', '\'']) {
            out += "\\&";
        }
        for c in line.trim_end().chars() {
            match c {
                '\\' => out += "\\e",
                '-' => out += "\\-",
                '\'' => out += "\\(aq",
                '^' => out += "\\(ha",
                '~' => out += "\\(ti",
                '`' => out += "\\(ga",
                c => out.push(c),
            }
        }
        out.push('\n');
    }
    out.trim_end().to_owned()
}
