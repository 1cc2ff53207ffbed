"""Reads the text of a program: tokens, types, ops, from docs/language.md alone.

Knows one program of `fusion` ops; every other construct is an error. Types are kept with their lengths at run time. An extent `?`
has the length None until the tensor is there.
"""

import collections
import re

from values import COMPLEX, FLOATS, INTEGERS

# An extent of a shape: its length, whether it is a b axis, and whether it is a number in the text.
Extent = collections.namedtuple("Extent", "length broadcast static")


class Unreadable(Exception):
    """The text is no program of fusion ops."""


TOKEN = re.compile(
    r"""\s+ | //[^\n]*
      | (?P<shaped>tensor<|dense<|array<|extents<) | (?P<bracket>\[)
      | (?P<value>%(?:[0-9]+|[A-Za-z_$.-][A-Za-z0-9_$.-]*)(?:\#[0-9]+)?)
      | (?P<symbol>@(?:[0-9]+|[A-Za-z_$.-][A-Za-z0-9_$.-]*))
      | (?P<block>\^[A-Za-z0-9_$.-]+)
      | (?P<alias>![A-Za-z0-9_$]+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<number>-?0x[0-9a-fA-F]+ | -?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?)
      | (?P<word>[A-Za-z_][A-Za-z0-9_$]*(?:\.[A-Za-z_][A-Za-z0-9_$]*)*)
      | (?P<mark>->|[(){}=:,<>])
    """,
    re.X,
)
# Element types by their spellings; `u8` is `ui8`, and so on.
ELEMENTS = {name: name for name in [*FLOATS, *INTEGERS, *COMPLEX]} | {"u" + name[2:]: name for name in INTEGERS if name.startswith("ui")}
# Clauses by what follows the word.
INTS, SHAPE, INT, WORD, NUMBER, FLAG, NUMBERS = range(7)
CLAUSES = {
    "dims": INTS, "starts": INTS, "strides": INTS, "low": INTS, "high": INTS,
    "shape": SHAPE, "dim": INT, "correction": INT, "to": WORD, "of": WORD, "predicate": WORD, "word": WORD,
    "combine": WORD, "first": INT, "shift": INT, "descending": FLAG, "smallest": FLAG,
    "value": NUMBER, "scale": NUMBER, "causal": FLAG, "keepdim": FLAG, "dense": FLAG,
    "init": NUMBERS, "associative": FLAG, "otherwise": NUMBER,
}


def tokens(text):
    """(kind, text) of each token; what is in angle or square brackets is one token."""
    found, at = [], 0
    while at < len(text):
        match = TOKEN.match(text, at)
        if not match:
            raise Unreadable(f"at {text[at:at + 20]!r}")
        kind, at = match.lastgroup, match.end()
        if kind in ("shaped", "bracket"):
            end = closing(text, at, *("<>" if kind == "shaped" else "[]"))
            found.append((match.group().rstrip("<["), text[at:end]) if kind == "shaped" else ("[", text[at:end]))
            at = end + 1
        elif kind:
            found.append((kind, match.group()))
    found.append(("end", ""))
    return found


def closing(text, at, opening, end):
    depth = 1
    while at < len(text):
        depth += (text[at] == opening) - (text[at] == end)
        if depth == 0:
            return at
        at += 1
    raise Unreadable(f"no {end}")


class Type:
    """Element type and shape; a scalar type has no shape of its own."""

    def __init__(self, dtype, shape, scalar=False):
        if dtype not in ELEMENTS:
            raise Unreadable(f"{dtype!r} is no type")
        self.dtype, self.shape, self.scalar = ELEMENTS[dtype], shape, scalar


class Op:
    """One op: its name, the names of its results and operands, its clauses, the types that are written, its lambda."""

    def __init__(self, name, results, operands, clauses, types, body=None):
        self.name, self.results, self.operands, self.clauses, self.types = name, results, operands, clauses, types
        self.body = body


