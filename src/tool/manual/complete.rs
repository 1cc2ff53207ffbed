//! Scripts by which shells complete the arguments of a tool. Of the words that a flag offers those that end in `:` go on with a file.

use super::{Manual, Offers, Value, dashed};

/// The shells that there are scripts for.
pub const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// The script for a shell.
///
/// # Errors
/// A shell that there is none for.
pub fn script(manual: &Manual, shell: &str) -> Result<String, String> {
    match shell {
        "bash" => Ok(bash(manual)),
        "zsh" => Ok(zsh(manual)),
        "fish" => Ok(fish(manual)),
        _ => Err(format!(
            "there is no completion for '{shell}' (expected {})",
            SHELLS.join(", ")
        )),
    }
}

/// A flag from a shell's point of view: its spelling, the values to offer, and their possible positions.
struct Entry {
    name: &'static str,
    value: Value,
    offers: Offers,
    doc: &'static str,
}

fn entries(manual: &Manual) -> Vec<Entry> {
    let flags = manual.flags.iter().flat_map(|row| {
        row.names.iter().map(|&name| Entry {
            name,
            value: row.value,
            offers: Offers::of(row.value),
            doc: row.doc,
        })
    });
    let passes = manual.passes.iter().map(|pass| Entry {
        name: pass.name,
        value: match pass.options.is_empty() {
            true => Value::Nothing,
            false => Value::Optional("OPTION=VALUE"),
        },
        offers: Offers::of_pass(pass),
        doc: pass.summary,
    });
    flags.chain(passes).collect()
}

