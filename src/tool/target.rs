//! The target that a command line selects: by name, from a file, or this machine.
//!
//! `--target=cpu` is this machine as far as the system describes it: cores, caches, memory. Figures that the system
//! does not provide (bandwidth, rates, costs of launches, most tuning) are those of `generic`. Only the figures read
//! here depend on the machine.

use std::path::Path;

use fuser_ir::diag::CodeDef;
use fuser_ir::span::Span;
use fuser_ir::{Diagnostic, Place};
use fuser_passes::targets::hint;
use fuser_target::{Kind, Name, Target, text};

use super::files::{self, Limit};
use crate::compile::UNKNOWN_TARGET;

/// The text of a target cannot be used.
pub const TARGET_FILE: CodeDef = CodeDef {
    code: "FIR0853",
    title: "a target file is not understood",
    explanation: "`--target-file=x.toml` reads a target from lines `key = value`: `name`, and either `base`, a target that gives what the file \
                  does not say, or every key. `--print-target` shows all keys of a target with what they mean; its output is such a file. \
                  A figure with a unit is a string, `launch = \"5 us\"`. The message names what is wrong with a key, or what is missing.",
    example: "$ fuser-opt x.fir --target-file=x.fir\n\
              name = \"mine\"\n\
              base = \"h100\"\n\
              launch = \"5 GB\"",
};

/// The name of this machine's target.
pub const HOST: &str = "cpu";

/// The flags that state the target.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// `--target`
    pub name: Option<String>,
    /// `--target-file`
    pub file: Option<String>,
    /// `--cpu`
    pub processor: Option<&'static str>,
}

impl Wanted {
    /// True if any of the flags is given.
    pub fn is_said(&self) -> bool {
        *self != Wanted::default()
    }
    /// The processor of `--cpu`.
    pub fn processor(&mut self, value: &str) -> Result<(), String> {
        let known = fuser_target::processors::of(Kind::Cpu);
        self.processor = known.iter().copied().find(|known| *known == value);
        if self.processor.is_some() {
            return Ok(());
        }
        let near = fuser_ir::suggest::nearest(value, known.iter().copied());
        let near = near.map_or(String::new(), |n| format!("; did you mean '{n}'?"));
        Err(format!(
            "unknown processor '{value}' (expected {}){near}",
            known.join(", ")
        ))
    }
    /// The conflict between the flags, if there is one.
    pub fn conflict(&self) -> Option<&'static str> {
        let both = self.name.is_some() && self.file.is_some();
        both.then_some("--target and --target-file both name a target: give one")
    }
    /// The requested target, or `default` without a request. `add` registers the text of a file and returns its number
    /// among the sources.
    pub fn target(
        &self,
        default: impl FnOnce() -> Target,
        add: &mut dyn FnMut(&str, &str) -> u32,
    ) -> Result<Target, Vec<Diagnostic>> {
        let target = match (&self.name, &self.file) {
            (_, Some(path)) => from_file(path, add)?,
            (Some(name), None) => by_name(name)?,
            (None, None) if self.processor.is_some() => host(),
            (None, None) => default(),
        };
        // A processor chooses instructions only: the plan is that of the machine, so that all processors sum in one
        // order.
        let Some(processor) = self.processor else {
            return Ok(target);
        };
        target.for_processor(processor).ok_or_else(|| {
            let message = "--cpu does not go with a GPU target";
            vec![Diagnostic::error(&UNKNOWN_TARGET, Place::Unknown, message)]
        })
    }
}

/// The target called `name`, which may be this machine.
pub fn by_name(name: &str) -> Result<Target, Vec<Diagnostic>> {
    match name {
        HOST => Ok(host()),
        name => text::read_option(name).map_err(|faults| {
            let error = |fault: &text::Fault| {
                let error = Diagnostic::error(&UNKNOWN_TARGET, Place::Unknown, fault.to_string());
                let hint = hint(fault);
                hint.map_or(error.clone(), |hint| error.help(hint))
            };
            faults.iter().map(error).collect()
        }),
    }
}

fn from_file(
    path: &str,
    add: &mut dyn FnMut(&str, &str) -> u32,
) -> Result<Target, Vec<Diagnostic>> {
    let read = files::read(path, Limit::default());
    let content =
        read.map_err(|message| vec![Diagnostic::error(&TARGET_FILE, Place::Unknown, message)])?;
    text::read_beside(&content, Some(&host())).map_err(|faults| {
        let file = add(path, &content);
        let error = |fault: &text::Fault| {
            let span = Span::new(fault.at.start as u32, fault.at.end as u32);
            let error =
                Diagnostic::error(&TARGET_FILE, Place::Span { file, span }, fault.to_string());
            match hint(fault) {
                Some(hint) => error.help(hint),
                None => error,
            }
        };
        faults.iter().map(error).collect()
    })
}

