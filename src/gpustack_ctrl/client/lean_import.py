"""Makes `import kubernetes_asyncio` cheap: without its hundreds of generated modules.

The library's package modules import every generated API and model: half a second of CPU
and 34 MiB that nothing here uses. Bare packages of the same names take their place before
anything is imported; the few real modules we need then load as usual. If a release of the
library does not load that way, nothing is left behind and the plain import works.
"""

import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

LIBRARY = "kubernetes_asyncio"
CLIENT = f"{LIBRARY}.client"
MODELS = f"{CLIENT}.models"


def keep_out_generated_modules() -> bool:
    """Prepare the import of the library; return whether it will be a lean one."""
    spec = find_spec(LIBRARY)
    if LIBRARY in sys.modules or spec is None or not spec.submodule_search_locations:
        return False
    root = Path(next(iter(spec.submodule_search_locations)))
    try:
        _prepare(root)
    except (ImportError, AttributeError):
        _forget()
        return False
    return True


def _prepare(root: Path) -> None:
    library = _bare(LIBRARY, root)
    library.client = _bare(CLIENT, root / "client")  # type: ignore[attr-defined]
    library.client.models = _bare(MODELS)
    for module, name in (("api_client", "ApiClient"), ("configuration", "Configuration")):
        setattr(library.client, name, getattr(import_module(f"{CLIENT}.{module}"), name))
    import_module(f"{LIBRARY}.config.kube_config")


def _bare(name: str, *path: Path) -> ModuleType:
    """A package of *name* in which only submodules are found."""
    module = ModuleType(name)
    module.__path__ = [str(folder) for folder in path]
    sys.modules[name] = module
    return module


def _forget() -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == LIBRARY]:
        del sys.modules[name]
