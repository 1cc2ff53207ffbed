//! Random edits: after each, the server's text and diagnostics are those of a new session on the same text, and no
//! request fails.
//!
//! The test keeps its own copy of the text in UTF-16, so that positions are computed in another way.

use fuser_lsp::server::Server;
use fuser_random::SplitMix;
use lsp_server::{Message, Notification, Request};
use serde_json::{Value, json};

/// Texts that edits begin from.
const SEEDS: [&str; 4] = [
    include_str!("../../examples/layer_norm.fir"),
    include_str!("../../examples/softmax.fir"),
    "// é𝄞\r\ntask.program @f(%x: tensor<8xf32>) -> tensor<8xf32> {\r\n  %y = fusion.exp %x\r\n  task.return %y\r\n}\r\n",
    "",
];

/// Texts that edits insert.
const PIECES: [&str; 40] = [
    "%x",
    "%y",
    "%y = ",
    "fusion.exp %x",
    "fusion.add %x, %y",
    "fusion.",
    "task.return %y\n",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    ",",
    "\n",
    "\r\n",
    "\r",
    "// ",
    "// -----\n",
    "é𝄞",
    "\"",
    "\"t.op\"(%x) : () -> ()\n",
    "^bb0:\n",
    "#a = 1\n",
    "!t",
    "@f",
    "@f::@g",
    " : tensor<4xf32>",
    "task.segment @s0 {\n",
    "module {\n",
    "dims [0]",
    "to bf16",
    "%r:2 = ",
    "%r#1",
    " loc(\"a\")",
    "  ",
    "// RUN: fuser-opt --",
    "task.program @f(%x: tensor<[B]x4xf32>) -> tensor<[B]x4xf32> {\n",
];

const REQUESTS: [&str; 14] = [
    "hover",
    "definition",
    "references",
    "documentHighlight",
    "prepareRename",
    "rename",
    "documentSymbol",
    "foldingRange",
    "formatting",
    "semanticTokens/full",
    "completion",
    "codeAction",
    "inlayHint",
    "selectionRange",
];

const URI: &str = "file:///a.fir";

/// Longer texts are replaced by a new one.
const LONGEST: usize = 4_000;

#[test]
fn random_edits() {
    println!("count: {} random edits", run(400, 1));
}

#[test]
#[ignore = "minutes"]
fn many_random_edits() {
    let edits: usize = (0..10).map(|seed| run(10_000, seed + 2)).sum();
    println!("count: {edits} random edits");
}

fn notify(server: &mut Server, method: &str, params: Value) {
    let method = format!("textDocument/{method}");
    server.handle(Message::Notification(Notification { method, params }));
}

fn session(text: &str, version: i32) -> Server {
    let mut server = Server::default();
    let initialize = Request {
        id: 0.into(),
        method: "initialize".to_owned(),
        params: json!({}),
    };
    server.handle(Message::Request(initialize));
    let document = json!({"uri": URI, "version": version, "text": text});
    notify(&mut server, "didOpen", json!({"textDocument": document}));
    server
}

/// The diagnostics published when no work waits: one message, of the current version.
fn told(server: &mut Server, version: i32) -> Value {
    server.idle();
    assert!(!server.is_dirty());
    // Costs are not looked for here.
    server.take_jobs();
    let messages = server.take();
    let told = messages.iter().filter_map(|message| match message {
        Message::Notification(n) if n.method == "textDocument/publishDiagnostics" => {
            Some(&n.params)
        }
        _ => None,
    });
    let told: Vec<&Value> = told.collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0]["version"], version);
    told[0]["diagnostics"].clone()
}

