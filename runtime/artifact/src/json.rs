//! An artifact as JSON.
//!
//! The version is tested before anything else: a newer artifact is refused as such, and never misread. From version 3
//! on the text begins with a checksum of the rest, ignoring spacing: a damaged or edited text is refused. It protects
//! from accidents only; an artifact with a recomputed checksum is trusted, and so is its machine code.

use serde::{Deserialize, Serialize};

use crate::artifact::{Artifact, VERSION};
use crate::error::ArtifactError;

/// The part that every version has.
#[derive(Deserialize)]
struct Header {
    version: u32,
    checksum: Option<String>,
}

/// The first version that has a checksum.
const SEALED: u32 = 3;

/// An artifact as it is written, under its checksum.
#[derive(Serialize)]
struct Sealed<'a> {
    checksum: String,
    #[serde(flatten)]
    artifact: &'a Artifact,
}

impl Artifact {
    /// The artifact as JSON text; the same artifact gives the same bytes.
    pub fn to_json(&self) -> Result<String, ArtifactError> {
        let sealed = Sealed {
            checksum: self.checksum()?,
            artifact: self,
        };
        serde_json::to_string_pretty(&sealed).map_err(refuse)
    }

    /// Reads and validates.
    pub fn from_json(text: &str) -> Result<Artifact, ArtifactError> {
        let Header { version, checksum } = serde_json::from_str(text).map_err(refuse)?;
        check_version(version)?;
        let artifact: Artifact = serde_json::from_str(text).map_err(refuse)?;
        let sealed = version >= SEALED || checksum.is_some();
        if sealed && checksum != Some(artifact.checksum()?) {
            return Err(ArtifactError::Damaged);
        }
        artifact.validate()?;
        Ok(artifact)
    }

    fn checksum(&self) -> Result<String, ArtifactError> {
        Ok(format!("{:016x}", self.hash()?))
    }

    /// 64 bits of FNV-1a over the artifact as JSON without spaces; the checksum is these as hexadecimal digits.
    pub fn hash(&self) -> Result<u64, ArtifactError> {
        let bytes = serde_json::to_vec(self).map_err(refuse)?;
        let mix =
            |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        Ok(bytes.iter().fold(0xcbf2_9ce4_8422_2325, mix))
    }
}

pub(crate) fn check_version(found: u32) -> Result<(), ArtifactError> {
    let known = (1..=VERSION).contains(&found);
    known.then_some(()).ok_or(ArtifactError::Version {
        found,
        supported: VERSION,
    })
}

pub(crate) fn refuse(error: serde_json::Error) -> ArtifactError {
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
        let next = VERSION + 1;
        let text = format!(r#"{{"version": {next}, "news": []}}"#);
        let error = Artifact::from_json(&text).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "artifact of format version {next}, this program reads versions 1 to {VERSION}"
            )
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
    fn an_older_artifact_has_no_checksum() {
        let old = Artifact {
            version: 2,
            ..sample()
        };
        let text = serde_json::to_string(&old).unwrap();
        assert_eq!(Artifact::from_json(&text).unwrap(), old);
        let text = serde_json::to_string(&sample()).unwrap();
        assert_eq!(Artifact::from_json(&text), Err(ArtifactError::Damaged));
    }

    #[test]
    fn spaces_are_no_damage() {
        let text = sample().to_json().unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(Artifact::from_json(&value.to_string()).unwrap(), sample());
    }

    #[test]
    fn every_truncation_and_every_changed_byte_is_an_error_or_no_change() {
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
                    assert_eq!(artifact, sample(), "byte {position}");
                }
            }
        }
    }
}
