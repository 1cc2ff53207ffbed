//! The factors of a product in memory: rows of the left one or columns of the right one, and the terms of each.
//!
//! A convolution's left factor is read through windows: its rows are windows of a tensor, so the elements of a row have
//! no constant stride. Long runs of equally distant terms are read in place, through the address of each row. Other
//! windows are gathered before packing, one block of lines by terms at a time, into memory that stays in the first-level
//! cache.

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

/// Rows of a [`Piece`].
pub const PIECE: usize = 6;
/// Terms that are equally far apart at least, cuts between blocks aside, where rows are read in place.
const BESIDE: usize = 4;

/// Terms that are equally far apart in memory, in each of a few rows.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub struct Piece<T> {
    /// The first term of each row.
    pub rows: [*const T; PIECE],
    /// The number of the first term among the terms of a block.
    pub first: usize,
    pub terms: usize,
}

/// As many zeros as a piece has terms at most, for windows beyond the ends of an axis.
static ZEROS: [u64; ZERO_TERMS] = [0; ZERO_TERMS];
/// The most terms of a piece.
pub const ZERO_TERMS: usize = 256;

/// Digits of lines or of terms at most: those along axes of windows, in two parts each, and one more.
const DIGITS: usize = 2 * DIMS + 1;

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

    /// Finds the first elements of lines, from a line on.
    fn starts(&self, line: usize, starts: &mut [Start<T>]) {
        let digits = &self.view.lines;
        let mut counter = Counter::new(digits, self.line + line);
        for start in starts {
            start.offset = counter.offset;
            let axes = 0..self.view.bounds.len().min(DIMS);
            axes.for_each(|axis| start.places[axis] = counter.places[axis] + self.places[axis]);
            start.at = At::new(&start.places, &self.view.bounds);
            let offset = start.offset.wrapping_add(start.at.offset);
            start.first = self.first.wrapping_add(offset);
            if !digits.is_empty() {
                counter.step(digits.len() - 1, 1);
            }
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
        let inner = view.terms.len().saturating_sub(1);
        let last = view.terms.last().copied();
        let step = last.and_then(|digit| self.step(&digit));
        let mut done = 0;
        while done < terms {
            // One address serves a run of terms, line by line.
            let (run, moves) = match (last, step) {
                (Some(digit), Some(_)) => {
                    let rest = digit.extent - counter.at[inner];
                    (rest.min(terms - done), digit.moves)
                }
                _ => (1, [0; DIMS]),
            };
            let step = step.unwrap_or(0);
            let mut runs = [Run::NONE; BLOCK[0]];
            for (own, start) in runs.iter_mut().zip(&starts[..lines]) {
                let offset = start.offset.wrapping_add(counter.offset);
                *own = self.run(offset, [&start.places, &counter.places], moves, [run, step]);
            }
            let to = room.wrapping_add(done * strides[1]);
            // SAFETY: the caller's word; the elements of runs are within their axes.
            unsafe {
                match by_lines {
                    true => copy_lines(&runs[..lines], run, to, strides[0]),
                    false => copy_terms(&runs[..lines], [run, step], to),
                }
            }
            if last.is_some() {
                counter.step(inner, run);
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
        to: *mut Piece<T>,
    ) -> usize {
        let view = self.view;
        let mut counter = Counter::new(&view.terms, term);
        let inner = view.terms.len().saturating_sub(1);
        let last = view.terms.last().copied();
        let moves = last.map_or([0; DIMS], |digit| digit.moves);
        let step = last.and_then(|digit| self.step(&digit)).unwrap_or(1);
        let (mut done, mut count) = (0, 0);
        let mut write = |rows: [*const T; PIECE], first: usize, terms: usize| {
            let piece = Piece { rows, first, terms };
            // SAFETY: the caller's word: a piece has a term at least.
            unsafe { to.wrapping_add(count).write(piece) };
            count += 1;
        };
        while done < terms {
            let rest = last.map_or(1, |digit| digit.extent - counter.at[inner]);
            let run = rest.min(terms - done);
            if moves == [0; DIMS] && step == 1 {
                let (rows, is_zero) = self.rows_at(starts, &counter);
                if !(is_zero && drop_zeros) {
                    write(rows, done, run);
                }
            } else {
                let runs = self.runs(starts, &counter, moves, [run, step]);
                let runs = Runs {
                    runs: &runs[..starts.len()],
                    step,
                };
                runs.pieces(run, drop_zeros, |rows, first, terms| {
                    write(rows, done + first, terms)
                });
            }
            if last.is_some() {
                counter.step(inner, run);
            }
            done += run;
        }
        count
    }

    /// The first elements of rows at the places of a term, zeros where a row has none there, and true if all have none.
    #[inline(always)]
    fn rows_at(&self, starts: &[Start<T>], counter: &Counter) -> ([*const T; PIECE], bool) {
        let bounds = &self.view.bounds;
        let at = At::new(&counter.places, bounds);
        let offset = counter.offset.wrapping_add(at.offset);
        let (mut rows, mut is_zero) = ([zeros(); PIECE], true);
        for (row, start) in rows.iter_mut().zip(starts) {
            if let Some(carried) = start.at.and(&at, bounds) {
                *row = start.first.wrapping_add(offset.wrapping_add(carried));
                is_zero = false;
            }
        }
        (rows, is_zero)
    }

    /// The runs of rows from a term on.
    #[inline]
    fn runs(
        &self,
        starts: &[Start<T>],
        counter: &Counter,
        moves: [i64; DIMS],
        size: [usize; 2],
    ) -> [Run<T>; PIECE] {
        let mut runs = [Run::<T>::NONE; PIECE];
        for (row, start) in starts.iter().enumerate().take(PIECE) {
            let before = row.wrapping_sub(1);
            runs[row] = match starts.get(before) {
                // The neighbour has the same terms.
                Some(other) if other.places == start.places => Run {
                    first: (runs[before].first)
                        .wrapping_add(start.offset.wrapping_sub(other.offset)),
                    ..runs[before]
                },
                _ => {
                    let offset = start.offset.wrapping_add(counter.offset);
                    self.run(offset, [&start.places, &counter.places], moves, size)
                }
            };
        }
        runs
    }

    /// The elements of a run of terms, from these positions of a line and a term on.
    #[inline]
    fn run(
        &self,
        offset: usize,
        [line, term]: [&[i64; DIMS]; 2],
        moves: [i64; DIMS],
        [count, step]: [usize; 2],
    ) -> Run<T> {
        let (mut offset, mut from, mut to) = (offset, 0, count as i64);
        for (axis, bound) in self.view.bounds.iter().enumerate() {
            let place = line[axis] + term[axis];
            let index = match bound.base {
                1 => place,
                base if place % base == 0 => place / base,
                _ => return Run::NONE,
            };
            let extent = bound.extent as i64;
            match moves[axis] {
                0 if index < 0 || index >= extent => return Run::NONE,
                0 => {}
                by => {
                    // The first term that is not before the axis, and the first that is behind it.
                    let steps = |ahead: i64| (ahead.max(0) + by - 1) / by;
                    from = from.max(steps(-index));
                    to = to.min(steps(extent - index));
                }
            }
            offset = offset.wrapping_add((index as usize).wrapping_mul(bound.stride));
        }
        if from >= to {
            return Run::NONE;
        }
        let (from, to) = (from as usize, to as usize);
        Run {
            first: self.first.wrapping_add(offset.wrapping_add(from * step)),
            from,
            to,
        }
    }
}

/// The first element of a line of windows.
#[derive(Clone, Copy, Debug)]
pub struct Start<T> {
    /// In elements, along axes that are no windows'.
    offset: usize,
    /// Its places along the axes of windows.
    places: [i64; DIMS],
    /// The elements at these places.
    at: At,
    /// Its element there.
    first: *const T,
}

impl<T> Default for Start<T> {
    fn default() -> Start<T> {
        Start {
            offset: 0,
            places: [0; DIMS],
            at: At::default(),
            first: std::ptr::null(),
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

    /// The elements in memory behind both offsets at which the sum of the places has one; `None` if it has none.
    #[inline]
    fn and(&self, other: &At, bounds: &[Bound]) -> Option<usize> {
        let mut carried = 0usize;
        for (axis, bound) in bounds.iter().enumerate().take(DIMS) {
            let mut index = self.index[axis] + other.index[axis];
            let rest = self.rest[axis] + other.rest[axis];
            if rest > 0 {
                if rest != bound.base {
                    return None;
                }
                index += 1;
                carried = carried.wrapping_add(bound.stride);
            }
            // An index before the axis is a great number.
            if index as u64 >= bound.extent as u64 {
                return None;
            }
        }
        Some(carried)
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

/// The runs of a few rows, whose terms are `step` apart.
struct Runs<'a, T> {
    runs: &'a [Run<T>],
    step: usize,
}

impl<T> Runs<'_, T> {
    /// Passes pieces to `give`: rows, the first term and the number of terms. Terms that all rows have are one piece.
    #[inline]
    fn pieces(
        &self,
        count: usize,
        drop_zeros: bool,
        mut give: impl FnMut([*const T; PIECE], usize, usize),
    ) {
        let has = |own: &Run<T>| own.to > 0;
        if drop_zeros && !self.runs.iter().any(has) {
            return;
        }
        let (mut from, mut to) = (0, count);
        for own in self.runs.iter().filter(|own| has(own)) {
            (from, to) = (from.max(own.from), to.min(own.to));
        }
        // A row without terms reads zeros, which are beside each other.
        if self.step != 1 && !self.runs.iter().all(has) {
            to = 0;
        }
        let mut at = 0;
        while at < count {
            let terms = match at == from && from < to {
                true => to - from,
                false => 1,
            };
            let is_inside = |own: &Run<T>| (own.from..own.to).contains(&at);
            if !drop_zeros || self.runs.iter().any(is_inside) {
                let place = |row: usize| match self.runs.get(row).filter(|own| is_inside(own)) {
                    Some(own) => own.first.wrapping_add((at - own.from) * self.step),
                    None => zeros(),
                };
                give([0, 1, 2, 3, 4, 5].map(place), at, terms);
            }
            at += terms;
        }
    }
}

/// Zeros, as many as a piece has terms at most.
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

    /// True where its lines can be read in place: terms are neighbours in memory, or several are equally far apart.
    pub fn in_place(&self) -> bool {
        match self {
            Factor::Strided(own) => own.strides[1] == 1,
            Factor::Windows(own) => {
                let inner = own.view.terms.last();
                inner.is_some_and(|inner| inner.extent >= BESIDE && own.step(inner).is_some())
            }
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

    /// Writes the pieces of at most [`PIECE`] lines and [`ZERO_TERMS`] terms of a factor that can be read in place, and
    /// returns their number. Of lines that are not there, any elements are given. Pieces that are 0 in all lines can be
    /// dropped.
    ///
    /// # Safety
    /// The elements are there, and there is room for a piece of each term.
    pub unsafe fn pieces(
        &self,
        starts: &[Start<T>],
        [term, terms]: [usize; 2],
        drop_zeros: bool,
        to: *mut Piece<T>,
    ) -> usize {
        match (self, starts) {
            (Factor::Strided(_), [first, ..]) => {
                let row = |row: usize| starts.get(row).unwrap_or(first).first.wrapping_add(term);
                let rows = [0, 1, 2, 3, 4, 5].map(row);
                let piece = Piece {
                    rows,
                    first: 0,
                    terms,
                };
                // SAFETY: the caller's word.
                unsafe { to.write(piece) };
                1
            }
            (Factor::Strided(_), []) => 0,
            // SAFETY: the caller's word.
            (Factor::Windows(own), _) => unsafe {
                own.pieces(starts, [term, terms], drop_zeros, to)
            },
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
