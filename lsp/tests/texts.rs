//! Texts of odd sizes and shapes: every request on them is answered, soon.

use serde_json::json;

use crate::client::Client;

const URI: &str = "file:///a.fir";

/// Opens a text, asks everything about its end, and closes the session in order.
fn ask_all(text: &str) {
    let mut client = Client::initialized();
    let document = json!({"uri": URI, "languageId": "fir", "version": 3, "text": text});
    client.notify("textDocument/didOpen", json!({"textDocument": document}));
    client.diagnostics(URI, 3);
    let line = text.lines().count() / 2;
    let position = json!({"line": line, "character": 4});
    let end = json!({"line": 99_999_999, "character": 0});
    for method in [
        "hover",
        "definition",
        "references",
        "documentHighlight",
        "prepareRename",
        "rename",
        "documentSymbol",
        "foldingRange",
        "selectionRange",
        "formatting",
        "semanticTokens/full",
        "completion",
        "codeAction",
        "inlayHint",
    ] {
        let answer = client.request(
            &format!("textDocument/{method}"),
            json!({
                "textDocument": {"uri": URI},
                "position": position,
                "positions": [position],
                "range": {"start": position, "end": end},
                "newName": "renamed",
            }),
        );
        let failed = answer["error"]["code"] == -32603;
        assert!(!failed, "{method}");
    }
    client.request("shutdown", json!(null));
    client.notify("exit", json!(null));
    assert!(client.end().success());
}

#[test]
fn a_text_that_nests_deeply() {
    let depth = 3_000;
    let text = "\"t.f\"() ({\n".repeat(depth) + &"}) : () -> ()\n".repeat(depth);
    ask_all(&text);
}

#[test]
fn a_text_that_nests_too_deeply_and_never_closes() {
    ask_all(&"\"t.f\"() ({\n".repeat(12_000));
    ask_all(&"[{(<".repeat(20_000));
}

#[test]
fn a_text_of_one_long_line() {
    let ops = "%y = fusion.exp %x ".repeat(5_000);
    ask_all(&format!(
        "task.program @f(%x: f32) -> f32 {{ {ops} task.return %x }}"
    ));
}

#[test]
fn a_text_of_many_parts() {
    ask_all(&"// -----\ntask.program @f(%x: f32) -> f32 { task.return %x }\n".repeat(2_000));
}
