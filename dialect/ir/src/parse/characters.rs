//! Characters that begin no token: their names, and the characters probably meant.

/// Characters that resemble one of ours, with that character.
const LOOKALIKES: [(char, &str); 24] = [
    ('\u{2212}', "-"),
    ('\u{2010}', "-"),
    ('\u{2011}', "-"),
    ('\u{2012}', "-"),
    ('\u{2013}', "-"),
    ('\u{2014}', "-"),
    ('\u{FF0D}', "-"),
    ('\u{2192}', "->"),
    ('\u{201C}', "\""),
    ('\u{201D}', "\""),
    ('\u{201E}', "\""),
    ('\u{2033}', "\""),
    ('\u{FF0C}', ","),
    ('\u{FF1A}', ":"),
    ('\u{FF1D}', "="),
    ('\u{FF05}', "%"),
    ('\u{FF20}', "@"),
    ('\u{FF08}', "("),
    ('\u{FF09}', ")"),
    ('\u{FF3B}', "["),
    ('\u{FF3D}', "]"),
    ('\u{FF5B}', "{"),
    ('\u{FF5D}', "}"),
    ('\u{FF0A}', "*"),
];

/// Invisible characters, with descriptions.
const UNSEEN: [(char, &str); 10] = [
    ('\u{A0}', "a space that does not break: write a plain one"),
    ('\u{202F}', "a space that does not break: write a plain one"),
    ('\u{2007}', "a space that does not break: write a plain one"),
    ('\u{3000}', "a wide space: write a plain one"),
    ('\u{200B}', "a space of no width: leave it out"),
    ('\u{200C}', "a mark of no width: leave it out"),
    ('\u{200D}', "a mark of no width: leave it out"),
    ('\u{2060}', "a mark of no width: leave it out"),
    ('\u{AD}', "a hyphen that is not seen: leave it out"),
    (
        '\u{FEFF}',
        "a byte order mark: save the file as UTF-8 without one",
    ),
];

/// The message and advice for the character `c`, at which `rest` begins.
pub fn wrong(c: char, rest: &str) -> (String, Option<String>) {
    let number = format!("U+{:04X}", u32::from(c));
    if let Some((_, what)) = UNSEEN.iter().find(|(unseen, _)| *unseen == c) {
        return (
            format!("{number} begins nothing"),
            Some(format!("it is {what}")),
        );
    }
    let message = match c {
        // An escape would show it as another.
        '\'' => "`'` begins nothing".into(),
        c => format!("`{}` begins nothing", c.escape_debug()),
    };
    (message, help(c, &number, rest))
}

fn help(c: char, number: &str, rest: &str) -> Option<String> {
    if let Some((_, ours)) = LOOKALIKES.iter().find(|(like, _)| *like == c) {
        return Some(format!(
            "it is {number}, which looks like `{ours}`: write that"
        ));
    }
    let second = rest.chars().nth(1);
    let help = match c {
        '\'' | '\u{2018}' | '\u{2019}' => "text stands in double quotes, words and types in none",
        ';' => "operations end with their line, and comments begin with `//`",
        '/' if second == Some('*') => "comments begin with `//`, on each line",
        '/' => "comments begin with `//`",
        '\\' => "an operation may go on in the next line without it",
        '.' if second.is_some_and(|c| c.is_ascii_digit()) => "a digit stands before the dot: `0.5`",
        '\u{D7}' | '\u{B7}' => "there are no infix operators: `fusion.mul %a, %b`",
        _ => return None,
    };
    Some(help.into())
}
