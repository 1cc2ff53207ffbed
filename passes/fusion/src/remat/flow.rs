//! The most that can flow through a network, and the smallest cut that bounds it: Dinic's algorithm on flat lists.
//!
//! Levels are distances from the source over arcs with room left. Within one set of levels a path goes up one level at
//! a time, is given up only as far as the first arc that is full, and an arc that led nowhere is not looked at again.
//! With many short paths side by side from source to sink it takes time in proportion to the network.
//!
//! Guarantees: [`Flow::reaches`] does not depend on the order of nodes and arcs: it is the same for every largest flow. Capacities
//! must fit 62 bits. The lists are kept from one network to the next.

/// No arc.
const NONE: u32 = u32::MAX;

/// A network and what flows through it.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The head of each arc. Its reverse is the neighbour: arc `a ^ 1`.
    to: Vec<u32>,
    /// The residual capacity of each arc.
    room: Vec<u64>,
    /// The arc of the same node that was added before.
    before: Vec<u32>,
    /// The arc of each node that was added last.
    last: Vec<u32>,
    /// One more than the distance from the source; 0: out of reach.
    levels: Vec<u32>,
    /// The arc of each node to look at next.
    current: Vec<u32>,
    queue: Vec<u32>,
    path: Vec<u32>,
    /// Times that levels were found.
    pub phases: u64,
}

impl Flow {
    /// Takes all nodes away.
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
    /// Lets at most `capacity` flow from one node to another.
    pub fn arc(&mut self, from: u32, to: u32, capacity: u64) {
        for (from, to, room) in [(from, to, capacity), (to, from, 0)] {
            let last = &mut self.last[from as usize];
            self.before.push(*last);
            *last = self.to.len() as u32;
            self.to.push(to);
            self.room.push(room);
        }
    }

    /// Lets flow as much as can.
    pub fn maximize(&mut self, source: u32, sink: u32) {
        while self.find_levels(source, sink) {
            self.current.clone_from(&self.last);
            self.block(source, sink);
        }
    }
    /// Says whether the sink is within reach.
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
    /// Fills paths that go up level by level until each has an arc that is full.
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
    /// Fills the path; goes back to where its first full arc begins, and gives that node.
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

    /// For each node whether more could flow from it to the sink: the smallest side of a minimum cut.
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
