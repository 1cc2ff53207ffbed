//! The command line of `fuser-reduce`, from a table that also provides the help.

use std::time::Duration;

use fuser_ir::suggest::nearest;

use super::strategy::{self, STRATEGIES, Strategy};
use crate::tool;
use crate::tool::color;
use crate::tool::manual::{Manual, Row};

/// The default maximum number of tests (`--max-steps`): a day at one test per second.
const MAX_STEPS: u64 = 100_000;
/// Seconds for one test, unless `--timeout` says otherwise.
const TIMEOUT_SECONDS: u64 = 60;
/// Threads at most: each runs a process.
const MAX_JOBS: usize = 256;
/// A timeout longer than a day is none.
const MAX_TIMEOUT_SECONDS: u64 = 24 * 60 * 60;

/// A test that decides if a program is interesting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Test {
    /// `--test`
    Command(String),
    /// `--crash`
    Crash(String),
    /// `--miscompile`
    Miscompile(String),
}

/// The command line.
#[derive(Clone, Debug)]
pub struct Arguments {
    /// The tests that decide; none if only help was asked for.
    pub tests: Vec<Test>,
    /// The program, `-` for stdin.
    pub input: String,
    /// The result, `-` for stdout.
    pub output: String,
    /// Tests at the same time.
    pub jobs: usize,
    /// Tests at most.
    pub max_steps: u64,
    /// For one test.
    pub timeout: Duration,
    /// Candidates need not verify.
    pub allow_invalid: bool,
    /// Locations are kept.
    pub locations: bool,
    /// Strategies to use, in the order of the table.
    pub strategies: Vec<&'static Strategy>,
    /// Tells each success.
    pub verbose: bool,
    /// Says nothing but errors.
    pub quiet: bool,
    /// Prints something instead.
    pub print: Option<Print>,
}

/// A text to print instead of reducing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Print {
    /// `--help`
    Help,
    /// `--version`
    Version,
    /// `--list-strategies`
    Strategies,
}

impl Test {
    /// The condition under which a program is interesting, as a sentence without its end.
    pub fn condition(&self) -> String {
        match self {
            Test::Command(command) => format!("'{command}' must exit with 0"),
            Test::Crash(command) => format!(
                "'{command}' must exit with 3 or die of a signal; a message is tested by --test='CMD %s 2>&1 | grep -q MESSAGE'"
            ),
            Test::Miscompile(flags) => {
                format!("'fuser-opt {flags} --validate' must find a changed result")
            }
        }
    }
}

struct Flag {
    names: &'static [&'static str],
    /// The name of its value in help; switches have none.
    value: Option<&'static str>,
    doc: &'static str,
    set: fn(&mut Arguments, &str) -> Result<(), String>,
}

macro_rules! flag {
    ([$($name:literal),*] $value:expr, $doc:expr, $set:expr) => {
        Flag { names: &[$($name),*], value: $value, doc: $doc, set: $set }
    };
}

static FLAGS: &[Flag] = &[
    flag!(["test"] Some("CMD"), "shell command that exits with 0 while the program is interesting; %s stands for the file, which is \
          else the last argument", |a, v| add(a, Test::Command(v.to_owned()))),
    flag!(["crash"] Some("CMD"), "instead: CMD crashes as it does on the input (exit 3 or a signal, with the same message)",
        |a, v| add(a, Test::Crash(v.to_owned()))),
    flag!(["miscompile"] Some("FLAGS"), "instead: the passes that these flags of fuser-opt run change what the program computes",
        |a, v| match v.trim_start().starts_with('-') {
        true => add(a, Test::Miscompile(v.to_owned())),
        false => Err(format!("'{v}' is no list of flags of fuser-opt, as '--cse --segment' is")),
    }),
    flag!(["o", "output"] Some("FILE"), "where the result goes (default: stdout)", |a, v| {
        a.output = v.to_owned();
        Ok(())
    }),
    flag!(["j", "jobs"] Some("N"), "tests that run at the same time (default: one per processor); the result does not depend on it",
        |a, v| {
        a.jobs = number(v, 1, MAX_JOBS as u64)? as usize;
        Ok(())
    }),
    flag!(["max-steps"] Some("N"), "stop after so many tests with the best so far (default: 100000)", |a, v| {
        a.max_steps = number(v, 1, u64::MAX)?;
        Ok(())
    }),
    flag!(["timeout"] Some("SECONDS"), "a test that takes longer counts as not interesting (default: 60)", |a, v| {
        a.timeout = Duration::from_secs(number(v, 1, MAX_TIMEOUT_SECONDS)?);
        Ok(())
    }),
    flag!(["strategies"] Some("LIST"), "use these only, separated by commas", |a, v| {
        a.strategies = chosen(v)?;
        Ok(())
    }),
    flag!(["allow-invalid"] None, "also try programs that do not verify", |a, _| {
        a.allow_invalid = true;
        Ok(())
    }),
    flag!(["print-debuginfo"] None, "keep locations and print them", |a, _| {
        a.locations = true;
        Ok(())
    }),
    flag!(["v", "verbose"] None, "tell each success", |a, _| {
        a.verbose = true;
        Ok(())
    }),
    flag!(["q", "quiet"] None, "say nothing but errors", |a, _| {
        a.quiet = true;
        Ok(())
    }),
    flag!(["color"] Some("auto|always|never"), color::DOC, |_, v| color::parse(v).map(color::choose)),
    flag!(["list-strategies"] None, "print what each strategy does", |a, _| print(a, Print::Strategies)),
    flag!(["version"] None, "print the version", |a, _| print(a, Print::Version)),
    flag!(["h", "help"] None, "print this", |a, _| print(a, Print::Help)),
];

