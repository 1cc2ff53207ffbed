//! Layouts of a value on the devices, and the moves from one to another.
//!
//! ```text
//! [x] []            cut along axis 0; all_gather makes it whole, all_to_all cuts it along axis 1
//! [] [] + x         each device has a summand; all_reduce adds them, reduce_scatter adds and cuts
//! ```

use fuser_dialects::task::mesh::{Mesh, Sharding};

use crate::rule::Combine;

/// A layout of a value on the devices.
#[derive(Clone, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct Layout {
    /// The mesh axes that cut each axis, major first.
    pub dims: Vec<Vec<usize>>,
    /// The mesh axes along which devices hold summands of the value, ascending, and the function that combines these.
    pub partial: Option<(Vec<usize>, Combine)>,
}

impl Layout {
    /// Whole on each device.
    pub fn whole(rank: usize) -> Self {
        Self::cut(vec![Vec::new(); rank])
    }
    /// Cut, and nothing to combine.
    pub fn cut(dims: Vec<Vec<usize>>) -> Self {
        Self {
            dims,
            partial: None,
        }
    }
    /// The layout that a sharding says.
    pub fn of(sharding: &Sharding) -> Self {
        Self::cut(sharding.dims.clone())
    }
    /// The sharding, of what is not partial.
    pub fn sharding(&self) -> Sharding {
        Sharding {
            dims: self.dims.clone(),
        }
    }
}

/// A step from one layout to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// Summands along these axes are combined, and all devices have the result.
    Reduce(Vec<usize>),
    /// It is combined, and each has a part along an axis.
    Scatter(usize, usize),
    /// Concatenates the parts along an axis over the mesh axes, which are the last ones that split it.
    Gather(usize, Vec<usize>),
    /// Parts along the first axis, cut by this mesh axis, become parts along the second one.
    Exchange(usize, usize, usize),
    /// Exchanges parts along an axis between devices, so that the same mesh axes split it in another order.
    Reorder(usize, Vec<usize>, Vec<usize>),
    /// Each device takes its part along an axis.
    Slice(usize, Vec<usize>),
    /// Devices along these axes send what they have, by pairs of source and target: no step of [`moves`].
    Pass(Vec<usize>, Vec<i64>),
}

/// The moves from layout `from` to layout `to`. `to` may be partial only along axes along which `from` is partial.
pub fn moves(from: &Layout, to: &Layout) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut now = from.dims.clone();
    // What is cut anyway is cut first: less is moved.
    let kept = to.partial.as_ref().map_or(&[][..], |(axes, _)| axes);
    let open = from.partial.iter().flat_map(|(axes, _)| axes);
    let mut open: Vec<usize> = open.copied().filter(|axis| !kept.contains(axis)).collect();
    slices(&mut now, to, &open, &mut moves);
    // Combined and cut in one.
    loop {
        let ready = open
            .iter()
            .position(|&axis| next(&now, to).any(|(_, wanted)| wanted == axis));
        let Some(at) = ready else { break };
        let axis = open.remove(at);
        let dim = next(&now, to)
            .find(|(_, wanted)| *wanted == axis)
            .map(|(dim, _)| dim);
        if let Some(dim) = dim {
            now[dim].push(axis);
            moves.push(Move::Scatter(dim, axis));
        }
        slices(&mut now, to, &open, &mut moves);
    }
    if !open.is_empty() {
        moves.push(Move::Reduce(std::mem::take(&mut open)));
        slices(&mut now, to, &open, &mut moves);
    }
    // Where all mesh axes stay, those that are missing come behind them.
    for dim in 0..now.len() {
        let stays = now[dim].iter().all(|axis| to.dims[dim].contains(axis));
        let turned = common(&now[dim], &to.dims[dim]) < now[dim].len();
        let cuts = |axis: &usize| now.iter().flatten().any(|own| own == axis);
        let more = to.dims[dim].iter().filter(|axis| !cuts(axis));
        let more: Vec<usize> = more.copied().collect();
        if stays && turned && !more.is_empty() {
            now[dim].extend(&more);
            moves.push(Move::Slice(dim, more));
        }
    }
    // Mesh axes that stay come first, so that the others can go.
    for (dim, (now, to)) in now.iter_mut().zip(&to.dims).enumerate() {
        let stay = to.iter().take_while(|axis| now.contains(axis));
        let mut order: Vec<usize> = stay.copied().collect();
        let rest = now.iter().filter(|axis| !order.contains(axis));
        let rest: Vec<usize> = rest.copied().collect();
        order.extend(rest);
        if order != *now {
            let before = std::mem::replace(now, order.clone());
            moves.push(Move::Reorder(dim, before, order));
        }
    }
    // What is cut otherwise is exchanged where it can be, else gathered.
    loop {
        let excess = |dim: usize| now[dim].len() > common(&now[dim], &to.dims[dim]);
        let exchanged = (0..now.len()).filter(|&dim| excess(dim)).find_map(|dim| {
            let last = *now[dim].last()?;
            let (place, _) =
                next(&now, to).find(|(place, wanted)| *wanted == last && *place != dim)?;
            Some((dim, place, last))
        });
        if let Some((dim, place, axis)) = exchanged {
            now[dim].pop();
            now[place].push(axis);
            moves.push(Move::Exchange(dim, place, axis));
        } else if let Some(dim) = (0..now.len()).find(|&dim| excess(dim)) {
            // One that another axis could take by an exchange is gathered alone.
            let from = common(&now[dim], &to.dims[dim]);
            let axes = now[dim].split_off(from);
            moves.push(Move::Gather(dim, axes));
        } else {
            break;
        }
        slices(&mut now, to, &open, &mut moves);
    }
    moves
}

