//! Nothing panics for any input: a panic is caught and becomes a finding.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::Finding;

/// Runs `body`; returns its result, or a panic as a finding.
pub fn run<T>(stage: &str, body: impl FnOnce() -> T) -> Result<T, Finding> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| {
        let text = match (
            payload.downcast_ref::<&str>(),
            payload.downcast_ref::<String>(),
        ) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "no message".to_owned(),
        };
        Finding::new(stage, format!("panic: {text}"))
    })
}
