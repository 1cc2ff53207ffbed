//! Stubs for LLVM's functions, and the loading that fills their slots.
//!
//! The slots are written once, under the lock of [`LIBRARY`], before any caller of [`load`] goes on: they are constants from then on.

use std::error::Error;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::UNIX_EPOCH;

use libloading::Library;

use super::RELEASE;
use super::functions::NAMES;
use crate::error::CodegenError;

/// The library, which is never closed, or the reasons that it could not be loaded.
static LIBRARY: OnceLock<Result<Library, CodegenError>> = OnceLock::new();

/// The addresses that stubs jump to, in the order of [`NAMES`].
#[repr(transparent)]
pub(super) struct Slots<const COUNT: usize>([AtomicPtr<c_void>; COUNT]);

impl<const COUNT: usize> Slots<COUNT> {
    pub const fn unloaded() -> Self {
        Slots([const { AtomicPtr::new(unloaded as *const () as *mut c_void) }; COUNT])
    }
}

/// The function that a stub calls before LLVM is loaded: a mistake of this crate, which nothing can be computed after.
extern "C" fn unloaded() -> ! {
    eprintln!("LLVM was called before it was loaded");
    std::process::abort()
}

/// Makes a list of names into `NAMES`, `SLOTS` and a stub for each.
macro_rules! stubs {
    ($($name:ident)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Number { $($name),* }

        /// The names of the functions.
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];
        /// Their addresses.
        pub(super) static SLOTS: super::lazy::Slots<{ NAMES.len() }> = super::lazy::Slots::unloaded();

        #[allow(non_snake_case)]
        mod stub {
            use super::{Number, SLOTS};
            $(
                // SAFETY: the name is LLVM's, which nothing else of the program defines. The jump leaves stack and registers as the caller of
                // LLVM's function has set them, but for one that calling conventions give to stubs.
                #[unsafe(no_mangle)]
                #[unsafe(naked)]
                extern "C" fn $name() {
                    #[cfg(target_arch = "x86_64")]
                    std::arch::naked_asm!(
                        "jmp qword ptr [rip + {slots} + {at}]",
                        slots = sym SLOTS,
                        at = const 8 * Number::$name as usize,
                    );
                    #[cfg(target_arch = "aarch64")]
                    std::arch::naked_asm!(
                        "adrp x16, {slots} + {at}",
                        "ldr x16, [x16, :lo12:{slots} + {at}]",
                        "br x16",
                        slots = sym SLOTS,
                        at = const 8 * Number::$name as usize,
                    );
                }
            )*
        }
    };
}
pub(super) use stubs;

/// The paths that were known when this crate was built: the library that its build made, LLVM's own.
const PLACES: [Option<&str>; 2] = [option_env!("FUSER_OWN_LLVM"), option_env!("FUSER_LLVM")];

/// Path, size and time of the first of [`PLACES`] that is there, or of the library that was installed with the program.
pub(super) fn stamp() -> Option<String> {
    let file_of = |place: &str| Some((place.to_owned(), std::fs::metadata(place).ok()?));
    let known = PLACES.into_iter().flatten().find_map(file_of);
    let (place, file) = known.or_else(|| file_of(&beside()?))?;
    let changed = file.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    Some(format!("{place} {} {}", file.len(), changed.as_nanos()))
}

pub(super) fn load() -> Result<(), CodegenError> {
    let library = LIBRARY.get_or_init(|| {
        let beside = beside();
        let places = PLACES.into_iter().flatten().chain(beside.as_deref());
        let library = open(places.chain(["libLLVM.so.22.1", "libLLVM-22.so"]))?;
        fill(&library)?;
        Ok(library)
    });
    library.as_ref().map(|_| ()).map_err(CodegenError::clone)
}

/// The library that the build created, if it is installed beside the program or library that contains this code.
fn beside() -> Option<String> {
    let place = installed(own_file()?.parent()?)?;
    Some(place.to_string_lossy().into_owned())
}

/// The library in `folder`, where a package for Python has it, or in `../lib/fuser`, where one for Debian has it.
fn installed(folder: &Path) -> Option<PathBuf> {
    let places = ["libfuser-llvm.so", "../lib/fuser/libfuser-llvm.so"];
    let mut places = places.into_iter().map(|place| folder.join(place));
    places.find(|place| place.exists())
}

