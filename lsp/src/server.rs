//! The state of a session: the open documents, the information about each, and the answer to each message.
//!
//! This module uses neither streams nor threads: messages go in, messages come out ([`Server::take`]), and costs arrive
//! when they have been computed. A change is answered with diagnostics once no other work waits ([`Server::idle`]), for
//! the version that is then current. A request sees the current version whatever work waits.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fuser_ir::def::Registry;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId, Response};
use serde_json::{Value, json};

use crate::analysis::{Analysis, Part};
use crate::costs::{Costs, Found, Job};
use crate::text::{Position, Text};
use crate::{actions, complete, diagnose, format, hints, hover, navigate, outline, semantic};

/// A request that is not answered, and the reason.
#[derive(Debug)]
pub struct Refusal {
    code: ErrorCode,
    message: String,
}

impl Refusal {
    /// The request makes no sense.
    pub fn params(message: impl Into<String>) -> Self {
        let (code, message) = (ErrorCode::InvalidParams, message.into());
        Self { code, message }
    }
    /// The request is valid, but cannot be fulfilled.
    pub fn failed(message: impl Into<String>) -> Self {
        let (code, message) = (ErrorCode::RequestFailed, message.into());
        Self { code, message }
    }
}

/// The answer to a request.
pub type Answer = Result<Value, Refusal>;

/// A request on an open document.
pub struct Query<'a> {
    /// The tables of ops.
    pub registry: &'a Arc<Registry>,
    /// The document.
    pub uri: &'a str,
    /// Its version.
    pub version: i32,
    /// The current version, analyzed.
    pub analysis: &'a Analysis,
    /// Its costs, if they are known yet.
    pub costs: Option<&'a Costs>,
    /// True if the client fills in snippets.
    pub snippets: bool,
    /// The parameters.
    pub params: &'a Value,
}

impl Query<'_> {
    /// The byte that the request is about.
    pub fn offset(&self) -> Result<usize, Refusal> {
        let position = position(&self.params["position"]);
        let position = position.ok_or_else(|| Refusal::params("there is no position"))?;
        Ok(self.analysis.text.offset(position))
    }
    /// The part of the document that the request concerns, and the position in it.
    pub fn place(&self) -> Result<(&Part, u32), Refusal> {
        let offset = self.offset()?;
        let part = self.analysis.part_at(offset);
        Ok((part, part.local(offset)))
    }
    /// The bytes that the request is about.
    pub fn bytes(&self) -> Result<std::ops::Range<usize>, Refusal> {
        let range = &self.params["range"];
        let ends = position(&range["start"]).zip(position(&range["end"]));
        let (start, end) = ends.ok_or_else(|| Refusal::params("there is no range"))?;
        let text = &self.analysis.text;
        Ok(text.offset(start)..text.offset(end))
    }
}

/// A position of the protocol.
fn position(value: &Value) -> Option<Position> {
    let number = |name: &str| Some(value.get(name)?.as_u64()?.min(u32::MAX.into()) as u32);
    Some(Position {
        line: number("line")?,
        character: number("character")?,
    })
}

