//! Features of this machine, as the names that `REQUIRES:` and its like ask for.
//!
//! `lit-tests/lit.cfg.py` states the same for stock lit: a change here is a change there.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use crate::tools::Tools;

/// The features of a run. Any name that is not in the set is false.
pub struct Features(BTreeSet<String>);

impl Features {
    /// Looks at the build and at the machine; runs nothing.
    pub fn of_this_machine(tools: &Tools, validate: bool) -> Self {
        let known = [
            ("cpu", cfg!(feature = "codegen")),
            ("codegen", cfg!(feature = "codegen")),
            ("x86-64", cfg!(target_arch = "x86_64")),
            ("aarch64", cfg!(target_arch = "aarch64")),
            ("ptxas", tools.ptxas),
            ("cuda-device", cfg!(feature = "cuda") && has_cuda_device()),
            ("validate", validate),
        ];
        let present = known.into_iter().filter(|(_, present)| *present);
        Self(present.map(|(name, _)| name.to_owned()).collect())
    }

    /// True if the machine has `name`.
    pub fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.iter().map(String::as_str).collect();
        f.write_str(&names.join(", "))
    }
}

/// The driver makes these nodes, also inside containers that were given a GPU.
fn has_cuda_device() -> bool {
    Path::new("/dev/nvidiactl").exists() && Path::new("/dev/nvidia-uvm").exists()
}