/// True if there is a flag of this name.
pub fn has(name: &str) -> bool {
    FLAGS.iter().any(|f| f.names.contains(&name))
}

fn add(arguments: &mut Arguments, test: Test) -> Result<(), String> {
    arguments.tests.push(test);
    Ok(())
}

fn print(arguments: &mut Arguments, what: Print) -> Result<(), String> {
    arguments.print.get_or_insert(what);
    Ok(())
}

fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.parse::<u64>().ok();
    let fits = number.filter(|n| (least..=most).contains(n));
    fits.ok_or_else(|| format!("'{text}' is no number from {least} to {most}"))
}

fn chosen(list: &str) -> Result<Vec<&'static Strategy>, String> {
    let names: Vec<&str> = list.split(',').filter(|n| !n.is_empty()).collect();
    for name in &names {
        if strategy::find(name).is_none() {
            let near = nearest(name, STRATEGIES.iter().map(|s| s.name));
            let near = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
            return Err(format!("there is no strategy '{name}'{near}"));
        }
    }
    let all = STRATEGIES.iter().copied();
    Ok(all.filter(|s| names.contains(&s.name)).collect())
}

/// The command line as data, or one line for each mistake.
pub fn parse(args: &[String]) -> Result<Arguments, Vec<String>> {
    let mut arguments = Arguments {
        tests: Vec::new(),
        input: String::new(),
        output: "-".into(),
        jobs: std::thread::available_parallelism().map_or(1, |n| n.get().min(MAX_JOBS)),
        max_steps: MAX_STEPS,
        timeout: Duration::from_secs(TIMEOUT_SECONDS),
        allow_invalid: false,
        locations: false,
        strategies: STRATEGIES.to_vec(),
        verbose: false,
        quiet: false,
        print: None,
    };
    let (mut inputs, mut errors) = (Vec::new(), Vec::new());
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.strip_prefix("--").or_else(|| arg.strip_prefix('-')) {
            Some(body) if !body.is_empty() => {
                let result = set(&mut arguments, body, &mut rest);
                errors.extend(result.err());
            }
            _ => inputs.push(arg.clone()),
        }
    }
    if arguments.print.is_none() {
        errors.extend(missing(&arguments, &inputs));
    }
    arguments.input = inputs.into_iter().next().unwrap_or_default();
    if errors.is_empty() {
        Ok(arguments)
    } else {
        Err(errors)
    }
}

fn set(
    arguments: &mut Arguments,
    body: &str,
    rest: &mut std::slice::Iter<'_, String>,
) -> Result<(), String> {
    let (name, value) = match (body.split_once('='), attached(body)) {
        (Some((name, value)), _) | (None, Some((name, value))) => (name, Some(value.to_owned())),
        (None, None) => (body, None),
    };
    let Some(flag) = FLAGS.iter().find(|f| f.names.contains(&name)) else {
        let names = FLAGS.iter().flat_map(|f| f.names.iter().copied());
        return Err(tool::flags::unknown(
            "fuser-reduce",
            &dashed(name),
            name,
            names,
        ));
    };
    let value = match (flag.value, value) {
        (None, Some(_)) => return Err(format!("{} takes no value", dashed(name))),
        (None, None) => String::new(),
        (Some(_), Some(value)) => value,
        (Some(what), None) => {
            let is_flag = |name: &str| FLAGS.iter().any(|f| f.names.contains(&name));
            tool::value_behind(&dashed(name), what, rest, is_flag)?.to_owned()
        }
    };
    (flag.set)(arguments, &value).map_err(|message| format!("{}: {message}", dashed(name)))
}