/// The file that the code at hand was loaded from. The system's loader knows a library by its path, and a program by what the shell was given.
fn own_file() -> Option<PathBuf> {
    let mut found = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: the loader writes the structure, and gives 0 where it knows nothing; the name is its own, and ends with a zero.
    let name = unsafe {
        let known = libc::dladdr(own_file as *const c_void, found.as_mut_ptr());
        let name = found.assume_init().dli_fname;
        (known != 0 && !name.is_null()).then(|| std::ffi::CStr::from_ptr(name).to_owned())?
    };
    match name.to_str().ok()? {
        path if path.contains('/') => std::fs::canonicalize(path).ok(),
        _ => std::env::current_exe().ok(),
    }
}

/// The first of the places that has LLVM of our release.
fn open<'a>(places: impl Iterator<Item = &'a str>) -> Result<Library, CodegenError> {
    let mut tried = Vec::new();
    for place in places {
        // SAFETY: loading runs the library's constructors, which register its options and passes and touch nothing of ours.
        match unsafe { Library::new(place) } {
            Err(error) => tried.push(reason(&error)),
            Ok(library) => match release(&library) {
                Some(RELEASE) => return Ok(library),
                found => tried.push(format!("{place}: {}", other_release(found))),
            },
        }
    }
    Err(CodegenError::NoLlvm { tried })
}

fn release(library: &Library) -> Option<(u32, u32)> {
    type GetVersion = unsafe extern "C" fn(*mut u32, *mut u32, *mut u32);
    let (mut major, mut minor, mut patch) = (0, 0, 0);
    // SAFETY: the function has this type in every release that has it, and writes three numbers.
    unsafe {
        let version = library.get::<GetVersion>("LLVMGetVersion").ok()?;
        version(&mut major, &mut minor, &mut patch);
    }
    Some((major, minor))
}

fn other_release(found: Option<(u32, u32)>) -> String {
    match found {
        Some((major, minor)) => format!("this is LLVM {major}.{minor}"),
        None => "this is not LLVM".into(),
    }
}

/// The message of the system's loader, which names the library.
fn reason(error: &libloading::Error) -> String {
    error
        .source()
        .map_or_else(|| error.to_string(), |source| source.to_string())
}

fn fill(library: &Library) -> Result<(), CodegenError> {
    for (name, slot) in NAMES.iter().zip(&super::functions::SLOTS.0) {
        // SAFETY: only the address is taken here; its type is what `llvm-sys` declares for this release.
        let found = unsafe { library.get::<*mut c_void>(*name) };
        let symbol = found.map_err(|error| CodegenError::NoLlvm {
            tried: vec![reason(&error)],
        })?;
        slot.store(*symbol, Ordering::Release);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_llvm_is_an_error_that_names_each_place() {
        let places = ["/nowhere/libLLVM-22.so", "libc.so.6"];
        let error = open(places.into_iter()).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("/nowhere/libLLVM-22.so") && text.contains("libc.so.6: this is not LLVM"),
            "{text}"
        );
    }

    /// A build that could link no library loads LLVM's own, and there is nothing to test.
    #[test]
    fn the_library_of_the_build_has_each_function() {
        let Some(place) = PLACES[0] else {
            return eprintln!("unsupported: no static archives of LLVM");
        };
        fill(&open([place].into_iter()).unwrap()).unwrap();
    }

    #[test]
    fn an_installed_library_is_found_in_either_place() {
        let root = tempfile::tempdir().unwrap();
        let (bin, lib) = (root.path().join("bin"), root.path().join("lib/fuser"));
        let library = |folder: &Path| std::fs::write(folder.join("libfuser-llvm.so"), "").unwrap();
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::create_dir_all(&lib).unwrap();
        assert_eq!(installed(&bin), None);
        library(&lib);
        assert_eq!(
            installed(&bin),
            Some(bin.join("../lib/fuser/libfuser-llvm.so"))
        );
        library(&bin);
        assert_eq!(installed(&bin), Some(bin.join("libfuser-llvm.so")));
        assert!(own_file().unwrap().is_absolute());
    }

    #[test]
    fn many_threads_load_it_once() {
        let threads: Vec<_> = (0..8)
            .map(|_| std::thread::spawn(super::super::version))
            .collect();
        for thread in threads {
            assert!(thread.join().unwrap().unwrap().starts_with("22.1."));
        }
    }
}
