"""What a kubeconfig must say before a loader can make sense of it."""

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs
import yaml

from gpustack_ctrl.client.errors import ConfigurationError
from gpustack_ctrl.client.location import Kubeconfig


@attrs.frozen(kw_only=True)
class Entries:
    """The entries that count: the name of a context, and its user."""

    context: str
    user: Mapping[str, Any]

    @classmethod
    def read(cls, location: Kubeconfig) -> "Entries":
        """Those that *location* asks for; raise `ConfigurationError`, or what reading raises.

        As in kubectl, the first file that says something wins.
        """
        files = tuple(map(_read, location.paths))
        contexts = _named(files, "contexts")
        name = location.context or _current(files)
        if name not in contexts:
            raise ConfigurationError(_unknown(location, name, contexts))
        context = contexts[name].get("context") or {}
        user = _named(files, "users").get(str(context.get("user")))
        if user is None:
            raise ConfigurationError(f"{location}: context {name} has no user that it defines")
        return cls(context=name, user=user.get("user") or {})


def _read(path: Path) -> Mapping[str, Any]:
    held = yaml.safe_load(path.read_bytes())
    if not isinstance(held, dict):
        raise ConfigurationError(f"kubeconfig {path} holds no configuration")
    return held


def _named(files: Iterable[Mapping[str, Any]], section: str) -> Mapping[str, Mapping[str, Any]]:
    """The entries of *section* by name."""
    named: dict[str, Mapping[str, Any]] = {}
    for entry in (entry for held in files for entry in held.get(section) or ()):
        named.setdefault(str(entry.get("name")), entry)
    return named


def _current(files: Iterable[Mapping[str, Any]]) -> str:
    """The context that is used unless another is asked for; "" if none is."""
    return next((str(held["current-context"]) for held in files if held.get("current-context")), "")


def _unknown(location: Kubeconfig, name: str, contexts: Collection[str]) -> str:
    choice = f"it has: {', '.join(contexts)}" if contexts else "it has none"
    if not name:
        return f"{location} names no current context; choose one by --context ({choice})"
    return f"{location} has no context {name}; {choice}"