/// The length of the common beginning.
fn common(a: &[usize], b: &[usize]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The mesh axis that splits each axis next, if all earlier splits of that axis already agree.
fn next<'a>(now: &'a [Vec<usize>], to: &'a Layout) -> impl Iterator<Item = (usize, usize)> + 'a {
    now.iter()
        .zip(&to.dims)
        .enumerate()
        .filter_map(|(dim, (now, to))| {
            let same = common(now, to);
            (same == now.len())
                .then(|| to.get(same).map(|&axis| (dim, axis)))
                .flatten()
        })
}

/// Cuts by mesh axes that cut nothing yet.
fn slices(now: &mut [Vec<usize>], to: &Layout, open: &[usize], moves: &mut Vec<Move>) {
    loop {
        let free =
            |axis: usize| !open.contains(&axis) && !now.iter().flatten().any(|&own| own == axis);
        let Some((dim, axis)) = next(now, to).find(|&(_, axis)| free(axis)) else {
            return;
        };
        now[dim].push(axis);
        match moves.last_mut() {
            Some(Move::Slice(last, axes)) if *last == dim => axes.push(axis),
            _ => moves.push(Move::Slice(dim, vec![axis])),
        }
    }
}

/// The bytes of a value that a device holds after a move, of so many before.
pub fn held(mesh: &Mesh, step: &Move, bytes: u64) -> u64 {
    let parts = |axes: &[usize]| mesh.parts(axes).max(1) as u64;
    match step {
        Move::Reduce(_) | Move::Exchange(..) | Move::Reorder(..) | Move::Pass(..) => bytes,
        Move::Scatter(_, axis) => bytes / parts(&[*axis]),
        Move::Gather(_, axes) => bytes.saturating_mul(parts(axes)),
        Move::Slice(_, axes) => bytes / parts(axes),
    }
}

/// The bytes that a device sends by way of its links for a move: rings of all devices of a group send what is not theirs once, and an
/// all_reduce twice.
pub fn sent(mesh: &Mesh, step: &Move, bytes: u64) -> u64 {
    let share = |axes: &[usize], bytes: u64| {
        let parts = mesh.parts(axes).max(1) as u64;
        bytes / parts * (parts - 1)
    };
    match step {
        Move::Reduce(axes) => share(axes, bytes).saturating_mul(2),
        Move::Scatter(_, axis) | Move::Exchange(_, _, axis) => share(&[*axis], bytes),
        Move::Gather(_, axes) => share(axes, bytes.saturating_mul(mesh.parts(axes).max(1) as u64)),
        Move::Reorder(..) | Move::Pass(..) => bytes,
        Move::Slice(..) => 0,
    }
}

/// The messages that wait for each other in a move of few bytes: each one doubles the devices that have been heard of.
pub fn messages(mesh: &Mesh, step: &Move) -> u64 {
    let doublings = |axes: &[usize]| {
        let devices = mesh.parts(axes).max(1) as u64;
        u64::from(devices.next_power_of_two().ilog2())
    };
    match step {
        Move::Reduce(axes) | Move::Gather(_, axes) => doublings(axes),
        Move::Scatter(_, axis) | Move::Exchange(_, _, axis) => doublings(&[*axis]),
        Move::Reorder(..) | Move::Pass(..) => 1,
        Move::Slice(..) => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All layouts of a tensor of `rank` on two mesh axes.
    fn layouts(rank: usize, partial: bool) -> Vec<Layout> {
        let mut all = Vec::new();
        // Each mesh axis lies at a dim, nowhere, or is partial.
        for a in 0..rank + 2 {
            for b in 0..rank + 2 {
                for turned in [false, true] {
                    let mut own = Layout::whole(rank);
                    let mut sums = Vec::new();
                    let mut axes = vec![(0, a), (1, b)];
                    if turned {
                        axes.reverse();
                    }
                    for (axis, place) in axes {
                        if place < rank {
                            own.dims[place].push(axis);
                        } else if place == rank + 1 {
                            sums.push(axis);
                        }
                    }
                    sums.sort_unstable();
                    if partial || sums.is_empty() {
                        own.partial = (!sums.is_empty()).then_some((sums, Combine::Sum));
                        all.push(own);
                    }
                }
            }
        }
        all
    }
    /// The layout that moves lead to.
    fn follow(from: &Layout, moves: &[Move]) -> Layout {
        let mut now = from.clone();
        for step in moves {
            let mut combined: Vec<usize> = Vec::new();
            match step {
                Move::Reduce(axes) => combined.clone_from(axes),
                Move::Scatter(dim, axis) => {
                    combined.push(*axis);
                    now.dims[*dim].push(*axis);
                }
                Move::Gather(dim, axes) => {
                    let left = now.dims[*dim].len() - axes.len();
                    assert_eq!(now.dims[*dim].split_off(left), *axes);
                }
                Move::Exchange(from, to, axis) => {
                    assert_eq!(now.dims[*from].pop(), Some(*axis));
                    now.dims[*to].push(*axis);
                }
                Move::Reorder(dim, before, after) => {
                    assert_eq!(now.dims[*dim], *before);
                    let sorted = |list: &[usize]| {
                        let mut list = list.to_vec();
                        list.sort_unstable();
                        list
                    };
                    assert_eq!(sorted(before), sorted(after));
                    now.dims[*dim].clone_from(after);
                }
                Move::Pass(..) => panic!("no layout changes"),
                Move::Slice(dim, axes) => {
                    assert!(
                        axes.iter()
                            .all(|axis| !now.dims.iter().flatten().any(|own| own == axis))
                    );
                    now.dims[*dim].extend(axes);
                }
            }
            if let Some((open, _)) = &mut now.partial {
                let before = open.len();
                open.retain(|axis| !combined.contains(axis));
                assert_eq!(before - open.len(), combined.len());
            }
            if now
                .partial
                .as_ref()
                .is_some_and(|(open, _)| open.is_empty())
            {
                now.partial = None;
            }
        }
        now
    }
    #[test]
    fn every_layout_becomes_every_other() {
        for from in layouts(3, true) {
            for to in layouts(3, false) {
                let steps = moves(&from, &to);
                assert_eq!(follow(&from, &steps), to, "{from:?} {steps:?}");
            }
        }
    }
    #[test]
    fn messages_double_the_devices_that_know() {
        let mesh = |devices: i64| Mesh {
            axes: vec![("x".into(), devices)],
        };
        for (devices, expected) in [(1, 0), (2, 1), (3, 2), (8, 3), (9, 4)] {
            for step in [
                Move::Reduce(vec![0]),
                Move::Gather(0, vec![0]),
                Move::Scatter(0, 0),
            ] {
                assert_eq!(
                    messages(&mesh(devices), &step),
                    expected,
                    "{step:?} of {devices}"
                );
            }
        }
        assert_eq!(messages(&mesh(8), &Move::Pass(vec![0], vec![0, 1])), 1);
        assert_eq!(messages(&mesh(8), &Move::Slice(0, vec![0])), 0);
    }
    #[test]
    fn an_axis_that_is_major_goes_without_the_others() {
        let from = Layout::cut(vec![vec![0, 1]]);
        let turn = Move::Reorder(0, vec![0, 1], vec![1, 0]);
        let to = Layout::cut(vec![vec![1]]);
        assert_eq!(moves(&from, &to), [turn.clone(), Move::Gather(0, vec![0])]);
        let back = Layout::cut(vec![vec![1, 0]]);
        assert_eq!(moves(&from, &back).first(), Some(&turn));
        let major = Layout::cut(vec![vec![0]]);
        let all = Layout::cut(vec![vec![1, 0]]);
        assert_eq!(moves(&major, &all), [Move::Slice(0, vec![1]), turn]);
    }
    #[test]
    fn summands_are_scattered_where_parts_are_wanted() {
        let mut from = Layout::whole(2);
        from.partial = Some((vec![0], Combine::Sum));
        let to = Layout::cut(vec![vec![], vec![0]]);
        assert_eq!(moves(&from, &to), [Move::Scatter(1, 0)]);
        assert_eq!(moves(&from, &Layout::whole(2)), [Move::Reduce(vec![0])]);
        let turned = Layout::cut(vec![vec![0], vec![]]);
        assert_eq!(moves(&to, &turned), [Move::Exchange(1, 0, 0)]);
    }
}
