//! Color: used on terminals unless the user objects, or as `--color` says.
//!
//! Diagnostics are colored by the renderer. Tables and explanations are written plain, and colored line by line on
//! their way to a terminal ([`painted`]): heads bold, failures red, successes green.

use std::io::IsTerminal;
use std::sync::OnceLock;

/// The value of `--color`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The spellings of its values.
pub const WORDS: [(&str, Color); 5] = [
    ("auto", Color::Auto),
    ("always", Color::Always),
    ("true", Color::Always),
    ("never", Color::Never),
    ("false", Color::Never),
];
/// The value in help.
pub const VALUE: &str = "auto|always|never";
/// The line of help.
pub const DOC: &str = "color (default: on a terminal, unless NO_COLOR is set)";

/// The variable set for processes of Open MPI. Their stdout is a terminal of `mpirun` (4.1.4), wherever that writes to.
const RANK: &str = "OMPI_COMM_WORLD_RANK";

/// The choice of this process, made once: it has one command line.
static CHOSEN: OnceLock<Color> = OnceLock::new();

/// Takes what the command line says; of several the first counts.
pub fn choose(color: Color) {
    let _ = CHOSEN.set(color);
}

/// The color that a value of the flag names.
pub fn parse(value: &str) -> Result<Color, String> {
    let value = if value.is_empty() { "always" } else { value };
    let found = WORDS.iter().find(|(word, _)| *word == value);
    let unknown = || format!("'{value}' is not one of auto, always, never");
    found.map(|(_, color)| *color).ok_or_else(unknown)
}

/// True if stderr takes color.
pub fn on_stderr() -> bool {
    wanted(std::io::stderr().is_terminal())
}

/// True if stdout takes color.
pub fn on_stdout() -> bool {
    wanted(std::io::stdout().is_terminal())
}

fn wanted(terminal: bool) -> bool {
    match CHOSEN.get().copied().unwrap_or_default() {
        Color::Always => true,
        Color::Never => false,
        // https://no-color.org
        Color::Auto => {
            let unwanted = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            terminal && !unwanted && std::env::var_os(RANK).is_none()
        }
    }
}

const BOLD: &str = "1";
const RED: &str = "1;31";
const GREEN: &str = "32";
const YELLOW: &str = "33";
const DIM: &str = "2";

/// Lines by their first word, and how they are shown.
const LINES: &[(&str, &str)] = &[
    ("@", BOLD),
    ("  kernel ", BOLD),
    ("  output ", BOLD),
    ("  launch ", BOLD),
    ("  CHECK FAILED", RED),
    ("  NOT CHECKED", YELLOW),
    ("  all outputs agree", GREEN),
    ("for target ", BOLD),
    ("total: ", BOLD),
    ("decided: ", DIM),
];

/// Beginnings of lines whose words up to the first colon are shown so.
const HEADS: &[(&str, &str)] = &[("segment @", GREEN), ("cut @", YELLOW)];

/// Words within a line.
const WORDS_IN: &[(&str, &str)] = &[(" FAILED ", RED), (" not checked ", YELLOW)];

/// A table or an explanation in color.
pub fn painted(text: &str) -> String {
    text.split_inclusive('\n').map(line).collect()
}

fn line(line: &str) -> String {
    let (text, end) = match line.strip_suffix('\n') {
        Some(text) => (text, "\n"),
        None => (line, ""),
    };
    let of = |rows: &[(&str, &'static str)]| {
        let row = rows.iter().find(|(begin, _)| text.starts_with(begin));
        row.map(|(_, color)| *color)
    };
    if let Some(color) = of(LINES) {
        return format!("{}{end}", shown(text, color));
    }
    if let (Some(color), Some(at)) = (of(HEADS), text.find(": ")) {
        let (head, rest) = text.split_at(at);
        return format!("{}{rest}{end}", shown(head, color));
    }
    let words = WORDS_IN
        .iter()
        .fold(text.to_owned(), |text, (word, color)| {
            text.replace(word, &format!(" {} ", shown(word.trim(), color)))
        });
    words + end
}

fn shown(text: &str, color: &str) -> String {
    format!("\x1b[{color}m{text}\x1b[0m")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn color_is_all_that_is_added() {
        let text = "@f on cpu\n  kernel  ms\n  y  8xf32   FAILED  1\n  CHECK FAILED\ncut @s0 -> @s1: %y, 4 bytes\n  x";
        let colored = painted(text);
        assert!(colored.contains("\x1b[1m@f on cpu\x1b[0m\n"));
        assert!(colored.contains("8xf32   \x1b[1;31mFAILED\x1b[0m  1"));
        assert!(colored.contains("\x1b[33mcut @s0 -> @s1\x1b[0m: %y"));
        let escape = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
        assert_eq!(escape.replace_all(&colored, ""), text);
    }
}
