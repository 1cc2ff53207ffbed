//! The elements of its buffers that one launch of a kernel loads and stores, found by running the index arithmetic of
//! its body and nothing else.
//!
//! Data is not looked at: an index that is data is represented by its position (`code.rs`). An innermost loop is
//! evaluated at once if all its indices are lines, `at + step * k` in iteration `k`. Otherwise it is split into parts,
//! halves or interleaved ones, so that quotients, remainders, minima and comparisons take few cases. Shares no code
//! with lowering, code generation or the interpreter.

use std::collections::{HashMap, HashSet};

use fuser_ir::{Ir, Op};

use super::code::{Binary, Code, Decoder, indices};

/// Elements of a cache line: elements between two touched ones of a line move with them.
const LINE: u64 = 16;

/// Instructions that are run for a launch at most.
const BUDGET: u64 = 100_000_000;

/// Indices that all places have alike, one after the other.
const ALIKE: i64 = 8;

/// Interleaved parts that a loop is walked in at most.
const MOST_PARTS: i64 = 64;

/// A set of elements of a buffer.
#[derive(Clone, Default)]
pub struct Elements {
    words: Vec<u64>,
    length: u64,
}

impl Elements {
    fn of(length: u64) -> Self {
        let words = vec![0; length.div_ceil(64) as usize];
        Self { words, length }
    }
    /// Their number.
    pub fn count(&self) -> u64 {
        self.words.iter().map(|w| u64::from(w.count_ones())).sum()
    }
    /// The number of elements including those between that are in the same lines: fewer than [`LINE`] from one to the
    /// next.
    pub fn in_lines(&self) -> u64 {
        let elements =
            (0..self.length).filter(|i| self.words[(i / 64) as usize] >> (i % 64) & 1 == 1);
        let mut last = None;
        elements.fold(0, |sum, element| {
            let step = element - last.replace(element).unwrap_or(element);
            sum + if (1..LINE).contains(&step) { step } else { 1 }
        })
    }
    /// The number of elements from the first to the last one.
    fn span(&self) -> u64 {
        let has = |i: &u64| self.words[(i / 64) as usize] >> (i % 64) & 1 == 1;
        let first = (0..self.length).find(has);
        let last = (0..self.length).rev().find(has);
        first.zip(last).map_or(0, |(first, last)| last - first + 1)
    }
    /// Adds those of `other`, a set of the same buffer.
    fn unite(&mut self, other: &Self) {
        if self.length == 0 {
            *self = other.clone();
        }
        let words = self.words.iter_mut().zip(&other.words);
        words.for_each(|(own, other)| *own |= other);
    }
    /// True if all of the buffer is in it, or nothing.
    pub fn is_plain(&self) -> bool {
        [0, self.length].contains(&self.count())
    }
    /// Adds `from..to`; false where that does not lie in the buffer.
    fn add(&mut self, from: i64, to: i64) -> bool {
        if from >= to {
            return true;
        }
        if from < 0 || to as u64 > self.length {
            return false;
        }
        let (mut at, to) = (from as u64, to as u64);
        while at < to {
            let end = (at / 64 * 64 + 64).min(to);
            let bits = u64::MAX >> (64 - (end - at));
            self.words[(at / 64) as usize] |= bits << (at % 64);
            at = end;
        }
        true
    }
}

/// The elements that a launch touches of each of its buffers.
#[derive(Clone, Default)]
pub struct Touched {
    pub loaded: Vec<Elements>,
    pub stored: Vec<Elements>,
    /// The loads whose places are data.
    gathered: Vec<Gather>,
    /// Indices of all executed innermost loops: iterations, times the indices of one iteration.
    pub steps: u64,
}

/// A load whose place is data.
#[derive(Clone, Default)]
struct Gather {
    buffer: usize,
    /// The elements that it touches for any data: other data may also touch elements between.
    elements: Elements,
    /// The number of times that it loads one.
    times: u64,
}

impl Touched {
    /// The most elements of a buffer that loads whose places are data may touch: each other ones.
    pub fn gathered(&self, buffer: usize) -> u64 {
        let own = self
            .gathered
            .iter()
            .filter(|gather| gather.buffer == buffer);
        let most = own.map(|gather| gather.elements.span().min(gather.times));
        let sum = most.sum::<u64>();
        sum.min(self.loaded[buffer].length)
    }
}

