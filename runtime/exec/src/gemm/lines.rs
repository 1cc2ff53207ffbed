//! The factors of a product in memory: rows of the left one or columns of the right one, and the terms of each.
//!
//! A convolution's left factor is read through windows: its rows are windows of a tensor, so the elements of a row have
//! no constant stride. Runs of equally distant terms are read in place, through the address of each row. Other windows
//! are gathered before packing, one block of lines by terms at a time, into memory that stays in the first-level cache.

/// A factor whose lines and terms have one stride each.
#[derive(Clone, Copy, Debug)]
pub struct Lines<T> {
    pub first: *const T,
    pub lines: usize,
    pub terms: usize,
    /// The steps from line to line and from term to term, in elements.
    pub strides: [usize; 2],
}

impl<T: Copy> Lines<T> {
    /// The lines from `first` on, at most `most` of them.
    pub fn lines(self, first: usize, most: usize) -> Lines<T> {
        Lines {
            first: self.first.wrapping_add(first * self.strides[0]),
            lines: self.lines.saturating_sub(first).min(most),
            ..self
        }
    }

    /// The terms from `first` on, at most `most` of them.
    pub fn terms(self, first: usize, most: usize) -> Lines<T> {
        Lines {
            first: self.first.wrapping_add(first * self.strides[1]),
            terms: self.terms.saturating_sub(first).min(most),
            ..self
        }
    }

    pub fn at(&self, line: usize, term: usize) -> *const T {
        self.first
            .wrapping_add(line * self.strides[0] + term * self.strides[1])
    }
}

/// Axes along which a tensor is read through windows, at most.
pub const DIMS: usize = 4;
/// Lines and terms of a block that is gathered at a time.
pub const BLOCK: [usize; 2] = [32, 128];

/// A loop of lines or of terms: its length, and the distance of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digit {
    pub extent: usize,
    /// In elements, along axes that are no windows'.
    pub offset: usize,
    /// In places along the axes of windows.
    pub moves: [i64; DIMS],
}

impl Digit {
    /// True where steps lead to the neighbour in memory, and along no axis of windows.
    fn is_contiguous(&self) -> bool {
        self.offset == 1 && self.moves == [0; DIMS]
    }

    /// True for terms that several neighbours in memory are.
    pub fn is_long(&self) -> bool {
        self.is_contiguous() && self.extent >= BESIDE
    }
}

/// An axis that windows are read along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    pub extent: usize,
    /// Places from one element to the next.
    pub base: i64,
    /// Elements of memory from one to the next.
    pub stride: usize,
}

/// The digits of lines and of terms, the fastest one last, and the axes of windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    pub lines: Vec<Digit>,
    pub terms: Vec<Digit>,
    pub bounds: Vec<Bound>,
}

/// Lines that are read through windows.
#[derive(Clone, Copy, Debug)]
pub struct Windows<'a, T> {
    pub view: &'a View,
    /// The element at line 0, term 0 and position 0 of every window axis.
    pub first: *const T,
    /// The places of line and term 0.
    pub places: [i64; DIMS],
    /// The number of the first line.
    pub line: usize,
    pub lines: usize,
    pub terms: usize,
}

/// Rows of a [`Piece`] at most.
pub const PIECE: usize = 14;
/// Terms that are equally far apart at least, cuts between blocks aside, where rows are read in place.
const BESIDE: usize = 2;

/// Terms that are equally far apart in memory, in each of a few rows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Piece<T> {
    /// The address of each row's first term.
    pub rows: *const *const T,
    /// The number of the first term among the terms of a block.
    pub first: usize,
    pub terms: usize,
}

/// Room for the pieces of at most [`PIECE`] rows, one for each term at most.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Pieces<T> {
    pieces: *mut Piece<T>,
    rows: *mut *const T,
    /// Rows of a piece.
    tall: usize,
    count: usize,
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
impl<T> Pieces<T> {
    /// The bytes that pieces of so many rows and terms need.
    pub const fn bytes([tall, terms]: [usize; 2]) -> usize {
        terms * (size_of::<Piece<T>>() + tall * size_of::<*const T>())
    }

    /// No pieces, in memory of [`Pieces::bytes`].
    pub fn new(room: *mut u8, [tall, terms]: [usize; 2]) -> Pieces<T> {
        let pieces = room.cast::<Piece<T>>();
        Pieces {
            pieces,
            rows: pieces.wrapping_add(terms).cast(),
            tall,
            count: 0,
        }
    }

