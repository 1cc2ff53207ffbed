//! Scripted sessions: each file of `sessions` is a test, played over the standard streams of `fuser-lsp`.
//!
//! A line `== COMMAND` begins a step; the lines under it are the text that the step sends (`open`, `edit`, `replace`),
//! or what must come of it. Marks
//! `«1»` in a text are places that steps name. `FUSER_UPDATE=1 cargo test -p fuser-lsp --test sessions` writes what
//! comes into the files.

mod client;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use client::Client;
use fuser_lsp::text::{Position, Text};
use libtest_mimic::{Arguments, Failed, Trial};
use serde_json::{Value, json};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sessions");
    let entries = fs::read_dir(&folder).expect("the folder of sessions is there");
    let mut files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 60, "{} sessions", files.len());
    let count = files.len();
    let trial = |file: PathBuf| {
        let name = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        Trial::test(name, move || play(&file))
    };
    let trials = files.into_iter().map(trial).collect();
    let conclusion = libtest_mimic::run(&Arguments::from_args(), trials);
    println!("count: {count} language server sessions");
    conclusion.exit();
}

/// Plays a file and compares.
fn play(file: &Path) -> Result<(), Failed> {
    let script = fs::read_to_string(file)?;
    let mut session = Session::default();
    let mut played = String::new();
    for step in steps(&script) {
        let came = session.step(&step.command, &step.body);
        played += &step.head;
        match came {
            Some(came) => played += &indented(&came),
            None => played += &step.body,
        }
    }
    if env::var_os("FUSER_UPDATE").is_some() {
        fs::write(file, &played)?;
    } else if played != script {
        let name = file.display();
        return Err(format!("{name}: FUSER_UPDATE=1 writes what came:\n{played}").into());
    }
    Ok(())
}

/// The text that came, indented so that no line of it reads as a step.
fn indented(text: &str) -> String {
    let text = text.trim_end();
    let lines = text.lines().map(|line| match line.trim_end() {
        "" => "\n".to_owned(),
        line => format!("    {line}\n"),
    });
    lines.collect::<String>() + "\n"
}

struct Step {
    /// The lines before it, and its own.
    head: String,
    command: String,
    body: String,
}

fn steps(script: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut head = String::new();
    for line in script.split_inclusive('\n') {
        if let Some(command) = line.strip_prefix("== ") {
            steps.push(Step {
                head: std::mem::take(&mut head) + line,
                command: command.trim_end().to_owned(),
                body: String::new(),
            });
        } else if let Some(step) = steps.last_mut() {
            step.body += line;
        } else {
            head += line;
        }
    }
    steps
}

#[derive(Default)]
struct Document {
    text: Option<Text>,
    version: i64,
    marks: BTreeMap<String, Position>,
}

#[derive(Default)]
struct Session {
    client: Option<Client>,
    documents: BTreeMap<String, Document>,
    /// The document that steps are about.
    current: String,
    asked: Option<i64>,
}

/// Steps that send their body.
const SENDING: [&str; 4] = ["open", "edit", "replace", "bytes"];

impl Session {
    fn client(&mut self) -> &mut Client {
        self.client.get_or_insert_with(Client::initialized)
    }
    fn document(&mut self) -> &mut Document {
        self.documents.entry(self.current.clone()).or_default()
    }
    fn text(&mut self) -> Text {
        let text = self.document().text.clone();
        text.unwrap_or_else(|| Text::new(String::new()))
    }
    fn uri(&self) -> String {
        format!("file:///{}", self.current)
    }

