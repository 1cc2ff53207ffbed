"""The list of programs: a function and its inputs for each, under a name and its package.

    @program("flax")
    def mlp_train_step():
        ...
        return f, args

`f` takes arrays, or trees of them, and gives such; the maker is called when its program is wanted.
"""

PROGRAMS = {}


def program(package, refused=None):
    """Notes the maker of a program. `refused` is the reason for which the program cannot be imported."""

    def note(maker):
        PROGRAMS[f"{package}.{maker.__name__}"] = (maker, refused)
        return maker

    return note
