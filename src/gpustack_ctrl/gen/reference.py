"""The reference pages: the schemas and the permissions, as people read them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from gpustack_ctrl.gen import permissions
from gpustack_ctrl.gen.bounds import bounds_in_words, type_in_words
from gpustack_ctrl.gen.crd import Kind, crd
from gpustack_ctrl.gen.markdown import HEAD, joined, table
from gpustack_ctrl.gen.permissions import PathPermission, Permission
from gpustack_ctrl.gen.schema import Schema

_SCOPES = {"Namespaced": "namespaced", "Cluster": "cluster-scoped"}
_FIELDS = ("Field", "Type", "Default", "Bounds", "Meaning")
_GRANTS = ("Resource", "Verbs", "For")


def kind_page(kind: Kind) -> str:
    """The page of *kind*: its fields, object by object, and the rules they obey."""
    definition = crd(kind)
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    sections = (_section(path, found) for path, found in _objects("", schema))
    return HEAD + "\n\n".join((_opening(definition, schema), *sections)) + "\n"


def permissions_page() -> str:
    """The page of all grants: to the operator and to its users."""
    parts = (
        "# Permissions",
        "## The operator, in every namespace",
        _grants(permissions.OPERATOR),
        "## The operator, in its own namespace",
        _grants(permissions.OPERATOR_AT_HOME),
        "## The operator with `--install-crds`, in addition",
        _grants(permissions.CRD_INSTALLER),
        "## The exporter, in every namespace",
        _grants(permissions.EXPORTER),
        "## The exporter, in the operator's namespace",
        _grants(permissions.EXPORTER_AT_HOME),
        "## The operator and the exporter with `--metrics-protection`, in addition",
        _grants(permissions.METRICS_GUARD),
        "## Whoever is bound to `gpustack-metrics-reader`, such as Prometheus",
        table(("Path", *_GRANTS[1:]), map(_path_grant, permissions.METRICS_READER)),
        "## Whoever has the built-in role `view`, `edit` or `admin`",
        _grants(permissions.TENANT_VIEW),
        "## Whoever has the built-in role `edit` or `admin`",
        _grants(permissions.TENANT_EDIT),
    )
    return HEAD + "\n\n".join(parts) + "\n"


def _opening(definition: dict[str, Any], schema: Schema) -> str:
    spec, names = definition["spec"], definition["spec"]["names"]
    served = (
        f"API version `{spec['group']}/{spec['versions'][0]['name']}`, "
        f"resource `{names['plural']}`, short name `{names['shortNames'][0]}`, "
        f"category `{names['categories'][0]}`, {_SCOPES[spec['scope']]}."
    )
    return joined(f"# {names['kind']}", schema["description"], served, _rules(schema))


def _objects(path: str, schema: Schema) -> Iterator[tuple[str, Schema]]:
    """Each object that has a section, with its path; an object before those inside it."""
    for name, held in schema["properties"].items():
        here = _path(path, name, held)
        inner = held.get("items", held)
        if "properties" not in inner:
            continue
        if not path or _has_section(inner):
            yield here, inner
        yield from _objects(here, inner)


def _path(parent: str, name: str, held: Schema) -> str:
    here = f"{parent}.{name}" if parent else name
    return f"{here}[]" if "items" in held else here


def _has_section(schema: Schema) -> bool:
    """Whether an object is worth a table; one of a single field is shown where it is named."""
    return len(schema.get("properties", ())) > 1 or "x-kubernetes-validations" in schema


def _section(path: str, schema: Schema) -> str:
    required = schema.get("required", ())
    rows = (
        _row(path, name, field, required=name in required)
        for name, field in schema["properties"].items()
    )
    return joined(f"## {path}", schema["description"], table(_FIELDS, rows), _rules(schema))


def _row(path: str, name: str, field: Schema, *, required: bool) -> Sequence[str]:
    meaning = field["description"].split("\n\n")[0]
    inner = field.get("items", field)
    if "properties" in inner and not _has_section(inner):
        [(only, held)] = inner["properties"].items()
        within = _row(path, f"{_path('', name, field)}.{only}", held, required=False)
        return (*within[:-1], f"{meaning} {within[-1]}")
    default = "required" if required else _default(field)
    shown = _type(_path(path, name, field), field)
    return (f"`{name}`", shown, default, bounds_in_words(field), meaning)


def _default(field: Schema) -> str:
    default = field.get("default")
    if default in (None, {}):
        return ""
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


def _type(path: str, field: Schema) -> str:
    words = type_in_words(field)
    linked = _has_section(field.get("items", field))
    return f"[{words}](#{_anchor(path)})" if linked else words


def _anchor(heading: str) -> str:
    return re.sub(r"[^a-z0-9_-]", "", heading.lower())


def _rules(schema: Schema) -> str:
    """The rules of one object: those that say the same of several fields, once."""
    said: dict[str, list[str]] = {}
    for rule in schema.get("x-kubernetes-validations", ()):
        field = rule.get("fieldPath", "").removeprefix(".")
        said.setdefault(rule["message"].removeprefix(f"{field} "), []).append(field)
    bullets = "\n".join(_bullet(sentence, fields) for sentence, fields in said.items())
    return f"Rules:\n\n{bullets}" if bullets else ""


def _bullet(sentence: str, fields: Iterable[str]) -> str:
    named = ", ".join(f"`{field}`" for field in fields if field)
    return f"- {named}: {sentence}." if named else f"- {sentence}."


def _grants(grants: Iterable[Permission]) -> str:
    return table(_GRANTS, (_grant(grant) for grant in grants))


def _grant(grant: Permission) -> Sequence[str]:
    group = f" ({grant.resource.group})" if grant.resource.group else ""
    only = f", only {', '.join(f'`{name}`' for name in grant.only)}" if grant.only else ""
    return (f"`{grant.target}`{group}{only}", " ".join(grant.verbs), grant.why)


def _path_grant(grant: PathPermission) -> Sequence[str]:
    return (f"`{grant.access.path}`", grant.access.verb, grant.why)
