//! A client that speaks the protocol with `fuser-lsp` over its standard streams. Never waits longer than [`LONGEST`].

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// An answer that takes longer is none.
const LONGEST: Duration = Duration::from_secs(60);

/// A session.
pub struct Client {
    server: Child,
    input: Option<ChildStdin>,
    received: Receiver<(Instant, Value)>,
    next: i64,
    /// The time at which the message came that was waited for last.
    pub arrived: Instant,
    /// Diagnostics in the order in which they came: address, version, the whole.
    pub published: Vec<Value>,
}

impl Client {
    /// Starts a server; says nothing yet.
    pub fn start() -> Self {
        let mut server = Command::new(env!("CARGO_BIN_EXE_fuser-lsp"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("fuser-lsp starts");
        let input = server.stdin.take();
        let output = server.stdout.take().expect("it has an output");
        let (sender, received) = mpsc::channel();
        thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(value) = read(&mut output) {
                if sender.send(value).is_err() {
                    return;
                }
            }
        });
        Self {
            server,
            input,
            received,
            next: 1,
            arrived: Instant::now(),
            published: Vec::new(),
        }
    }
    /// Starts a server and a session.
    pub fn initialized() -> Self {
        let mut client = Self::start();
        let capabilities =
            json!({"textDocument": {"completion": {"completionItem": {"snippetSupport": true}}}});
        client.request("initialize", json!({"capabilities": capabilities}));
        client.notify("initialized", json!({}));
        client
    }
    /// Sends bytes as they are.
    pub fn bytes(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().expect("the input is open");
        // A server that has ended reads no more.
        let _ = input.write_all(bytes).and_then(|()| input.flush());
    }
    /// Sends a message.
    pub fn send(&mut self, message: &Value) {
        let text = message.to_string();
        self.bytes(format!("Content-Length: {}\r\n\r\n{text}", text.len()).as_bytes());
    }
    /// Sends a notification.
    pub fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }
    /// Sends a request and gives its number.
    pub fn ask(&mut self, method: &str, params: Value) -> i64 {
        let id = self.next;
        self.next += 1;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }
    /// Sends a request and waits for its answer.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.answer(&json!(id))
    }
    /// Waits for the answer to request `id`.
    pub fn answer(&mut self, id: &Value) -> Value {
        self.until(|message| message.get("method").is_none() && message["id"] == *id)
    }
    /// Waits for the diagnostics of a version.
    pub fn diagnostics(&mut self, uri: &str, version: i64) -> Value {
        let of = move |params: &Value| params["uri"] == uri && params["version"] == version;
        if let Some(known) = self.published.iter().rev().find(|params| of(params)) {
            return known["diagnostics"].clone();
        }
        let uri = uri.to_owned();
        let of = move |message: &Value| {
            let params = &message["params"];
            params["uri"] == uri && params["version"] == version
        };
        self.until(of)["params"]["diagnostics"].clone()
    }
    /// Waits for a message.
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        let end = Instant::now() + LONGEST;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let message = self.received.recv_timeout(left);
            let (arrived, message) = message.expect("fuser-lsp answers in time");
            if message["method"] == "textDocument/publishDiagnostics" {
                self.published.push(message["params"].clone());
            }
            if wanted(&message) {
                self.arrived = arrived;
                return message;
            }
        }
    }
    /// Closes the input and waits for the end.
    pub fn end(&mut self) -> ExitStatus {
        self.input = None;
        let end = Instant::now() + LONGEST;
        loop {
            if let Some(status) = self
                .server
                .try_wait()
                .expect("the server can be waited for")
            {
                return status;
            }
            assert!(Instant::now() < end, "fuser-lsp ends in time");
            thread::sleep(Duration::from_millis(2));
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

/// The next message, and when its last byte came.
fn read(output: &mut BufReader<impl Read>) -> Option<(Instant, Value)> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        output.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some(("Content-Length", value)) => length = value.parse().ok()?,
            Some(_) => {}
            None if line.is_empty() => return None,
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).ok()?;
    let arrived = Instant::now();
    Some((arrived, serde_json::from_slice(&body).ok()?))
}
