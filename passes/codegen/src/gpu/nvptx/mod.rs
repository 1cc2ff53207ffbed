//! NVIDIA's GPUs: intrinsics and instructions of PTX; approximations of functions; products of matrices on tensor cores.

mod approximate;
mod byte_swaps;
pub(crate) mod product;

use inkwell::AddressSpace;
use inkwell::module::Module;
use inkwell::values::{FunctionValue, PointerValue};

use super::{GLOBAL_SPACE, Gpu, Source, WARP, returns, says};
use crate::error::CodegenError;
use crate::expr::{Emit, Val};
use crate::math::Unary;

/// The family of NVIDIA's GPUs.
#[derive(Debug)]
pub struct Nvptx;

const BUTTERFLY: &str = "llvm.nvvm.shfl.sync.bfly.i32";
const INDEX: &str = "llvm.nvvm.shfl.sync.idx.i32";
const UP: &str = "llvm.nvvm.shfl.sync.up.i32";
const BARRIER: &str = "llvm.nvvm.barrier.cta.sync.aligned.all";

/// The address of shared memory as a block of the cluster has it.
const MAP: &str = "llvm.nvvm.mapa.shared.cluster";
const ARRIVE: &str = "llvm.nvvm.barrier.cluster.arrive.aligned";
const WAIT: &str = "llvm.nvvm.barrier.cluster.wait.aligned";

/// Returns the count before; the operands are the address and the greatest count.
const COUNT: &str = "atom.acq_rel.gpu.global.inc.u32 $0, [$1], $2;";
const OPERANDS: &str = "=r,l,r,~{memory}";

impl Gpu for Nvptx {
    fn triple(&self) -> &'static str {
        "nvptx64-nvidia-cuda"
    }

    fn convention(&self) -> u32 {
        71
    }

    fn launch_bounds(
        &self,
        emit: &Emit<'_>,
        function: FunctionValue<'_>,
        threads: u32,
        cluster: u32,
    ) {
        says(emit, function, "nvvm.maxntid", &threads.to_string());
        if cluster > 1 {
            says(emit, function, "nvvm.cluster_dim", &cluster.to_string());
        }
    }

    fn resident_blocks(&self, emit: &Emit<'_>, function: FunctionValue<'_>, blocks: u64) {
        says(emit, function, "nvvm.minctasm", &blocks.to_string());
    }

    fn thread<'e, 'ctx>(&self, emit: &'e Emit<'ctx>) -> Val<'e, 'ctx> {
        register(emit, "tid.x")
    }

    fn block<'e, 'ctx>(&self, emit: &'e Emit<'ctx>) -> Val<'e, 'ctx> {
        register(emit, "ctaid.x")
    }

    fn barrier(&self, emit: &Emit<'_>) {
        emit.intrinsic(BARRIER, &[], &[emit.constant_int(32, None, 0)]);
        returns(emit, BARRIER);
    }

    fn shuffle<'e, 'ctx>(&self, word: Val<'e, 'ctx>, from: Source<'e, 'ctx>) -> Val<'e, 'ctx> {
        let emit = word.emit();
        let constant = |v: i64| emit.constant_int(32, None, v);
        // The bounds as PTX encodes them: the bits that threads of a group share, and the last thread.
        let bounds = |width: u32, last: i64| i64::from(WARP - width) << 8 | last;
        let end = i64::from(WARP - 1);
        let (name, by, clamp) = match from {
            Source::Across(distance) => (BUTTERFLY, constant(distance), end),
            Source::Lane { lane, width } => (INDEX, lane, bounds(width, end)),
            Source::Earlier { distance, width } => (UP, constant(distance), bounds(width, 0)),
        };
        let shuffled = emit.intrinsic(name, &[], &[constant(-1), word, by, constant(clamp)]);
        returns(emit, name);
        shuffled.map_or(word, |raw| emit.val(raw))
    }

    fn has_warp_extremes(&self) -> bool {
        true
    }

    fn warp_extreme<'e, 'ctx>(&self, word: Val<'e, 'ctx>, greatest: bool) -> Val<'e, 'ctx> {
        let emit = word.emit();
        let name = match greatest {
            true => "llvm.nvvm.redux.sync.max",
            false => "llvm.nvvm.redux.sync.min",
        };
        let all = emit.constant_int(32, None, -1);
        let reduced = emit.intrinsic(name, &[], &[word, all]);
        returns(emit, name);
        reduced.map_or(word, |raw| emit.val(raw))
    }

    fn cluster_barrier(&self, emit: &Emit<'_>) {
        for name in [ARRIVE, WAIT] {
            emit.intrinsic(name, &[], &[]);
            returns(emit, name);
        }
    }

    fn in_block<'ctx>(
        &self,
        emit: &Emit<'ctx>,
        room: PointerValue<'ctx>,
        rank: Val<'_, 'ctx>,
    ) -> PointerValue<'ctx> {
        let rank = rank.zext_or_trunc(32);
        let mapped = emit.intrinsic(MAP, &[], &[emit.val(room), rank]);
        mapped.map_or(room, |mapped| mapped.into_pointer_value())
    }

    fn count<'e, 'ctx>(
        &self,
        place: PointerValue<'ctx>,
        last: Val<'e, 'ctx>,
    ) -> Result<Val<'e, 'ctx>, CodegenError> {
        let emit = last.emit();
        let (pointer, word) = (
            emit.context.ptr_type(AddressSpace::from(GLOBAL_SPACE)),
            emit.context.i32_type(),
        );
        let ty = word.fn_type(&[pointer.into(), word.into()], false);
        let (text, operands) = (COUNT.to_owned(), OPERANDS.to_owned());
        let count = (emit.context).create_inline_asm(ty, text, operands, true, false, None, false);
        let args = [place.into(), last.raw().into_int_value().into()];
        let call = emit.builder.build_indirect_call(ty, count, &args, "")?;
        let missing = || CodegenError::Internal("a count has no result".into());
        let before = call.try_as_basic_value().basic().ok_or_else(missing)?;
        Ok(emit.val(before))
    }

    fn near_reciprocal<'e, 'ctx>(&self, x: Val<'e, 'ctx>) -> Option<Val<'e, 'ctx>> {
        Some(approximate::reciprocal(x))
    }

    fn approximation(&self, name: &str) -> Option<Unary> {
        approximate::find(name)
    }

    fn near_quotient<'e, 'ctx>(&self, a: Val<'e, 'ctx>, b: Val<'e, 'ctx>) -> Val<'e, 'ctx> {
        approximate::quotient(a, b)
    }

    fn repair(&self, module: &Module<'_>) -> Result<(), CodegenError> {
        byte_swaps::split(module)
    }

    fn has_extremes(&self) -> bool {
        true
    }

    fn rounds_to_bf16(&self) -> bool {
        true
    }
}

/// A register that every thread has, as 64 bits.
fn register<'e, 'ctx>(emit: &'e Emit<'ctx>, name: &str) -> Val<'e, 'ctx> {
    let full = format!("llvm.nvvm.read.ptx.sreg.{name}");
    let read = emit.intrinsic(&full, &[], &[]).map(|raw| emit.val(raw));
    read.unwrap_or_else(|| emit.constant_int(32, None, 0))
        .zext_or_trunc(64)
}
