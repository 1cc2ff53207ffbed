//! Matrix products by NVIDIA's library cuBLASLt, which replaces product kernels if the library is found.
//!
//! The library is searched by name once for each device, when a program with a product launch is first bound. Products
//! that it does not support, for a reason listed in [`Unused`], and all products without the library, run as the
//! artifact's own kernels.
//!
//! The library's matrices are column-major. A row-major result is therefore computed transposed: its columns are the
//! library's rows, and its left factor is the library's right one. A matrix is contiguous along one axis; the distance
//! between lines is the leading dimension.
//!
//! From NVIDIA's documentation of cuBLAS 12 and 13, chapter "Using the cuBLASLt API": handles may be used by several threads; the workspace begins at a multiple of 256
//! bytes, and calls that share it run one after the other; 32 MiB are advised from compute capability 9.0 on, else 4 MiB; pointers are taken for multiples of 256 unless
//! preferences say less; of sums that are split, those of the scheme `COMPUTE_TYPE` are kept and added in the type of the computation, others in that of the
//! result or in it, which our bound has no room for (docs/products.md).

use std::ffi::c_void;
use std::fmt;
use std::sync::{Arc, OnceLock};

use cudarc::cublaslt::sys as lt;
use cudarc::driver::{CudaContext, sys};
use fuser_artifact::DType;
use libloading::Library;

use super::{CudaDevice, simulator};
use crate::error::RuntimeError;
use crate::product::{Loop, Product, longest};
use crate::run_plan::LaunchedProduct;

/// The names of the library's file, the newest release first.
const NAMES: [&str; 3] = ["libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so"];

/// The workspace's alignment, which is also the largest that the library asks about.
pub(super) const ALIGNMENT: usize = 256;

/// A handle or a description of the library's.
type Opaque = *mut c_void;
type Status = u32;

/// Declares the functions of the library that are called.
macro_rules! functions {
    ($($field:ident $symbol:literal ($($argument:ty),*))*) => {
        /// The functions of the library.
        struct Functions {
            $($field: unsafe extern "C" fn($($argument),*) -> Status,)*
        }
        impl Functions {
            /// Looks the functions up; `None` where one is missing.
            fn of(library: &Library) -> Option<Functions> {
                // SAFETY: a library that has functions of these names has them with these arguments; it is never unloaded.
                unsafe {
                    Some(Functions {
                        $($field: *library.get(concat!($symbol, "\0").as_bytes()).ok()?,)*
                    })
                }
            }
        }
    };
}

functions! {
    create "cublasLtCreate" (*mut Opaque)
    destroy "cublasLtDestroy" (Opaque)
    create_operation "cublasLtMatmulDescCreate" (*mut Opaque, u32, u32)
    set_operation "cublasLtMatmulDescSetAttribute" (Opaque, u32, *const c_void, usize)
    destroy_operation "cublasLtMatmulDescDestroy" (Opaque)
    create_layout "cublasLtMatrixLayoutCreate" (*mut Opaque, u32, u64, u64, i64)
    set_layout "cublasLtMatrixLayoutSetAttribute" (Opaque, u32, *const c_void, usize)
    destroy_layout "cublasLtMatrixLayoutDestroy" (Opaque)
    create_preference "cublasLtMatmulPreferenceCreate" (*mut Opaque)
    set_preference "cublasLtMatmulPreferenceSetAttribute" (Opaque, u32, *const c_void, usize)
    destroy_preference "cublasLtMatmulPreferenceDestroy" (Opaque)
    choose "cublasLtMatmulAlgoGetHeuristic"
        (Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, Opaque, i32, *mut Choice, *mut i32)
    multiply "cublasLtMatmul" (
        Opaque, Opaque, *const c_void, *const c_void, Opaque, *const c_void, Opaque, *const c_void,
        *const c_void, Opaque, *mut c_void, Opaque, *const lt::cublasLtMatmulAlgo_t, *mut c_void, usize, sys::CUstream
    )
}

/// `cublasLtMatmulHeuristicResult_t` with a plain number as status. The binding declares an enumeration, in which an
/// unknown status of a newer library would be undefined behavior.
#[repr(C)]
#[derive(Clone, Copy)]
struct Choice {
    algorithm: lt::cublasLtMatmulAlgo_t,
    workspace: usize,
    state: Status,
    waves: f32,
    reserved: [i32; 4],
}

