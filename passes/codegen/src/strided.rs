//! Loads and stores of vectors whose elements are equally spaced in memory.
//!
//! ```text
//! a  b  c  d  e  f  g  h  i  j         x = load [0, 4)    y = load [4, 8)    z = load [6, 10)
//! ^        ^        ^        ^     =>  shuffle of x and y, then of that and z: a d g j
//! ```
//!
//! A load consists of loads of the whole range from the first element to the last, and shuffles, if the distance is at
//! most the number of lanes. A store is the reverse, with masked stores, if the processor has masks for the elements.
//! All other accesses are split into single elements.
//!
//! Never reads before the first element or behind the last, and never writes between them.

use inkwell::types::VectorType;
use inkwell::values::PointerValue;

use crate::expr::{Elem, Emit, Val};
use crate::memory::{self, element};

/// The lanes of a vector at equal distances in memory.
#[derive(Clone, Copy)]
pub struct Lanes {
    /// The number of lanes, at least 2.
    pub count: u32,
    /// Elements from one to the next, at least 2.
    pub stride: u32,
}

impl Lanes {
    /// The vectors that cover the range from the first element to the last: for each, its first element, and the first
    /// element that it contributes.
    fn vectors(self) -> impl Iterator<Item = [u64; 2]> {
        let (count, stride) = (u64::from(self.count), u64::from(self.stride));
        let last = (count - 1) * (stride - 1);
        (0..stride).map(move |n| [(n * count).min(last), n * count])
    }

    /// For each lane, its position in the vector that starts at element `first`; `None` for elements outside of the
    /// `count` elements from `own` on.
    fn places(self, [first, own]: [u64; 2]) -> impl Iterator<Item = Option<u32>> {
        let (count, stride) = (u64::from(self.count), u64::from(self.stride));
        (0..count).map(move |lane| {
            let at = lane * stride;
            (own..own + count)
                .contains(&at)
                .then(|| (at - first) as u32)
        })
    }

    /// Half of them, and the distance to the other half in elements.
    fn halves(self) -> (Self, i64) {
        let count = self.count / 2;
        (
            Self { count, ..self },
            i64::from(count) * i64::from(self.stride),
        )
    }

    /// True if vectors of these lanes exceed a register and can be halved.
    fn exceed(self, emit: &Emit<'_>, elem: Elem) -> bool {
        self.count.is_multiple_of(2)
            && self.count > 2
            && self.count * elem.bits() > emit.register_bits()
    }

    /// True if vectors and shuffles take fewer instructions than single elements.
    fn are_near(self, emit: &Emit<'_>) -> bool {
        !emit.has_threads() && self.stride <= self.count
    }
}

/// Loads lanes from an address on. `align` divides the addresses of all elements.
pub fn load<'e, 'ctx>(
    emit: &'e Emit<'ctx>,
    address: PointerValue<'ctx>,
    elem: Elem,
    lanes: Lanes,
    align: u32,
) -> Val<'e, 'ctx> {
    let at = |address, index: i64| element(emit, address, elem, emit.constant_int(64, None, index));
    if lanes.exceed(emit, elem) && lanes.are_near(emit) {
        let (half, distance) = lanes.halves();
        let [low, high] =
            [0, distance].map(|from| load(emit, at(address, from), elem, half, align));
        return low.concat(high);
    }
    let mut all = emit.undefined(elem, Some(lanes.count));
    if !lanes.are_near(emit) {
        for lane in 0..lanes.count {
            let from = at(address, i64::from(lane) * i64::from(lanes.stride));
            all = all.with_lane(lane, memory::load(emit, from, elem, None, align));
        }
        return all;
    }
    for vector in lanes.vectors() {
        let from = at(address, vector[0] as i64);
        let next = memory::load(emit, from, elem, Some(lanes.count), align);
        let lane = |(lane, place): (u32, Option<u32>)| place.map_or(lane, |p| lanes.count + p);
        let taken: Vec<u32> = (0..).zip(lanes.places(vector)).map(lane).collect();
        all = all.shuffle_with(next, &taken);
    }
    all
}

/// Stores lanes from an address on; what lies between them is not touched.
pub fn store<'ctx>(
    emit: &Emit<'ctx>,
    value: Val<'_, 'ctx>,
    address: PointerValue<'ctx>,
    stride: u32,
    align: u32,
) {
    let (elem, count) = (value.elem(), value.lanes().unwrap_or(1));
    let lanes = Lanes { count, stride };
    let at = |index: i64| element(emit, address, elem, emit.constant_int(64, None, index));
    let masks = memory::has_masks(emit, elem);
    if !lanes.are_near(emit) || !masks {
        for lane in 0..count {
            let to = at(i64::from(lane) * i64::from(stride));
            memory::store(emit, value.lane(lane), to, align);
        }
        return;
    }
    if lanes.exceed(emit, elem) {
        let (half, distance) = lanes.halves();
        for (from, to) in [(0, 0), (half.count, distance)] {
            store(emit, value.slice(from, half.count), at(to), stride, align);
        }
        return;
    }
    for vector in lanes.vectors() {
        let mut from = vec![None; count as usize];
        for (lane, place) in (0..).zip(lanes.places(vector)) {
            if let Some(slot) = place.and_then(|p| from.get_mut(p as usize)) {
                *slot = Some(lane);
            }
        }
        let mut stored = (0..)
            .zip(&from)
            .filter_map(|(place, lane)| Some((place, (*lane)?)));
        if let (Some((place, lane)), None) = (stored.next(), stored.next()) {
            // LLVM 22 stores all of what a single lane was truncated from.
            memory::store(emit, value.lane(lane), at(vector[0] as i64 + place), align);
            continue;
        }
        let spread = value.shuffle(from.iter().map(|lane| lane.unwrap_or(0)).collect());
        let bit = |lane: &Option<u32>| {
            let bit = emit.context.bool_type();
            bit.const_int(u64::from(lane.is_some()), false)
        };
        let mask: Vec<_> = from.iter().map(bit).collect();
        let mask = emit.val(VectorType::const_vector(&mask));
        let to = emit.val(at(vector[0] as i64));
        let types = [spread.raw().get_type(), address.get_type().into()];
        emit.intrinsic("llvm.masked.store", &types, &[spread, to, mask]);
    }
}
