"""`torch.compile(model, backend="fuser")`.

The backend is found by its name; importing this module is not needed. It takes graphs from AOTAutograd, gives what it knows to Fuser in
as few programs as the graph allows, and leaves the rest to torch, with a reason for each op in `FUSER_LOGS=graph`. `graphs()` tells the
same to a program. `import_exported` makes one program of a model that `torch.export` gives. docs/torch.md is the manual.
"""

from .backend import Options, backend
from .export import Exported, import_exported
from .report import graphs

__all__ = ["Exported", "Options", "backend", "graphs", "import_exported"]