const NOTHING: Choice = Choice {
    algorithm: lt::cublasLtMatmulAlgo_t { data: [0; 8] },
    workspace: 0,
    state: 0,
    waves: 0.0,
    reserved: [0; 4],
};

/// A reason for which the kernel computes a product.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Unused {
    /// No library is found, or it does not start.
    NotFound,
    /// There are no terms: the result is 0.
    NoTerms,
    /// A tensor has no contiguous axis, or stores a line once for several indices; or the bias does not run along the
    /// contiguous axis of the result.
    Layout,
    /// The bias is not of the result's type.
    Types,
    /// The library has no algorithm for it.
    NoAlgorithm,
}

impl Unused {
    /// The reason, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Unused::NotFound => "not-found",
            Unused::NoTerms => "no-terms",
            Unused::Layout => "layout",
            Unused::Types => "types",
            Unused::NoAlgorithm => "no-algorithm",
        }
    }
}

/// The library on a device, loaded at first use; the inner `None` says that it was not found.
#[derive(Default)]
pub(super) struct Libraries(OnceLock<Option<Arc<CublasLt>>>);

impl fmt::Debug for Libraries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Libraries")
    }
}

/// The library, with a handle for a device.
pub(super) struct CublasLt {
    functions: Functions,
    handle: Opaque,
    context: Arc<CudaContext>,
}

// SAFETY: the library's documentation lets several threads use a handle.
unsafe impl Send for CublasLt {}
// SAFETY: as above.
unsafe impl Sync for CublasLt {}

impl Drop for CublasLt {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: created by `start`, destroyed once. An error here has nobody to go to.
            let _ = unsafe { (self.functions.destroy)(self.handle) };
        }
    }
}

impl CudaDevice {
    /// The library, if there is one.
    pub(super) fn library(&self) -> Option<Arc<CublasLt>> {
        let found = || CublasLt::start(functions(&NAMES)?, self);
        self.libraries.0.get_or_init(found).clone()
    }
}

/// The functions of the first library in `names` that exists and has them all. A simulated GPU uses the simulator's
/// functions, since no other library can access its memory.
fn functions(names: &[&str]) -> Option<Functions> {
    if simulator::is_simulated() {
        // SAFETY: the driver's library is there.
        return Functions::of(unsafe { sys::culib() });
    }
    names.iter().find_map(|name| {
        // SAFETY: loads NVIDIA's library, whose initialization is trusted.
        let library = unsafe { Library::new(*name) }.ok()?;
        let functions = Functions::of(&library)?;
        // It stays in use to the end of the process.
        std::mem::forget(library);
        Some(functions)
    })
}

impl CublasLt {
    /// Starts the library for a device; `None` where it does not.
    fn start(functions: Functions, device: &CudaDevice) -> Option<Arc<CublasLt>> {
        device.bind().ok()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the handle may be written, and the device's context is current.
        let created = unsafe { (functions.create)(&mut handle) };
        (created == SUCCESS).then(|| {
            Arc::new(CublasLt {
                functions,
                handle,
                context: device.context.clone(),
            })
        })
    }

    /// A matrix with a batch of them.
    fn layout(
        &self,
        dtype: DType,
        matrix: &Matrix,
        batch: [i64; 2],
    ) -> Result<Described, RuntimeError> {
        let [rows, columns] = matrix.stored.map(|extent| extent as u64);
        let create = self.functions.create_layout;
        let layout = Described::new(LAYOUT, &self.functions, |to| {
            // SAFETY: the description may be written.
            unsafe { create(to, data_type(dtype), rows, columns, matrix.apart) }
        })?;
        use lt::cublasLtMatrixLayoutAttribute_t as Attribute;
        let [count, step] = [
            Attribute::CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
            Attribute::CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
        ];
        layout.set(count as u32, &(batch[0] as i32))?;
        layout.set(step as u32, &batch[1])?;
        Ok(layout)
    }
}