    /// The pieces that were written.
    ///
    /// # Safety
    /// The room is there.
    pub unsafe fn all(&self) -> &[Piece<T>] {
        // SAFETY: the caller's word.
        unsafe { std::slice::from_raw_parts(self.pieces, self.count) }
    }

    /// Copies the terms of all pieces to `room` by `copy`, from an address to one so many elements on. The terms of a
    /// row follow each other there, and rows are `pitch` numbers apart.
    ///
    /// # Safety
    /// The pieces were written, of so many rows.
    pub unsafe fn bring<N>(
        &mut self,
        rows: usize,
        room: *mut N,
        pitch: usize,
        mut copy: impl FnMut(*const T, *mut N, usize),
    ) {
        for at in 0..self.count {
            // SAFETY: the caller's word.
            unsafe {
                let piece = self.pieces.wrapping_add(at).read();
                for row in 0..rows {
                    let to = room.wrapping_add(row * pitch + piece.first);
                    let own = self.rows.wrapping_add(at * self.tall + row);
                    copy(own.read(), to, piece.terms);
                    own.write(to.cast_const().cast());
                }
            }
        }
    }

    /// Makes one piece of so many terms that follow each other from `first` on, in rows `pitch` elements apart.
    ///
    /// # Safety
    /// There is room for a piece.
    pub unsafe fn join(&mut self, rows: usize, first: *const T, pitch: usize, terms: usize) {
        self.count = 0;
        let rows = (0..rows).map(|row| first.wrapping_add(row * pitch));
        // SAFETY: the caller's word.
        unsafe { self.push(rows, [0, terms]) };
    }

    /// Writes a piece.
    ///
    /// # Safety
    /// There is room for one more.
    #[inline]
    unsafe fn push(&mut self, rows: impl Iterator<Item = *const T>, [first, terms]: [usize; 2]) {
        let own = self.rows.wrapping_add(self.count * self.tall);
        // SAFETY: the caller's word.
        unsafe {
            for (row, address) in rows.take(self.tall).enumerate() {
                own.wrapping_add(row).write(address);
            }
            let piece = Piece {
                rows: own.cast_const(),
                first,
                terms,
            };
            self.pieces.wrapping_add(self.count).write(piece);
        }
        self.count += 1;
    }
}

/// Zeros in place of the terms of a piece, for windows beyond the ends of an axis.
static ZEROS: [u64; ZERO_BYTES / size_of::<u64>()] = [0; ZERO_BYTES / size_of::<u64>()];
/// The bytes of a piece's terms at most.
pub const ZERO_BYTES: usize = 2048;

/// Digits of lines or of terms at most: those along axes of windows, in two parts each, and one more.
pub const DIGITS: usize = 2 * DIMS + 1;

/// The digits of a number and where they lead to.
struct Counter<'a> {
    digits: &'a [Digit],
    at: [usize; DIGITS],
    offset: usize,
    places: [i64; DIMS],
}

impl<'a> Counter<'a> {
    fn new(digits: &'a [Digit], mut number: usize) -> Counter<'a> {
        let mut counter = Counter {
            digits,
            at: [0; DIGITS],
            offset: 0,
            places: [0; DIMS],
        };
        for (at, digit) in counter.at.iter_mut().zip(digits).rev() {
            (number, *at) = divided(number, digit.extent.max(1));
            counter.offset += *at * digit.offset;
            for (place, moves) in counter.places.iter_mut().zip(digit.moves) {
                *place += *at as i64 * moves;
            }
        }
        counter
    }

    /// Advances digit `which` by `count` steps, at most to its end, and carries into the preceding digits.
    fn step(&mut self, which: usize, count: usize) {
        let mut steps = count as i64;
        for number in (0..=which).rev() {
            let digit = &self.digits[number];
            let mut all = steps;
            self.at[number] = self.at[number].wrapping_add_signed(steps as isize);
            let ends = self.at[number] >= digit.extent;
            if ends {
                self.at[number] = 0;
                all -= digit.extent as i64;
            }
            self.offset = self
                .offset
                .wrapping_add((all as usize).wrapping_mul(digit.offset));
            for (place, moves) in self.places.iter_mut().zip(digit.moves) {
                *place += all * moves;
            }
            if !ends {
                return;
            }
            steps = 1;
        }
    }
}

/// Quotient and remainder. Most numbers have 32 bits, which take a third of the time.
fn divided(number: usize, by: usize) -> (usize, usize) {
    match (u32::try_from(number), u32::try_from(by)) {
        (Ok(number), Ok(by)) => ((number / by) as usize, (number % by) as usize),
        _ => (number / by, number % by),
    }
}

impl<T: Copy + Default> Windows<'_, T> {
    /// True where a block holds line after line: terms are neighbours in memory.
    fn by_lines(&self) -> bool {
        self.view.terms.last().is_none_or(Digit::is_contiguous)
    }

