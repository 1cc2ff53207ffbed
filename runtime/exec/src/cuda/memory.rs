//! GPU memory as an allocation that returns to the device's pool when dropped.

use cudarc::driver::sys::CUevent_flags as EventFlags;
use cudarc::driver::{CudaEvent, DriverError, result, sys};

use super::pool::Pool;
use super::steps::copy;
use super::{CudaDevice, failed};
use crate::binding::CallError;
use crate::copy::{CopyTime, REPEATS, WARMUPS};
use crate::error::RuntimeError;
use crate::report::median;

/// Memory of a device. Its address is a multiple of 256, or 0 if it is empty. Its contents are arbitrary until written.
#[derive(Debug)]
pub struct DeviceMemory {
    device: CudaDevice,
    address: u64,
    bytes: usize,
}

impl CudaDevice {
    /// The free bytes of the device's memory, including those that this process keeps cached, and the total bytes.
    pub fn memory(&self) -> Result<(u64, u64), RuntimeError> {
        let info = self.context.mem_get_info();
        let (free, total) = info.map_err(failed("cuMemGetInfo"))?;
        let unused = self.pool.as_deref().map_or(Ok(0), Pool::unused);
        let unused = unused.map_err(failed("cuMemPoolGetAttribute"))?;
        Ok((free as u64 + unused, total as u64))
    }

    /// Returns the memory that this process keeps cached to the system.
    ///
    /// # Errors
    /// An error of the driver, which may come from an earlier kernel.
    pub fn release_memory(&self) -> Result<(), RuntimeError> {
        self.bind()?;
        let released = self.pool.as_deref().map_or(Ok(()), Pool::release);
        released.map_err(failed("cuMemPoolTrimTo"))
    }

    /// Allocates `bytes` bytes.
    ///
    /// # Errors
    /// [`RuntimeError::DeviceMemory`] where the device has too few.
    pub fn allocate(&self, bytes: usize) -> Result<DeviceMemory, RuntimeError> {
        self.allocate_part(bytes, bytes as u64)
    }

    /// Allocates a part of what a program takes, which is `planned` bytes.
    pub(super) fn allocate_part(
        &self,
        bytes: usize,
        planned: u64,
    ) -> Result<DeviceMemory, RuntimeError> {
        self.bind()?;
        let (call, allocated) = match self.pool.as_deref() {
            _ if bytes == 0 => ("", Ok(0)),
            Some(pool) => {
                let allocated = pool.allocate(bytes, self.stream.cu_stream());
                ("cuMemAllocFromPoolAsync", allocated)
            }
            // SAFETY: the context is current.
            None => ("cuMemAlloc", unsafe { result::malloc_sync(bytes) }),
        };
        let address = match allocated {
            Ok(address) => address,
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                return Err(self.too_little(bytes as u64, planned)?);
            }
            Err(error) => return Err(failed(call)(error)),
        };
        Ok(DeviceMemory {
            device: self.clone(),
            address,
            bytes,
        })
    }

    /// Refuses an allocation of `requested` bytes that exceeds the free memory; `planned` is the program's total, for
    /// the message.
    pub(super) fn check_memory(&self, requested: u64, planned: u64) -> Result<(), RuntimeError> {
        match self.memory()?.0 < requested {
            true => Err(self.too_little(requested, planned)?),
            false => Ok(()),
        }
    }

    fn too_little(&self, requested: u64, planned: u64) -> Result<RuntimeError, RuntimeError> {
        let (free, total) = self.memory()?;
        Ok(RuntimeError::DeviceMemory {
            requested,
            free,
            total,
            planned,
        })
    }
}

