//! The prices of other groupings of a drawn program: two segments as one, and one segment as two.
//!
//! ```json
//! { "most": 200, "asked": 7, "unasked_edges": 0, "unasked_segments": 0,
//!   "edges": [ { "from": "s0", "to": "s1", "values": [...], "bytes": 4000, "view": false, "why": {...} } ],
//!   "segments": [ { "name": "s0", "cost": {...}, "places": 2, "asked": 2, "possible": 1,
//!                   "cuts": [ { "behind": "%m", "first": ["%m"], "values": [...], "cost": {...} } ] } ] }
//! ```
//!
//! A segment can be cut behind each op: the op and all that it needs of the segment are the one part, the rest is the other.
//! A question is an edge, or a place of a cut. The largest bytes come first, at most [`MOST_QUESTIONS`] of each kind; what is
//! left out is counted.
//!
//! Never edits the program.

use std::cmp::Reverse;

use serde::Serialize;

use super::super::graph::Index;
use super::{CostNote, CutNote, Drawn, ValueNote, moved, note};
use fuser_analysis::axes::value_text;
use fuser_analysis::cost::Kind;

/// Questions about the edges of a program, and about places of cuts: a page is written at once.
const MOST_QUESTIONS: usize = 200;
/// Questions about one segment: those places come first that the fewest bytes cross.
const MOST_PLACES: usize = 16;
/// Cuts of a segment that are told.
const MOST_CUTS: usize = 3;

/// Prices of other groupings.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(super) struct WhatIf {
    /// The bound on questions.
    most: usize,
    /// Questions asked.
    asked: usize,
    /// Edges that nobody asked about.
    unasked_edges: usize,
    /// Segments that nobody asked about, though they could be cut.
    unasked_segments: usize,
    /// Edges between two segments: what one kernel would cost, or the rule that forbids it.
    edges: Vec<CutNote>,
    /// Segments that could be cut.
    segments: Vec<SegmentNote>,
}

/// The cuts of a segment.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct SegmentNote {
    name: String,
    /// As it is.
    cost: CostNote,
    /// Places at which it could be cut.
    places: usize,
    /// Places that were asked about.
    asked: usize,
    /// Places asked about where both parts are kernels: what only cuts a view off moves no byte.
    possible: usize,
    /// The cheapest.
    cuts: Vec<SplitNote>,
}

/// A cut of a segment.
#[derive(Clone, PartialEq, Debug, Serialize)]
struct SplitNote {
    /// The value behind which it is.
    behind: String,
    /// The ops of the first part, each by its first result.
    first: Vec<String>,
    /// The values that cross it.
    values: Vec<ValueNote>,
    /// Both parts.
    cost: CostNote,
}

/// A place at which a segment could be cut.
struct Place {
    behind: Index,
    first: Vec<Index>,
    rest: Vec<Index>,
    values: Vec<ValueNote>,
    bytes: u64,
}

/// The subject of questions.
enum Subject {
    Edge(usize, usize),
    Segment(usize),
}