    /// Plays a step; what came, or nothing where the body was sent.
    fn step(&mut self, command: &str, body: &str) -> Option<String> {
        let (verb, rest) = command.split_once(' ').unwrap_or((command, ""));
        if SENDING.contains(&verb) {
            // The blank line before the next step is no part of it.
            let body = body
                .strip_suffix("\n\n")
                .map_or(body.to_owned(), |b| format!("{b}\n"));
            self.sending(verb, rest, &body);
            return None;
        }
        Some(match verb {
            "start" => {
                self.client = Some(Client::start());
                String::new()
            }
            "switch" => {
                self.current = rest.to_owned();
                String::new()
            }
            "close" => {
                let params = json!({"textDocument": {"uri": self.uri()}});
                self.client().notify("textDocument/didClose", params);
                let uri = self.uri();
                let came = self.client().until(|m| m["params"]["uri"] == uri.as_str());
                came["params"].to_string()
            }
            "diagnostics" => {
                let (uri, version) = (self.uri(), self.document().version);
                let found = self.client().diagnostics(&uri, version);
                lines(&found, diagnostic)
            }
            "published" => {
                let published = &self.client().published;
                let line = |p: &Value| {
                    format!(
                        "version {}: {}\n",
                        p["version"],
                        p["diagnostics"].as_array().map_or(0, Vec::len)
                    )
                };
                published.iter().map(line).collect()
            }
            "request" => {
                let (method, params) = rest.split_once(' ').unwrap_or((rest, "null"));
                let params = serde_json::from_str(params).expect("the parameters are JSON");
                let mut answer = self.client().request(method, params);
                answer["id"].take();
                without_version(&mut answer);
                pretty(&answer)
            }
            "notify" => {
                let (method, params) = rest.split_once(' ').unwrap_or((rest, "null"));
                let params = serde_json::from_str(params).expect("the parameters are JSON");
                self.client().notify(method, params);
                String::new()
            }
            "message" => {
                let message = serde_json::from_str(rest).expect("the message is JSON");
                self.client().send(&message);
                String::new()
            }
            "receive" => {
                let mut message = self.client().until(|_| true);
                without_version(&mut message);
                pretty(&message)
            }
            "ask-lenses" => {
                let params = json!({"textDocument": {"uri": self.uri()}});
                self.asked = Some(self.client().ask("textDocument/codeLens", params));
                String::new()
            }
            "cancel" => {
                let id = self.asked;
                self.client().notify("$/cancelRequest", json!({"id": id}));
                String::new()
            }
            "answer" => {
                let id = json!(self.asked);
                let mut answer = self.client().answer(&id);
                answer["id"].take();
                without_version(&mut answer);
                pretty(&answer)
            }
            "end" => self.client().end().to_string(),
            _ => self.query(verb, rest),
        })
    }
    fn sending(&mut self, verb: &str, rest: &str, body: &str) {
        match verb {
            "bytes" => {
                let bytes = body.trim_end().replace("\\r", "\r").replace("\\n", "\n");
                self.client().bytes(bytes.as_bytes());
            }
            "open" => {
                let (name, how) = rest.split_once(' ').unwrap_or((rest, ""));
                self.current = name.to_owned();
                let body = match how {
                    "crlf" => body.replace('\n', "\r\n"),
                    "empty" => String::new(),
                    _ => body.to_owned(),
                };
                self.set(&body, 1);
                let text = self.text().as_str().to_owned();
                let document =
                    json!({"uri": self.uri(), "languageId": "fir", "version": 1, "text": text});
                self.client()
                    .notify("textDocument/didOpen", json!({"textDocument": document}));
            }
            "replace" => {
                let version = self.document().version + 1;
                self.set(body, version);
                let text = self.text().as_str().to_owned();
                self.change(json!({"text": text}));
            }
            _ => {
                let (from, to) = rest.split_once('-').unwrap_or((rest, rest));
                let (from, to) = (self.place(from), self.place(to));
                let new = body.strip_suffix('\n').unwrap_or(body);
                let mut text = self.text();
                text.replace(from, to, new);
                let document = self.document();
                document.text = Some(text);
                document.version += 1;
                let range = json!({"start": from.json(), "end": to.json()});
                self.change(json!({"range": range, "text": new}));
            }
        }
    }
    fn change(&mut self, change: Value) {
        let version = self.document().version;
        let document = json!({"uri": self.uri(), "version": version});
        let params = json!({"textDocument": document, "contentChanges": [change]});
        self.client().notify("textDocument/didChange", params);
    }
    /// Sets the text, and the marks that stand in it.
    fn set(&mut self, marked: &str, version: i64) {
        let (mut text, mut marks) = (String::new(), Vec::new());
        let mut rest = marked;
        while let Some((before, after)) = rest.split_once('«') {
            let (mark, after) = after.split_once('»').expect("a mark is closed");
            text += before;
            marks.push((mark.to_owned(), text.len()));
            rest = after;
        }
        let text = Text::new(text + rest);
        let document = self.document();
        let marks = marks
            .into_iter()
            .map(|(mark, at)| (mark, text.position(at)));
        document.marks = marks.collect();
        document.version = version;
        document.text = Some(text);
    }
    /// A mark, or `LINE:CHARACTER`.
    fn place(&mut self, text: &str) -> Position {
        if let Some(mark) = self.document().marks.get(text) {
            return *mark;
        }
        let (line, character) = text
            .split_once(':')
            .expect("a place is a mark or LINE:CHARACTER");
        let number = |text: &str| text.parse().expect("a number");
        Position {
            line: number(line),
            character: number(character),
        }
    }