/// Text in single quotes of a shell.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The part of the script that does not depend on the tool. The word under the cursor is the text after the last blank.
/// Bash splits that word at `=` and `:`, so the part before them is removed from each answer.
const BASH: &str = r#"    local line="${COMP_LINE:0:COMP_POINT}" word flag value words="" files=1
    word="${line##*[[:blank:]]}"
    local prev="${line%"$word"}"
    prev="${prev%"${prev##*[![:blank:]]}"}"
    prev="${prev##*[[:blank:]]}"
    COMPREPLY=()
    if [[ $word == -*=* ]]; then
        flag="${word%%=*}" value="${word#*=}"
        value="${value#[\"\']}"
    elif [[ $word == -* ]]; then
        flag="" value="$word" files=""
        words="$flags"
    elif [[ " $needs " == *" $prev "* ]]; then
        flag="$prev" value="$word"
    else
        flag="" value="$word"
    fi
    flag="${flag/#--/-}"
"#;
const BASH_END: &str = r#"    local form="${value%%:*}:"
    if [[ $value == *:* && " $words " == *" $form "* ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "${value#"$form"}")
        COMPREPLY=("${COMPREPLY[@]/#/$form}") words="" files=""
        compopt -o filenames 2>/dev/null
    fi
    if [[ -n $words ]]; then
        local IFS=$' \t\n'
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$value")
    fi
    if [[ -n $files && ${#COMPREPLY[@]} -eq 0 ]]; then
        mapfile -t COMPREPLY < <(compgen -f -- "$value")
        compopt -o filenames 2>/dev/null
    fi
    local head="${value%"${value##*["$COMP_WORDBREAKS"]}"}"
    COMPREPLY=("${COMPREPLY[@]#"$head"}")
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *[=:] ]]; then
        compopt -o nospace 2>/dev/null
    fi
}
"#;

fn bash(manual: &Manual) -> String {
    let function = format!("_{}", manual.tool.replace('-', "_"));
    let all = entries(manual);
    let shown = |entry: &Entry| match (entry.value, entry.name.len()) {
        (Value::Needed(_), 2..) => format!("{}=", dashed(entry.name)),
        _ => dashed(entry.name),
    };
    let flags: Vec<String> = all.iter().map(shown).collect();
    let needs = all.iter().filter(|e| matches!(e.value, Value::Needed(_)));
    let needs = needs.flat_map(|e| [format!("-{}", e.name), format!("--{}", e.name)]);
    let needs: Vec<String> = needs.collect();
    let mut cases = String::new();
    for entry in &all {
        let (words, files) = (entry.offers.words.join(" "), entry.offers.files);
        let files = if files { "1" } else { "\"\"" };
        cases += &format!(
            "        -{}) words={} files={files} ;;\n",
            entry.name,
            single(&words)
        );
    }
    format!(
        "# Completion of {tool} for bash: source this file, or put it into a folder of bash-completion.\n\
         {function}() {{\n    local flags={} needs={}\n{BASH}    case \"$flag\" in\n{cases}    esac\n{BASH_END}\
         complete -F {function} {tool}\n",
        single(&flags.join(" ")),
        single(&needs.join(" ")),
        tool = manual.tool,
    )
}

/// Offers words in zsh, and files behind those that end in `:`; with `1` in front, files besides.
const ZSH: &str = r#"(( $+functions[_fuser_value] )) || _fuser_value() {
  local files=$1; shift
  local -a forms=(${(M)@:#*:})
  if (( $#forms )) && compset -P "(${(j:|:)forms})"; then
    _files
    return
  fi
  compadd -S '' -- ${(M)@:#*[:=]}
  compadd -- ${@:#*[:=]}
  (( files )) && _files
}
"#;

fn zsh(manual: &Manual) -> String {
    let mut text = format!(
        "#compdef {}\n# Completion for zsh: put this file into a folder of $fpath, as _{}.\n{ZSH}_arguments \\\n",
        manual.tool, manual.tool
    );
    for entry in entries(manual) {
        let escape = |text: &str| {
            let text = text.replace('\\', "\\\\").replace('[', "\\[");
            text.replace(']', "\\]").replace(':', "\\:")
        };
        let action = match (&entry.offers.words[..], entry.offers.files) {
            ([], true) => "_files".to_owned(),
            ([], false) => " ".to_owned(),
            (words, files) => {
                let words: Vec<String> = words.iter().map(|word| escape(word)).collect();
                // With a blank in front it is called as it stands.
                format!(" _fuser_value {} {}", u8::from(files), words.join(" "))
            }
        };
        let (sign, value) = match entry.value {
            Value::Nothing => ("", String::new()),
            Value::Needed(_) if entry.name.len() == 1 => ("", format!(":value:{action}")),
            Value::Needed(_) => ("=", format!(":value:{action}")),
            Value::Optional(_) => ("=-", format!("::value:{action}")),
        };
        let flag = format!(
            "*{}{sign}[{}]{value}",
            dashed(entry.name),
            escape(entry.doc)
        );
        text += &format!("  {} \\\n", single(&flag));
    }
    text + "  '*:file:_files'\n"
}

/// Offers files behind a form of a value, such as `json:`, in fish.
const FISH: &str = r#"function __fuser_form
    set -l word (commandline -ct | string replace -r '^--?[^=]*=' '')
    if string match -q -- "$argv[1]*" $word
        for path in (__fish_complete_path (string replace -- $argv[1] '' $word))
            echo $argv[1]$path
        end
    else
        echo $argv[1]
    end
end
"#;

fn fish(manual: &Manual) -> String {
    let mut text = format!("# Completion of {} for fish.\n{FISH}", manual.tool);
    for entry in entries(manual) {
        let kind = if entry.name.len() == 1 { "s" } else { "l" };
        let values = match (&entry.offers.words[..], entry.offers.files) {
            _ if entry.value == Value::Nothing => String::new(),
            ([], false) => " -x".into(),
            ([], true) => " -r".into(),
            (words, files) => {
                let only = if files { "r" } else { "x" };
                let words = words.iter().map(|word| match word.ends_with(':') {
                    true => format!("(__fuser_form {word})"),
                    false => word.clone(),
                });
                format!(
                    " -{only} -a {}",
                    single(&words.collect::<Vec<_>>().join(" "))
                )
            }
        };
        // An optional value needs no argument; `-f` keeps files away.
        let values = match entry.value {
            Value::Optional(_) => values.replacen(" -x", " -f", 1).replacen(" -r", "", 1),
            _ => values,
        };
        text += &format!(
            "complete -c {} -{kind} {}{values} -d {}\n",
            manual.tool,
            single(entry.name),
            single(&entry.doc.replace('\\', "\\\\"))
        );
    }
    text
}