/// The elements that a launch of `func` touches of buffers of these lengths, under these extents.
pub fn touched(ir: &Ir, func: Op, lengths: &[u64], extents: &[i64]) -> Result<Touched, String> {
    let body = ir.body(func, 0).ok_or("the kernel has no body")?;
    let mut decoder = Decoder {
        ir,
        registers: HashMap::new(),
        memories: HashMap::new(),
        data: indices(ir, func),
        gathered: HashSet::new(),
        gathers: 0,
        loops: Vec::new(),
    };
    let parameters = ir.args(body);
    decoder
        .memories
        .extend(parameters.iter().copied().zip(0..lengths.len()));
    for &extent in &parameters[lengths.len()..] {
        decoder.register(extent);
    }
    let code = decoder.block(body)?;
    let mut touched = once(&decoder, &code, lengths, extents, Way::Around)?;
    let others = [Way::Turning, Way::FromTheEnd];
    let others = others.into_iter().chain((0..ALIKE).map(Way::Alike));
    for way in others.filter(|_| !decoder.data.is_empty()) {
        // Where one way to make up indices takes several places to one element, or to other memory, another does not.
        let other = once(&decoder, &code, lengths, extents, way)?;
        let more = |own: &mut Elements, other: Elements| {
            let size = |elements: &Elements| (elements.count(), elements.in_lines());
            if size(&other) > size(own) {
                *own = other;
            }
        };
        let loaded = touched.loaded.iter_mut().zip(other.loaded);
        loaded.for_each(|(own, other)| more(own, other));
        for (own, other) in touched.gathered.iter_mut().zip(other.gathered) {
            own.times = own.times.max(other.times);
            own.elements.unite(&other.elements);
        }
    }
    Ok(touched)
}

/// The way in which indices that are data are made up of their places.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// The place modulo the length of the axis.
    Around,
    /// The place modulo the length, plus one for each time that the place has wrapped around the axis.
    Turning,
    /// The place modulo the length, from the end of the axis.
    FromTheEnd,
    /// The same index everywhere, or the last.
    Alike(i64),
}

/// The elements that one run touches.
fn once(
    decoder: &Decoder<'_>,
    code: &[Code],
    lengths: &[u64],
    extents: &[i64],
    way: Way,
) -> Result<Touched, String> {
    let buffers: Vec<Elements> = lengths.iter().map(|&n| Elements::of(n)).collect();
    let mut run = Run {
        lines: vec![Line::default(); decoder.registers.len()],
        touched: Touched {
            loaded: buffers.clone(),
            stored: buffers,
            gathered: vec![Gather::default(); decoder.gathers],
            steps: 0,
        },
        left: BUDGET,
        way,
    };
    for (number, &extent) in extents.iter().enumerate() {
        run.lines[number] = Line {
            at: extent,
            step: 0,
        };
    }
    match run.run(code, 1) {
        Ok(()) => Ok(run.touched),
        Err(Stop::Varies(_)) => Err("an index varies outside of loops".into()),
        Err(Stop::Fault(text)) => Err(text),
    }
}

/// An integer in each iteration `k` of the loop that is walked as one: `at + step * k`.
#[derive(Clone, Copy, Default)]
struct Line {
    at: i64,
    step: i64,
}

impl Line {
    fn last(self, count: i64) -> i64 {
        self.at + self.step * (count - 1)
    }
    fn fixed(at: i64) -> Self {
        Self { at, step: 0 }
    }
}

enum Stop {
    /// Something is no line in this interval; with a divisor, each of so many interleaved parts of the interval may
    /// have one.
    Varies(i64),
    Fault(String),
}

struct Run {
    lines: Vec<Line>,
    touched: Touched,
    left: u64,
    way: Way,
}

