"""`torch.compile(model, backend="fuser")`.

The backend is found by its name where the package is installed; in a checkout, importing this module registers it. It takes graphs from AOTAutograd, gives what it knows to Fuser in
as few programs as the graph allows, and leaves the rest to torch, with a reason for each op in `FUSER_LOGS=graph`. `graphs()` tells the
same to a program. `import_exported` makes one program of a model that `torch.export` gives. docs/torch.md is the manual.
"""

from importlib.metadata import entry_points

from torch._dynamo import register_backend

from .backend import Options, backend
from .export import Exported, import_exported
from .report import graphs

if not entry_points(group="torch_dynamo_backends", name="fuser"):
    register_backend(backend, name="fuser")

__all__ = ["Exported", "Options", "backend", "graphs", "import_exported"]
