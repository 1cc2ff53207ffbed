//! The simulated GPU, selected by the environment: `FUSER_CUDA=sim`, or `sim:` and its options (docs/gpu-simulator.md).
//!
//! No other setting selects it. Its library lies beside the tools.

use std::path::{Path, PathBuf};

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

/// The GPU with this number: a simulated one if `simulator` has its options, else one of the machine's.
#[cfg(feature = "cuda")]
pub fn open(simulator: Option<String>, ordinal: usize) -> Result<CudaDevice, RuntimeError> {
    open_beside(
        &std::env::current_exe().unwrap_or_default(),
        simulator,
        ordinal,
    )
}

/// As [`open`]; the simulator's library lies beside the file `tool`.
#[cfg(feature = "cuda")]
pub fn open_beside(
    tool: &Path,
    simulator: Option<String>,
    ordinal: usize,
) -> Result<CudaDevice, RuntimeError> {
    let Some(options) = simulator else {
        return CudaDevice::open(ordinal);
    };
    let library = library_beside(tool);
    if let Some(reason) = missing(&library) {
        return Err(RuntimeError::NoDevice { reason });
    }
    CudaDevice::open_simulated(&Simulator { library, options }, ordinal)
}

/// The message where there is no library of the simulator.
#[cfg(feature = "cuda")]
fn missing(library: &Path) -> Option<String> {
    let folder = library.parent().unwrap_or(library).display();
    (!library.is_file()).then(|| {
        format!(
            "{VARIABLE}=sim needs {LIBRARY}, which is not beside the tool in {folder}: \
             'cargo build -p fuser-cuda-sim' builds it, with '--release' for a tool of that profile"
        )
    })
}

/// The library of the simulator: beside the tool, or in cargo's output folder for tests and examples, whichever is
/// newer.
pub fn library() -> PathBuf {
    library_beside(&std::env::current_exe().unwrap_or_default())
}

fn library_beside(tool: &Path) -> PathBuf {
    let folder = tool.parent().unwrap_or(tool);
    let above = folder.parent().unwrap_or(folder);
    let folders = [folder.join("deps"), above.join("deps"), folder.into()];
    let places = folders.map(|folder| folder.join(LIBRARY));
    let built = |place: &PathBuf| place.metadata().and_then(|file| file.modified()).ok();
    places.into_iter().max_by_key(built).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "cuda")]
    #[test]
    fn a_library_that_is_not_there_says_how_it_is_built() {
        let told = missing(Path::new("/nowhere/x.so")).unwrap_or_default();
        assert!(told.contains("cargo build -p fuser-cuda-sim"), "{told}");
        assert!(told.contains("in /nowhere"), "{told}");
    }

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