    /// The distance in memory between neighbors of the innermost digit; `None` if it varies.
    fn step(&self, digit: &Digit) -> Option<usize> {
        let bounds = self.view.bounds.iter().zip(digit.moves);
        bounds
            .filter(|(_, moves)| *moves != 0)
            .try_fold(digit.offset, |step, (bound, moves)| {
                let moves = usize::try_from(moves).ok().filter(|_| bound.base == 1)?;
                step.checked_add(moves.checked_mul(bound.stride)?)
            })
    }

    /// Terms that follow each other in memory along two digits: of the last one, at every step of the one before it,
    /// which moves windows by as many elements. `None` if they do not.
    fn chunk(&self) -> Option<usize> {
        let [.., outer, inner] = self.view.terms.as_slice() else {
            return None;
        };
        let follows = inner.is_contiguous()
            && outer.moves != [0; DIMS]
            && self.step(outer) == Some(inner.extent);
        follows.then_some(inner.extent)
    }

    /// The terms that have a run in each line, from the counter's on, `rest` at most.
    fn stretch(&self, counter: &Counter, rest: usize) -> Stretch {
        let Some(inner) = self.view.terms.len().checked_sub(1) else {
            return Stretch::single(0);
        };
        if let Some(unit) = self.chunk()
            && counter.at[inner] == 0
            && rest >= unit
        {
            let digit = inner - 1;
            let own = &self.view.terms[digit];
            return Stretch {
                digit,
                steps: (own.extent - counter.at[digit]).min(rest / unit),
                unit,
                step: unit,
                moves: own.moves,
            };
        }
        let own = &self.view.terms[inner];
        match self.step(own) {
            Some(step) => Stretch {
                digit: inner,
                steps: (own.extent - counter.at[inner]).min(rest),
                unit: 1,
                step,
                moves: own.moves,
            },
            None => Stretch::single(inner),
        }
    }

    /// True where rows can be read in place: several terms are equally far apart.
    fn in_place(&self) -> bool {
        let Some(inner) = self.view.terms.last() else {
            return false;
        };
        let along = self.chunk().and_then(|unit| {
            let outer = self.view.terms.iter().nth_back(1)?;
            Some(unit * outer.extent)
        });
        match along {
            Some(terms) => terms >= BESIDE,
            None => inner.extent >= BESIDE && self.step(inner).is_some(),
        }
    }

    /// A step of the digit, in elements along each axis of windows and in memory; `None` if it varies, between
    /// elements.
    fn even(&self, digit: &Digit) -> Option<At> {
        let mut at = At {
            offset: digit.offset,
            ..At::default()
        };
        for (axis, bound) in self.view.bounds.iter().enumerate().take(DIMS) {
            let moves = digit.moves[axis];
            let steps = (moves % bound.base == 0).then_some(moves / bound.base)?;
            at.index[axis] = steps;
            let offset = (steps as usize).wrapping_mul(bound.stride);
            at.offset = at.offset.wrapping_add(offset);
        }
        Some(at)
    }

    /// Finds the first elements of lines, from a line on.
    fn starts(&self, line: usize, starts: &mut [Start<T>]) {
        let digits = &self.view.lines;
        let step = digits.last().and_then(|digit| self.even(digit));
        let mut counter = Counter::new(digits, self.line + line);
        let mut rest = starts;
        while !rest.is_empty() {
            let mut places = self.places;
            for (place, own) in places.iter_mut().zip(counter.places) {
                *place += own;
            }
            let at = At::new(&places, &self.view.bounds);
            let offset = counter.offset.wrapping_add(at.offset);
            let mut start = Start {
                at,
                first: self.first.wrapping_add(offset),
                even: 1,
                apart: 0,
            };
            if let (Some(digit), Some(step)) = (digits.last(), step) {
                start.even = digit.extent - counter.at[digits.len() - 1];
                start.apart = step.offset;
            }
            let (own, others) = rest.split_at_mut(start.even.min(rest.len()));
            if !digits.is_empty() {
                counter.step(digits.len() - 1, own.len());
            }
            for slot in own {
                *slot = start;
                start.even -= 1;
                start.first = start.first.wrapping_add(start.apart);
                let step = step.unwrap_or_default();
                for (index, by) in start.at.index.iter_mut().zip(step.index) {
                    *index += by;
                }
            }
            rest = others;
        }
    }

