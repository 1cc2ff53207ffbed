//! The cached data of one program: artifacts, and other results that spare a second process parsing and passes.
//!
//! A key is text, compared in full: the versions of Fuser and LLVM, the kind of entry, and the program. Unreadable
//! bytes count as a missing entry.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::compile::CompileOptions;

/// The entries of one program.
pub(crate) struct Store {
    #[cfg(feature = "codegen")]
    cache: std::sync::Arc<dyn fuser_codegen::Cache>,
    head: String,
    /// Text that differs where programs differ.
    program: String,
}

impl Store {
    /// The entries of the program with this text, if the options have a cache and the versions are known.
    #[cfg(feature = "codegen")]
    pub(crate) fn of(options: &CompileOptions, program: impl FnOnce() -> String) -> Option<Self> {
        let cache = options.cache.clone()?;
        let passes = crate::compile::VERSION;
        let head = format!("{}passes {passes}\n", fuser_codegen::cache::versions()?);
        Some(Self {
            cache,
            head,
            program: program(),
        })
    }
    /// None: without code there is nothing to keep.
    #[cfg(not(feature = "codegen"))]
    pub(crate) fn of(_: &CompileOptions, _: impl FnOnce() -> String) -> Option<Self> {
        None
    }

    fn key(&self, what: &str) -> String {
        format!("{}{what}\n{}", self.head, self.program)
    }

    /// The bytes that are kept of the program under a name.
    pub(crate) fn get(&self, what: &str) -> Option<Vec<u8>> {
        #[cfg(feature = "codegen")]
        return self.cache.get(&self.key(what));
        #[cfg(not(feature = "codegen"))]
        return Some(self.key(what)).and(None);
    }

    /// Keeps bytes of the program under a name.
    pub(crate) fn put(&self, what: &str, bytes: &[u8]) {
        #[cfg(feature = "codegen")]
        self.cache.put(&self.key(what), bytes);
        #[cfg(not(feature = "codegen"))]
        let _ = (self.key(what), bytes);
    }

    /// Data that is kept as JSON.
    pub(crate) fn read<T: DeserializeOwned>(&self, what: &str) -> Option<T> {
        serde_json::from_slice(&self.get(what)?).ok()
    }

    /// Keeps data as JSON.
    pub(crate) fn write(&self, what: &str, data: &impl Serialize) {
        if let Ok(bytes) = serde_json::to_vec(data) {
            self.put(what, &bytes);
        }
    }
}

#[cfg(all(test, feature = "codegen"))]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    #[derive(Debug, Default)]
    struct Memory(Mutex<BTreeMap<String, Vec<u8>>>);

    impl fuser_codegen::Cache for Memory {
        fn get(&self, key: &str) -> Option<Vec<u8>> {
            self.0.lock().unwrap().get(key).cloned()
        }
        fn put(&self, key: &str, bytes: &[u8]) {
            self.0.lock().unwrap().insert(key.into(), bytes.into());
        }
    }

    #[test]
    fn entries_are_of_one_version_and_one_program() {
        let cache = Arc::new(Memory::default());
        let options = CompileOptions {
            cache: Some(cache.clone()),
            ..CompileOptions::default()
        };
        let store = |program: &str| Store::of(&options, || program.into()).unwrap();
        store("f").write("what", &1);
        assert_eq!(store("f").read("what"), Some(1));
        assert_eq!(store("g").read::<u32>("what"), None);
        assert_eq!(store("f").read::<u32>("else"), None);
        assert_eq!(store("f").read::<String>("what"), None);
        let newer = Store {
            head: store("f").head.replace("passes ", "passes 9"),
            ..store("f")
        };
        assert_eq!(newer.read::<u32>("what"), None);
        let compiler = Store {
            head: store("f").head.replace("llvm ", "llvm /other"),
            ..store("f")
        };
        assert_eq!(compiler.read::<u32>("what"), None);
        assert!(Store::of(&CompileOptions::default(), String::new).is_none());
    }
}
