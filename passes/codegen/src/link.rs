//! Links object code into this process.
//!
//! A [`Loaded`] owns the linked code; dropping it unmaps the code, so a caller keeps it alive while it calls in. The sections of all objects
//! lie in one mapping, which is written, relocated and then made executable and read-only.
//! Objects see each other and the short list of symbols of [`runtime_symbols`], and nothing else of the process: any
//! other libcall that LLVM slipped in (`fmod`, `__truncsfbf2`) is an error at load time, never a jump to nowhere.
//!
//! Takes ELF for x86-64 and AArch64 in the small code model without writable data, which is what code generation makes for Linux. Needs no
//! LLVM, so that code that was compiled earlier runs without it. Never trusts its input: what is malformed is a [`CodegenError::Load`].

use std::collections::BTreeMap;
use std::ffi::{c_int, c_void};

use fuser_artifact::abi::CpuEntry;
use memmap2::{Mmap, MmapMut};
use object::read::elf::ElfFile64;
use object::{Architecture, Endianness, Object, ObjectSection, ObjectSymbol, elf};
use object::{RelocationFlags, RelocationTarget, SectionFlags, SymbolSection};

use crate::error::CodegenError;

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
pub fn runtime_symbols() -> [(&'static str, u64); 14] {
    [
        ("memcpy", memcpy as *const () as u64),
        ("memmove", memmove as *const () as u64),
        ("memset", memset as *const () as u64),
        ("memcmp", memcmp as *const () as u64),
        ("fmaf", fmaf as *const () as u64),
        ("fma", fma as *const () as u64),
        ("floorf", floorf as *const () as u64),
        ("floor", floor as *const () as u64),
        ("ceilf", ceilf as *const () as u64),
        ("ceil", ceil as *const () as u64),
        ("truncf", truncf as *const () as u64),
        ("trunc", trunc as *const () as u64),
        ("roundevenf", roundevenf as *const () as u64),
        ("roundeven", roundeven as *const () as u64),
    ]
}

/// The maximum number of bytes linked together: half the range of a 32-bit displacement.
const MOST_BYTES: usize = 1 << 30;

/// The bytes of a stub: a jump through the address in its last eight.
const STUB_BYTES: usize = 16;

/// The bytes that an address needs to begin a page, also where pages are larger.
const PAGE_BYTES: u64 = 1 << 12;

/// Linked, executable code.
#[derive(Debug)]
pub struct Loaded {
    image: Mmap,
    /// The offset of each global symbol in the image.
    symbols: BTreeMap<String, usize>,
}

impl Loaded {
    /// Links `objects` together for this process.
    pub fn new(objects: &[&[u8]]) -> Result<Self, CodegenError> {
        let files = objects
            .iter()
            .map(|bytes| ElfFile64::parse(*bytes).map_err(load));
        let files: Vec<File<'_>> = files.collect::<Result<_, _>>()?;
        let mut layout = Layout::default();
        for (number, file) in files.iter().enumerate() {
            layout.add(number, file)?;
        }
        layout.stubs = layout.reserve(runtime_symbols().len() * STUB_BYTES, STUB_BYTES as u64)?;
        let mut image = MmapMut::map_anon(layout.bytes).map_err(load)?;
        for (index, (_, address)) in runtime_symbols().into_iter().enumerate() {
            put(
                &mut image,
                layout.stubs + index * STUB_BYTES,
                &stub(address),
            )?;
        }
        for (number, file) in files.iter().enumerate() {
            layout.fill(number, file, &mut image)?;
        }
        make_visible(&image);
        let image = image.make_exec().map_err(load)?;
        let symbols = layout.symbols;
        Ok(Loaded { image, symbols })
    }

    /// The address of `symbol`.
    pub fn lookup(&self, symbol: &str) -> Result<u64, CodegenError> {
        let offset = self.symbols.get(symbol);
        let address = offset
            .and_then(|at| self.image.get(*at..))
            .map(|code| code.as_ptr() as u64);
        address.ok_or_else(|| not_found(symbol))
    }

    /// A kernel. Calling it is unsafe: the caller answers for the ABI, and keeps `self` alive.
    pub fn cpu_entry(&self, symbol: &str) -> Result<CpuEntry, CodegenError> {
        let address = self.lookup(symbol)? as usize;
        // SAFETY: a non-null address of linked code; that it follows the ABI is what the unsafe call of it promises.
        Ok(unsafe { std::mem::transmute::<usize, CpuEntry>(address) })
    }
}

type File<'data> = ElfFile64<'data, Endianness>;

/// Places in the image.
#[derive(Default)]
struct Layout {
    /// The offset of each section that is loaded, by object and number.
    sections: BTreeMap<(usize, usize), usize>,
    symbols: BTreeMap<String, usize>,
    /// The offset of the stubs for the runtime's symbols.
    stubs: usize,
    bytes: usize,
}

impl Layout {
    fn reserve(&mut self, bytes: usize, align: u64) -> Result<usize, CodegenError> {
        let align = usize::try_from(align.clamp(1, PAGE_BYTES)).unwrap_or(1);
        let start = self.bytes.checked_next_multiple_of(align);
        let end = start.and_then(|start| start.checked_add(bytes));
        match (start, end) {
            (Some(start), Some(end)) if end <= MOST_BYTES => {
                self.bytes = end;
                Ok(start)
            }
            _ => Err(CodegenError::Load("there is too much code".into())),
        }
    }

    /// Makes room for the sections of an object that are loaded, and notes its symbols.
    fn add(&mut self, number: usize, file: &File<'_>) -> Result<(), CodegenError> {
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags, .. } = section.flags() else {
                continue;
            };
            if !sh_flags.contains(elf::SHF_ALLOC) || section.size() == 0 {
                continue;
            }
            if sh_flags.contains(elf::SHF_WRITE) {
                let name = section.name().unwrap_or_default();
                return Err(CodegenError::Load(format!(
                    "the section `{name}` can be written to"
                )));
            }
            let data = section.data().map_err(load)?;
            let start = self.reserve(data.len(), section.align())?;
            self.sections.insert((number, section.index().0), start);
        }
        for symbol in file.symbols().filter(|symbol| symbol.is_global()) {
            let Some(offset) = self.defined(number, &symbol) else {
                continue;
            };
            let name = symbol.name().map_err(load)?;
            if self.symbols.insert(name.into(), offset).is_some() {
                return Err(CodegenError::Load(format!("`{name}` is defined twice")));
            }
        }
        Ok(())
    }

    /// The offset of a symbol that the object `number` defines.
    fn defined<'data>(&self, number: usize, symbol: &impl ObjectSymbol<'data>) -> Option<usize> {
        let SymbolSection::Section(section) = symbol.section() else {
            return None;
        };
        let start = self.sections.get(&(number, section.0))?;
        start.checked_add(usize::try_from(symbol.address()).ok()?)
    }

    /// Writes the sections of an object and relocates them.
    fn fill(&self, number: usize, file: &File<'_>, image: &mut [u8]) -> Result<(), CodegenError> {
        for section in file.sections() {
            let Some(&start) = self.sections.get(&(number, section.index().0)) else {
                continue;
            };
            put(image, start, section.data().map_err(load)?)?;
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return Err(CodegenError::Load("a relocation without a symbol".into()));
                };
                let symbol = file.symbol_by_index(symbol).map_err(load)?;
                let RelocationFlags::Elf { r_type } = relocation.flags() else {
                    continue;
                };
                let at = usize::try_from(offset)
                    .ok()
                    .and_then(|offset| start.checked_add(offset));
                let place = Relocation {
                    kind: r_type,
                    at: at.filter(|at| *at < MOST_BYTES).ok_or_else(outside)?,
                    addend: relocation.addend(),
                };
                let to = match self.defined(number, &symbol) {
                    Some(offset) => To { offset, slot: None },
                    None => self.outside(symbol.name().map_err(load)?)?,
                };
                match file.architecture() {
                    Architecture::X86_64 => place.x86_64(to, image)?,
                    Architecture::Aarch64 => place.aarch64(to, image)?,
                    other => return Err(CodegenError::Load(format!("code for {other:?}"))),
                }
            }
        }
        Ok(())
    }

    /// A symbol of another object or of the runtime.
    fn outside(&self, name: &str) -> Result<To, CodegenError> {
        if let Some(&offset) = self.symbols.get(name) {
            return Ok(To { offset, slot: None });
        }
        let index = runtime_symbols()
            .iter()
            .position(|(known, _)| *known == name);
        let offset = index.map(|index| self.stubs + index * STUB_BYTES);
        let to = offset.map(|offset| To {
            offset,
            slot: Some(offset + STUB_BYTES - 8),
        });
        to.ok_or_else(|| not_found(name))
    }
}