    /// Gathers at most [`BLOCK`] lines by terms.
    ///
    /// # Safety
    /// The elements inside the axes are there, and `room` has a block's size.
    unsafe fn gather(
        &self,
        [line, lines]: [usize; 2],
        [term, terms]: [usize; 2],
        room: *mut T,
    ) -> Lines<T> {
        let lines = self.lines.saturating_sub(line).min(lines).min(BLOCK[0]);
        let terms = self.terms.saturating_sub(term).min(terms).min(BLOCK[1]);
        let view = self.view;
        let mut starts = [Start::default(); BLOCK[0]];
        self.starts(line, &mut starts[..lines]);
        let by_lines = self.by_lines();
        let strides = match by_lines {
            true => [terms, 1],
            false => [1, BLOCK[0]],
        };
        let mut counter = Counter::new(&view.terms, term);
        let mut done = 0;
        while done < terms {
            // One address serves a run of terms, line by line.
            let own = self.stretch(&counter, terms - done);
            let mut runs = [Run::NONE; BLOCK[0]];
            self.runs(&starts[..lines], &counter, &own, &mut runs);
            let run = own.steps * own.unit;
            let to = room.wrapping_add(done * strides[1]);
            // SAFETY: the caller's word; the elements of runs are within their axes.
            unsafe {
                match by_lines {
                    true => copy_lines(&runs[..lines], run, to, strides[0]),
                    false => copy_terms(&runs[..lines], [run, own.step], to),
                }
            }
            if !view.terms.is_empty() {
                counter.step(own.digit, own.steps);
            }
            done += run;
        }
        Lines {
            first: room,
            lines,
            terms,
            strides,
        }
    }

    /// As [`Factor::pieces`].
    ///
    /// # Safety
    /// As there.
    unsafe fn pieces(
        &self,
        starts: &[Start<T>],
        [term, terms]: [usize; 2],
        drop_zeros: bool,
        to: &mut Pieces<T>,
    ) {
        let view = self.view;
        let mut counter = Counter::new(&view.terms, term);
        let mut runs = [Run::NONE; PIECE];
        let runs = &mut runs[..starts.len()];
        let mut done = 0;
        while done < terms {
            let own = self.stretch(&counter, terms - done);
            self.runs(starts, &counter, &own, runs);
            let runs = Runs { runs, of: own };
            // SAFETY: the caller's word: a piece has a term at least.
            unsafe { runs.pieces(done, drop_zeros, to) };
            if !view.terms.is_empty() {
                counter.step(own.digit, own.steps);
            }
            done += own.steps * own.unit;
        }
    }

    /// The runs of rows from a term on.
    #[inline]
    fn runs(&self, starts: &[Start<T>], counter: &Counter, of: &Stretch, runs: &mut [Run<T>]) {
        let term = self.term(counter);
        let whole = |run: &Run<T>| (run.from, run.to) == (0, of.steps * of.unit);
        let mut row = 0;
        while row < starts.len() {
            let start = &starts[row];
            let run = self.run(start, &term, of);
            // Evenly distant lines have the same terms in three cases: they are at the same places, the first and the
            // last one are inside of the axes, or all lie between elements.
            let even = start.even.min(starts.len() - row);
            let end = &starts[row + even - 1];
            let same = end.at.index == start.at.index
                || whole(&run) && whole(&self.run(end, &term, of))
                || start.at.is_between(&term, &self.view.bounds);
            let count = if same { even } else { 1 };
            for (number, slot) in runs[row..row + count].iter_mut().enumerate() {
                let apart = number.wrapping_mul(start.apart);
                *slot = Run {
                    first: run.first.wrapping_add(apart),
                    ..run
                };
            }
            row += count;
        }
    }

