//! An artifact as bytes, for caches: the plan as JSON, followed by the code of its kernels.
//!
//! The bytes belong to one version and one build of Fuser, and no other version is read. They hold no checksum: their
//! keeper checks that they are whole.

use crate::artifact::{Artifact, Code, KernelCode};
use crate::error::ArtifactError;
use crate::json::{check_version, refuse};

impl Artifact {
    /// The artifact as bytes, without its further versions.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ArtifactError> {
        let mut plan = self.clone();
        plan.otherwise = None;
        let mut code = Vec::new();
        for kernel in &mut plan.kernels {
            for part in parts(kernel) {
                let bytes = take(part);
                code.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
                code.extend_from_slice(&bytes);
            }
        }
        let plan = serde_json::to_vec(&plan).map_err(refuse)?;
        let length = (plan.len() as u64).to_le_bytes();
        Ok([&length[..], &plan, &code].concat())
    }

    /// Reads the output of [`to_bytes`](Self::to_bytes), and validates it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Artifact, ArtifactError> {
        let (plan, mut code) = counted(bytes)?;
        let mut artifact: Artifact = serde_json::from_slice(plan).map_err(refuse)?;
        check_version(artifact.version)?;
        for kernel in &mut artifact.kernels {
            for part in parts(kernel) {
                let (bytes, rest) = counted(code)?;
                match part {
                    Code::Object(object) => *object = bytes.to_vec(),
                    Code::Ptx(text) => {
                        let read = String::from_utf8(bytes.to_vec());
                        *text = read.map_err(|_| ArtifactError::Damaged)?;
                    }
                }
                code = rest;
            }
        }
        artifact.validate()?;
        Ok(artifact)
    }
}

/// The codes of a kernel.
fn parts(kernel: &mut KernelCode) -> impl Iterator<Item = &mut Code> {
    std::iter::once(&mut kernel.code).chain(&mut kernel.any_address)
}

/// The bytes of a code, which is left empty.
fn take(code: &mut Code) -> Vec<u8> {
    match code {
        Code::Object(bytes) => std::mem::take(bytes),
        Code::Ptx(text) => std::mem::take(text).into_bytes(),
    }
}

/// The bytes counted by the number before them, and the rest.
fn counted(bytes: &[u8]) -> Result<(&[u8], &[u8]), ArtifactError> {
    let split = || {
        let (length, rest) = bytes.split_first_chunk()?;
        rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
    };
    split().ok_or(ArtifactError::Damaged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::Target;

    fn artifact() -> Artifact {
        let mut artifact = Artifact::new("f", Target::Cuda { sm: 80 });
        let kernel = |symbol: &str, code, any_address| KernelCode {
            name: "k".into(),
            symbol: symbol.into(),
            code,
            shared_bytes: 3,
            any_address,
            lines: true,
        };
        artifact.kernels = vec![
            kernel(
                "k0",
                Code::Ptx("// é".into()),
                Some(Code::Ptx("// b".into())),
            ),
            kernel("k1", Code::Ptx("// c".into()), None),
        ];
        artifact
    }

    #[test]
    fn an_artifact_is_read_as_it_was_written() {
        let mut object = artifact();
        object.target = Target::Cpu {
            triple: "t".into(),
            cpu: "c".into(),
            features: String::new(),
        };
        object.kernels.truncate(1);
        object.kernels[0].code = Code::Object(vec![0, 255, 7]);
        object.kernels[0].any_address = None;
        for artifact in [artifact(), object] {
            let bytes = artifact.to_bytes().unwrap();
            assert_eq!(Artifact::from_bytes(&bytes).unwrap(), artifact);
        }
    }

    #[test]
    fn bytes_that_are_cut_off_are_refused() {
        let bytes = artifact().to_bytes().unwrap();
        for at in 0..bytes.len() {
            assert!(Artifact::from_bytes(&bytes[..at]).is_err(), "{at} bytes");
        }
    }
}