/// A kind of descriptor: the names of the functions that create it and set its attributes, and how to find the setter
/// and the destructor.
#[derive(Clone, Copy)]
struct Kind {
    create: &'static str,
    set: (&'static str, fn(&Functions) -> Set),
    destroy: fn(&Functions) -> Destroy,
}

type Set = unsafe extern "C" fn(Opaque, u32, *const c_void, usize) -> Status;
type Destroy = unsafe extern "C" fn(Opaque) -> Status;

const OPERATION: Kind = Kind {
    create: "cublasLtMatmulDescCreate",
    set: ("cublasLtMatmulDescSetAttribute", |f| f.set_operation),
    destroy: |f| f.destroy_operation,
};

const LAYOUT: Kind = Kind {
    create: "cublasLtMatrixLayoutCreate",
    set: ("cublasLtMatrixLayoutSetAttribute", |f| f.set_layout),
    destroy: |f| f.destroy_layout,
};

const PREFERENCE: Kind = Kind {
    create: "cublasLtMatmulPreferenceCreate",
    set: ("cublasLtMatmulPreferenceSetAttribute", |f| f.set_preference),
    destroy: |f| f.destroy_preference,
};

/// A description of the library's.
struct Described {
    pointer: Opaque,
    set: (&'static str, Set),
    destroy: Destroy,
}

impl Drop for Described {
    fn drop(&mut self) {
        // SAFETY: made by the library, destroyed once, by the function for its kind. An error here has nobody to go to.
        let _ = unsafe { (self.destroy)(self.pointer) };
    }
}

impl Described {
    /// The description of a kind that `create` makes.
    fn new(
        kind: Kind,
        functions: &Functions,
        create: impl FnOnce(*mut Opaque) -> Status,
    ) -> Result<Described, RuntimeError> {
        let mut pointer = std::ptr::null_mut();
        checked(kind.create, create(&mut pointer))?;
        let (name, set) = kind.set;
        Ok(Described {
            pointer,
            set: (name, set(functions)),
            destroy: (kind.destroy)(functions),
        })
    }

