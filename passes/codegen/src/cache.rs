//! A cache of compiled kernels: what is the same in all that determines its code is compiled once.
//!
//! A key is text: the versions of Fuser and LLVM, the target, the options and the kernel as IR, without names and places of values. It is compared
//! whole, so that a hit is the code of this very kernel. What a [`Cache`] keeps, and for how long, is its own business: this crate knows no
//! files. Without a known LLVM ([`llvm::stamp`]) nothing is kept.

use std::fmt::Debug;

use fuser_artifact::Code;
use fuser_dialects::kernel::product::Product;
use fuser_ir::print::{PrintOptions, print};
use fuser_ir::{Ir, Op};

use crate::llvm;
use crate::lower::Options;
use crate::target::Target;

/// Bytes by key, from any thread. A cache may forget; it never gives bytes that were put under another key.
pub trait Cache: Debug + Send + Sync {
    /// The bytes that were put under `key`.
    fn get(&self, key: &str) -> Option<Vec<u8>>;
    /// Keeps bytes, or does not.
    fn put(&self, key: &str, bytes: &[u8]);
}

/// The version of the code generator: a digest of the sources that determine a kernel's code.
const FUSER: &str = env!("FUSER_SOURCES");

/// The first lines of every key; `None` if the version of LLVM is unknown.
pub fn versions() -> Option<String> {
    Some(format!("fuser {FUSER}\nllvm {}\n", llvm::stamp()?))
}

/// The key of a kernel that is compiled under the name `symbol` and whose parameters `far` are beyond the caches.
pub fn key(
    ir: &Ir,
    func: Op,
    symbol: &str,
    far: &[usize],
    target: &Target,
    options: Options,
) -> Option<String> {
    let mut versions = versions()?;
    let anonymous = PrintOptions {
        anonymous: true,
        ..PrintOptions::default()
    };
    versions += &format!("{target:?}\n{options:?}\n{symbol} {far:?}\n");
    Some(versions + &print(ir, func, &anonymous))
}

/// The key of a product.
pub fn product_key(
    product: &Product,
    symbol: &str,
    target: &Target,
    options: Options,
) -> Option<String> {
    let versions = versions()?;
    Some(versions + &format!("{target:?}\n{options:?}\n{symbol}\n{product:?}\n"))
}

/// The code of a kernel and the bytes of shared memory that it has.
pub fn encode(code: &Code, shared_bytes: u64) -> Vec<u8> {
    let (kind, code) = match code {
        Code::Object(bytes) => (OBJECT, bytes.as_slice()),
        Code::Ptx(text) => (PTX, text.as_bytes()),
    };
    [&[kind], &shared_bytes.to_le_bytes()[..], code].concat()
}

/// The reverse of [`encode`].
pub fn decode(bytes: &[u8]) -> Option<(Code, u64)> {
    let (kind, rest) = bytes.split_first()?;
    let (shared, code) = rest.split_first_chunk()?;
    let code = match *kind {
        OBJECT => Code::Object(code.to_vec()),
        PTX => Code::Ptx(String::from_utf8(code.to_vec()).ok()?),
        _ => return None,
    };
    Some((code, u64::from_le_bytes(*shared)))
}

const OBJECT: u8 = 0;
const PTX: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_read_as_it_was_written() {
        for code in [Code::Object(vec![0, 255, 7]), Code::Ptx("// é".into())] {
            assert_eq!(decode(&encode(&code, 48)), Some((code.clone(), 48)));
        }
        assert_eq!(decode(&[]), None);
        assert_eq!(decode(&[PTX, 0, 0, 0, 0, 0, 0, 0]), None);
        assert_eq!(decode(&[PTX, 0, 0, 0, 0, 0, 0, 0, 0, 255]), None);
        assert_eq!(decode(&[2, 0, 0, 0, 0, 0, 0, 0, 0]), None);
    }
}
