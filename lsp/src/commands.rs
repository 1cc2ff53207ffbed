//! Mistakes in the commands of `RUN:` lines: flags, passes and options, as the tools themselves read them.
//!
//! Commands behind `not` are expected to fail, and words with `$` or a backquote are known to the shell only; neither
//! is checked.

use std::ops::Range;

use fuser::driver::source::Sources;
use fuser::{driver, reduce, run, translate};
use serde_json::{Value, json};

use crate::diagnose;
use crate::text::Text;

/// The keyword of a command in a comment.
const RUN: &str = "RUN:";
/// The words of a message before the name that is meant.
const SUGGESTION: &str = "did you mean '";
/// The maximum number of fixes tried for one request; each reads all commands again.
const MOST: usize = 16;

/// A word of a command as the tool gets it, and its bytes in the document.
struct Word {
    text: String,
    bytes: Range<usize>,
}

/// A mistake of a command.
struct Mistake {
    message: String,
    bytes: Range<usize>,
}

/// Every mistake of a text.
fn all_mistakes(text: &str) -> Vec<Mistake> {
    let commands = commands(text);
    let found = commands.iter().flat_map(|command| {
        let messages = mistakes(command).into_iter();
        messages.map(|message| Mistake {
            bytes: place(command, &message),
            message,
        })
    });
    found.collect()
}

/// One diagnostic for each mistake.
pub fn diagnostics(text: &Text) -> Vec<Value> {
    let found = all_mistakes(text.as_str()).into_iter();
    found.map(|mistake| diagnostic(text, &mistake)).collect()
}

fn diagnostic(text: &Text, mistake: &Mistake) -> Value {
    json!({
        "range": text.range(mistake.bytes.clone()),
        "severity": diagnose::ERROR,
        "source": "fuser",
        "message": mistake.message,
    })
}

/// A fix for a mistake: its diagnostic, the bytes that it replaces, and the text in their place.
pub struct Fix {
    pub diagnostic: Value,
    pub bytes: Range<usize>,
    pub by: String,
}

/// The fixes for the mistakes whose bytes `wanted` touches. A fix leaves fewer of its mistake, and may uncover others.
pub fn fixes(text: &Text, wanted: &Range<usize>) -> Vec<Fix> {
    let all = all_mistakes(text.as_str());
    let touched = |m: &&Mistake| m.bytes.start <= wanted.end && wanted.start <= m.bytes.end;
    let fix = |mistake: &Mistake| {
        let (bytes, by) = meant(text, mistake)?;
        let mut mended = text.as_str().to_owned();
        mended.replace_range(bytes.clone(), by);
        let like = |all: &[Mistake]| all.iter().filter(|m| m.message == mistake.message).count();
        (like(&all_mistakes(&mended)) < like(&all)).then(|| Fix {
            diagnostic: diagnostic(text, mistake),
            bytes,
            by: by.to_owned(),
        })
    };
    all.iter()
        .filter(touched)
        .take(MOST)
        .filter_map(fix)
        .collect()
}

/// The bytes of the first name that a message quotes, and the name that it suggests.
fn meant<'m>(text: &Text, mistake: &'m Mistake) -> Option<(Range<usize>, &'m str)> {
    let (before, behind) = mistake.message.split_once(SUGGESTION)?;
    let by = behind.split('\'').next()?;
    let wrong = before.split('\'').skip(1).step_by(2);
    let at = |name: &str| Some((text.part(mistake.bytes.clone()).find(name)?, name.len()));
    let (at, length) = wrong.filter(|name| !name.is_empty()).find_map(at)?;
    let start = mistake.bytes.start + at;
    Some((start..start + length, by))
}

/// The messages of the tool that the command calls; none for another program.
fn mistakes(command: &[Word]) -> Vec<String> {
    let Some((tool, rest)) = command.split_first() else {
        return Vec::new();
    };
    let rest: Vec<String> = rest.iter().map(|word| word.text.clone()).collect();
    let found = match tool.text.as_str() {
        "fuser-opt" => opt(&rest),
        "fuser-run" => run::args::parse(&rest).map(drop),
        "fuser-translate" => translate::args::parse(&rest).map(drop),
        "fuser-reduce" => reduce::args::parse(&rest).map(drop),
        _ => Ok(()),
    };
    found.err().unwrap_or_default()
}

/// `fuser-opt` reads flags first; with those right, its passes and their options.
fn opt(words: &[String]) -> Result<(), Vec<String>> {
    let catalog = fuser_passes::catalog();
    let config = driver::args::parse(words, &catalog)?;
    let reads = config.wanted.file.is_some() || config.segments_from.is_some();
    // Only the run knows the values that an explanation is about.
    if config.action.is_some() || reads || config.explain_pair.is_some() {
        return Ok(());
    }
    let built = driver::pipeline::build(&config, &catalog, &mut Sources::default());
    let message = |d: &fuser_ir::Diagnostic| {
        let helps = d.helps.iter().map(|help| format!("\nhelp: {help}"));
        std::iter::once(d.message.clone()).chain(helps).collect()
    };
    built
        .map(drop)
        .map_err(|errors| errors.iter().map(message).collect())
}

/// The bytes of the last word that the message quotes, without what stands behind `=`; of the whole command without
/// such a word.
fn place(command: &[Word], message: &str) -> Range<usize> {
    let quoted = |word: &&Word| {
        let flag = word.text.split(['=', '{']).next().unwrap_or_default();
        flag.len() > 1 && message.contains(flag)
    };
    match command.iter().skip(1).rfind(quoted) {
        Some(word) => word.bytes.clone(),
        None => command[0].bytes.start..command[command.len() - 1].bytes.end,
    }
}