    /// Sets an attribute, whose type is that of the value.
    fn set<T: Copy>(&self, attribute: u32, value: &T) -> Result<(), RuntimeError> {
        let (name, set) = self.set;
        let from = std::ptr::from_ref(value).cast();
        // SAFETY: the description is alive, and the value has so many bytes.
        checked(name, unsafe {
            set(self.pointer, attribute, from, size_of::<T>())
        })
    }
}

/// A matrix in memory: the length and the number of its contiguous lines, and the distance between their starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Matrix {
    stored: [usize; 2],
    apart: i64,
    /// True if its lines are not what the library calls columns.
    turned: bool,
}

impl Matrix {
    /// The matrix of two loops of a tensor, contiguous along `along`. `None` if it is not contiguous, or if lines
    /// overlap.
    fn of(which: usize, along: &Loop, across: &Loop, turned: bool) -> Option<Matrix> {
        let beside = along.extent == 1 || along.strides[which] == 1;
        let apart = match across.extent {
            1 => along.extent,
            _ => across.strides[which],
        };
        (beside && apart >= along.extent).then_some(Matrix {
            stored: [along.extent, across.extent],
            apart: i64::try_from(apart).ok()?,
            turned,
        })
    }
}

/// A product as calls of the library.
pub(super) struct Call {
    library: Arc<CublasLt>,
    operation: Described,
    /// The layouts of both factors and the result, in the library's order, followed by the indices of their buffers.
    layouts: [Described; 3],
    buffers: [usize; 3],
    choice: Choice,
    /// Loops around the calls; strides are bytes, in the library's order of tensors.
    around: Vec<Loop>,
    double: bool,
    /// The place of the bias' buffer.
    bias: Option<usize>,
    /// The product in words, for errors.
    pub shape: String,
}

impl Call {
    /// The calls for a product of tensors aligned to `alignment` bytes, or to the element size if that is greater.
    ///
    /// # Errors
    /// Errors of the library; a missing algorithm is not an error.
    pub fn new(
        device: &CudaDevice,
        launched: &LaunchedProduct,
        alignment: usize,
    ) -> Result<Result<Call, Unused>, RuntimeError> {
        let LaunchedProduct { product, bias } = launched;
        let Some(library) = device.library() else {
            return Ok(Err(Unused::NotFound));
        };
        if product.terms.extent == 0 {
            return Ok(Err(Unused::NoTerms));
        }
        let Some(plan) = Plan::of(product) else {
            return Ok(Err(Unused::Layout));
        };
        let [factors, result] = product.dtypes;
        if let Some((_, many)) = bias {
            // It is along the library's rows.
            let along = plan.tensors[0] == 1 && (*many || product.columns.extent <= 1);
            if !along {
                return Ok(Err(Unused::Layout));
            }
            if factors != result {
                return Ok(Err(Unused::Types));
            }
        }
        device.bind()?;
        let functions = &library.functions;
        let double = factors == DType::F64;
        let (computed, scale) = match double {
            true => (lt::cublasComputeType_t::CUBLAS_COMPUTE_64F, DType::F64),
            // No TF32 in the place of f32.
            false => (lt::cublasComputeType_t::CUBLAS_COMPUTE_32F, DType::F32),
        };
        let operation = Described::new(OPERATION, functions, |to| {
            // SAFETY: the description may be written.
            unsafe { (functions.create_operation)(to, computed as u32, data_type(scale)) }
        })?;
        use lt::cublasLtMatmulDescAttributes_t as Attribute;
        let turns = [
            Attribute::CUBLASLT_MATMUL_DESC_TRANSA,
            Attribute::CUBLASLT_MATMUL_DESC_TRANSB,
        ];
        for (attribute, matrix) in turns.into_iter().zip(&plan.matrices) {
            // `CUBLAS_OP_N` and `CUBLAS_OP_T`.
            let turn = i32::from(matrix.turned);
            operation.set(attribute as u32, &turn)?;
        }
        if bias.is_some() {
            let epilogue = lt::cublasLtEpilogue_t::CUBLASLT_EPILOGUE_BIAS as u32;
            let attribute = Attribute::CUBLASLT_MATMUL_DESC_EPILOGUE as u32;
            operation.set(attribute, &epilogue)?;
        }
        let layout = |which: usize, dtype| {
            let batch = [plan.batch.extent as i64, plan.batch.strides[which] as i64];
            library.layout(dtype, &plan.matrices[which], batch)
        };
        let layouts = [layout(0, factors)?, layout(1, factors)?, layout(2, result)?];
        let bytes = [factors, factors, result].map(DType::bytes);
        let preference = preference(&library, device.sm(), &plan.alignments(bytes, alignment))?;
        let (mut choice, mut found) = (NOTHING, 0);
        let [a, b, d] = layouts.each_ref().map(|layout| layout.pointer);
        // SAFETY: everything was made above, and there is room for one choice.
        let chosen = unsafe {
            let (operation, preference) = (operation.pointer, preference.pointer);
            (functions.choose)(
                library.handle,
                operation,
                a,
                b,
                d,
                d,
                preference,
                1,
                &mut choice,
                &mut found,
            )
        };
        if chosen == NOT_SUPPORTED || (chosen == SUCCESS && (found == 0 || choice.state != SUCCESS))
        {
            return Ok(Err(Unused::NoAlgorithm));
        }
        checked("cublasLtMatmulAlgoGetHeuristic", chosen)?;
        let mut around = plan.around;
        for own in &mut around {
            (0..3).for_each(|which| own.strides[which] *= bytes[which]);
        }
        Ok(Ok(Call {
            operation,
            layouts,
            buffers: plan.tensors.map(|which| product.buffers[which]),
            choice,
            around,
            double,
            bias: bias.map(|(buffer, _)| buffer),
            shape: words(launched),
            library,
        }))
    }

    /// Bytes of the workspace.
    pub fn workspace(&self) -> usize {
        self.choice.workspace
    }