    /// The place of a term, and its offset in memory.
    fn term(&self, counter: &Counter) -> At {
        let at = At::new(&counter.places, &self.view.bounds);
        let offset = at.offset.wrapping_add(counter.offset);
        At { offset, ..at }
    }

    /// The elements of a run of terms, from these positions of a line and a term on.
    #[inline]
    fn run(&self, start: &Start<T>, term: &At, of: &Stretch) -> Run<T> {
        let (mut offset, mut from, mut to) = (term.offset, 0, of.steps as i64);
        for (axis, bound) in self.view.bounds.iter().enumerate().take(DIMS) {
            let mut index = start.at.index[axis] + term.index[axis];
            match start.at.rest[axis] + term.rest[axis] {
                0 => {}
                rest if rest == bound.base => {
                    index += 1;
                    offset = offset.wrapping_add(bound.stride);
                }
                _ => return Run::NONE,
            }
            let extent = bound.extent as i64;
            match of.moves[axis] {
                // An index before the axis is a great number.
                0 if index as u64 >= extent as u64 => return Run::NONE,
                0 => {}
                1 => (from, to) = (from.max(-index), to.min(extent - index)),
                by => {
                    // The first term that is not before the axis, and the first that is behind it.
                    let steps = |ahead: i64| (ahead.max(0) + by - 1) / by;
                    from = from.max(steps(-index));
                    to = to.min(steps(extent - index));
                }
            }
        }
        if from >= to {
            return Run::NONE;
        }
        let (from, to) = (from as usize, to as usize);
        let offset = offset.wrapping_add(from * of.step);
        Run {
            first: start.first.wrapping_add(offset),
            from: from * of.unit,
            to: to * of.unit,
        }
    }
}

/// The first element of a line of windows.
#[derive(Clone, Copy, Debug)]
pub struct Start<T> {
    /// Its place along the axes of windows.
    at: At,
    /// Its element there.
    first: *const T,
    /// Lines from this one on whose first elements are `apart` elements from each other.
    even: usize,
    apart: usize,
}

impl<T> Default for Start<T> {
    fn default() -> Start<T> {
        Start {
            at: At::default(),
            first: std::ptr::null(),
            even: 1,
            apart: 0,
        }
    }
}

/// Elements at places along the axes of windows.
#[derive(Clone, Copy, Debug, Default)]
struct At {
    /// The element at a place, or the last one before it.
    index: [i64; DIMS],
    /// The places between the two.
    rest: [i64; DIMS],
    /// Their offset in memory.
    offset: usize,
}

impl At {
    #[inline]
    fn new(places: &[i64; DIMS], bounds: &[Bound]) -> At {
        let mut at = At::default();
        for (axis, bound) in bounds.iter().enumerate().take(DIMS) {
            let place = places[axis];
            (at.index[axis], at.rest[axis]) = match bound.base {
                1 => (place, 0),
                base => (place.div_euclid(base), place.rem_euclid(base)),
            };
            let steps = (at.index[axis] as usize).wrapping_mul(bound.stride);
            at.offset = at.offset.wrapping_add(steps);
        }
        at
    }

    /// True where the sum of the places lies between two elements of an axis.
    #[inline]
    fn is_between(&self, other: &At, bounds: &[Bound]) -> bool {
        bounds.iter().enumerate().take(DIMS).any(|(axis, bound)| {
            let rest = self.rest[axis] + other.rest[axis];
            rest > 0 && rest != bound.base
        })
    }
}

/// The terms of a run for which a line has an element, starting at the first; the other terms are zeros.
#[derive(Clone, Copy, Debug)]
struct Run<T> {
    first: *const T,
    from: usize,
    to: usize,
}

impl<T> Run<T> {
    const NONE: Run<T> = Run {
        first: std::ptr::null(),
        from: 0,
        to: 0,
    };
}

/// Terms that follow each other along one digit, or along it and the last one.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    digit: usize,
    /// Steps of the digit.
    steps: usize,
    /// Terms of a step, which are neighbours in memory.
    unit: usize,
    /// The distance of steps in memory.
    step: usize,
    moves: [i64; DIMS],
}

impl Stretch {
    /// One term, of one digit.
    fn single(digit: usize) -> Stretch {
        Stretch {
            digit,
            steps: 1,
            unit: 1,
            step: 0,
            moves: [0; DIMS],
        }
    }
}