/// `-j4`: a letter and its number.
fn attached(body: &str) -> Option<(&str, &str)> {
    let (name, value) = body.split_at_checked(1)?;
    let is_number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    is_number.then_some((name, value))
}

fn missing(arguments: &Arguments, inputs: &[String]) -> Vec<String> {
    let mut errors = Vec::new();
    if arguments.tests.len() != 1 {
        errors
            .push("one of --test=CMD, --crash=CMD and --miscompile=FLAGS must be given".to_owned());
    }
    match inputs {
        [_] => {}
        [] => errors.push("no input file; '-' is stdin".to_owned()),
        many => errors.push(format!("one input file, not {}", many.join(", "))),
    }
    errors
}

fn dashed(name: &str) -> String {
    let dashes = if name.len() == 1 { "-" } else { "--" };
    format!("{dashes}{name}")
}

/// The tool for shells and for `man`.
pub fn manual() -> Manual {
    let rows = FLAGS.iter();
    Manual {
        tool: "fuser-reduce",
        usage: "--test=CMD [flags] FILE.fir",
        summary: "make a tensor program smaller while it stays interesting",
        about: ABOUT,
        flags: rows
            .map(|f| Row::new(f.names, f.value.unwrap_or(""), f.doc))
            .collect(),
        passes: Vec::new(),
        exit: EXIT,
    }
}

/// The tool's purpose.
const ABOUT: &str = "Makes a program smaller while a test says that it is still interesting.";
/// The meaning of its exit statuses.
const EXIT: &str =
    "0 done, 1 the input is not interesting or no program, 2 wrong usage, 3 a bug of ours.";

/// `--help`
pub fn help() -> String {
    let mut text = format!("{ABOUT}\n\nUsage: fuser-reduce --test=CMD x.fir [-o out.fir]\n\n");
    for flag in FLAGS {
        let names: Vec<String> = flag.names.iter().map(|n| dashed(n)).collect();
        let value = flag.value.map_or(String::new(), |v| format!("={v}"));
        let left = format!("{}{value}", names.join(", "));
        text.push_str(&format!("  {left:<22} {}\n", flag.doc));
    }
    text + &format!("\nExit status: {EXIT}\n")
}

/// `--list-strategies`
pub fn list_strategies() -> String {
    let line = |s: &&Strategy| format!("{:<24}{}\n", s.name, s.doc);
    STRATEGIES.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(list: &[&str]) -> Result<Arguments, Vec<String>> {
        let list: Vec<String> = list.iter().map(|s| (*s).to_owned()).collect();
        parse(&list)
    }

    #[test]
    fn values_follow_or_are_attached() {
        for list in [
            ["-o=y", "-j=3"],
            ["--output=y", "--jobs=3"],
            ["-o=y", "-j3"],
        ] {
            let list = [&list[..], &["--test", "t a=b", "x"]].concat();
            let a = parsed(&list).unwrap();
            assert_eq!((a.output.as_str(), a.jobs, a.input.as_str()), ("y", 3, "x"));
            assert_eq!(a.tests, [Test::Command("t a=b".into())]);
        }
    }
    #[test]
    fn every_mistake_is_told() {
        let errors = parsed(&[
            "--max-step=1",
            "--jobs=0",
            "--strategies=op",
            "a",
            "b",
            "-o",
        ])
        .unwrap_err();
        assert_eq!(
            errors,
            [
                "unknown flag '--max-step'; did you mean '--max-steps'?",
                "--jobs: '0' is no number from 1 to 256",
                "--strategies: there is no strategy 'op'",
                "-o needs a value: -o FILE",
                "one of --test=CMD, --crash=CMD and --miscompile=FLAGS must be given",
                "one input file, not a, b",
            ]
        );
        assert_eq!(
            parsed(&["--test=a", "--crash=b", "x"]).unwrap_err().len(),
            1
        );
    }
    #[test]
    fn strategies_keep_the_order_of_the_table() {
        let a = parsed(&["--test=t", "--strategies=attributes,programs", "-"]).unwrap();
        let names: Vec<&str> = a.strategies.iter().map(|s| s.name).collect();
        assert_eq!(names, ["programs", "attributes"]);
        assert_eq!(a.input, "-");
    }
}