/// The commands of all `RUN:` lines that can be checked.
fn commands(text: &str) -> Vec<Vec<Word>> {
    let mut found = Vec::new();
    let mut words = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        if let Some(at) = keyword(line) {
            let (from, body) = (start + at, line[at..].trim_end());
            let open = body.ends_with('\\');
            words.extend(split(body.strip_suffix('\\').unwrap_or(body), from));
            if !open {
                found.extend(simple(std::mem::take(&mut words)));
            }
        }
        start = end;
    }
    found
}

/// The byte at which the command of a line begins; `None` for another line.
fn keyword(line: &str) -> Option<usize> {
    let at = line.find(RUN)?;
    (line[..at].trim() == "//").then_some(at + RUN.len())
}

/// The words of a shell line, which begins at byte `from`; operators are words.
fn split(line: &str, from: usize) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut quote = None;
    let mut open = false;
    for (at, c) in line.char_indices() {
        let next = from + at + c.len_utf8();
        if quote.is_none() && c.is_whitespace() {
            open = false;
            continue;
        }
        let operator = quote.is_none() && "|;&<>".contains(c);
        if !open || operator || words.last().is_some_and(|w| is_operator(&w.text)) {
            words.push(Word {
                text: String::new(),
                bytes: from + at..next,
            });
        }
        open = true;
        let Some(word) = words.last_mut() else {
            continue;
        };
        word.bytes.end = next;
        match quote {
            Some(q) if q == c => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => word.text.push(c),
        }
    }
    words
}

fn is_operator(word: &str) -> bool {
    matches!(word, "|" | ";" | "&" | "<" | ">")
}

/// The commands between operators, without redirections.
fn simple(words: Vec<Word>) -> Vec<Vec<Word>> {
    let mut commands: Vec<Vec<Word>> = vec![Vec::new()];
    let mut redirected = false;
    for word in words {
        match word.text.as_str() {
            // `>&1` is a redirection.
            "|" | ";" | "&" if !redirected => commands.push(Vec::new()),
            "|" | ";" | "&" => {}
            "<" | ">" => {
                // `2>` names a stream.
                let last = commands.last_mut();
                let adjoins = |w: &Word| w.bytes.end == word.bytes.start && w.text.len() == 1;
                if let Some(last) = last.filter(|c| c.last().is_some_and(adjoins)) {
                    last.pop();
                }
                redirected = true;
            }
            _ if redirected => redirected = false,
            _ => {
                if let Some(last) = commands.last_mut() {
                    last.push(word);
                }
            }
        }
    }
    let known = |command: &Vec<Word>| {
        !command.is_empty() && !command.iter().any(|w| w.text.contains(['$', '`']))
    };
    commands.retain(known);
    commands
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Each command as the tool gets it.
    fn read(text: &str) -> Vec<Vec<String>> {
        let words = |c: Vec<Word>| c.into_iter().map(|w| w.text).collect();
        commands(text).into_iter().map(words).collect()
    }

    #[test]
    fn commands_are_read_as_the_shell_reads_them() {
        let text = "// RUN: fuser-opt %s --segment='a b' 2>&1 | FileCheck %s > out; not x \\\n// RUN:   --y\n// CHECK-RUN: no\nop // RUN: no\n";
        let expected: [&[&str]; 3] = [
            &["fuser-opt", "%s", "--segment=a b"],
            &["FileCheck", "%s"],
            &["not", "x", "--y"],
        ];
        assert_eq!(read(text), expected);
        assert!(read("// RUN: fuser-opt $(cat x) --cs").is_empty());
    }

    #[test]
    fn a_mistake_is_at_its_word() {
        let text =
            Text::new("// RUN: fuser-opt %s --canonicalise --cse | FileCheck %s\n".to_owned());
        let found = diagnostics(&text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(
            found[0]["range"]["start"],
            json!({"line": 0, "character": 21})
        );
        assert_eq!(
            found[0]["range"]["end"],
            json!({"line": 0, "character": 35})
        );
    }

    #[test]
    fn options_and_other_tools_are_checked() {
        let messages = |command: &str| {
            let found = diagnostics(&Text::new(format!("// RUN: {command}\n")));
            let text = |d: &Value| d["message"].as_str().unwrap_or_default().to_owned();
            found.iter().map(text).collect::<Vec<_>>()
        };
        let wrong = [
            "fuser-opt %s --segment=serch=none",
            "fuser-opt %s --pass-pipeline='canonicalize,csee'",
            "fuser-run %s --shapes B=3",
            "fuser-translate %s --emit=ptxx",
            "fuser-reduce %s --test=x --tset=x",
        ];
        for command in wrong {
            assert_eq!(
                messages(command).len(),
                1,
                "{command}: {:?}",
                messages(command)
            );
            assert!(messages(&format!("not {command}")).is_empty(), "{command}");
        }
    }

    /// Commands that work have no diagnostic.
    #[test]
    fn lit_files_have_no_mistakes() {
        let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../lit-tests")];
        let mut checked = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                if !path.extension().is_some_and(|e| e == "fir" || e == "test") {
                    continue;
                }
                let text = Text::new(std::fs::read_to_string(&path).unwrap());
                checked += commands(text.as_str()).len();
                let found = diagnostics(&text);
                assert!(found.is_empty(), "{}: {found:#?}", path.display());
            }
        }
        assert!(checked > 1_000, "{checked}");
        println!("count: {checked} commands of lit files without a mistake");
    }
}
