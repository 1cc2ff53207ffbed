//! The simulated GPU that the environment asks for: `FUSER_CUDA=sim`, or `sim:` and its options (docs/gpu-simulator.md).
//!
//! Nothing else chooses it. Its library stands beside the tools.

use std::path::PathBuf;

#[cfg(feature = "cuda")]
use fuser_runtime::RuntimeError;
#[cfg(feature = "cuda")]
use fuser_runtime::cuda::{CudaDevice, Simulator};

/// The variable.
const VARIABLE: &str = "FUSER_CUDA";
/// The library's file.
const LIBRARY: &str = "libfuser_cuda_sim.so";

/// The options of the simulator, if one is asked for.
pub fn simulator() -> Result<Option<String>, String> {
    read(&std::env::var(VARIABLE).unwrap_or_default())
}

fn read(value: &str) -> Result<Option<String>, String> {
    let (device, options) = value.split_once(':').unwrap_or((value, ""));
    match device {
        "" if options.is_empty() => Ok(None),
        "sim" => Ok(Some(options.to_owned())),
        _ => Err(format!(
            "{VARIABLE}: '{value}' is no GPU (expected sim, or sim: and options, as in sim:sm_90,order=reverse)"
        )),
    }
}

/// The GPU of that number: a simulated one where `simulator` has its options, else one of the machine's.
#[cfg(feature = "cuda")]
pub fn open(simulator: Option<String>, ordinal: usize) -> Result<CudaDevice, RuntimeError> {
    let Some(options) = simulator else {
        return CudaDevice::open(ordinal);
    };
    let library = library();
    CudaDevice::open_simulated(&Simulator { library, options }, ordinal)
}

/// The library of the simulator: beside the tool, or where cargo puts it for tests and examples, whichever is newer.
pub fn library() -> PathBuf {
    let tool = std::env::current_exe().unwrap_or_default();
    let folder = tool.parent().unwrap_or(&tool);
    let above = folder.parent().unwrap_or(folder);
    let folders = [folder.join("deps"), folder.into(), above.join("deps")];
    let places = folders.map(|folder| folder.join(LIBRARY));
    let built = |place: &PathBuf| place.metadata().and_then(|file| file.modified()).ok();
    places.into_iter().max_by_key(built).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simulator_is_asked_for_by_name() {
        assert_eq!(read(""), Ok(None));
        assert_eq!(read("sim"), Ok(Some(String::new())));
        assert_eq!(read("sim:sm_90,seed=3"), Ok(Some("sm_90,seed=3".into())));
        for value in ["0", "simulator", ":sm_90", "cuda:0"] {
            assert!(read(value).is_err(), "{value}");
        }
    }
}
