//! Messages on a stream of bytes: a header with the length, then JSON.
//!
//! `lsp-server` provides the message types. Its reader is not used: it ends a session at the first malformed message,
//! and allocates whatever size a header states. Here a malformed message is reported and skipped.

use std::io::{self, BufRead, Read, Write};

use lsp_server::Message;
use serde_json::{Value, json};

/// The maximum bytes of a message: a document at the parser's limit with every character escaped.
const MAX_MESSAGE: u64 = 2 << 30;
/// Bytes of a header's line.
const MAX_HEADER: u64 = 4 << 10;

/// Anything that comes from a client.
#[derive(Debug)]
pub enum Incoming {
    /// A message.
    Message(Message),
    /// Bytes that are none, and the reason.
    Malformed(String),
}

/// Reads the next message; `None` at the end of the stream.
pub fn read(input: &mut impl BufRead) -> io::Result<Option<Incoming>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        input
            .by_ref()
            .take(MAX_HEADER)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        let value = line
            .split_once(':')
            .filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
        if let Some((_, value)) = value {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let Some(length) = length else {
        return Ok(malformed("the header has no Content-Length"));
    };
    let mut body = input.by_ref().take(length);
    if length > MAX_MESSAGE {
        io::copy(&mut body, &mut io::sink())?;
        return Ok(malformed("the message is too long"));
    }
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    if (bytes.len() as u64) < length {
        return Ok(None);
    }
    Ok(match serde_json::from_slice(&bytes) {
        Ok(message) => Some(Incoming::Message(message)),
        Err(error) => malformed(&format!("no message of the protocol: {error}")),
    })
}

fn malformed(reason: &str) -> Option<Incoming> {
    Some(Incoming::Malformed(reason.to_owned()))
}

/// Writes a message.
pub fn write(output: &mut impl Write, message: &Message) -> io::Result<()> {
    message.write(output)
}

/// Writes the answer to a malformed message, which has no number.
pub fn write_malformed(output: &mut impl Write, reason: &str) -> io::Result<()> {
    let code = lsp_server::ErrorCode::ParseError as i32;
    let answer: Value =
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": code, "message": reason}});
    let text = answer.to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(mut bytes: &[u8]) -> Vec<&'static str> {
        let mut kinds = Vec::new();
        while let Some(read) = read(&mut bytes).unwrap() {
            kinds.push(match read {
                Incoming::Message(_) => "message",
                Incoming::Malformed(_) => "malformed",
            });
        }
        kinds
    }

    #[test]
    fn malformed_messages_are_passed_over() {
        let good = "Content-Length: 20\r\n\r\n{\"method\":\"exit\"}   ";
        for bad in [
            "Content-Length: 2\r\n\r\n{]",
            "Content-Length: 2\r\nContent-Type: x\r\n\r\n[]",
            "Content-Type: x\r\n\r\n",
            "content-length: many\r\n\r\n",
            "Content-Length: 3\r\n\r\n\"\u{e9}",
        ] {
            let bytes = format!("{bad}{good}");
            assert_eq!(kinds(bytes.as_bytes()), ["malformed", "message"], "{bad}");
        }
    }
    #[test]
    fn lengths_allocate_nothing() {
        for length in ["2000000000", "99999999999999999", "-1"] {
            let bytes = format!("Content-Length: {length}\r\n\r\n{{}}");
            assert!(kinds(bytes.as_bytes()).len() < 2);
        }
    }
}
