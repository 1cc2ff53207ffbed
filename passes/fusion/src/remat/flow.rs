//! Maximum flow and minimum cut of a network: Dinic's algorithm on flat lists.
//!
//! Levels are distances from the source over arcs with residual capacity. In one phase a path ascends one level at a
//! time, is retracted only to its first full arc, and an arc that led nowhere is not examined again. For many short
//! parallel paths from source to sink, the time is linear in the network.
//!
//! Guarantees: [`Flow::reaches`] does not depend on the order of nodes and arcs: it is equal for every maximum flow.
//! Capacities must fit 62 bits. The buffers are reused from one network to the next.

/// No arc.
const NONE: u32 = u32::MAX;

/// A network and its current flow.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The head of each arc. Its reverse is the neighbour: arc `a ^ 1`.
    to: Vec<u32>,
    /// The residual capacity of each arc.
    room: Vec<u64>,
    /// The arc added to the same node before this one.
    before: Vec<u32>,
    /// The arc added last to each node.
    last: Vec<u32>,
    /// One plus the distance from the source; 0 if unreachable.
    levels: Vec<u32>,
    /// The arc of each node to examine next.
    current: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
    /// The number of phases: times that levels were computed.
    pub phases: u64,
}

impl Flow {
    /// Removes all nodes.
    pub fn clear(&mut self) {
        self.to.clear();
        self.room.clear();
        self.before.clear();
        self.last.clear();
        self.phases = 0;
    }
    /// Adds a node.
    pub fn node(&mut self) -> u32 {
        self.last.push(NONE);
        (self.last.len() - 1) as u32
    }
    /// Adds an arc of `capacity` from one node to another.
    pub fn arc(&mut self, from: u32, to: u32, capacity: u64) {
        for (from, to, room) in [(from, to, capacity), (to, from, 0)] {
            let last = &mut self.last[from as usize];
            self.before.push(*last);
            *last = self.to.len() as u32;
            self.to.push(to);
            self.room.push(room);
        }
    }

    /// Maximizes the flow.
    pub fn maximize(&mut self, source: u32, sink: u32) {
        while self.find_levels(source, sink) {
            self.current.clone_from(&self.last);
            self.block(source, sink);
        }
    }
    /// Computes the levels; returns true if the sink is reachable.
    fn find_levels(&mut self, source: u32, sink: u32) -> bool {
        self.phases += 1;
        self.levels.clear();
        self.levels.resize(self.last.len(), 0);
        self.levels[source as usize] = 1;
        self.queue.clear();
        self.queue.push(source);
        let mut at = 0;
        while let Some(&node) = self.queue.get(at) {
            at += 1;
            let mut arc = self.last[node as usize];
            while arc != NONE {
                let to = self.to[arc as usize];
                if self.room[arc as usize] > 0 && self.levels[to as usize] == 0 {
                    self.levels[to as usize] = self.levels[node as usize] + 1;
                    if to == sink {
                        return true;
                    }
                    self.queue.push(to);
                }
                arc = self.before[arc as usize];
            }
        }
        false
    }
    /// Fills ascending paths until each has a full arc (a blocking flow).
    fn block(&mut self, source: u32, sink: u32) {
        self.path.clear();
        let mut node = source;
        loop {
            if node == sink {
                node = self.fill();
                continue;
            }
            let arc = self.current[node as usize];
            if arc == NONE {
                let Some(back) = self.path.pop() else { return };
                node = self.to[(back ^ 1) as usize];
                self.current[node as usize] = self.before[back as usize];
                continue;
            }
            let to = self.to[arc as usize];
            let up = self.levels[to as usize] == self.levels[node as usize] + 1;
            if up && self.room[arc as usize] > 0 {
                self.path.push(arc);
                node = to;
            } else {
                self.current[node as usize] = self.before[arc as usize];
            }
        }
    }
    /// Fills the path, retracts it to the start of its first full arc, and returns that node.
    fn fill(&mut self) -> u32 {
        let room = |&arc: &u32| self.room[arc as usize];
        let least = self.path.iter().map(room).min().unwrap_or(0);
        for &arc in &self.path {
            self.room[arc as usize] -= least;
            self.room[(arc ^ 1) as usize] += least;
        }
        let mut arcs = self.path.iter();
        let full = arcs.position(|&arc| self.room[arc as usize] == 0);
        let full = full.unwrap_or(0);
        let node = self.to[(self.path[full] ^ 1) as usize];
        self.path.truncate(full);
        node
    }