# A lambda: its parameters with their types, its ops, and the names that it yields.
Lambda = collections.namedtuple("Lambda", "parameters ops returned")


class Parser:
    """One pass over the tokens. `extents` gives the named extents their values."""

    def __init__(self, text, extents):
        self.tokens, self.at = tokens(text), 0
        self.extents, self.aliases = extents, {}

    def peek(self):
        return self.tokens[self.at]

    def take(self, kind=None, text=None):
        token = self.tokens[self.at]
        if (kind and token[0] != kind) or (text and token[1] != text):
            raise Unreadable(f"{token} where {kind} {text or ''} should be")
        self.at += 1
        return token[1]

    def has(self, kind, text=None):
        token = self.tokens[self.at]
        if token[0] == kind and (text is None or token[1] == text):
            self.at += 1
            return True
        return False

    def comma_list(self, one):
        items = [one()]
        while self.has("mark", ","):
            items.append(one())
        return items

    def parse(self):
        """(parameters, result types, aliases, ops, returned names)."""
        while self.peek()[0] == "alias":
            name = self.take()
            self.take("mark", "=")
            self.aliases[name] = self.type()
        wrapped = self.has("word", "module") and self.has("mark", "{")
        self.take("word", "task.program")
        self.take("symbol")
        self.take("mark", "(")
        parameters = [] if self.peek() == ("mark", ")") else self.comma_list(self.parameter)
        self.take("mark", ")")
        results = self.result_types() if self.has("mark", "->") else []
        self.take("mark", "{")
        ops = []
        while self.peek() != ("word", "task.return"):
            ops.append(self.op())
        self.take()
        returned = self.comma_list(lambda: self.take("value")) if self.peek()[0] == "value" else []
        self.take("mark", "}")
        if wrapped:
            self.take("mark", "}")
        return parameters, results, ops, returned

    def parameter(self):
        name = self.take("value")
        self.take("mark", ":")
        return name, self.type()

    def result_types(self):
        if not self.has("mark", "("):
            return [self.type()]
        types = self.comma_list(self.result_type)
        self.take("mark", ")")
        return types

    def result_type(self):
        read = self.type()
        if self.has("mark", "{"):
            while not self.has("mark", "}"):
                self.at += 1
        return read

    # --- types

    def type(self):
        kind, text = self.peek()
        if kind == "word":
            return Type(self.word(), [], scalar=True)
        self.at += 1
        if kind == "tensor":
            return self.tensor(text)
        if kind == "alias":
            return self.aliases[text]
        raise Unreadable(f"{text!r} is no type")

    def word(self):
        """A word, or the name of a complex type."""
        word = self.take("word")
        if word == "complex" and self.has("mark", "<"):
            word = f"complex<{self.take('word')}>"
            self.take("mark", ">")
        return word

    def tensor(self, text):
        dims = re.match(r"(?:\s*b?(?:[0-9]+|\?|\[[^\]]*\])\s*x)*", text)
        extents = re.findall(r"b?(?:[0-9]+|\?|\[[^\]]*\])(?=\s*x)", dims.group())
        dtype = text[dims.end() :].split(",")[0].strip()
        return Type(dtype, [self.extent(extent) for extent in extents])

    def extent(self, text):
        broadcast = text.startswith("b")
        text = text[1:] if broadcast else text
        if text == "?":
            return Extent(None, broadcast, False)
        if text.startswith("["):
            return Extent(self.sum(text[1:-1]), broadcast, text[1:-1].strip().isdigit())
        return Extent(int(text), broadcast, True)

    def sum(self, text):
        total = 0
        for sign, product in re.findall(r"([-+]?)\s*([^-+]+)", text):
            value = 1
            for factor in product.split("*"):
                factor = factor.strip()
                value *= int(factor) if factor.isdigit() else self.extents[factor]
            total += -value if sign == "-" else value
        return total

    def shape(self, text):
        """`[B], 1024, ?, b8`."""
        return [self.extent(part.strip()) for part in text.split(",")] if text.strip() else []

    # --- ops

    def op(self):
        results = []
        if self.peek()[0] == "value":
            results = self.comma_list(lambda: self.take("value"))
            self.take("mark", "=")
        if self.peek()[0] == "string":
            return self.generic(results)
        name, operands, clauses, types = self.take("word"), [], {}, []
        if self.peek()[0] == "value":
            operands = self.comma_list(lambda: self.take("value"))
        # A clause may be the name of a shaped attribute without its `<`.
        while self.peek()[0] == "word" and "." not in self.peek()[1]:
            word = self.take()
            if word not in CLAUSES:
                raise Unreadable(f"`{name}` with `{word}`")
            clauses[word] = self.clause(CLAUSES[word])
        if self.peek() == ("mark", "{") and self.tokens[self.at + 1][0] != "block":
            clauses.update(self.dictionary())
        body = self.body() if self.peek() == ("mark", "{") else None
        if self.has("mark", ":"):
            types = self.comma_list(self.type)
        return Op(name, results, operands, clauses, types, body)

    def body(self):
        """A region of one block."""
        self.take("mark", "{")
        self.take("block")
        self.take("mark", "(")
        parameters = self.comma_list(self.parameter)
        self.take("mark", ")")
        self.take("mark", ":")
        ops = []
        while self.peek() != ("word", "fusion.yield"):
            ops.append(self.op())
        self.take()
        returned = self.comma_list(lambda: self.take("value"))
        self.take("mark", "}")
        return Lambda(parameters, ops, returned)

    def clause(self, kind):
        if kind == FLAG:
            return True
        if kind == INTS:
            return ints(self.take("["))
        if kind == SHAPE:
            return self.shape(self.take("["))
        if kind == INT:
            return int(self.take("number"))
        if kind == WORD:
            return self.word()
        if kind == NUMBERS:
            return [part.strip() for part in self.take("[").split(",")]
        return self.number()

    def number(self):
        """A literal as text, or ("dense", text)."""
        kind, text = self.peek()
        self.at += 1
        if kind == "dense":
            return "dense", text
        if kind == "number" or (kind == "word" and text in ("true", "false")):
            return text
        raise Unreadable(f"{text!r} is no number")

    def generic(self, results):
        name, operands = self.take("string").strip('"'), []
        self.take("mark", "(")
        if self.peek()[0] == "value":
            operands = self.comma_list(lambda: self.take("value"))
        self.take("mark", ")")
        clauses = {}
        if self.has("mark", "<"):
            clauses.update(self.dictionary())
            self.take("mark", ">")
        if self.peek() == ("mark", "{"):
            clauses.update(self.dictionary())
        self.take("mark", ":")
        self.types()
        self.take("mark", "->")
        return Op(name, results, operands, clauses, self.types())

    def types(self):
        if not self.has("mark", "("):
            return [self.type()]
        found = [] if self.peek() == ("mark", ")") else self.comma_list(self.type)
        self.take("mark", ")")
        return found

    def dictionary(self):
        self.take("mark", "{")
        entries = {} if self.peek() == ("mark", "}") else dict(self.comma_list(self.entry))
        self.take("mark", "}")
        return entries

    def entry(self):
        name = self.take("word")
        if not self.has("mark", "="):
            return name, True
        kind, text = self.peek()
        if kind == "array":
            self.at += 1
            value = ints(text.partition(":")[2])
        elif kind == "extents":
            self.at += 1
            value = self.shape(text)
        elif kind == "string":
            self.at += 1
            value = text.strip('"')
        elif kind == "number" or kind == "dense" or text in ("true", "false"):
            value = self.number()
            if CLAUSES.get(name) == INT:
                value = int(value)
        else:
            value = self.word()
        if self.has("mark", ":"):
            # The type of a number is that of the result, which is written too.
            self.type()
        return name, value


def ints(text):
    return [int(part) for part in text.split(",")] if text.strip() else []