fn run(count: usize, seed: u64) -> usize {
    let mut random = SplitMix(seed);
    let mut text: Vec<u16> = Vec::new();
    let mut server = session("", 0);
    told(&mut server, 0);
    for version in 1..=count as i32 {
        let anew = text.len() > LONGEST || version % 200 == 1;
        let changes = 1 + random.below(2);
        let mut all = Vec::new();
        if anew {
            let seed = SEEDS[random.below(SEEDS.len())];
            text = seed.encode_utf16().collect();
            all.push(json!({"text": seed}));
        }
        for _ in 0..changes {
            all.push(edit(&mut text, &mut random));
        }
        let document = json!({"uri": URI, "version": version});
        notify(
            &mut server,
            "didChange",
            json!({"textDocument": document, "contentChanges": all}),
        );
        let expected = String::from_utf16(&text).expect("edits keep characters whole");
        assert_eq!(
            server.text(URI),
            Some(expected.as_str()),
            "edit {version} of {seed}"
        );
        // A request before the diagnostics sees the new text, and the diagnostics come with it.
        let early = random.below(4) == 0;
        if early {
            ask(&mut server, &text, &mut random, &expected);
        }
        let found = told(&mut server, version);
        let fresh = told(&mut session(&expected, version), version);
        assert_eq!(found, fresh, "edit {version} of {seed}: {expected}");
        if random.below(8) == 0 {
            ask(&mut server, &text, &mut random, &expected);
            server.take();
        }
    }
    count
}

/// Replaces a part of the text; the change for the server.
fn edit(text: &mut Vec<u16>, random: &mut SplitMix) -> Value {
    let whole = |text: &[u16], mut at: usize| {
        while at > 0
            && text
                .get(at)
                .is_some_and(|unit| (0xDC00..0xE000).contains(unit))
        {
            at -= 1;
        }
        at
    };
    let from = whole(text, random.below(text.len() + 1));
    let length = match random.below(3) {
        0 => 0,
        1 => random.below(4),
        _ => random.below(30),
    };
    let to = whole(text, (from + length).min(text.len()));
    let new = match random.below(4) {
        0 => String::new(),
        _ => PIECES[random.below(PIECES.len())].to_owned(),
    };
    // Between the two units of a line end is no place.
    let inside = |at: usize| at > 0 && text.get(at - 1) == Some(&13) && text.get(at) == Some(&10);
    let (from, to) = (
        from - usize::from(inside(from)),
        to + usize::from(inside(to)),
    );
    let range = json!({"start": position(text, from), "end": position(text, to)});
    text.splice(from..to.max(from), new.encode_utf16());
    json!({"range": range, "text": new})
}

/// The position of a unit.
fn position(text: &[u16], at: usize) -> Value {
    let (mut line, mut start) = (0, 0);
    for unit in 0..at {
        let ends = text[unit] == 10 || (text[unit] == 13 && text.get(unit + 1) != Some(&10));
        if ends {
            (line, start) = (line + 1, unit + 1);
        }
    }
    json!({"line": line, "character": at - start})
}

/// Sends a random request: its answer is a result or a refusal, no failure of the server.
fn ask(server: &mut Server, text: &[u16], random: &mut SplitMix, shown: &str) {
    let method = REQUESTS[random.below(REQUESTS.len())];
    let place = |random: &mut SplitMix| position(text, random.below(text.len() + 1));
    let (one, two) = (place(random), place(random));
    let name = random.one(&["z", "%x", "1a", "é", ""]);
    let params = json!({
        "textDocument": {"uri": URI},
        "position": one,
        "positions": [one, two],
        "range": {"start": one, "end": two},
        "newName": name,
    });
    server.handle(Message::Request(Request {
        id: 1.into(),
        method: format!("textDocument/{method}"),
        params,
    }));
    let messages = server.take();
    // The diagnostics, where they are not told yet, come back.
    let mut answered = false;
    for message in messages {
        match message {
            Message::Response(response) => {
                answered = true;
                if let Err(error) = &response.response_result {
                    assert_ne!(error.code, -32603, "{method}: {shown}");
                }
            }
            other => server.put_back(other),
        }
    }
    assert!(answered, "{method}");
}
