"""CEL rules on what may change while an Instance runs.

They are keyed on `oldSelf.stop`: an edit that stops the Instance and changes it in one
write is refused, one that changes it and starts it is allowed.
"""

from gpustack_ctrl.api.markers import Rule

_REMEDY = "may change only while the Instance is stopped: set spec.stop to true first"


def frozen_while_running(path: str) -> Rule:
    """The field at *path* keeps its value while the Instance runs."""
    return _unless_stopped(path, _same(path, f"self.{path} == oldSelf.{path}"))


def same_presence_while_running(path: str) -> Rule:
    """The field at *path* neither comes nor goes while the Instance runs."""
    return _unless_stopped(path, f"{_has('self', path)} == {_has('oldSelf', path)}")


def same_quantity_while_running(path: str) -> Rule:
    """The quantity at *path* keeps its value, but may be written in another way."""
    new, old = (f"quantity(string({side}.{path}))" for side in ("self", "oldSelf"))
    return _unless_stopped(path, _same(path, f"{new}.compareTo({old}) == 0"))


def _same(path: str, equality: str) -> str:
    return (
        f"({_has('self', path)} ? {_has('oldSelf', path)} && {equality} : !{_has('oldSelf', path)})"
    )


def _has(side: str, path: str) -> str:
    """Whether *side* has the field, and every object on the way to it.

    Optional selection (`self.?volume.?persistent`) would be shorter, but the API server
    knows no bound for what it gives, and refuses the rule as too costly.
    """
    names = path.split(".")
    steps = (".".join(names[: depth + 1]) for depth in range(len(names)))
    return "(" + " && ".join(f"has({side}.{step})" for step in steps) + ")"


def _unless_stopped(path: str, expression: str) -> Rule:
    return Rule(
        f"oldSelf.stop || {expression}", f"{path} {_REMEDY}", field=f".{path}", forbidden=True
    )