    /// Starts the calls.
    ///
    /// # Safety
    /// The addresses of the buffers are good, the workspace has its bytes, and the stream is one of the device, whose context is current.
    pub unsafe fn start(
        &self,
        addresses: &[u64],
        workspace: u64,
        stream: sys::CUstream,
    ) -> Result<(), RuntimeError> {
        let (one, none): (*const c_void, *const c_void) = match self.double {
            true => ((&raw const ONE_F64).cast(), (&raw const ZERO_F64).cast()),
            false => ((&raw const ONE_F32).cast(), (&raw const ZERO_F32).cast()),
        };
        let pointer = |address: u64| std::ptr::without_provenance_mut::<c_void>(address as usize);
        if let Some(bias) = self.bias {
            // Runs have the executable to themselves, so nobody else reads or sets this.
            use lt::cublasLtMatmulDescAttributes_t as Attribute;
            let attribute = Attribute::CUBLASLT_MATMUL_DESC_BIAS_POINTER as u32;
            self.operation.set(attribute, &addresses[bias])?;
        }
        let calls = self.around.iter().map(|own| own.extent).product();
        for call in 0..calls {
            let mut at = self.buffers.map(|buffer| addresses[buffer]);
            let mut rest = call;
            for own in self.around.iter().rev() {
                let index = rest % own.extent;
                rest /= own.extent;
                at.iter_mut()
                    .zip(own.strides)
                    .for_each(|(at, stride)| *at += (index * stride) as u64);
            }
            let [a, b, d] = at.map(pointer);
            let [layout_a, layout_b, layout_d] =
                self.layouts.each_ref().map(|layout| layout.pointer);
            // SAFETY: the caller's word; what is described was made with the handle. Nothing is read of the result, whose factor is 0.
            let status = unsafe {
                (self.library.functions.multiply)(
                    self.library.handle,
                    self.operation.pointer,
                    one,
                    a,
                    layout_a,
                    b,
                    layout_b,
                    none,
                    d,
                    layout_d,
                    d,
                    layout_d,
                    &self.choice.algorithm,
                    pointer(workspace),
                    self.choice.workspace,
                    stream,
                )
            };
            checked("cublasLtMatmul", status)?;
        }
        Ok(())
    }
}

static ONE_F32: f32 = 1.0;
static ZERO_F32: f32 = 0.0;
static ONE_F64: f64 = 1.0;
static ZERO_F64: f64 = 0.0;

/// A product in the library's terms.
#[derive(Debug, PartialEq, Eq)]
struct Plan {
    /// The indices of the product's tensors that are the library's factors and result; loop strides are in this order.
    tensors: [usize; 3],
    matrices: [Matrix; 3],
    batch: Loop,
    around: Vec<Loop>,
}

impl Plan {
    fn of(product: &Product) -> Option<Plan> {
        let (mut rows, mut columns) = (product.rows, product.columns);
        let mut tensors = [1, 0, 2];
        if columns.strides[2] != 1 && rows.strides[2] == 1 {
            std::mem::swap(&mut rows, &mut columns);
            tensors.swap(0, 1);
        }
        let terms = product.terms;
        let factor = |which: usize, own: [&Loop; 2], turned: bool| {
            let found = Matrix::of(which, own[0], own[1], turned);
            found.or_else(|| Matrix::of(which, own[1], own[0], !turned))
        };
        let matrices = [
            factor(tensors[0], [&columns, &terms], false)?,
            factor(tensors[1], [&terms, &rows], false)?,
            Matrix::of(2, &columns, &rows, false)?,
        ];
        let mut around = Vec::new();
        let mut batch = longest(product.batch.clone(), &mut around);
        i32::try_from(batch.extent).ok()?;
        for own in around.iter_mut().chain([&mut batch]) {
            own.strides = tensors.map(|which| own.strides[which]);
        }
        Some(Plan {
            tensors,
            matrices,
            batch,
            around,
        })
    }

