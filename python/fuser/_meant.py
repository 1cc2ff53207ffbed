"""Names that callers of other packages try, and the ones here."""

_MEANT = {
    "module 'fuser'": {
        "jit": "'fuser.jax.jit' compiles a function of JAX, after 'import fuser.jax'",
        "compile": "'Program.compile' compiles a program, 'torch.compile(f, backend=\"fuser\")' a function of PyTorch",
        "parse": "'Program.parse' reads text",
        "load": "'Program.from_file' reads a file",
        "from_file": "it is a method of 'Program'",
        "import_stablehlo": "it is a method of 'Program'",
        "FusionDefinition": "it stands in 'fuser.nvfuser', after 'import fuser.nvfuser'",
        "jax": "'import fuser.jax' loads it",
        "nvfuser": "'import fuser.nvfuser' loads it",
    },
    "'fuser.Program' object": {
        "run": "'program.compile()' gives what is called on arrays",
        "as_text": "'str(program)' is its text",
        "text": "'str(program)' is its text",
        "ops": "'program.segments()' has the ops of each segment",
        "kernels": "'program.segments()' has them, with bytes and reasons",
        "cost_analysis": "'program.segments()' has bytes, operations and times",
    },
    "'fuser.Compiled' object": {
        "run": "it is called: 'compiled(x)'",
        "explain": "the program has it: 'program.explain()'",
        "report": "the program has it: 'program.report()'",
        "kernels": "'compiled.segments()' has them, with bytes and reasons",
        "cost_analysis": "'compiled.segments()' has bytes, operations and times",
        "as_text": "'str(program)' is the program's text",
        "text": "'str(program)' is the program's text",
    },
}


def missing(owner, name):
    """The message of the error about an attribute that `owner` lacks."""
    advice = _MEANT[owner].get(name)
    return f"{owner} has no attribute {name!r}" + (f": {advice}" if advice else "")