/// The target of a relocation: the offset of the symbol, and of a word that holds its address.
#[derive(Clone, Copy)]
struct To {
    offset: usize,
    slot: Option<usize>,
}

/// A place to be changed, by the numbers and the formulas of the processor's ABI: S is the symbol, A the addend, P the place.
struct Relocation {
    kind: elf::RelocationType,
    at: usize,
    addend: i64,
}

impl Relocation {
    /// S + A - P.
    fn distance(&self, to: usize) -> i64 {
        (to as i64)
            .wrapping_add(self.addend)
            .wrapping_sub(self.at as i64)
    }

    fn x86_64(&self, to: To, image: &mut [u8]) -> Result<(), CodegenError> {
        let target = match (self.kind, to.slot) {
            (elf::R_X86_64_PC32 | elf::R_X86_64_PLT32, _) => to.offset,
            (
                elf::R_X86_64_GOTPCREL | elf::R_X86_64_GOTPCRELX | elf::R_X86_64_REX_GOTPCRELX,
                Some(slot),
            ) => slot,
            _ => return Err(self.unknown()),
        };
        let distance = i32::try_from(self.distance(target)).map_err(|_| outside())?;
        put(image, self.at, &distance.to_le_bytes())
    }

    /// Applies a relocation of AArch64. The image starts at a page, so page offsets in the image are page offsets of
    /// addresses.
    fn aarch64(&self, to: To, image: &mut [u8]) -> Result<(), CodegenError> {
        let target = (to.offset as i64).wrapping_add(self.addend);
        let low = (target & 0xfff) as u32;
        let word = image
            .get(self.at..)
            .and_then(|rest| rest.first_chunk::<4>())
            .ok_or_else(outside)?;
        let word = u32::from_le_bytes(*word);
        let bits = match self.kind {
            elf::R_AARCH64_ADR_PREL_PG_HI21 => {
                let pages = ((target >> 12) - (self.at as i64 >> 12)) as u32;
                (pages & 3) << 29 | (pages >> 2 & 0x7_ffff) << 5
            }
            elf::R_AARCH64_ADD_ABS_LO12_NC | elf::R_AARCH64_LDST8_ABS_LO12_NC => low << 10,
            elf::R_AARCH64_LDST16_ABS_LO12_NC => low >> 1 << 10,
            elf::R_AARCH64_LDST32_ABS_LO12_NC => low >> 2 << 10,
            elf::R_AARCH64_LDST64_ABS_LO12_NC => low >> 3 << 10,
            elf::R_AARCH64_LDST128_ABS_LO12_NC => low >> 4 << 10,
            elf::R_AARCH64_CALL26 | elf::R_AARCH64_JUMP26 => {
                (self.distance(to.offset) >> 2) as u32 & 0x3ff_ffff
            }
            elf::R_AARCH64_PREL32 => {
                return put(
                    image,
                    self.at,
                    &(self.distance(to.offset) as i32).to_le_bytes(),
                );
            }
            _ => return Err(self.unknown()),
        };
        put(image, self.at, &(word | bits).to_le_bytes())
    }