    /// The alignment common to the pointers of all calls, given each tensor's element size and the alignment of its
    /// first element.
    fn alignments(&self, bytes: [usize; 3], first: usize) -> [u32; 3] {
        std::array::from_fn(|which| {
            let steps = self
                .around
                .iter()
                .map(|own| own.strides[which] * bytes[which]);
            let first = first.max(bytes[which]).min(ALIGNMENT);
            let all = steps.fold(first, |all, step| all | step);
            1 << all.trailing_zeros()
        })
    }
}

/// The preferences: the recommended maximum workspace, pointers with these alignments, and partial sums kept in the
/// computing type.
fn preference(
    library: &CublasLt,
    sm: u32,
    alignments: &[u32; 3],
) -> Result<Described, RuntimeError> {
    let functions = &library.functions;
    let preference = Described::new(PREFERENCE, functions, |to| {
        // SAFETY: the description may be written.
        unsafe { (functions.create_preference)(to) }
    })?;
    use lt::cublasLtMatmulPreferenceAttributes_t as Attribute;
    let workspace: usize = if sm >= 90 { 32 << 20 } else { 4 << 20 };
    preference.set(
        Attribute::CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES as u32,
        &workspace,
    )?;
    let scheme = lt::cublasLtReductionScheme_t::CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE as u32;
    preference.set(
        Attribute::CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK as u32,
        &scheme,
    )?;
    let [a, b, d] = *alignments;
    for (attribute, alignment) in [
        (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, a),
        (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, b),
        (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, d),
        (Attribute::CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, d),
    ] {
        preference.set(attribute as u32, &alignment)?;
    }
    Ok(preference)
}

fn data_type(dtype: DType) -> u32 {
    use lt::cudaDataType_t as Type;
    let found = match dtype {
        DType::F64 => Type::CUDA_R_64F,
        DType::F16 => Type::CUDA_R_16F,
        DType::Bf16 => Type::CUDA_R_16BF,
        _ => Type::CUDA_R_32F,
    };
    found as u32
}

/// `3 times 64x32 of 16 terms, bf16 to f32`
pub(super) fn words(launched: &LaunchedProduct) -> String {
    let LaunchedProduct { product, bias } = launched;
    let times: usize = product.batch.iter().map(|own| own.extent).product();
    let [rows, columns, terms] =
        [&product.rows, &product.columns, &product.terms].map(|l| l.extent);
    let [from, to] = product.dtypes.map(DType::name);
    let bias = if bias.is_some() { " and a bias" } else { "" };
    format!("{times} times {rows}x{columns} of {terms} terms{bias}, {from} to {to}")
}

const SUCCESS: Status = 0;
const NOT_SUPPORTED: Status = 15;

/// The names of the library's codes (`cublasStatus_t`).
const CODES: [(Status, &str); 9] = [
    (1, "CUBLAS_STATUS_NOT_INITIALIZED"),
    (3, "CUBLAS_STATUS_ALLOC_FAILED"),
    (7, "CUBLAS_STATUS_INVALID_VALUE"),
    (8, "CUBLAS_STATUS_ARCH_MISMATCH"),
    (11, "CUBLAS_STATUS_MAPPING_ERROR"),
    (13, "CUBLAS_STATUS_EXECUTION_FAILED"),
    (14, "CUBLAS_STATUS_INTERNAL_ERROR"),
    (NOT_SUPPORTED, "CUBLAS_STATUS_NOT_SUPPORTED"),
    (16, "CUBLAS_STATUS_LICENSE_ERROR"),
];

fn checked(call: &'static str, status: Status) -> Result<(), RuntimeError> {
    if status == SUCCESS {
        return Ok(());
    }
    let known = CODES.iter().find(|(code, _)| *code == status);
    let message = known.map_or_else(
        || format!("status {status}"),
        |(_, name)| (*name).to_string(),
    );
    Err(RuntimeError::Device { call, message })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(extent: usize, strides: [usize; 3]) -> Loop {
        Loop {
            extent,
            strides,
            added: 0,
        }
    }

    /// Libraries that are not there, and one that lacks the functions: no library.
    #[test]
    fn what_is_no_library_is_not_found() {
        assert!(functions(&[]).is_none());
        assert!(functions(&["libcublasLt-of-no-release.so", "libc.so.6"]).is_none());
    }

    #[test]
    fn a_matrix_has_lines_of_neighbours() {
        let (along, across) = (own(5, [1, 0, 0]), own(7, [5, 0, 0]));
        let once = own(1, [0; 3]);
        let matrix = |which, along: Loop, across: Loop| {
            let found = Matrix::of(which, &along, &across, false);
            found.map(|matrix| (matrix.stored, matrix.apart))
        };
        assert_eq!(matrix(0, along, across), Some(([5, 7], 5)));
        assert_eq!(matrix(0, across, along), None);
        // Lines that are stored once for seven, and distances that say nothing.
        assert_eq!(matrix(1, along, across), None);
        assert_eq!(matrix(0, along, once), Some(([5, 1], 5)));
        assert_eq!(matrix(0, once, across), Some(([1, 7], 5)));
        assert_eq!(matrix(0, once, once), Some(([1, 1], 1)));
        assert_eq!(matrix(0, own(6, [1, 0, 0]), across), None);
    }

    #[test]
    fn codes_have_names() {
        let told = |status| checked("cublasLtMatmul", status).unwrap_err().to_string();
        assert_eq!(
            told(13),
            "cublasLtMatmul failed: CUBLAS_STATUS_EXECUTION_FAILED"
        );
        assert_eq!(told(99), "cublasLtMatmul failed: status 99");
    }
}