/// A function that answers a request.
type Handler = fn(&Query<'_>) -> Answer;

/// The requests on a document, by method.
const REQUESTS: [(&str, Handler); 16] = [
    ("textDocument/hover", hover::hover),
    ("textDocument/definition", navigate::definition),
    ("textDocument/references", navigate::references),
    ("textDocument/documentHighlight", navigate::highlight),
    ("textDocument/prepareRename", navigate::prepare_rename),
    ("textDocument/rename", navigate::rename),
    ("textDocument/documentSymbol", outline::symbols),
    ("textDocument/foldingRange", outline::folding),
    ("textDocument/selectionRange", outline::selection),
    ("textDocument/formatting", format::formatting),
    ("textDocument/semanticTokens/full", semantic::full),
    ("textDocument/semanticTokens/range", semantic::range),
    ("textDocument/completion", complete::completion),
    ("textDocument/codeAction", actions::actions),
    ("textDocument/inlayHint", hints::inlay),
    ("textDocument/codeLens", hints::lenses),
];

/// The request that waits for costs.
const LENSES: &str = "textDocument/codeLens";

/// The abilities of the server.
fn capabilities() -> Value {
    json!({
        "positionEncoding": "utf-16",
        "textDocumentSync": {"openClose": true, "change": 2, "save": false},
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "documentHighlightProvider": true,
        "renameProvider": {"prepareProvider": true},
        "documentSymbolProvider": true,
        "foldingRangeProvider": true,
        "selectionRangeProvider": true,
        "documentFormattingProvider": true,
        "semanticTokensProvider": {"legend": semantic::legend(), "full": true, "range": true},
        "completionProvider": {"triggerCharacters": complete::TRIGGERS},
        "codeActionProvider": {"codeActionKinds": ["quickfix"]},
        "inlayHintProvider": true,
        "codeLensProvider": {"resolveProvider": false},
    })
}

/// An open document.
struct Document {
    text: Arc<Text>,
    version: i32,
    analysis: Option<Rc<Analysis>>,
    /// True if the diagnostics of this version were published.
    told: bool,
    costs: Option<Costs>,
    cancelled: Arc<AtomicBool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Fresh,
    Running,
    ShutDown,
}

/// A session.
pub struct Server {
    registry: Arc<Registry>,
    state: State,
    snippets: bool,
    documents: BTreeMap<String, Document>,
    out: Vec<Message>,
    jobs: Vec<Job>,
    /// Requests for lenses that wait for costs.
    waiting: Vec<(Request, i32)>,
    exit: Option<bool>,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            registry: fuser_dialects::registry(),
            state: State::Fresh,
            snippets: false,
            documents: BTreeMap::new(),
            out: Vec::new(),
            jobs: Vec::new(),
            waiting: Vec::new(),
            exit: None,
        }
    }
}