/// The runs of a few rows.
struct Runs<'a, T> {
    runs: &'a [Run<T>],
    of: Stretch,
}

impl<T> Runs<'_, T> {
    /// Writes pieces; the first term has number `first`. Terms that all rows have are one piece.
    ///
    /// # Safety
    /// There is room for a piece of each term.
    #[inline]
    unsafe fn pieces(&self, first: usize, drop_zeros: bool, pieces: &mut Pieces<T>) {
        let Stretch { unit, step, .. } = self.of;
        let count = self.of.steps * unit;
        let step = step / unit;
        let (mut from, mut to, mut have) = (0, count, 0);
        for own in self.runs.iter().filter(|own| own.to > 0) {
            (from, to) = (from.max(own.from), to.min(own.to));
            have += 1;
        }
        if drop_zeros && have == 0 {
            return;
        }
        let all = have == self.runs.len();
        if all && (from, to) == (0, count) {
            let rows = self.runs.iter().map(|own| own.first);
            // SAFETY: the caller's word.
            unsafe { pieces.push(rows, [first, count]) };
            return;
        }
        // A row without terms reads zeros, which are beside each other.
        if step != 1 && !all {
            to = 0;
        }
        let mut at = 0;
        while at < count {
            let terms = match at == from && from < to {
                true => to - from,
                false => unit,
            };
            let is_inside = |own: &Run<T>| (own.from..own.to).contains(&at);
            if !drop_zeros || self.runs.iter().any(is_inside) {
                let rows = self.runs.iter().map(|own| match is_inside(own) {
                    true => own.first.wrapping_add((at - own.from) * step),
                    false => zeros(),
                });
                // SAFETY: the caller's word.
                unsafe { pieces.push(rows, [first + at, terms]) };
            }
            at += terms;
        }
    }
}

/// Zeros in place of a piece's terms.
fn zeros<T>() -> *const T {
    ZEROS.as_ptr().cast()
}

/// Copies a contiguous run for each line.
///
/// # Safety
/// The elements are there, and there is room for the run.
unsafe fn copy_lines<T: Copy + Default>(lines: &[Run<T>], run: usize, to: *mut T, step: usize) {
    for (line, own) in lines.iter().enumerate() {
        let to = to.wrapping_add(line * step);
        // SAFETY: the caller's word.
        unsafe {
            for at in (0..own.from).chain(own.to..run) {
                to.wrapping_add(at).write(T::default());
            }
            copy(own.first, to.wrapping_add(own.from), own.to - own.from);
        }
    }
}

/// Copies terms that are `step` elements apart, interleaving the lines.
///
/// # Safety
/// As for [`copy_lines`].
unsafe fn copy_terms<T: Copy + Default>(lines: &[Run<T>], [run, step]: [usize; 2], to: *mut T) {
    let mut begin = 0;
    while begin < lines.len() {
        // Lines that are neighbours in memory and have the same terms.
        let own = lines[begin];
        let mut end = begin + 1;
        while lines.get(end).is_some_and(|next| {
            let beside = own.to == 0 || next.first == own.first.wrapping_add(end - begin);
            (next.from, next.to) == (own.from, own.to) && beside
        }) {
            end += 1;
        }
        let to = to.wrapping_add(begin);
        // SAFETY: the caller's word.
        unsafe {
            for term in (0..own.from).chain(own.to..run) {
                let to = to.wrapping_add(term * BLOCK[0]);
                (0..end - begin).for_each(|at| to.wrapping_add(at).write(T::default()));
            }
            for term in own.from..own.to {
                let from = own.first.wrapping_add((term - own.from) * step);
                let to = to.wrapping_add(term * BLOCK[0]);
                match end - begin {
                    1 => to.write(*from),
                    count => copy(from, to, count),
                }
            }
        }
        begin = end;
    }
}

/// Copies a few elements in pieces of fixed sizes, which avoids a call.
///
/// # Safety
/// As for [`copy_lines`].
#[inline]
unsafe fn copy<T: Copy>(from: *const T, to: *mut T, count: usize) {
    let mut done = 0;
    macro_rules! pieces {
        ($($size:literal)*) => {$(
            while count - done >= $size {
                // SAFETY: the caller's word.
                unsafe {
                    let piece = from.wrapping_add(done).cast::<[T; $size]>().read_unaligned();
                    to.wrapping_add(done).cast::<[T; $size]>().write_unaligned(piece);
                }
                done += $size;
            }
        )*};
    }
    pieces!(16 8 4 2 1);
}