    fn unknown(&self) -> CodegenError {
        CodegenError::Load(format!("a relocation of the unknown type {}", self.kind.0))
    }
}

/// A jump to `address`, which its last eight bytes hold.
fn stub(address: u64) -> [u8; STUB_BYTES] {
    let jump: [u8; 8] = if cfg!(target_arch = "aarch64") {
        // ldr x16, .+8; br x16
        [0x50, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6]
    } else {
        // jmp *2(%rip); two bytes that are never reached
        [0xff, 0x25, 0x02, 0x00, 0x00, 0x00, 0x90, 0x90]
    };
    let mut stub = [0; STUB_BYTES];
    stub[..8].copy_from_slice(&jump);
    stub[8..].copy_from_slice(&address.to_le_bytes());
    stub
}

fn put(image: &mut [u8], at: usize, bytes: &[u8]) -> Result<(), CodegenError> {
    let place = at
        .checked_add(bytes.len())
        .and_then(|end| image.get_mut(at..end));
    place.ok_or_else(outside)?.copy_from_slice(bytes);
    Ok(())
}

/// Makes written code visible to instruction fetch; x86-64 needs no action.
fn make_visible(image: &[u8]) {
    #[cfg(target_arch = "aarch64")]
    for line in image.chunks(LEAST_LINE) {
        // SAFETY: maintenance of caches for addresses of a live slice.
        unsafe {
            std::arch::asm!("dc cvau, {0}", "dsb ish", "ic ivau, {0}", in(reg) line.as_ptr());
        }
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: barriers only.
    unsafe {
        std::arch::asm!("dsb ish", "isb");
    }
    let _ = image;
}

/// The shortest line of a cache that AArch64 allows.
#[cfg(target_arch = "aarch64")]
const LEAST_LINE: usize = 16;

fn outside() -> CodegenError {
    CodegenError::Load("an address lies outside of the code".into())
}

fn not_found(symbol: &str) -> CodegenError {
    CodegenError::Load(format!("Symbols not found: [ {symbol} ]"))
}

fn load(error: impl std::fmt::Display) -> CodegenError {
    CodegenError::Load(error.to_string())
}
