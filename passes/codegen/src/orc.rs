//! Loads object code into this process: a safe wrapper over LLVM's ORC.
//!
//! An [`Loaded`] owns the linked code; dropping it unmaps the code, so a caller keeps it alive while it calls in.
//! Objects see each other and the short list of symbols of [`runtime_symbols`], and nothing else of the process: any
//! other libcall that LLVM slipped in (`fmod`, `__truncsfbf2`) is an error at load time, never a jump to nowhere.
//!
//! Never aborts on bad input: LLVM's errors come back as [`CodegenError::Load`].

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ptr;
use std::sync::{Mutex, PoisonError};

use inkwell::llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use inkwell::llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use inkwell::llvm_sys::orc2::lljit::*;
use inkwell::llvm_sys::orc2::*;

use fuser_artifact::abi::CpuEntry;

use crate::error::CodegenError;
use crate::target;

// SAFETY: the declarations are those of the C standard.
unsafe extern "C" {
    fn memcpy(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memmove(to: *mut c_void, from: *const c_void, bytes: usize) -> *mut c_void;
    fn memset(to: *mut c_void, byte: c_int, bytes: usize) -> *mut c_void;
    fn memcmp(a: *const c_void, b: *const c_void, bytes: usize) -> c_int;
}

/// Functions with the C ABI, by the names of the C library, that compute as functions of Rust's.
macro_rules! for_kernels {
    ($($name:ident($($arg:ident),+): $float:ty = $function:path;)+) => {
        $(extern "C" fn $name($($arg: $float),+) -> $float {
            $function($($arg),+)
        })+
    };
}

for_kernels! {
    fmaf(a, b, c): f32 = f32::mul_add;
    fma(a, b, c): f64 = f64::mul_add;
    floorf(x): f32 = f32::floor;
    floor(x): f64 = f64::floor;
    ceilf(x): f32 = f32::ceil;
    ceil(x): f64 = f64::ceil;
    truncf(x): f32 = f32::trunc;
    trunc(x): f64 = f64::trunc;
    roundevenf(x): f32 = f32::round_ties_even;
    roundeven(x): f64 = f64::round_ties_even;
}

/// The functions that LLVM may emit calls to on its own, by the names and as the standard of the C library: memory, and
/// operations for which processors below x86-64-v3 (`fma`) and below x86-64-v2 (rounding) have no instruction. Each of
/// these has one right result, so that it does not matter whose function computes it.
pub fn runtime_symbols() -> [(&'static CStr, u64); 14] {
    [
        (c"memcpy", memcpy as *const () as u64),
        (c"memmove", memmove as *const () as u64),
        (c"memset", memset as *const () as u64),
        (c"memcmp", memcmp as *const () as u64),
        (c"fmaf", fmaf as *const () as u64),
        (c"fma", fma as *const () as u64),
        (c"floorf", floorf as *const () as u64),
        (c"floor", floor as *const () as u64),
        (c"ceilf", ceilf as *const () as u64),
        (c"ceil", ceil as *const () as u64),
        (c"truncf", truncf as *const () as u64),
        (c"trunc", trunc as *const () as u64),
        (c"roundevenf", roundevenf as *const () as u64),
        (c"roundeven", roundeven as *const () as u64),
    ]
}

/// Linked, executable code.
#[derive(Debug)]
pub struct Loaded {
    jit: LLVMOrcLLJITRef,
    library: LLVMOrcJITDylibRef,
    /// Errors that the session reported; LLVM holds their address, so they are dropped after the JIT.
    reports: Box<Reports>,
}

/// The causes behind "failed to materialize", which ORC reports aside: `Symbols not found: [ fmod ]`.
type Reports = Mutex<Vec<String>>;

// SAFETY: LLJIT guards its session by a lock of its own, lookups only read, and nothing here hands out a reference into it.
unsafe impl Send for Loaded {}
// SAFETY: as above; `lookup` takes the session lock inside LLVM.
unsafe impl Sync for Loaded {}

impl Loaded {
    /// Links `objects` together for this process.
    pub fn new(objects: &[&[u8]]) -> Result<Self, CodegenError> {
        target::initialize()?;
        let loaded = Self::empty()?;
        loaded.define_runtime_symbols()?;
        for object in objects {
            loaded.add(object)?;
        }
        Ok(loaded)
    }

    fn empty() -> Result<Self, CodegenError> {
        let mut jit = ptr::null_mut();
        // SAFETY: a null builder asks for the defaults; `jit` is written only on success.
        check(unsafe { LLVMOrcCreateLLJIT(&mut jit, ptr::null_mut()) })?;
        let reports: Box<Reports> = Box::default();
        // SAFETY: `jit` is live; a bare library has no link order, so it does not see the process's symbols. The
        // reporter's context is boxed and outlives the session (see `drop`).
        let library = unsafe {
            let session = LLVMOrcLLJITGetExecutionSession(jit);
            LLVMOrcExecutionSessionSetErrorReporter(
                session,
                report,
                (&raw const *reports).cast_mut().cast(),
            );
            LLVMOrcExecutionSessionCreateBareJITDylib(session, c"kernels".as_ptr())
        };
        Ok(Loaded {
            jit,
            library,
            reports,
        })
    }

    fn define_runtime_symbols(&self) -> Result<(), CodegenError> {
        let mut pairs = runtime_symbols().map(|(name, address)| LLVMOrcCSymbolMapPair {
            Name: self.intern(name),
            Sym: LLVMJITEvaluatedSymbol {
                Address: address,
                Flags: exported(),
            },
        });
        // SAFETY: the pairs outlive the call, which takes over one reference to each interned name.
        check(unsafe {
            let unit = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            LLVMOrcJITDylibDefine(self.library, unit)
        })
    }

    fn add(&self, object: &[u8]) -> Result<(), CodegenError> {
        // SAFETY: the bytes are copied; the buffer's ownership passes to the JIT, on failure too.
        check(unsafe {
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(
                object.as_ptr().cast::<c_char>(),
                object.len(),
                c"kernel".as_ptr(),
            );
            LLVMOrcLLJITAddObjectFile(self.jit, self.library, buffer)
        })
    }

    /// The address of `symbol`; linking happens at the first lookup, so this is where unresolved symbols show.
    pub fn lookup(&self, symbol: &str) -> Result<u64, CodegenError> {
        let name = CString::new(symbol)
            .map_err(|_| CodegenError::Load("a symbol holds a NUL byte".into()))?;
        let mut order = LLVMOrcCJITDylibSearchOrderElement {
            JD: self.library,
            JDLookupFlags:
                LLVMOrcJITDylibLookupFlags::LLVMOrcJITDylibLookupFlagsMatchExportedSymbolsOnly,
        };
        let mut wanted = LLVMOrcCLookupSetElement {
            Name: self.intern(&name),
            LookupFlags: LLVMOrcSymbolLookupFlags::LLVMOrcSymbolLookupFlagsRequiredSymbol,
        };
        let mut answer: Option<Result<u64, CodegenError>> = None;
        // SAFETY: LLJIT without compile threads materializes on the calling thread, so `answer` is written before the
        // call returns and its address is not kept; `wanted`'s reference is taken over by the lookup.
        unsafe {
            LLVMOrcExecutionSessionLookup(
                LLVMOrcLLJITGetExecutionSession(self.jit),
                LLVMOrcLookupKind::LLVMOrcLookupKindStatic,
                &mut order,
                1,
                &mut wanted,
                1,
                receive,
                (&raw mut answer).cast(),
            );
        }
        let answer =
            answer.unwrap_or_else(|| Err(CodegenError::Load(format!("no answer for `{symbol}`"))));
        answer.map_err(|error| self.with_reports(error))
    }

    /// A kernel. Calling it is unsafe: the caller answers for the ABI, and keeps `self` alive.
    pub fn cpu_entry(&self, symbol: &str) -> Result<CpuEntry, CodegenError> {
        let address = usize::try_from(self.lookup(symbol)?).unwrap_or_default();
        if address == 0 {
            return Err(CodegenError::Load(format!("`{symbol}` has no address")));
        }
        // SAFETY: a non-null address of linked code; that it follows the ABI is what the unsafe call of it promises.
        Ok(unsafe { std::mem::transmute::<usize, CpuEntry>(address) })
    }

    /// The error, with what the session reported while it arose.
    fn with_reports(&self, error: CodegenError) -> CodegenError {
        let mut reports = self.reports.lock().unwrap_or_else(PoisonError::into_inner);
        let causes: Vec<String> = reports.drain(..).collect();
        match error {
            CodegenError::Load(message) if !causes.is_empty() => {
                CodegenError::Load(format!("{message}: {}", causes.join("; ")))
            }
            other => other,
        }
    }

    fn intern(&self, name: &CStr) -> LLVMOrcSymbolStringPoolEntryRef {
        // SAFETY: `jit` is live and the name is NUL-terminated.
        unsafe { LLVMOrcLLJITMangleAndIntern(self.jit, name.as_ptr()) }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: `jit` came from LLVMOrcCreateLLJIT and is disposed of once, while `reports` is still alive. An error here
        // has no user.
        let _ = check(unsafe { LLVMOrcDisposeLLJIT(self.jit) });
    }
}

fn exported() -> LLVMJITSymbolFlags {
    let flags = LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8
        | LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsCallable as u8;
    LLVMJITSymbolFlags {
        GenericFlags: flags,
        TargetFlags: 0,
    }
}

/// Takes the result of a lookup out of LLVM's hands.
extern "C" fn receive(
    error: LLVMErrorRef,
    pairs: LLVMOrcCSymbolMapPairs,
    count: usize,
    answer: *mut c_void,
) {
    let result = check(error).and_then(|()| {
        if pairs.is_null() || count != 1 {
            return Err(CodegenError::Load("the lookup came back empty".into()));
        }
        // SAFETY: LLVM passes `count` valid pairs, which it keeps ownership of.
        Ok(unsafe { (*pairs).Sym.Address })
    });
    // SAFETY: `answer` is the address that `lookup` passed; it is alive until `lookup` returns.
    unsafe { *answer.cast::<Option<Result<u64, CodegenError>>>() = Some(result) };
}

/// Keeps a cause for the error that follows; LLVM's default would print it to stderr.
extern "C" fn report(context: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: `context` is the address of the boxed reports, which live as long as the session.
    let reports = unsafe { &*context.cast::<Reports>() };
    if let Err(CodegenError::Load(message)) = check(error) {
        reports
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(message);
    }
}

/// Turns LLVM's error into ours and frees it.
fn check(error: LLVMErrorRef) -> Result<(), CodegenError> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: a non-null error is consumed by LLVMGetErrorMessage; its message is copied before it is disposed of.
    let message = unsafe {
        let text = LLVMGetErrorMessage(error);
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(text);
        copy
    };
    Err(CodegenError::Load(message))
}
