//! A program as text, parsed only if more is needed than a cache contains.
//!
//! A cache contains the signature, and the number of operations for given extents. If it also contains an artifact, a
//! program runs without being parsed.

use std::sync::OnceLock;

use fuser_ir::Diagnostics;
use fuser_runtime::Inputs;

use super::store::Store;
use super::{Loaded, Result, Session, Signature, cost};
use crate::compile::CompileOptions;
use crate::tool::load::Reader;

/// The text of a program, its signature, and the program itself once it is parsed.
pub struct Source {
    reader: Reader,
    file: u32,
    name: String,
    text: String,
    entry: Option<String>,
    /// The program's symbol and its signature.
    known: (String, Signature),
    store: Option<Store>,
    options: CompileOptions,
    loaded: OnceLock<Loaded>,
}

/// The entry with symbol and signature.
const SIGNATURE: &str = "signature";

impl Source {
    /// The program `entry`, or the only one, of a text that is number `file` of a source map and named `name`, with the
    /// warnings of the text. It is parsed now, unless the cache of `options` has its signature. A text with warnings is
    /// not cached.
    ///
    /// # Errors
    /// The mistakes of the text; a missing program.
    pub fn read(
        (file, name): (u32, &str),
        text: String,
        entry: Option<&str>,
        options: &CompileOptions,
    ) -> Result<(Self, Diagnostics)> {
        let store = Store::of(options, || identity(entry, &text));
        let stage = options.stage("Cache");
        let known = store.as_ref().and_then(|store| store.read(SIGNATURE));
        drop(stage);
        let found = known.is_some();
        let mut source = Self {
            reader: Reader::new(fuser_dialects::registry()),
            file,
            name: name.into(),
            text,
            entry: entry.map(str::to_owned),
            known: known.unwrap_or_default(),
            store,
            options: options.clone(),
            loaded: OnceLock::new(),
        };
        if found {
            return Ok((source, Diagnostics::default()));
        }
        let (loaded, warnings) = source.parse()?;
        let symbol = loaded.ir.symbol_name(loaded.program).unwrap_or_default();
        source.known = (symbol.to_owned(), loaded.signature.clone());
        if let Some(store) = source.store.as_ref().filter(|_| warnings.items.is_empty()) {
            store.write(SIGNATURE, &source.known);
        }
        source.loaded = loaded.into();
        Ok((source, warnings))
    }

    fn parse(&self) -> Result<(Loaded, Diagnostics)> {
        let Self { file, name, .. } = self;
        let stage = self.options.stage("Parser");
        let (ir, module, warnings) = self.reader.load(*file, name, &self.text)?;
        drop(stage);
        let loaded = Session::load_module(ir, module, self.entry.as_deref())?;
        Ok((loaded, warnings))
    }

    /// The program, parsed now if it was not before.
    ///
    /// # Errors
    /// The mistakes of the text.
    pub fn loaded(&self) -> Result<&Loaded> {
        if let Some(loaded) = self.loaded.get() {
            return Ok(loaded);
        }
        let (loaded, _) = self.parse()?;
        Ok(self.loaded.get_or_init(|| loaded))
    }

    /// The program, if it has been parsed.
    pub fn parsed(&self) -> Option<&Loaded> {
        self.loaded.get()
    }

    /// The name of the file.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program's symbol.
    pub fn symbol(&self) -> &str {
        &self.known.0
    }

    /// Named extents, inputs and names of outputs.
    pub fn signature(&self) -> &Signature {
        &self.known.1
    }

    /// Refuses a program that needs more than `most` element operations on these inputs.
    ///
    /// # Errors
    /// Such a program, as a diagnostic at its most expensive op.
    pub fn affordable(&self, inputs: &Inputs, most: u64) -> Result<()> {
        let what = format!("operations {:?}", inputs.extents);
        let known = self.store.as_ref().and_then(|store| store.read(&what));
        if known.is_some_and(|needed: f64| needed < most as f64) {
            return Ok(());
        }
        let loaded = self.loaded()?;
        let names = self.signature().extents.iter().cloned();
        let extents = names.zip(inputs.extents.iter().copied()).collect();
        let needed = cost::check(&loaded.ir, loaded.program, &extents, most)?;
        if let Some(store) = &self.store {
            store.write(&what, &(needed as f64));
        }
        Ok(())
    }

    /// Text that differs where programs differ.
    #[cfg(feature = "codegen")]
    pub(super) fn identity(&self) -> String {
        identity(self.entry.as_deref(), &self.text)
    }
}

fn identity(entry: Option<&str>, text: &str) -> String {
    format!("text {entry:?}\n{text}")
}