impl Drawn {
    pub(super) fn what_if(&mut self) -> WhatIf {
        let mut subjects = self.subjects();
        // Stable: of equal bytes the earlier ones.
        subjects.sort_by_key(|(bytes, _)| Reverse(*bytes));
        let mut found = WhatIf {
            most: MOST_QUESTIONS,
            asked: 0,
            unasked_edges: 0,
            unasked_segments: 0,
            edges: Vec::new(),
            segments: Vec::new(),
        };
        for (_, subject) in subjects {
            let about_edges = found.edges.len();
            let left = MOST_QUESTIONS - (found.asked - about_edges);
            match subject {
                Subject::Edge(..) if about_edges == MOST_QUESTIONS => found.unasked_edges += 1,
                Subject::Segment(_) if left == 0 => found.unasked_segments += 1,
                Subject::Edge(from, to) => {
                    found.asked += 1;
                    found.edges.push(self.cut(from, to));
                }
                Subject::Segment(group) => {
                    let segment = self.cuts(group, left.min(MOST_PLACES));
                    found.asked += segment.asked;
                    found.segments.push(segment);
                }
            }
        }
        found
    }
    /// Edges and the segments of several ops, with their bytes.
    fn subjects(&self) -> Vec<(u64, Subject)> {
        let edges = self.pairs().into_iter().map(|(from, to)| {
            let values = self.crossing(from, to).into_iter();
            let bytes = values.fold(0u64, |sum, value| sum.saturating_add(value.bytes));
            (bytes, Subject::Edge(from, to))
        });
        let segments = self.groups.iter().enumerate();
        let divisible = segments.filter(|(_, own)| own.members.len() > 1);
        let segments = divisible.filter_map(|(group, own)| {
            let cost = own.cost_result.as_ref().ok()?.cost;
            Some((moved(&cost), Subject::Segment(group)))
        });
        segments.chain(edges).collect()
    }
    /// The cheapest cuts of a segment, after so many questions at most.
    fn cuts(&mut self, group: usize, most: usize) -> SegmentNote {
        let mut places = self.places(group);
        places.sort_by_key(|place| place.bytes);
        let count = places.len();
        places.truncate(most);
        let asked = places.len();
        let mut cuts = Vec::new();
        for place in places {
            let mut part = |members: &[Index]| {
                let answer = self.planner.evaluate(&self.ir, &self.graph, members);
                let part = answer.ok().filter(|part| part.kind != Kind::View);
                part.map(|part| part.cost)
            };
            let parts = part(&place.first).zip(part(&place.rest));
            cuts.extend(parts.map(|(first, rest)| (first.plus(&rest), place)));
        }
        let possible = cuts.len();
        let objective = self.planner.model.objective;
        cuts.sort_by_key(|(cost, _)| cost.key(objective));
        cuts.truncate(MOST_CUTS);
        let cuts = cuts.into_iter().map(|(cost, place)| SplitNote {
            behind: self.op_name(place.behind),
            first: place.first.iter().map(|&op| self.op_name(op)).collect(),
            values: place.values,
            cost: note(&cost),
        });
        SegmentNote {
            name: self.groups[group].name.clone(),
            cost: note(&self.cost(&[group])),
            places: count,
            asked,
            possible,
            cuts: cuts.collect(),
        }
    }
    /// The places at which a segment could be cut, in program order: behind each op that does not need all others.
    fn places(&self, group: usize) -> Vec<Place> {
        let members = &self.groups[group].members;
        let at = |op: Index| members.binary_search(&op).ok();
        let words = members.len().div_ceil(64);
        // The ops that each op needs, as a set of bits.
        let mut needs: Vec<Vec<u64>> = Vec::with_capacity(members.len());
        let has = |set: &[u64], i: usize| set[i / 64] >> (i % 64) & 1 == 1;
        let mut places = Vec::new();
        for (number, &behind) in members.iter().enumerate() {
            let mut own = vec![0u64; words];
            own[number / 64] |= 1 << (number % 64);
            let producers = self.graph.producers(behind).filter_map(|(op, _)| at(op));
            for producer in producers.filter(|&producer| producer < number) {
                for (word, more) in own.iter_mut().zip(&needs[producer]) {
                    *word |= more;
                }
            }
            let (first, rest): (Vec<usize>, Vec<usize>) =
                (0..members.len()).partition(|&i| has(&own, i));
            needs.push(own);
            if rest.is_empty() {
                continue;
            }
            let own = &needs[number];
            let behind_it = |op: Index| at(op).is_some_and(|i| !has(own, i));
            let written = first.iter().flat_map(|&i| {
                let edges = self.graph.writes[members[i] as usize].iter();
                edges.map(|&edge| &self.graph.edges[edge as usize])
            });
            let crossing = written.filter(|edge| edge.users.iter().any(|&user| behind_it(user)));
            let values = crossing.map(|edge| ValueNote {
                name: value_text(&self.ir, edge.value),
                bytes: edge.bytes,
            });
            let values: Vec<ValueNote> = values.collect();
            let list = |part: &[usize]| part.iter().map(|&i| members[i]).collect();
            places.push(Place {
                behind,
                first: list(&first),
                rest: list(&rest),
                bytes: values.iter().fold(0, |sum, v| sum.saturating_add(v.bytes)),
                values,
            });
        }
        places
    }
}
