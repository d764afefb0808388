"""CEL rules on what may change while an Instance runs.

They are keyed on `oldSelf.stop`: an edit that stops the Instance and changes it in one
write is refused, one that changes it and starts it is allowed.
"""

from gpustack_ctrl.api.markers import Rule

_REMEDY = "may change only while the Instance is stopped: set spec.stop to true first"


def frozen_while_running(path: str) -> Rule:
    """The field at *path* keeps its value while the Instance runs."""
    new, old = _sides(path)
    return _unless_stopped(path, f"{new} == {old}")


def same_presence_while_running(path: str) -> Rule:
    """The field at *path* neither comes nor goes while the Instance runs."""
    new, old = _sides(path)
    return _unless_stopped(path, f"{new}.hasValue() == {old}.hasValue()")


def same_quantity_while_running(path: str) -> Rule:
    """The quantity at *path* keeps its value, but may be written in another way."""
    new, old = _sides(path)
    first, second = (f"quantity(string({side}.orValue(0)))" for side in (new, old))
    both = f"{new}.hasValue() == {old}.hasValue()"
    return _unless_stopped(path, f"({both} && {first}.compareTo({second}) == 0)")


def _unless_stopped(path: str, expression: str) -> Rule:
    return Rule(
        f"oldSelf.stop || {expression}", f"{path} {_REMEDY}", field=f".{path}", forbidden=True
    )


def _sides(path: str) -> tuple[str, str]:
    optional = path.replace(".", ".?")
    return f"self.?{optional}", f"oldSelf.?{optional}"
