"""JSON merge patch as RFC 7386 defines it, written from its pseudocode."""

from typing import Any


def merged(target: Any, patch: Any) -> Any:
    """*target* after *patch*; neither is changed."""
    if not isinstance(patch, dict):
        return patch
    result = dict(target) if isinstance(target, dict) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merged(result.get(name), value)
    return result