impl CudaDevice {
    /// Times a copy on the device that reads half of `bytes` and writes the other half.
    ///
    /// # Errors
    /// [`RuntimeError::DeviceMemory`] if the device has less than `bytes` free.
    pub fn copy_time(&self, bytes: u64) -> Result<CopyTime, RuntimeError> {
        self.check_memory(bytes, bytes)?;
        let half = usize::try_from(bytes / 2).unwrap_or(usize::MAX);
        let [from, to] = [self.allocate(half)?, self.allocate(half)?];
        from.zero(0, half)?;
        let event = || {
            let event = self.context.new_event(Some(EventFlags::CU_EVENT_DEFAULT));
            event.map_err(failed("cuEventCreate"))
        };
        let ends = [event()?, event()?];
        let record = |event: &CudaEvent| {
            let recorded = event.record(&self.stream);
            recorded.map_err(failed("cuEventRecord"))
        };
        let mut times = Vec::with_capacity(WARMUPS + REPEATS);
        for _ in 0..WARMUPS + REPEATS {
            record(&ends[0])?;
            // SAFETY: both have so many bytes, and the copy is waited for.
            unsafe { copy(from.address, to.address, half, self.stream.cu_stream())? }
            record(&ends[1])?;
            let time = ends[0].elapsed_ms(&ends[1]);
            times.push(f64::from(time.map_err(failed("cuEventElapsedTime"))?));
        }
        Ok(CopyTime {
            bytes: 2 * half as u64,
            time_ms: median(times.split_off(WARMUPS)),
        })
    }
}

impl DeviceMemory {
    /// The address of the first byte, as kernels and the driver's copies take it.
    pub fn address(&self) -> u64 {
        self.address
    }

    /// The number of bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Copies `bytes` to the start of the memory, after all work of the device's own stream, and waits for completion.
    ///
    /// # Errors
    /// [`CallError::Beyond`] for more bytes than the memory has; an error of the driver.
    pub fn upload(&mut self, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.upload_at(0, bytes)
    }

    /// Copies `bytes` as [`upload`](Self::upload) does, to an offset of `before` bytes.
    pub(super) fn upload_at(&mut self, before: usize, bytes: &[u8]) -> Result<(), RuntimeError> {
        self.check(before.saturating_add(bytes.len()))?;
        self.device.bind()?;
        if !bytes.is_empty() {
            let stream = self.device.stream.cu_stream();
            // SAFETY: the memory has these bytes, and the wait keeps them in place.
            let copied =
                unsafe { result::memcpy_htod_async(self.address + before as u64, bytes, stream) };
            copied.map_err(failed("cuMemcpyHtoDAsync"))?;
        }
        self.device.synchronize()
    }

    /// Copies the first bytes of the memory to `bytes`, after all work of the device's own stream, and waits for
    /// completion.
    ///
    /// # Errors
    /// [`CallError::Beyond`] for more bytes than the memory has; an error of the driver.
    pub fn download(&self, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.download_at(0, bytes)
    }

    /// Copies bytes as [`download`](Self::download) does, from an offset of `before` bytes.
    pub(super) fn download_at(&self, before: usize, bytes: &mut [u8]) -> Result<(), RuntimeError> {
        self.check(before.saturating_add(bytes.len()))?;
        self.device.bind()?;
        if !bytes.is_empty() {
            let stream = self.device.stream.cu_stream();
            // SAFETY: the memory has so many bytes, and the wait keeps theirs in place.
            let copied =
                unsafe { result::memcpy_dtoh_async(bytes, self.address + before as u64, stream) };
            copied.map_err(failed("cuMemcpyDtoHAsync"))?;
        }
        self.device.synchronize()
    }

    /// Sets the bytes `from..to` to 0 and waits for completion. Afterwards any stream may use the memory, which a pool
    /// allocates in the order of the device's own stream.
    pub(super) fn zero(&self, from: usize, to: usize) -> Result<(), RuntimeError> {
        let count = to.min(self.bytes).checked_sub(from);
        if self.bytes == 0 {
            return Ok(());
        }
        self.device.bind()?;
        let Some(count) = count.filter(|count| *count > 0) else {
            return self.device.synchronize();
        };
        let (start, stream) = (self.address + from as u64, self.device.stream.cu_stream());
        // SAFETY: the memory has these bytes.
        let zeroed = unsafe { result::memset_d8_async(start, 0, count, stream) };
        zeroed.map_err(failed("cuMemsetD8Async"))?;
        self.device.synchronize()
    }

    fn check(&self, found: usize) -> Result<(), CallError> {
        let expected = self.bytes;
        let fits = found <= expected;
        fits.then_some(())
            .ok_or(CallError::Beyond { expected, found })
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        // Work that may use the memory is waited for. An error here has nobody to go to.
        if self.bytes > 0 && self.device.bind().is_ok() {
            // SAFETY: allocated by `allocate_part`, freed once.
            let _ = unsafe {
                match self.device.pool.as_deref() {
                    Some(pool) => pool.free(self.address, self.device.stream.cu_stream()),
                    None => result::free_sync(self.address),
                }
            };
        }
    }
}
