//! The processor of this process, by LLVM's names.
//!
//! LLVM detects it, at most once in a process. A [`Cache`] keeps the result, under a key derived from the processor's
//! identification.

use std::sync::OnceLock;

use inkwell::targets::TargetMachine;

use crate::cache::{self, Cache};
use crate::error::CodegenError;
use crate::llvm;

/// A processor: LLVM's triple, name and features.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    pub triple: String,
    pub cpu: String,
    pub features: String,
}

/// The answer, which is the same for the life of a process.
static HOST: OnceLock<Host> = OnceLock::new();

/// The processor of this process; LLVM is loaded only if neither this process nor the cache knows the answer.
pub fn host(cache: Option<&dyn Cache>) -> Result<&'static Host, CodegenError> {
    if let Some(host) = HOST.get() {
        return Ok(host);
    }
    let key = cache.and_then(|_| Some(format!("{}host {}", cache::versions()?, identity()?)));
    let kept = cache.zip(key.as_ref());
    let known = kept.and_then(|(cache, key)| Host::decode(cache.get(key)?));
    if let Some(host) = known {
        return Ok(HOST.get_or_init(|| host));
    }
    let host = ask()?;
    if let Some((cache, key)) = kept {
        cache.put(key, host.encode().as_bytes());
    }
    Ok(HOST.get_or_init(|| host))
}

fn ask() -> Result<Host, CodegenError> {
    llvm::load()?;
    let text = |value: String| value.trim_end_matches('\0').to_string();
    let triple = TargetMachine::get_default_triple();
    Ok(Host {
        triple: triple.as_str().to_string_lossy().into_owned(),
        cpu: text(TargetMachine::get_host_cpu_name().to_string()),
        features: text(TargetMachine::get_host_cpu_features().to_string()),
    })
}

impl Host {
    fn encode(&self) -> String {
        format!("{}\n{}\n{}", self.triple, self.cpu, self.features)
    }

    fn decode(bytes: Vec<u8>) -> Option<Host> {
        let text = String::from_utf8(bytes).ok()?;
        let mut lines = text.split('\n').map(str::to_string);
        Some(Host {
            triple: lines.next()?,
            cpu: lines.next()?,
            features: lines.next()?,
        })
    }
}

/// The processor's identification and the state saved by the system: everything that LLVM's detection depends on,
/// without values that differ between cores.
#[cfg(target_arch = "x86_64")]
fn identity() -> Option<String> {
    use std::arch::x86_64::__cpuid_count;
    /// A leaf and a subleaf of `cpuid`, and the relevant result registers (eax, ebx, ecx, edx).
    const LEAVES: [(u32, u32, [bool; 4]); 11] = [
        (0, 0, [true; 4]),
        (1, 0, [true, false, true, true]),
        (7, 0, [true; 4]),
        (7, 1, [true; 4]),
        (0xd, 1, [true, false, false, false]),
        (0x14, 0, [false, true, false, false]),
        (0x19, 0, [false, true, false, false]),
        (0x1e, 1, [true, false, false, false]),
        (0x24, 0, [false, true, false, false]),
        (0x8000_0001, 0, [true, false, true, true]),
        (0x8000_0008, 0, [false, true, false, false]),
    ];
    // SAFETY: every x86-64 processor has the instruction; it answers zeros, or its last leaf, to leaves that it does not know.
    #[allow(unused_unsafe)]
    let answer = |leaf, part| unsafe { __cpuid_count(leaf, part) };
    let leaf = |&(leaf, part, counts): &(u32, u32, [bool; 4])| {
        let found = answer(leaf, part);
        let registers = [found.eax, found.ebx, found.ecx, found.edx];
        let kept = registers.iter().zip(counts).filter(|(_, counts)| *counts);
        kept.map(|(register, _)| format!("{register:x} "))
            .collect::<String>()
    };
    let leaves: String = LEAVES.iter().map(leaf).collect();
    let saved = (
        is_x86_feature_detected!("avx"),
        is_x86_feature_detected!("avx512f"),
    );
    Some(format!("{leaves}{saved:?}"))
}

#[cfg(not(target_arch = "x86_64"))]
fn identity() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_processor_is_read_as_it_was_written() {
        let host = ask().unwrap();
        assert_eq!(Host::decode(host.encode().into_bytes()), Some(host));
        assert_eq!(Host::decode(b"x86_64\nznver4".to_vec()), None);
    }

    #[test]
    fn every_core_says_the_same() {
        let threads: Vec<_> = (0..16).map(|_| std::thread::spawn(identity)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), identity());
        }
    }
}