/// The maximum share of a last-level cache per thread: that of an EPYC 9184X, where four threads share 96 MiB. A
/// virtual machine that reports a larger share has an unknown number of neighbors on its cache.
const MOST_OF_A_CACHE: u64 = 24 << 20;

/// The effective bytes of a last-level cache that `sharing` threads share.
fn own_cache(bytes: u64, sharing: u64) -> u64 {
    bytes.min(sharing.saturating_mul(MOST_OF_A_CACHE))
}

/// The prefetch distance of streaming loops on Intel processors: two pages, beyond which nothing is gained, plus part
/// of a page. Without that part, a prefetch would wait for a pending store whose address has the same lower twelve bits
/// (docs/performance.md).
const ASKED_AHEAD: u64 = (8 << 10) + 512;

/// This machine.
pub fn host() -> Target {
    let mut target = Target {
        name: Name::new(HOST).unwrap_or(Target::default().name),
        ..Target::default()
    };
    if let Ok(count) = std::thread::available_parallelism() {
        target.workers = count.get() as u64;
    }
    if let Some(bytes) = memory() {
        target.memory_bytes = bytes;
    }
    if let Some((bytes, sharing)) = (2..=4).rev().find_map(cache_of_level) {
        target.last_cache_bytes = own_cache(bytes, sharing);
    }
    if is_intel() {
        target.ask_ahead_bytes = ASKED_AHEAD;
    }
    if let Some(bytes) = cache(1) {
        target.l1_bytes = bytes;
    }
    if let Some(bytes) = cache(2) {
        target.l2_bytes = bytes;
        // The other half holds what streams past.
        target.tile_bytes = bytes / 2;
    }
    if rounds_to_bf16() {
        target.lanes_by_memory = 1;
        // A tile is read a row at a time: eight lines of bf16 of each instead of two. Of wider types as many as are staged.
        target.narrow_tile *= 4;
    }
    target.masks = u64::from(has_masks());
    let target = target.of_cores();
    match target.contradiction() {
        None => target,
        // The system reports facts that contradict each other.
        Some(_) => Target::default(),
    }
}

/// True for a processor by Intel.
fn is_intel() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        let name = std::arch::x86_64::__cpuid(0);
        let name = [name.ebx, name.edx, name.ecx].map(u32::to_le_bytes);
        name.concat() == b"GenuineIntel"
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// True if this processor has masked vector loads and stores, for elements from bytes on.
fn has_masks() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vl")
    }
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// True if this processor rounds vectors of f32 to bf16 by one instruction. Storing a line of bf16 then justifies two
/// f32 vectors for each value.
fn rounds_to_bf16() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Bytes of memory, from `/proc/meminfo`.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1 << 10)
}

/// The bytes of the data cache at this level that one thread of a core has to itself.
fn cache(level: u32) -> Option<u64> {
    let (bytes, sharing) = cache_of_level(level)?;
    Some(bytes / sharing)
}

/// The bytes of the data cache at this level, and the number of threads that share it.
fn cache_of_level(level: u32) -> Option<(u64, u64)> {
    let folder = Path::new("/sys/devices/system/cpu/cpu0/cache");
    let read = |index: &Path, file: &str| {
        let text = std::fs::read_to_string(index.join(file)).ok()?;
        Some(text.trim().to_owned())
    };
    let indices = (0..16).map(|n| folder.join(format!("index{n}")));
    let mut found = indices.filter(|index| {
        let is_level = read(index, "level").is_some_and(|l| l == level.to_string());
        is_level && read(index, "type").is_some_and(|t| t != "Instruction")
    });
    let index = found.next()?;
    let kib: u64 = read(&index, "size")?.strip_suffix('K')?.parse().ok()?;
    let sharing = read(&index, "shared_cpu_map")?;
    let sharing: u32 = sharing
        .chars()
        .filter_map(|c| c.to_digit(16))
        .map(u32::count_ones)
        .sum();
    Some((kib << 10, u64::from(sharing.max(1))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_virtual_machine_has_no_more_of_a_cache_than_a_processor() {
        assert_eq!(own_cache(480 << 20, 2), 48 << 20);
        assert_eq!(own_cache(32 << 20, 2), 32 << 20);
        assert_eq!(own_cache(480 << 20, 96), 480 << 20);
    }

    #[test]
    fn this_machine_is_a_target_that_reads_back() {
        let host = host();
        assert_eq!(host.contradiction(), None);
        assert_eq!(text::read(&text::print(&host)), Ok(host));
        assert_eq!(by_name("cpu"), Ok(host));
    }
}