/// A factor of a product.
#[derive(Clone, Copy, Debug)]
pub enum Factor<'a, T> {
    Strided(Lines<T>),
    Windows(Windows<'a, T>),
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
impl<T: Copy + Default> Factor<'_, T> {
    /// Its lines and terms.
    pub fn size(&self) -> [usize; 2] {
        match self {
            Factor::Strided(own) => [own.lines, own.terms],
            Factor::Windows(own) => [own.lines, own.terms],
        }
    }

    /// The lines from `first` on, at most `most` of them.
    pub fn lines(self, first: usize, most: usize) -> Self {
        match self {
            Factor::Strided(own) => Factor::Strided(own.lines(first, most)),
            Factor::Windows(own) => Factor::Windows(Windows {
                line: own.line + first,
                lines: own.lines.saturating_sub(first).min(most),
                ..own
            }),
        }
    }

    /// The distance of terms that are read in place.
    pub fn step(&self) -> usize {
        match self {
            Factor::Strided(_) => 1,
            Factor::Windows(own) => {
                let inner = own.view.terms.last();
                inner.and_then(|inner| own.step(inner)).unwrap_or(1)
            }
        }
    }

    /// True where its lines can be read in place: terms are neighbours in memory or, `at_any_step`, several are equally
    /// far apart.
    pub fn in_place(&self, at_any_step: bool) -> bool {
        match self {
            Factor::Strided(own) => own.strides[1] == 1,
            Factor::Windows(own) => own.in_place() && (at_any_step || self.step() == 1),
        }
    }

    /// Finds the first elements of the lines from `line` on.
    pub fn starts(&self, line: usize, starts: &mut [Start<T>]) {
        match self {
            Factor::Strided(own) => {
                for (number, start) in starts.iter_mut().enumerate() {
                    start.first = own.at(line + number, 0);
                }
            }
            Factor::Windows(own) => own.starts(line, starts),
        }
    }

    /// True where the lines that begin there share few sets of the first cache. A set holds 8 lines of 64 bytes;
    /// addresses 4 KiB apart share one, addresses 2 KiB apart two.
    pub fn collides(&self, starts: &[Start<T>]) -> bool {
        let [first, second, ..] = starts else {
            return false;
        };
        let apart = (first.first as usize).abs_diff(second.first as usize);
        self.step() == 1 && apart > 0 && apart.is_multiple_of(2048)
    }

    /// Writes the pieces of at most [`PIECE`] lines of a factor that can be read in place. Pieces
    /// that are 0 in all lines can be dropped.
    ///
    /// # Safety
    /// The elements are there, and there is room for a piece of each term.
    pub unsafe fn pieces(
        &self,
        starts: &[Start<T>],
        [term, terms]: [usize; 2],
        drop_zeros: bool,
        to: &mut Pieces<T>,
    ) {
        // SAFETY: the caller's word.
        unsafe {
            match self {
                Factor::Strided(_) => {
                    let rows = starts.iter().map(|start| start.first.wrapping_add(term));
                    to.push(rows, [0, terms]);
                }
                Factor::Windows(own) => own.pieces(starts, [term, terms], drop_zeros, to),
            }
        }
    }

    /// The step from line to line, where there is one.
    pub fn line_stride(&self) -> Option<usize> {
        match self {
            Factor::Strided(own) => Some(own.strides[0]),
            Factor::Windows(_) => None,
        }
    }

    /// The maximum number of terms in a block; `most` for a factor that is read in place.
    pub fn run(&self, most: usize) -> usize {
        match self {
            Factor::Strided(_) => most,
            Factor::Windows(_) => BLOCK[1],
        }
    }

    /// A block of lines by terms, of at most [`BLOCK`] if it is gathered into `room`.
    ///
    /// # Safety
    /// The elements are there, and `room` has a block's size if the factor is read through windows.
    pub unsafe fn block(
        &self,
        [line, lines]: [usize; 2],
        [term, terms]: [usize; 2],
        room: *mut T,
    ) -> Lines<T> {
        match self {
            Factor::Strided(own) => own.lines(line, lines).terms(term, terms),
            // SAFETY: the caller's word.
            Factor::Windows(own) => unsafe { own.gather([line, lines], [term, terms], room) },
        }
    }
}