    fn query(&mut self, verb: &str, rest: &str) -> String {
        let (at, more) = rest.split_once(' ').unwrap_or((rest, ""));
        let end = self.text().position(usize::MAX);
        let whole = json!({"start": Position::default().json(), "end": end.json()});
        let mut params = json!({"textDocument": {"uri": self.uri()}});
        match (verb, at) {
            ("symbols" | "folding" | "format" | "tokens" | "lenses", _) => {}
            ("hints", _) => params["range"] = whole,
            ("actions", "") => params["range"] = whole,
            ("actions" | "tokens-range", _) => {
                let (from, to) = at.split_once('-').unwrap_or((at, at));
                let (from, to) = (self.place(from), self.place(to));
                params["range"] = json!({"start": from.json(), "end": to.json()});
            }
            ("selection", _) => params["positions"] = json!([self.place(at).json()]),
            _ => params["position"] = self.place(at).json(),
        }
        match verb {
            "actions" => params["context"] = json!({"diagnostics": []}),
            "references" => params["context"] = json!({"includeDeclaration": more != "others"}),
            "rename" => params["newName"] = json!(more),
            _ => {}
        }
        let method = METHODS.iter().find(|(name, _)| *name == verb);
        let method = method
            .unwrap_or_else(|| panic!("there is no step {verb}"))
            .1;
        let answer = self
            .client()
            .request(&format!("textDocument/{method}"), params);
        if let Some(error) = answer.get("error") {
            return format!("error {}: {}\n", error["code"], string(&error["message"]));
        }
        self.render(verb, more, &answer["result"])
    }
    fn render(&mut self, verb: &str, more: &str, result: &Value) -> String {
        match verb {
            "hover" => match result.is_null() {
                true => "nothing".to_owned(),
                false => format!(
                    "{}\n{}",
                    range(&result["range"]),
                    string(&result["contents"]["value"])
                ),
            },
            "references" => lines(result, |r| range(&r["range"])),
            "definition" => match result.is_null() {
                true => "nothing".to_owned(),
                false => range(&result["range"]),
            },
            "highlight" => lines(result, |h| format!("{} {}", range(&h["range"]), h["kind"])),
            "prepareRename" => match result.is_null() {
                true => "nothing".to_owned(),
                false => format!(
                    "{} {}",
                    range(&result["range"]),
                    string(&result["placeholder"])
                ),
            },
            "rename" => self.edited(&result["documentChanges"][0]["edits"]),
            "format" => match result.as_array().is_some_and(Vec::is_empty) {
                true => "unchanged".to_owned(),
                false => self.edited(result),
            },
            "symbols" => symbols(result, 0),
            "folding" => lines(result, |f| {
                format!("{}-{} {}", f["startLine"], f["endLine"], string(&f["kind"]))
            }),
            "selection" => {
                let (mut text, mut at) = (String::new(), &result[0]);
                while !at.is_null() {
                    text += &format!("{}\n", range(&at["range"]));
                    at = &at["parent"];
                }
                text
            }
            "tokens" | "tokens-range" => self.tokens(&result["data"]),
            "complete" => completions(result, more),
            "actions" => lines(result, |action| {
                let edits = &action["edit"]["documentChanges"][0]["edits"];
                format!("{}\n{}", string(&action["title"]), self.edited(edits))
            }),
            "hints" => lines(result, |h| {
                format!("{}{}", place(&h["position"]), string(&h["label"]))
            }),
            "lenses" => lines(result, |l| {
                format!("{} {}", range(&l["range"]), string(&l["command"]["title"]))
            }),
            _ => pretty(result),
        }
    }
    /// The text with edits.
    fn edited(&mut self, edits: &Value) -> String {
        let mut text = self.text();
        let edits = edits.as_array().cloned().unwrap_or_default();
        for edit in edits.iter().rev() {
            let position = |end: &str| {
                let at = &edit["range"][end];
                let number = |name: &str| at[name].as_u64().unwrap_or(0) as u32;
                Position {
                    line: number("line"),
                    character: number("character"),
                }
            };
            text.replace(position("start"), position("end"), string(&edit["newText"]));
        }
        text.as_str().replace('\r', "\\r")
    }
    fn tokens(&mut self, data: &Value) -> String {
        let legend = [
            "op",
            "variable",
            "parameter",
            "symbol",
            "label",
            "alias",
            "clause",
            "choice",
            "type",
            "number",
            "string",
        ];
        let numbers: Vec<u64> = data
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64)
            .collect();
        let (mut line, mut column, mut out) = (0, 0, String::new());
        let text = self.text();
        for token in numbers.chunks(5) {
            line += token[0];
            column = if token[0] > 0 {
                token[1]
            } else {
                column + token[1]
            };
            let at = |character: u64| {
                text.offset(Position {
                    line: line as u32,
                    character: character as u32,
                })
            };
            let word = text.part(at(column)..at(column + token[2]));
            let defines = if token[4] > 0 { " definition" } else { "" };
            out += &format!(
                "{line}:{column} {word} {}{defines}\n",
                legend[token[3] as usize]
            );
        }
        out
    }
}