impl Server {
    /// The tables of ops.
    pub fn registry(&self) -> &Arc<Registry> {
        &self.registry
    }
    /// The messages that are to be sent, in order.
    pub fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.out)
    }
    /// The versions whose costs are to be found.
    pub fn take_jobs(&mut self) -> Vec<Job> {
        std::mem::take(&mut self.jobs)
    }
    /// Returns a message to the queue.
    pub fn put_back(&mut self, message: Message) {
        self.out.push(message);
    }
    /// The text of an open document.
    pub fn text(&self, uri: &str) -> Option<&str> {
        self.documents.get(uri).map(|d| d.text.as_str())
    }
    /// After `exit`: true if `shutdown` came before.
    pub fn exit(&self) -> Option<bool> {
        self.exit
    }
    /// True if diagnostics are to be computed once no other work waits.
    pub fn is_dirty(&self) -> bool {
        self.documents.values().any(|d| !d.told)
    }
    /// Computes and publishes the diagnostics of one changed document.
    pub fn idle(&mut self) {
        let dirty = self.documents.iter().find(|(_, d)| !d.told);
        if let Some(uri) = dirty.map(|(uri, _)| uri.clone()) {
            self.analyze(&uri);
        }
    }
    /// Handles a message. A panic becomes an error for the client and does not end the session.
    pub fn handle(&mut self, message: Message) {
        let id = match &message {
            Message::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let done = catch_unwind(AssertUnwindSafe(|| match message {
            Message::Request(request) => self.request(request),
            Message::Notification(notification) => self.notification(notification),
            Message::Response(_) => {}
        }));
        if done.is_err() {
            let message = "internal error: this is a bug of fuser-lsp";
            match id {
                Some(id) => self.refuse(id, ErrorCode::InternalError, message),
                None => self.log(message),
            }
        }
    }
    /// Stores costs; costs of an older version are dropped.
    pub fn costs(&mut self, found: Found) {
        let Some(document) = self.documents.get_mut(&found.uri) else {
            return;
        };
        if document.version != found.version {
            return;
        }
        document.costs = Some(found.costs);
        let ready = |(request, version): &(Request, i32)| {
            uri(&request.params) == Some(&found.uri) && *version == found.version
        };
        let (ready, waiting) = self.waiting.drain(..).partition(ready);
        self.waiting = waiting;
        for (request, _) in ready {
            self.query(request, hints::lenses);
        }
    }

    fn send(&mut self, message: impl Into<Message>) {
        self.out.push(message.into());
    }
    fn refuse(&mut self, id: RequestId, code: ErrorCode, message: &str) {
        self.send(Response::new_err(id, code as i32, message.to_owned()));
    }
    fn log(&mut self, message: &str) {
        let params = json!({"type": 1, "message": message});
        self.send(Notification::new("window/logMessage".to_owned(), params));
    }

    fn request(&mut self, request: Request) {
        match (request.method.as_str(), self.state) {
            ("initialize", State::Fresh) => {
                self.state = State::Running;
                let completion = &request.params["capabilities"]["textDocument"]["completion"];
                let snippets = completion["completionItem"]["snippetSupport"].as_bool();
                self.snippets = snippets == Some(true);
                let info = json!({"name": "fuser-lsp", "version": env!("CARGO_PKG_VERSION")});
                let result = json!({"capabilities": capabilities(), "serverInfo": info});
                self.send(Response::new_ok(request.id, result));
            }
            ("initialize", _) => {
                let message = "the session is initialized already";
                self.refuse(request.id, ErrorCode::InvalidRequest, message);
            }
            (_, State::Fresh) => {
                let message = "the session is not initialized";
                self.refuse(request.id, ErrorCode::ServerNotInitialized, message);
            }
            (_, State::ShutDown) => {
                let message = "the session is shut down";
                self.refuse(request.id, ErrorCode::InvalidRequest, message);
            }
            ("shutdown", State::Running) => {
                self.state = State::ShutDown;
                self.send(Response::new_ok(request.id, Value::Null));
            }
            (LENSES, _) if self.must_wait(&request) => {}
            (method, _) => match REQUESTS.iter().find(|(name, _)| *name == method) {
                Some((_, handler)) => self.query(request, *handler),
                None => {
                    let message = format!("there is no method {method}");
                    self.refuse(request.id, ErrorCode::MethodNotFound, &message);
                }
            },
        }
    }
    /// Keeps a request for lenses whose document has no costs yet.
    fn must_wait(&mut self, request: &Request) -> bool {
        let document = uri(&request.params).and_then(|uri| self.documents.get(uri));
        let version = document.filter(|d| d.costs.is_none()).map(|d| d.version);
        self.waiting
            .extend(version.map(|version| (request.clone(), version)));
        version.is_some()
    }
    fn query(&mut self, request: Request, handler: Handler) {
        let answer = self.answer(&request.params, handler);
        match answer {
            Ok(value) => self.send(Response::new_ok(request.id, value)),
            Err(refusal) => self.refuse(request.id, refusal.code, &refusal.message),
        }
    }
    fn answer(&mut self, params: &Value, handler: Handler) -> Answer {
        let uri = uri(params).ok_or_else(|| Refusal::params("there is no document"))?;
        let analysis = self.analyze(uri);
        let known = self.documents.get(uri).zip(analysis);
        let (document, analysis) =
            known.ok_or_else(|| Refusal::params(format!("{uri} is not open")))?;
        handler(&Query {
            registry: &self.registry,
            uri,
            version: document.version,
            analysis: &analysis,
            costs: document.costs.as_ref(),
            snippets: self.snippets,
            params,
        })
    }

    fn notification(&mut self, notification: Notification) {
        let params = &notification.params;
        match (notification.method.as_str(), self.state) {
            ("exit", state) => self.exit = Some(state == State::ShutDown),
            (_, State::Fresh | State::ShutDown) => {}
            ("textDocument/didOpen", _) => self.open(params),
            ("textDocument/didChange", _) => self.change(params),
            ("textDocument/didClose", _) => self.close(params),
            ("$/cancelRequest", _) => self.cancel(params),
            // Other notifications need no action.
            _ => {}
        }
    }
    fn open(&mut self, params: &Value) {
        let document = &params["textDocument"];
        let parts = (uri(params), document["text"].as_str());
        let (Some(uri), Some(text)) = parts else {
            return self.log("didOpen without a document");
        };
        let document = Document {
            text: Arc::new(Text::new(text.to_owned())),
            version: version(document),
            analysis: None,
            told: false,
            costs: None,
            cancelled: Arc::default(),
        };
        if let Some(older) = self.documents.insert(uri.to_owned(), document) {
            older.cancelled.store(true, Ordering::Relaxed);
        }
        self.outdate(uri);
    }
    fn change(&mut self, params: &Value) {
        let Some(document) = uri(params).and_then(|uri| self.documents.get_mut(uri)) else {
            return self.log("didChange of a document that is not open");
        };
        let changes = params["contentChanges"].as_array().cloned();
        let mut whole = true;
        for change in changes.unwrap_or_default() {
            let range = &change["range"];
            let ends = position(&range["start"]).zip(position(&range["end"]));
            match (change["text"].as_str(), ends, range.is_null()) {
                (Some(text), Some((from, to)), _) => {
                    Arc::make_mut(&mut document.text).replace(from, to, text);
                }
                (Some(text), None, true) => document.text = Arc::new(Text::new(text.to_owned())),
                _ => whole = false,
            }
        }
        document.version = version(&params["textDocument"]);
        document.analysis = None;
        document.costs = None;
        document.told = false;
        document.cancelled.store(true, Ordering::Relaxed);
        document.cancelled = Arc::default();
        if !whole {
            self.log("didChange without a text or with a range that is none");
        }
        if let Some(uri) = uri(params) {
            self.outdate(uri);
        }
    }
    fn close(&mut self, params: &Value) {
        let Some(uri) = uri(params) else {
            return self.log("didClose without a document");
        };
        if let Some(document) = self.documents.remove(uri) {
            document.cancelled.store(true, Ordering::Relaxed);
            self.outdate(uri);
            // Mistakes of a closed document are not shown.
            let params = json!({"uri": uri, "diagnostics": []});
            self.publish(params);
        }
    }
    /// Refuses the requests that wait for costs of an outdated version.
    fn outdate(&mut self, changed: &str) {
        let of = |(request, _): &(Request, i32)| uri(&request.params) == Some(changed);
        let (gone, waiting) = self.waiting.drain(..).partition(of);
        self.waiting = waiting;
        for (request, _) in gone {
            let message = "the document has changed";
            self.refuse(request.id, ErrorCode::ContentModified, message);
        }
    }
    fn cancel(&mut self, params: &Value) {
        let id: Option<RequestId> = serde_json::from_value(params["id"].clone()).ok();
        let of = |(request, _): &(Request, i32)| Some(&request.id) == id.as_ref();
        let (gone, waiting) = self.waiting.drain(..).partition(of);
        self.waiting = waiting;
        for (request, _) in gone {
            self.refuse(request.id, ErrorCode::RequestCanceled, "cancelled");
        }
    }
    fn publish(&mut self, params: Value) {
        let method = "textDocument/publishDiagnostics".to_owned();
        self.send(Notification::new(method, params));
    }
    /// The analysis of the current version; its diagnostics are published when it is computed.
    fn analyze(&mut self, uri: &str) -> Option<Rc<Analysis>> {
        let document = self.documents.get_mut(uri)?;
        if let Some(analysis) = document.analysis.as_ref().filter(|_| document.told) {
            return Some(analysis.clone());
        }
        // Where the analysis panics, it is not tried again.
        document.told = true;
        let name = file_name(uri);
        let text = document.text.clone();
        let analysis = Rc::new(Analysis::new(&self.registry, text.clone(), &name));
        document.analysis = Some(analysis.clone());
        self.jobs.push(Job {
            uri: uri.to_owned(),
            version: document.version,
            text,
            name,
            cancelled: document.cancelled.clone(),
        });
        let params = json!({
            "uri": uri,
            "version": document.version,
            "diagnostics": diagnose::diagnostics(uri, &analysis),
        });
        self.publish(params);
        Some(analysis)
    }
}

fn uri(params: &Value) -> Option<&str> {
    params["textDocument"]["uri"].as_str()
}

fn version(document: &Value) -> i32 {
    let version = document["version"].as_i64();
    version.and_then(|v| i32::try_from(v).ok()).unwrap_or(0)
}

/// The name of a document in locations: the path of its address.
fn file_name(uri: &str) -> String {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let code = tail
            .get(..2)
            .and_then(|code| std::str::from_utf8(code).ok());
        let escaped = code.and_then(|code| u8::from_str_radix(code, 16).ok());
        match escaped.filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
