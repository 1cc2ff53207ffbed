//! A record of the standard streams that were closed when the process began.
//!
//! Rust's start-up replaces a closed stdin, stdout or stderr by `/dev/null` before `main` runs: writes to it are lost
//! without an error, and reads from it return an empty text. An initializer of the object file runs earlier and records
//! the state, so that a tool can report a lost result.

/// A standard stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standard {
    Input = 0,
    Output = 1,
    Error = 2,
}

/// True if the stream was closed when the process began; false if the system does not tell.
pub fn was_closed(stream: Standard) -> bool {
    #[cfg(any(target_os = "linux", target_os = "macos"))]
    let closed = start::closed(stream as usize);
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    let closed = {
        let _ = stream;
        false
    };
    closed
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod start {
    use std::ffi::c_int;
    use std::sync::OnceLock;

    /// "Is there such a descriptor?"
    const F_GETFD: c_int = 1;

    /// Written once, before `main`.
    static CLOSED: OnceLock<[bool; 3]> = OnceLock::new();

    // SAFETY: the declaration is that of the C library, which is linked on these systems.
    unsafe extern "C" {
        fn fcntl(descriptor: c_int, command: c_int, ...) -> c_int;
    }

    // SAFETY: the section holds pointers to functions of this type, which the C library's start-up calls one by one. `look`
    // needs nothing of what Rust's start-up sets up: it asks the system, and writes to a cell of this file.
    #[used]
    #[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
    #[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
    static LOOK: extern "C" fn() = look;

    extern "C" fn look() {
        // SAFETY: asking for the flags of a descriptor changes nothing, whether it is open or not.
        let closed = |descriptor| unsafe { fcntl(descriptor, F_GETFD) } == -1;
        let _ = CLOSED.set([0, 1, 2].map(closed));
    }

    pub fn closed(stream: usize) -> bool {
        CLOSED.get().is_some_and(|closed| closed[stream])
    }
}