/// Steps that are requests.
const METHODS: [(&str, &str); 16] = [
    ("hover", "hover"),
    ("definition", "definition"),
    ("references", "references"),
    ("highlight", "documentHighlight"),
    ("prepareRename", "prepareRename"),
    ("rename", "rename"),
    ("symbols", "documentSymbol"),
    ("folding", "foldingRange"),
    ("selection", "selectionRange"),
    ("format", "formatting"),
    ("tokens", "semanticTokens/full"),
    ("tokens-range", "semanticTokens/range"),
    ("complete", "completion"),
    ("actions", "codeAction"),
    ("hints", "inlayHint"),
    ("lenses", "codeLens"),
];

fn string(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn lines(list: &Value, mut line: impl FnMut(&Value) -> String) -> String {
    let items = list.as_array().cloned().unwrap_or_default();
    match items.is_empty() {
        true => "nothing".to_owned(),
        false => items.iter().map(|item| line(item) + "\n").collect(),
    }
}

fn place(position: &Value) -> String {
    format!("{}:{}", position["line"], position["character"])
}

fn range(range: &Value) -> String {
    format!("{}-{}", place(&range["start"]), place(&range["end"]))
}

fn diagnostic(d: &Value) -> String {
    let severity = ["", "error", "warning", "remark"][d["severity"].as_u64().unwrap_or(0) as usize];
    let mut text = format!(
        "{} {severity} {} {}",
        range(&d["range"]),
        string(&d["code"]),
        string(&d["message"])
    );
    for related in d["relatedInformation"].as_array().into_iter().flatten() {
        text += &format!(
            "\n  {} {}",
            range(&related["location"]["range"]),
            string(&related["message"])
        );
    }
    text
}

fn symbols(list: &Value, depth: usize) -> String {
    let mut text = String::new();
    for symbol in list.as_array().into_iter().flatten() {
        let indent = "  ".repeat(depth);
        text += &format!(
            "{indent}{} ({}) {} {}\n",
            string(&symbol["name"]),
            string(&symbol["detail"]),
            symbol["kind"],
            range(&symbol["selectionRange"])
        );
        text += &symbols(&symbol["children"], depth + 1);
    }
    text
}

/// The items that begin with `wanted`, or the first ones.
fn completions(result: &Value, wanted: &str) -> String {
    const SHOWN: usize = 12;
    let items = result["items"].as_array().cloned().unwrap_or_default();
    let fits = items
        .iter()
        .filter(|i| string(&i["label"]).starts_with(wanted));
    let fits: Vec<&Value> = fits.collect();
    let mut text: String = fits
        .iter()
        .take(SHOWN)
        .map(|item| {
            let new = string(&item["textEdit"]["newText"]);
            let new = if new == string(&item["label"]) {
                String::new()
            } else {
                format!(" => {}", new.replace('\n', "\\n"))
            };
            let at = range(&item["textEdit"]["range"]);
            format!(
                "{at} {} | {}{new}\n",
                string(&item["label"]),
                string(&item["detail"])
            )
        })
        .collect();
    if fits.len() > SHOWN {
        text += "...\n";
    }
    if text.is_empty() {
        "nothing".to_owned()
    } else {
        text
    }
}

/// Every message has it.
fn without_version(message: &mut Value) {
    message.as_object_mut().and_then(|m| m.remove("jsonrpc"));
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default()
}
