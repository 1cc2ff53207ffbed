//! Completion and manual pages, as shells and `man` take them.

use std::process::{Command, Stdio};

const TOOLS: [&str; 4] = [
    env!("CARGO_BIN_EXE_fuser-opt"),
    env!("CARGO_BIN_EXE_fuser-run"),
    env!("CARGO_BIN_EXE_fuser-translate"),
    env!("CARGO_BIN_EXE_fuser-reduce"),
];

fn said(tool: &str, args: &[&str]) -> String {
    let output = Command::new(tool).args(args).output().unwrap();
    assert!(output.status.success(), "{tool} {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// True if a program of the system runs; says that it is missing otherwise.
fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    let started = command
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let there = started.status().is_ok();
    if !there {
        println!("skipped: there is no {program}");
    }
    there
}

/// The answers of bash to a line of `tool`, whose last word is being typed.
fn answers(tool: usize, line: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("s"),
        said(TOOLS[tool], &["completions", "bash"]),
    )
    .unwrap();
    std::fs::write(folder.path().join("prog.fir"), "").unwrap();
    let name = TOOLS[tool].rsplit('/').next().unwrap();
    let function = name.replace('-', "_");
    let script = format!(
        "source ./s; complete -p {name} >/dev/null || exit 9
COMP_LINE='{name} {line}'; COMP_POINT=${{#COMP_LINE}}
_{function}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let output = Command::new("bash")
        .args(["--norc", "-c", &script])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{line}: {output:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines()
        .filter(|l| !l.is_empty())
        .map(str::to_owned)
        .collect()
}

#[test]
fn bash_completes_flags_passes_options_values_and_files() {
    let (opt, run, translate, reduce) = (0, 1, 2, 3);
    assert_eq!(
        answers(opt, "--seg"),
        ["--segments-from=", "--segment-report=", "--segment"]
    );
    assert_eq!(answers(opt, "--canon"), ["--canonicalize"]);
    assert_eq!(answers(opt, "--segment=search="), ["greedy", "exact"]);
    assert_eq!(
        answers(opt, "prog.fir --segment=hor"),
        ["horizontal=true", "horizontal=false"]
    );
    assert_eq!(answers(opt, "--color=n"), ["never"]);
    assert_eq!(answers(opt, "--report=j"), ["json:"]);
    assert_eq!(answers(opt, "--report=json:pr"), ["prog.fir"]);
    assert_eq!(answers(opt, "pr"), ["prog.fir"]);
    assert_eq!(answers(opt, "-o p"), ["prog.fir"]);
    assert_eq!(answers(run, "--device i"), ["interp"]);
    assert_eq!(answers(run, "--device=i"), ["interp"]);
    assert_eq!(answers(run, "--device=cuda:"), Vec::<String>::new());
    assert_eq!(answers(run, "--threads "), Vec::<String>::new());
    assert_eq!(answers(run, "--prof"), ["--profile"]);
    assert_eq!(answers(translate, "--emit=p"), ["ptx"]);
    assert_eq!(
        answers(translate, "prog.fir --import "),
        ["stablehlo", "nvfuser-python"]
    );
    assert_eq!(answers(reduce, "--max"), ["--max-steps="]);
}

/// Asks a zsh on a terminal of its own; `setup` makes completion print what it finds.
const ASK_ZSH: &str = r#"zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source ./setup; print -r -- rea''dy'
while zpty -r shell line; do [[ $line == *ready* ]] && break; done
zpty -w -n shell "$1"$'\t'
while zpty -r shell line; do
  [[ $line == *END* ]] && break
  [[ $line == *HIT\ * ]] && print -r -- ${${line##*HIT }%%$'\r'*}
done
"#;
const ZSH_SETUP: &str = r#"PROMPT=
fpath=($PWD $fpath)
autoload -Uz compinit
compinit -u -D
bindkey '^I' complete-word
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then
    builtin compadd "$@"
    return
  fi
  typeset -a hits apre hpre hsuf asuf
  builtin compadd -A hits "$@"
  zparseopts -E P:=apre p:=hpre S:=asuf s:=hsuf
  local hit
  for hit in $hits; do print -r -- $'\n'"HIT $IPREFIX${apre[2]}${hpre[2]}$hit${hsuf[2]}${asuf[2]}"; done
}
finish() { print -r -- $'\n'END; exit }
comppostfuncs=(finish)
"#;

/// The answers of zsh or fish to a line of `tool`, in their order, without descriptions.
fn asked(shell: &str, tool: usize, line: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    let name = TOOLS[tool].rsplit('/').next().unwrap();
    let script = said(TOOLS[tool], &["completions", shell]);
    write("prog.fir", "");
    let mut command = Command::new("timeout");
    command
        .args(["60", shell])
        .env("HOME", folder.path())
        .current_dir(folder.path());
    let line = format!("{name} {line}");
    match shell {
        "zsh" => {
            write(&format!("_{name}"), &script);
            write("ask", ASK_ZSH);
            write("setup", ZSH_SETUP);
            command.args(["-f", "ask", &line]);
        }
        _ => {
            write("s", &script);
            let ask = "source ./s; complete -C $argv[1]";
            command.args(["--no-config", "-c", ask, &line]);
        }
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{shell}: {line}: {output:?}"
    );
    let text = String::from_utf8(output.stdout).unwrap();
    let words = text.lines().filter_map(|line| line.split('\t').next());
    words.map(str::to_owned).collect()
}

#[test]
fn zsh_and_fish_complete_what_bash_does() {
    let (opt, run) = (0, 1);
    for shell in ["zsh", "fish"] {
        if !is_there(shell) {
            continue;
        }
        let ask = |tool, line| {
            let mut found = asked(shell, tool, line);
            found.sort();
            found
        };
        let segment = ask(opt, "--seg");
        let of = |name: &str| {
            let mut flags = segment.iter().map(|flag| flag.trim_end_matches('='));
            flags.any(|flag| flag == name)
        };
        assert!(of("--segments-from") && of("--segment-report") && of("--segment"));
        // Once each; where a value may follow, fish offers the flag with `=` besides.
        let mut once = segment.clone();
        once.dedup();
        assert_eq!(segment, once, "{shell}");
        assert_eq!(
            ask(opt, "--color="),
            ["--color=always", "--color=auto", "--color=never"],
            "{shell}"
        );
        assert_eq!(
            ask(opt, "--segment=search="),
            ["--segment=search=exact", "--segment=search=greedy"],
            "{shell}"
        );
        assert_eq!(ask(opt, "--report=j"), ["--report=json:"], "{shell}");
        assert_eq!(
            ask(opt, "--report=json:pr"),
            ["--report=json:prog.fir"],
            "{shell}"
        );
        assert!(
            ask(opt, "--explain=p")
                .iter()
                .any(|word| word.ends_with("prog.fir"))
        );
        assert!(ask(opt, "--explain=a").contains(&"--explain=all".to_owned()));
        assert_eq!(ask(opt, "pr"), ["prog.fir"], "{shell}");
        assert_eq!(ask(opt, "-o p"), ["prog.fir"], "{shell}");
        assert_eq!(ask(run, "--device=i"), ["--device=interp"], "{shell}");
        assert_eq!(ask(run, "--device i"), ["interp"], "{shell}");
        assert_eq!(ask(run, "--threads "), Vec::<String>::new(), "{shell}");
    }
}

#[test]
fn shells_read_their_scripts() {
    for tool in TOOLS {
        for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("s");
            std::fs::write(&file, said(tool, &["completions", shell])).unwrap();
            if is_there(shell) {
                let output = Command::new(shell).arg(check).arg(&file).output().unwrap();
                let clean = output.status.success() && output.stderr.is_empty();
                assert!(clean, "{tool} {shell}: {output:?}");
            }
        }
    }
    let wrong = Command::new(TOOLS[0])
        .args(["completions", "csh"])
        .output()
        .unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let text = String::from_utf8(wrong.stderr).unwrap();
    assert!(
        text.contains("there is no completion for 'csh' (expected bash, zsh, fish)"),
        "{text}"
    );
}

#[test]
fn manual_pages_have_no_faults() {
    for tool in TOOLS {
        let folder = tempfile::tempdir().unwrap();
        let page = said(tool, &["man"]);
        assert!(page.contains(".SH EXIT STATUS\n"), "{tool}");
        let file = folder.path().join("page.1");
        std::fs::write(&file, page).unwrap();
        if is_there("groff") {
            let mut command = Command::new("groff");
            let output = command
                .args(["-man", "-Tutf8", "-ww", "-z"])
                .arg(&file)
                .output();
            let output = output.unwrap();
            assert!(
                output.status.success() && output.stderr.is_empty(),
                "{tool}: {output:?}"
            );
        }
    }
}