    /// For each node, true if more could flow from it to the sink: the sink side of the minimum cut, which is the
    /// smallest.
    pub fn reaches(&mut self, sink: u32) -> Vec<bool> {
        let mut reaches = vec![false; self.last.len()];
        reaches[sink as usize] = true;
        self.queue.clear();
        self.queue.push(sink);
        while let Some(node) = self.queue.pop() {
            let mut arc = self.last[node as usize];
            while arc != NONE {
                let from = self.to[arc as usize] as usize;
                if self.room[(arc ^ 1) as usize] > 0 && !reaches[from] {
                    reaches[from] = true;
                    self.queue.push(from as u32);
                }
                arc = self.before[arc as usize];
            }
        }
        reaches
    }
}

#[cfg(test)]
mod tests {
    use petgraph::graph::DiGraph;

    use super::*;
    use fuser_testing::Random;

    /// All arcs with what flows through them, and the most that petgraph lets flow through the same network.
    #[test]
    fn as_much_flows_as_petgraph_lets_flow_and_the_cut_is_as_large() {
        let mut cut_by_some = 0;
        for seed in 0..400 {
            let mut random = Random(seed);
            let count = 2 + random.below(12);
            let (mut flow, mut graph) = (Flow::default(), DiGraph::<(), u64>::new());
            let nodes: Vec<_> = (0..count)
                .map(|_| (flow.node(), graph.add_node(())))
                .collect();
            let mut arcs = Vec::new();
            for _ in 0..random.below(4 * count) {
                let (from, to) = (random.below(count), random.below(count));
                let capacity = random.below(9) as u64;
                if from != to {
                    flow.arc(nodes[from].0, nodes[to].0, capacity);
                    graph.add_edge(nodes[from].1, nodes[to].1, capacity);
                    arcs.push((from, to, capacity));
                }
            }
            let (most, _) = petgraph::algo::dinics(&graph, nodes[0].1, nodes[1].1);
            flow.maximize(0, 1);
            let into: u64 = (0..arcs.len())
                .filter(|&a| arcs[a].1 == 1)
                .map(|a| arcs[a].2 - flow.room[2 * a])
                .sum();
            let out: u64 = (0..arcs.len())
                .filter(|&a| arcs[a].0 == 1)
                .map(|a| arcs[a].2 - flow.room[2 * a])
                .sum();
            assert_eq!(into - out, most, "seed {seed}");
            let late = flow.reaches(1);
            let cut = arcs
                .iter()
                .filter(|(from, to, _)| !late[*from] && late[*to]);
            assert_eq!(cut.map(|a| a.2).sum::<u64>(), most, "seed {seed}");
            assert!(!late[0], "seed {seed}");
            cut_by_some += u64::from(most > 0);
        }
        assert!(
            cut_by_some > 100,
            "{cut_by_some} networks of 400 let anything flow"
        );
    }

    /// A choice among n values that are all made of one: found in time in proportion to n.
    #[test]
    fn paths_side_by_side_take_two_phases() {
        let mut flow = Flow::default();
        let (source, sink, hub) = (flow.node(), flow.node(), flow.node());
        flow.arc(source, hub, 1 << 40);
        for path in 0..1000 {
            let node = flow.node();
            flow.arc(hub, node, 1 + path % 7);
            flow.arc(node, sink, 1 + path % 5);
        }
        flow.maximize(source, sink);
        assert_eq!(flow.phases, 2);
    }
}
