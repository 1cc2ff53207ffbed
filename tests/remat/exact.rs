//! The least bytes that given kernels can move: every choice of written values, and for each kernel a minimum cut.
//!
//! Written from the definition alone: a kernel that writes something loads program inputs or what earlier kernels wrote, and
//! computes any op of its own or of an earlier kernel that may be repeated; every value that it uses or writes is loaded or
//! computed. It costs its loads; each written value costs one write. A kernel whose ops only give memory another shape is a
//! view: it computes nothing else, and neither its loads nor its writes cost anything. Exponential in the number of values.

use std::collections::VecDeque;

/// An op: one result.
pub struct OpOf {
    /// Values that it reads: inputs first, then results in order.
    pub reads: Vec<usize>,
    /// True if another kernel may compute it again.
    pub free: bool,
    /// True if it only gives memory another shape.
    pub renames: bool,
}

/// Kernels and what they compute.
pub struct Case {
    /// Stored bytes of each value: inputs first, then the result of each op.
    pub bytes: Vec<u64>,
    /// The number of inputs among the values.
    pub inputs: usize,
    /// In program order.
    pub ops: Vec<OpOf>,
    /// The kernel of each op, ascending.
    pub kernel: Vec<usize>,
    /// Values that the program returns.
    pub outputs: Vec<usize>,
}

impl Case {
    fn is_view(&self, kernel: usize) -> bool {
        let mut own = self
            .ops
            .iter()
            .zip(&self.kernel)
            .filter(|(_, k)| **k == kernel);
        own.all(|(op, _)| op.renames)
    }
    /// Bytes of the write of a result.
    fn write(&self, value: usize) -> u64 {
        match self.is_view(self.kernel[value - self.inputs]) {
            true => 0,
            false => self.bytes[value],
        }
    }
}

/// The least bytes.
pub fn least(case: &Case) -> u64 {
    let last = case.kernel.last().copied().unwrap_or(0);
    let results = case.inputs..case.bytes.len();
    let could = |v: &usize| case.kernel[v - case.inputs] < last && !case.outputs.contains(v);
    let free: Vec<usize> = results.filter(could).collect();
    let returned: u64 = case.outputs.iter().map(|&v| case.write(v)).sum();
    let mut best = u64::MAX;
    for choice in 0..1u32 << free.len() {
        let chosen = free
            .iter()
            .enumerate()
            .filter(|(i, _)| choice >> i & 1 == 1);
        let chosen: Vec<usize> = chosen.map(|(_, &v)| v).collect();
        let writes = returned + chosen.iter().map(|&v| case.write(v)).sum::<u64>();
        let mut written = vec![false; case.bytes.len()];
        for &v in chosen.iter().chain(&case.outputs) {
            written[v] = true;
        }
        let mut total = writes;
        for kernel in 0..=last {
            // Already dearer than the best, or impossible: the kernels that are left only add to it.
            if total >= best {
                break;
            }
            total = total.saturating_add(loads(case, kernel, &written));
        }
        best = best.min(total);
    }
    best
}

/// No path pays this.
const NEVER: u64 = 1 << 50;

/// The least bytes that `kernel` loads; [`u64::MAX`] where it cannot have what it needs.
fn loads(case: &Case, kernel: usize, written: &[bool]) -> u64 {
    let home = |v: usize| (v >= case.inputs).then(|| case.kernel[v - case.inputs]);
    let wanted: Vec<usize> = (0..written.len())
        .filter(|&v| written[v] && home(v) == Some(kernel))
        .collect();
    if wanted.is_empty() {
        return 0;
    }
    // Value v is the edge 2v -> 2v + 1; then source and sink.
    let view = case.is_view(kernel);
    let (source, sink) = (2 * written.len(), 2 * written.len() + 1);
    let mut capacity = vec![vec![0u64; sink + 1]; sink + 1];
    for (v, &bytes) in case.bytes.iter().enumerate() {
        let loadable = home(v).is_none_or(|h| h < kernel && written[v]);
        capacity[2 * v][2 * v + 1] = if loadable { bytes } else { NEVER };
        let op = home(v).map(|h| (h, &case.ops[v - case.inputs]));
        match op.filter(|(h, op)| *h == kernel || (*h < kernel && op.free && !view)) {
            None => capacity[source][2 * v] = NEVER,
            Some((_, op)) => {
                for &read in &op.reads {
                    capacity[2 * read + 1][2 * v] = NEVER;
                }
            }
        }
    }
    for v in wanted {
        capacity[2 * v + 1][sink] = NEVER;
    }
    let flow = flow(&mut capacity, source, sink);
    match flow {
        NEVER.. => u64::MAX,
        _ if view => 0,
        flow => flow,
    }
}

/// The greatest flow, by shortest paths.
fn flow(capacity: &mut [Vec<u64>], source: usize, sink: usize) -> u64 {
    let mut total = 0;
    loop {
        let mut from = vec![usize::MAX; capacity.len()];
        let mut queue = VecDeque::from([source]);
        from[source] = source;
        while let Some(at) = queue.pop_front() {
            for next in 0..capacity.len() {
                if capacity[at][next] > 0 && from[next] == usize::MAX {
                    from[next] = at;
                    queue.push_back(next);
                }
            }
        }
        if from[sink] == usize::MAX || total >= NEVER {
            return total;
        }
        let mut room = u64::MAX;
        let mut at = sink;
        while at != source {
            room = room.min(capacity[from[at]][at]);
            at = from[at];
        }
        at = sink;
        while at != source {
            capacity[from[at]][at] -= room;
            capacity[at][from[at]] += room;
            at = from[at];
        }
        total += room;
    }
}
