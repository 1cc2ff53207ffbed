//! Reuse of device memory: a driver pool for each opened device.
//!
//! Freed memory stays in the pool until the device is closed or releases it to the system, so executables for changing
//! extents find memory quickly. Memory never has two owners: it is freed after all earlier work of the device. A device
//! without pools uses plain allocations.

use std::sync::Arc;

use cudarc::driver::result::mem_pool;
use cudarc::driver::{CudaContext, DriverError, result, sys};

/// A pool of a device.
#[derive(Debug)]
pub(super) struct Pool {
    context: Arc<CudaContext>,
    handle: sys::CUmemoryPool,
}

// SAFETY: the handle is one of the driver's, which any thread may use.
unsafe impl Send for Pool {}
// SAFETY: the driver's functions of a pool may be called by threads at the same time.
unsafe impl Sync for Pool {}

impl Pool {
    /// Creates a pool on the context's device; `None` if the device has no pools. The context must be current.
    pub fn new(context: &Arc<CudaContext>) -> Result<Option<Pool>, DriverError> {
        use sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED as SUPPORTED;
        if context.attribute(SUPPORTED)? == 0 {
            return Ok(None);
        }
        // SAFETY: a structure of numbers, a null pointer, and enumerations that have a 0.
        let mut properties: sys::CUmemPoolProps = unsafe { std::mem::zeroed() };
        properties.allocType = sys::CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        properties.location.type_ = sys::CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE;
        properties.location.id = context.cu_device();
        // SAFETY: the properties are those of a pool on the device.
        let handle = unsafe { mem_pool::create(&properties)? };
        let (context, mut kept) = (Arc::clone(context), u64::MAX);
        let pool = Pool { context, handle };
        let threshold = sys::CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
        // SAFETY: the attribute is a 64-bit number.
        unsafe { mem_pool::set_attribute(handle, threshold, (&raw mut kept).cast())? };
        Ok(Some(pool))
    }

    /// Bytes that nobody has of those that it keeps.
    pub fn unused(&self) -> Result<u64, DriverError> {
        use sys::CUmemPool_attribute as Attribute;
        let number = |attribute| {
            let mut number = 0u64;
            // SAFETY: the attribute is a 64-bit number.
            let got = unsafe {
                mem_pool::get_attribute(self.handle, attribute, (&raw mut number).cast())
            };
            got.map(|()| number)
        };
        let kept = number(Attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT)?;
        let used = number(Attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT)?;
        Ok(kept.saturating_sub(used))
    }

    /// Gives the system what nobody has.
    pub fn release(&self) -> Result<(), DriverError> {
        // SAFETY: the pool is alive.
        unsafe { mem_pool::trim_to(self.handle, 0) }
    }

    /// Allocates memory that any stream may use; waits for `stream`, which belongs to the device.
    pub fn allocate(&self, bytes: usize, stream: sys::CUstream) -> Result<u64, DriverError> {
        // SAFETY: pool and stream are alive.
        let address = unsafe { mem_pool::alloc_async(self.handle, bytes, stream)? };
        // SAFETY: the stream is alive.
        unsafe { result::stream::synchronize(stream)? };
        Ok(address)
    }

    /// Frees an allocation of this pool after all work of the device has finished.
    ///
    /// # Safety
    /// The address comes from [`allocate`](Self::allocate), and nobody uses it any more.
    pub unsafe fn free(&self, address: u64, stream: sys::CUstream) -> Result<(), DriverError> {
        self.context.synchronize()?;
        // SAFETY: the caller's word.
        unsafe { result::free_async(address, stream) }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // An error here has nobody to go to.
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: made by `new`, destroyed once; all of its memory has been given back, as that has the device.
            let _ = unsafe { mem_pool::destroy(self.handle) };
        }
    }
}
