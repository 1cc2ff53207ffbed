//! An artifact as JSON.
//!
//! The version is looked at before anything else: a newer artifact is refused as such, and never misread.

use serde::Deserialize;

use crate::artifact::{Artifact, VERSION};
use crate::error::ArtifactError;

/// The part that every version has.
#[derive(Deserialize)]
struct Header {
    version: u32,
}

impl Artifact {
    /// The artifact as JSON text; the same artifact gives the same bytes.
    pub fn to_json(&self) -> Result<String, ArtifactError> {
        serde_json::to_string_pretty(self).map_err(refuse)
    }

    /// Reads and validates.
    pub fn from_json(text: &str) -> Result<Artifact, ArtifactError> {
        let Header { version } = serde_json::from_str(text).map_err(refuse)?;
        check_version(version)?;
        let artifact: Artifact = serde_json::from_str(text).map_err(refuse)?;
        artifact.validate()?;
        Ok(artifact)
    }
}

pub(crate) fn check_version(found: u32) -> Result<(), ArtifactError> {
    let known = (1..=VERSION).contains(&found);
    known.then_some(()).ok_or(ArtifactError::Version {
        found,
        supported: VERSION,
    })
}

fn refuse(error: serde_json::Error) -> ArtifactError {
    ArtifactError::Json {
        message: error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::tests::sample;

    #[test]
    fn round_trips() {
        let artifact = sample();
        let text = artifact.to_json().unwrap();
        assert_eq!(Artifact::from_json(&text).unwrap(), artifact);
        assert_eq!(text, artifact.to_json().unwrap());
    }

    #[test]
    fn a_newer_version_is_refused_whatever_else_it_holds() {
        let error = Artifact::from_json(r#"{"version": 3, "news": []}"#).unwrap_err();
        assert_eq!(
            error.to_string(),
            "artifact of format version 3, this program reads versions 1 to 2"
        );
        assert!(Artifact::from_json(r#"{"version": 0}"#).is_err());
    }

    #[test]
    fn text_that_is_no_artifact_is_refused() {
        for text in [
            "",
            "[]",
            "{}",
            "null",
            "{\"version\": -1}",
            "{\"version\": 1}",
        ] {
            let message = Artifact::from_json(text).unwrap_err().to_string();
            assert!(message.starts_with("not an artifact: "), "{message}");
        }
        let nested = format!("{{\"version\":1,\"x\":{}", "[".repeat(1_000_000));
        assert!(Artifact::from_json(&nested).is_err());
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_an_error_or_a_valid_artifact() {
        let text = sample().to_json().unwrap();
        for end in 0..text.len() {
            assert!(Artifact::from_json(&text[..end]).is_err());
        }
        for position in 0..text.len() {
            for byte in [b'0', b'9', b'-', b'"', b'}'] {
                let mut bytes = text.clone().into_bytes();
                bytes[position] = byte;
                let changed = String::from_utf8(bytes).unwrap();
                if let Ok(artifact) = Artifact::from_json(&changed) {
                    assert_eq!(artifact.validate(), Ok(()));
                }
            }
        }
    }
}