impl Run {
    /// Runs `codes` for the `count` iterations of the loop that is walked as one.
    fn run(&mut self, codes: &[Code], count: i64) -> Result<(), Stop> {
        for code in codes {
            let left = self.left.checked_sub(1);
            self.left = left.ok_or_else(|| Stop::Fault("the kernel is too long".into()))?;
            match code {
                Code::Constant { to, value } => self.lines[*to] = Line::fixed(*value),
                Code::Binary { to, how, of } => {
                    let [a, b] = of.map(|r| self.lines[r]);
                    let line = binary(*how, a, b, count);
                    self.lines[*to] = line.ok_or(Stop::Varies(parts(*how, a, b)))?;
                }
                Code::Compare { to, how, of } => {
                    let [a, b] = of.map(|r| self.lines[r]);
                    let holds = compare(how, a, b, count).ok_or(Stop::Varies(1))?;
                    self.lines[*to] = Line::fixed(i64::from(holds));
                }
                Code::Wrap { to, of, last } => {
                    let [a, last] = [*of, *last].map(|r| self.lines[r]);
                    let length = Line::fixed(last.at + 1);
                    let known = length.at > 0 && last.step == 0;
                    self.lines[*to] = match (known, self.way) {
                        (true, Way::Alike(index)) => Line::fixed(index.min(last.at)),
                        (true, _) => {
                            let turn = divided(Binary::Div, a, length, count)?;
                            let turned = binary(Binary::Add, a, turn, count);
                            let turns = self.way == Way::Turning;
                            let place = turned.filter(|_| turns).unwrap_or(a);
                            let index = divided(Binary::Rem, place, length, count)?;
                            let mirrored = binary(Binary::Sub, last, index, count);
                            let from_the_end = self.way == Way::FromTheEnd;
                            mirrored.filter(|_| from_the_end).unwrap_or(index)
                        }
                        (false, _) => last,
                    };
                }
                Code::Copy { to, of } => self.lines[*to] = self.lines[*of],
                Code::Where { to, of } => {
                    let [condition, then, otherwise] = of.map(|r| self.lines[r]);
                    self.lines[*to] = if condition.at != 0 { then } else { otherwise };
                }
                Code::Touch {
                    memory,
                    stores,
                    at,
                    lanes,
                    within,
                    gather,
                    to,
                } => {
                    if let Some(to) = to {
                        self.lines[*to] = self.lines[*at];
                    }
                    let within = within.map(|(first, end)| {
                        let first = first.map_or(Line::fixed(0), |r| self.lines[r]);
                        [first, self.lines[end]]
                    });
                    let buffers = match stores {
                        true => &mut self.touched.stored,
                        false => &mut self.touched.loaded,
                    };
                    let line = self.lines[*at];
                    let inside = touch(&mut buffers[*memory], line, *lanes, within, count)?;
                    if let Some(gather) = gather {
                        let gather = &mut self.touched.gathered[*gather];
                        if gather.elements.length == 0 {
                            gather.buffer = *memory;
                            gather.elements = Elements::of(buffers[*memory].length);
                        }
                        gather.times += count as u64 * (lanes[0] as u64).max(1);
                        touch(&mut gather.elements, line, *lanes, within, count)?;
                    }
                    if !inside {
                        return Err(Stop::Fault(format!("outside of buffer {memory}")));
                    }
                }
                Code::If {
                    condition,
                    then,
                    otherwise,
                } => {
                    let taken = if self.lines[*condition].at != 0 {
                        then
                    } else {
                        otherwise
                    };
                    self.run(taken, count)?;
                }
                Code::For {
                    bounds,
                    index,
                    body,
                    innermost,
                } => {
                    let [from, to, step] = bounds.map(|r| self.lines[r]);
                    if from.step != 0 || to.step != 0 || step.step != 0 || count != 1 {
                        return Err(Stop::Varies(1));
                    }
                    let steps = (to.at - from.at).max(0) as u64;
                    let steps = steps.div_ceil(step.at.max(1) as u64) as i64;
                    let line = Line {
                        at: from.at,
                        step: step.at,
                    };
                    if *innermost {
                        self.touched.steps += (to.at - from.at).max(0) as u64;
                    }
                    match innermost {
                        true => self.interval(body, *index, line, steps)?,
                        false => self.each(body, *index, line, steps)?,
                    }
                }
            }
        }
        Ok(())
    }
    fn each(&mut self, body: &[Code], index: usize, line: Line, count: i64) -> Result<(), Stop> {
        for k in 0..count {
            self.lines[index] = Line::fixed(line.at + line.step * k);
            self.run(body, 1)?;
        }
        Ok(())
    }
    /// Evaluates iterations of a loop at once, or part by part.
    fn interval(
        &mut self,
        body: &[Code],
        index: usize,
        line: Line,
        count: i64,
    ) -> Result<(), Stop> {
        if count <= 1 {
            return self.each(body, index, line, count);
        }
        self.lines[index] = line;
        let parts = match self.run(body, count) {
            Err(Stop::Varies(parts)) => parts,
            other => return other,
        };
        if parts > 1 && count >= 2 * parts {
            return (0..parts).try_for_each(|first| {
                let part = Line {
                    at: line.at + line.step * first,
                    step: line.step * parts,
                };
                self.interval(body, index, part, (count - first + parts - 1) / parts)
            });
        }
        let half = count / 2;
        self.interval(body, index, line, half)?;
        let rest = Line {
            at: line.at + line.step * half,
            ..line
        };
        self.interval(body, index, rest, count - half)
    }
}

