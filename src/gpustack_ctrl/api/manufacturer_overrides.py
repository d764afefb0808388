"""Rows of the manufacturer table that an administrator changes or adds, as JSON text.

    {"nvidia": {"runtimeClass": "nvidia-cdi"},
     "acme": {"resource": "acme.example/card", "partitionKind": "tile"}}

A row that is there keeps every field the text leaves out; a new one needs `resource`.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar, get_type_hints

import attrs
import msgspec

from gpustack_ctrl.api.manufacturers import HamiNames, Manufacturer

Row = TypeVar("Row", Manufacturer, HamiNames)

_KEY = re.compile(r"[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?")
_LABEL = re.compile(r"|[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_CLASS = re.compile(r"|[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}")
_COUNT = re.compile(r"[1-9][0-9]{0,8}")
_RESOURCE = re.compile(
    r"(?=[^/]{1,253}/)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*"
    r"/[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?"
)
_AS_RESOURCE: Final = "write it as vendor.example/name"
_LARGEST_STEP: Final = 1 << 24


def is_resource_name(name: str) -> bool:
    """Whether *name* can be that of an extended resource: domain, slash, 63 characters."""
    return _RESOURCE.fullmatch(name) is not None


def override(rows: Mapping[str, Manufacturer], text: str) -> Mapping[str, Manufacturer]:
    """*rows* with the changes of *text* laid over them; blank text changes nothing.

    Raises ValueError, naming the row, the field and the remedy.
    """
    if not text.strip():
        return rows
    try:
        changes = msgspec.json.decode(text, type=dict[str, dict[str, Any]])
    except msgspec.MsgspecError as error:
        raise ValueError(
            f"the manufacturers are not a JSON object of objects ({error}): write them as "
            '{"nvidia": {"runtimeClass": "nvidia"}}'
        ) from error
    return {**rows, **{key: _row(rows.get(key), key, held) for key, held in changes.items()}}


def _row(before: Manufacturer | None, key: str, changes: Mapping[str, Any]) -> Manufacturer:
    _demand(_KEY, key, f"manufacturer {key!r}", "use up to 32 lower-case letters, digits and '-'")
    told = dict(changes)
    hami = told.pop("hami", None)
    row = _changed(Manufacturer, before or Manufacturer(key=key, resource=""), key, told)
    if hami is not None:
        row = attrs.evolve(row, hami=_hami(row.hami, f"{key}.hami", hami))
    _demand_row(row)
    return row


def _hami(before: HamiNames | None, path: str, held: object) -> HamiNames:
    changes = _read(held, dict[str, Any], path)
    names = _changed(HamiNames, before or HamiNames(devices=""), path, changes)
    _demand_hami(names, path)
    return names


def _changed(kind: type[Row], before: Row, path: str, changes: Mapping[str, Any]) -> Row:
    fields = {_on_wire(name): name for name in get_type_hints(kind) if name not in ("key", "hami")}
    values: dict[str, Any] = {}
    for field, value in changes.items():
        if field not in fields:
            raise ValueError(_told(f"{path}.{field}", "is not known", f"use {', '.join(fields)}"))
        values[fields[field]] = _read(value, get_type_hints(kind)[fields[field]], f"{path}.{field}")
    return attrs.evolve(before, **values)


def _read(value: object, kind: Any, path: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise ValueError(_told(path, f"is {value!r}", f"{error}")) from error


def _demand_row(row: Manufacturer) -> None:
    _demand(_RESOURCE, row.resource, f"{row.key}.resource", _AS_RESOURCE)
    _demand(_CLASS, row.runtime_class, f"{row.key}.runtimeClass", "write a RuntimeClass's name")
    _demand(_LABEL, row.partition_kind, f"{row.key}.partitionKind", "write a word such as mig")
    for variable in row.invisible:
        _demand(_VARIABLE, variable, f"{row.key}.invisible", "write a variable's name")


def _demand_hami(names: HamiNames, path: str) -> None:
    _demand(_RESOURCE, names.devices, f"{path}.devices", _AS_RESOURCE)
    for field in ("whole", "memory", "memory_percentage", "cores"):
        name = getattr(names, field)
        if name:
            _demand(_RESOURCE, name, f"{path}.{_on_wire(field)}", _AS_RESOURCE)
    for name, amount in names.beside_whole.items():
        _demand(_RESOURCE, name, f"{path}.besideWhole", _AS_RESOURCE)
        _demand(_COUNT, amount, f"{path}.besideWhole", "write a whole number from 1, as a string")
    for field in ("memory_step", "cores_per_device"):
        if not 1 <= getattr(names, field) <= _LARGEST_STEP:
            remedy = f"write a number from 1 to {_LARGEST_STEP}"
            raise ValueError(_told(f"{path}.{_on_wire(field)}", "is out of range", remedy))


def _demand(form: re.Pattern[str], value: str, path: str, remedy: str) -> None:
    if not form.fullmatch(value):
        raise ValueError(_told(path, f"is {value!r}" if value else "is missing", remedy))


def _told(path: str, problem: str, remedy: str) -> str:
    return f"{path} {problem}: {remedy}"


def _on_wire(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)
