//! The structures of XLA's foreign function interface, limited to the fields that the handler reads and writes.
//!
//! Source: `xla/ffi/api/c_api.h` of jaxlib 0.10.2 (`jax.ffi.include_dir()`), interface 0.3. XLA keeps an interface for
//! at least 12 months, and tells its own by `XLA_FFI_Api::api_version`. [`layout`] lists every offset; a test compares
//! them with the header that is installed.

#![allow(non_snake_case)] // the header's names

use std::ffi::{c_char, c_int, c_void};
use std::mem::{offset_of, size_of};

/// The interface that these structures are of.
pub const MAJOR: c_int = 0;
/// Likewise.
pub const MINOR: c_int = 3;

/// Declares structures with the names that the header has for them and their fields, and [`layout`] of all.
macro_rules! structures {
    ($($(#[$doc:meta])* $name:ident = $c:literal { $($field:ident: $ty:ty),* $(,)? })*) => {
        $($(#[$doc])* #[repr(C)] pub struct $name { $(pub $field: $ty),* })*

        /// Name, size, and the offset of each field, of all structures.
        pub fn layout() -> Vec<Layout> {
            vec![$(($c, size_of::<$name>(), vec![$((stringify!($field), offset_of!($name, $field))),*])),*]
        }
    };
}

/// A structure: its name, its size, and the offset of each field.
pub type Layout = (&'static str, usize, Vec<(&'static str, usize)>);

/// An error that XLA made.
pub enum Error {}
/// The state of a call that only XLA reads.
pub enum Context {}

structures! {
    /// The head of an extension.
    Extension = "XLA_FFI_Extension_Base" { struct_size: usize, r#type: c_int, next: *mut Extension }
    /// A version of the interface.
    Version = "XLA_FFI_Api_Version" { struct_size: usize, extension_start: *mut Extension, major_version: c_int, minor_version: c_int }
    /// The arguments of `XLA_FFI_Error_Create`.
    ErrorCreate = "XLA_FFI_Error_Create_Args" { struct_size: usize, extension_start: *mut Extension, message: *const c_char, errc: c_int }
    /// A tensor.
    Buffer = "XLA_FFI_Buffer" {
        struct_size: usize, extension_start: *mut Extension, dtype: c_int, data: *mut c_void, rank: i64, dims: *mut i64,
    }
    /// Text.
    Span = "XLA_FFI_ByteSpan" { ptr: *const c_char, len: usize }
    /// The number that XLA gives a type of states.
    TypeId = "XLA_FFI_TypeId" { type_id: i64 }
    /// A type of states.
    TypeInfo = "XLA_FFI_TypeInfo" { struct_size: usize, extension_start: *mut Extension, deleter: unsafe extern "C" fn(*mut c_void) }
    /// Tensors that are read.
    Args = "XLA_FFI_Args" { struct_size: usize, extension_start: *mut Extension, size: i64, types: *mut c_int, args: *mut *mut Buffer }
    /// Tensors that are written.
    Rets = "XLA_FFI_Rets" { struct_size: usize, extension_start: *mut Extension, size: i64, types: *mut c_int, rets: *mut *mut Buffer }
    /// Attributes, by name.
    Attrs = "XLA_FFI_Attrs" {
        struct_size: usize, extension_start: *mut Extension, size: i64, types: *mut c_int, names: *mut *mut Span, attrs: *mut *mut c_void,
    }
    /// A call.
    CallFrame = "XLA_FFI_CallFrame" {
        struct_size: usize, extension_start: *mut Extension, api: *const Api, ctx: *mut Context, stage: c_int, args: Args, rets: Rets,
        attrs: Attrs, future: *mut c_void,
    }
    /// The arguments of `XLA_FFI_State_Set`.
    StateSet = "XLA_FFI_State_Set_Args" {
        struct_size: usize, extension_start: *mut Extension, ctx: *mut Context, stage: c_int, type_id: *mut TypeId, state: *mut c_void,
    }
    /// The arguments of `XLA_FFI_State_Get`.
    StateGet = "XLA_FFI_State_Get_Args" {
        struct_size: usize, extension_start: *mut Extension, ctx: *mut Context, stage: c_int, type_id: *mut TypeId, state: *mut c_void,
    }
    /// The facts about a handler that XLA asks for.
    Metadata = "XLA_FFI_Metadata" { struct_size: usize, api_version: Version, traits: u32, state_type_id: TypeId }
    /// The extension of a call that asks for it.
    MetadataExtension = "XLA_FFI_Metadata_Extension" { extension_base: Extension, metadata: *mut Metadata }
    /// The functions of XLA, up to the last that is called here.
    Api = "XLA_FFI_Api" {
        struct_size: usize, extension_start: *mut Extension, api_version: Version, internal_api: *const c_void,
        XLA_FFI_Error_Create: unsafe extern "C" fn(*mut ErrorCreate) -> *mut Error,
        XLA_FFI_Error_GetMessage: *const c_void, XLA_FFI_Error_Destroy: *const c_void, XLA_FFI_Handler_Register: *const c_void,
        XLA_FFI_Stream_Get: *const c_void, XLA_FFI_Type_Register: *const c_void, XLA_FFI_ExecutionContext_Get: *const c_void,
        XLA_FFI_State_Set: unsafe extern "C" fn(*mut StateSet) -> *mut Error,
        XLA_FFI_State_Get: unsafe extern "C" fn(*mut StateGet) -> *mut Error,
    }
}

/// `XLA_FFI_Extension_Metadata`
pub const METADATA: c_int = 1;
/// `XLA_FFI_ExecutionStage_INSTANTIATE`
pub const INSTANTIATE: c_int = 0;
/// `XLA_FFI_ExecutionStage_EXECUTE`
pub const EXECUTE: c_int = 3;
/// `XLA_FFI_ArgType_BUFFER` and `XLA_FFI_RetType_BUFFER`
pub const BUFFER: c_int = 1;
/// `XLA_FFI_AttrType_STRING`
pub const STRING: c_int = 4;
/// `XLA_FFI_Error_Code_INVALID_ARGUMENT`
pub const INVALID_ARGUMENT: c_int = 3;
/// `XLA_FFI_Error_Code_INTERNAL`
pub const INTERNAL: c_int = 13;