/// A line for the result, if it is one.
fn binary(how: Binary, a: Line, b: Line, count: i64) -> Option<Line> {
    let both = |op: fn(i64, i64) -> i64| {
        let fixed = a.step == 0 && b.step == 0;
        fixed.then(|| Line::fixed(op(a.at, b.at)))
    };
    match how {
        Binary::Add => Some(Line {
            at: a.at + b.at,
            step: a.step + b.step,
        }),
        Binary::Sub => Some(Line {
            at: a.at - b.at,
            step: a.step - b.step,
        }),
        Binary::Mul if b.step == 0 => Some(Line {
            at: a.at * b.at,
            step: a.step * b.at,
        }),
        Binary::Mul if a.step == 0 => binary(how, b, a, count),
        Binary::Mul => None,
        Binary::Min => match compare("le", a, b, count)? {
            true => Some(a),
            false => Some(b),
        },
        Binary::Max => match compare("le", a, b, count)? {
            true => Some(b),
            false => Some(a),
        },
        Binary::Div | Binary::Rem => divide(how, a, b, count),
        Binary::Mod => {
            let least = a.at.min(a.last(count));
            let turns = least.checked_div_euclid(b.at)?;
            let at = a.at - turns * b.at;
            divide(Binary::Rem, Line { at, ..a }, b, count)
        }
        Binary::And => both(|a, b| a & b),
        Binary::Or => both(|a, b| a | b),
    }
}

/// A quotient or remainder of lines as a line, or the split of the interval that makes it one.
fn divided(how: Binary, a: Line, by: Line, count: i64) -> Result<Line, Stop> {
    binary(how, a, by, count).ok_or(Stop::Varies(parts(how, a, by)))
}

/// Quotient or remainder of fixed numbers, or of a line that is not negative by a fixed number above 0.
fn divide(how: Binary, a: Line, b: Line, count: i64) -> Option<Line> {
    let (by, last) = (b.at, a.last(count));
    if a.step == 0 && b.step == 0 {
        let at = match how {
            Binary::Div => a.at.checked_div(by)?,
            _ => a.at.checked_rem(by)?,
        };
        return Some(Line::fixed(at));
    }
    if b.step != 0 || by <= 0 || a.at < 0 || last < 0 {
        return None;
    }
    let whole = a.step % by == 0;
    let one = a.at / by == last / by;
    let line = match how {
        Binary::Div if whole => Line {
            at: a.at / by,
            step: a.step / by,
        },
        Binary::Div => Line::fixed(a.at / by),
        _ if whole => Line::fixed(a.at % by),
        _ => Line {
            at: a.at % by,
            step: a.step,
        },
    };
    (whole || one).then_some(line)
}

/// The number of interleaved parts of an interval in each of which a quotient or remainder is a line.
fn parts(how: Binary, a: Line, b: Line) -> i64 {
    let divides = matches!(how, Binary::Div | Binary::Rem | Binary::Mod) && b.step == 0;
    match divides && (2..=MOST_PARTS).contains(&b.at) && a.step % b.at != 0 {
        true => b.at,
        false => 1,
    }
}

/// True if a comparison holds in all iterations, or in none.
fn compare(how: &str, a: Line, b: Line, count: i64) -> Option<bool> {
    let ends = [a.at - b.at, a.last(count) - b.last(count)];
    let holds = ends.map(|difference| match how {
        "eq" => difference == 0,
        "ne" => difference != 0,
        "lt" => difference < 0,
        "le" => difference <= 0,
        "gt" => difference > 0,
        _ => difference >= 0,
    });
    let crosses =
        matches!(how, "eq" | "ne") && a.step != b.step && ends[0].signum() != ends[1].signum();
    (holds[0] == holds[1] && !crosses).then_some(holds[0])
}

/// Adds the elements of an access; returns true if all of them are in the buffer.
fn touch(
    buffer: &mut Elements,
    at: Line,
    [lanes, stride]: [i64; 2],
    within: Option<[Line; 2]>,
    count: i64,
) -> Result<bool, Stop> {
    let (first, end) = match within {
        None => (0, lanes),
        Some([first, end]) if first.step == 0 && end.step == 0 => {
            (first.at.max(0), end.at.min(lanes))
        }
        Some(_) => return Err(Stop::Varies(1)),
    };
    if first >= end {
        return Ok(true);
    }
    if stride > 1 {
        let lane = |n: i64| at.at + at.step * (n / lanes) + stride * (n % lanes);
        return Ok((0..count * lanes).all(|n| buffer.add(lane(n), lane(n) + 1)));
    }
    if (0..=end - first).contains(&at.step) {
        return Ok(buffer.add(at.at + first, at.last(count) + end));
    }
    let start = |k: i64| at.at + at.step * k;
    Ok((0..count).all(|k| buffer.add(start(k) + first, start(k) + end)))
}
