//! A session for a host without threads: the host passes messages, and calls again when there is time for costs.

use std::io::{self, BufRead, Write};

use crate::costs::{self, Job};
use crate::server::Server;
use crate::wire::{self, Incoming};

/// A session.
#[derive(Default)]
pub struct Session {
    server: Server,
    /// The current version of each document whose costs are wanted.
    jobs: Vec<Job>,
}

impl Session {
    /// Answers the messages of `input` up to its end; diagnostics of changed documents are sent in between.
    pub fn answer(&mut self, input: &mut impl BufRead, output: &mut impl Write) -> io::Result<()> {
        while let Some(incoming) = wire::read(input)? {
            match incoming {
                Incoming::Message(message) => self.server.handle(message),
                Incoming::Malformed(reason) => wire::write_malformed(output, &reason)?,
            }
        }
        while self.server.is_dirty() {
            self.server.idle();
        }
        for job in self.server.take_jobs() {
            self.jobs.retain(|other| other.uri != job.uri);
            self.jobs.push(job);
        }
        self.send(output)
    }

    /// Finds all costs that are wanted.
    pub fn find_costs(&mut self, output: &mut impl Write) -> io::Result<()> {
        for job in std::mem::take(&mut self.jobs) {
            self.server.costs(costs::find(self.server.registry(), &job));
        }
        self.send(output)
    }

    fn send(&mut self, output: &mut impl Write) -> io::Result<()> {
        for message in self.server.take() {
            wire::write(output, &message)?;
        }
        output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// Messages with headers.
    fn framed(messages: &[Value]) -> Vec<u8> {
        let framed = messages.iter().map(|message| {
            let text = message.to_string();
            format!("Content-Length: {}\r\n\r\n{text}", text.len())
        });
        framed.collect::<String>().into_bytes()
    }

    #[test]
    fn answers_come_with_messages_and_lenses_with_costs() {
        let text = "task.program @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %y = fusion.expp %x\n  %z = fusion.exp %x\n  task.return %z\n}\n";
        let document = |text: &str| json!({"uri": "file:///f.fir", "languageId": "fir", "version": 1, "text": text});
        let opened = |text: &str| json!({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document(text)}});
        let mut session = Session::default();
        let mut output = Vec::new();
        let input = framed(&[
            json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"capabilities": {}}}),
            opened(text),
        ]);
        session.answer(&mut input.as_slice(), &mut output).unwrap();
        let told = String::from_utf8(std::mem::take(&mut output)).unwrap();
        assert!(
            told.contains("codeLensProvider") && told.contains("fusion.expp"),
            "{told}"
        );

        let input = framed(&[
            opened(&text.replace("expp", "exp")),
            json!({"jsonrpc": "2.0", "id": 2, "method": "textDocument/codeLens", "params": {"textDocument": {"uri": "file:///f.fir"}}}),
        ]);
        session.answer(&mut input.as_slice(), &mut output).unwrap();
        let told = String::from_utf8(std::mem::take(&mut output)).unwrap();
        assert!(!told.contains("\"id\":2"), "{told}");
        session.find_costs(&mut output).unwrap();
        let told = String::from_utf8(output).unwrap();
        assert!(
            told.contains("\"id\":2") && told.contains("bytes"),
            "{told}"
        );
    }
}
