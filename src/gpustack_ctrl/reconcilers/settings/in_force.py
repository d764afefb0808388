"""What of each Setting is in force, and what its status should tell.

A value that cannot be read is refused as a whole: the last good one stays in force, and
the status of the Setting says so.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeVar, cast

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.manufacturers import MANUFACTURERS, Manufacturer
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, condition_of
from gpustack_ctrl.api.setting import Setting, SettingSpec, SettingStatus
from gpustack_ctrl.plan.actions import Plan, create
from gpustack_ctrl.reconcilers.conditions import Statement, stated
from gpustack_ctrl.reconcilers.excerpt import excerpt
from gpustack_ctrl.reconcilers.isolation.cidrs import PodCIDRs
from gpustack_ctrl.reconcilers.settings.catalogue import (
    CATALOGUE,
    HOST_PATHS,
    ISOLATION,
    MANUFACTURERS_TABLE,
    OVERCOMMIT,
    PRIVILEGED,
    REGISTRY,
    REPOSITORY_NAMESPACE,
    SSH_IMAGE,
    STATIC_ADDRESS,
    WILDCARD_DNS,
    Definition,
)
from gpustack_ctrl.reconcilers.settings.images import image_at

T = TypeVar("T")

ACCEPTED = "Accepted"
IN_FORCE = "InForce"
WARNING = "Warning"


@attrs.frozen(kw_only=True)
class SettingsInForce:
    """The values that a pass acts by; *isolation* is None while none is known."""

    isolation: PodCIDRs | None
    overcommit: bool = True
    privileged: bool = False
    host_paths: bool = False
    ssh_image: str = SSH_IMAGE.default
    static_address: str = ""
    wildcard_dns: str = ""
    manufacturers: Mapping[str, Manufacturer] = attrs.field(factory=lambda: MANUFACTURERS)


def settings_in_force(settings: Iterable[Setting]) -> SettingsInForce:
    """What is in force, from the Settings in the cache."""
    held = {setting.metadata.name: setting for setting in settings}
    return SettingsInForce(
        isolation=in_force(ISOLATION, held.get(ISOLATION.name)),
        overcommit=_or_default(OVERCOMMIT, held),
        privileged=_or_default(PRIVILEGED, held),
        host_paths=_or_default(HOST_PATHS, held),
        ssh_image=image_at(
            _or_default(SSH_IMAGE, held),
            registry=_or_default(REGISTRY, held),
            namespace=_or_default(REPOSITORY_NAMESPACE, held),
        ),
        static_address=_or_default(STATIC_ADDRESS, held),
        wildcard_dns=_or_default(WILDCARD_DNS, held),
        manufacturers=_or_default(MANUFACTURERS_TABLE, held),
    )


def _or_default(definition: Definition[T], held: Mapping[str, Setting]) -> T:
    value = in_force(definition, held.get(definition.name))
    return definition.parse(definition.default) if value is None else value


def in_force(definition: Definition[T], setting: Setting | None) -> T | None:
    """The value that counts: the wished one if good, else the last good one, else None."""
    if setting is None:
        return None
    last = (setting.status.value,) if _has_last_good(setting) else ()
    for text in (setting.spec.value, *last):
        value = _parsed(definition, text)
        if not isinstance(value, ValueError):
            return value
    return None


def plan(key: ObjectKey, setting: Setting | None, *, seed: str | None) -> Plan:
    """Make a missing Setting of the catalogue; never overwrite one that is there."""
    definition = CATALOGUE.get(key.name)
    if setting is not None or definition is None:
        return ()
    value = definition.default if seed is None else seed
    made = Setting(
        metadata=ObjectMeta(name=key.name, namespace=key.namespace), spec=SettingSpec(value=value)
    )
    return (create(names.SETTING, made.metadata, codec.to_wire(made)),)


def status(setting: Setting, *, warning: str = "", now: datetime) -> SettingStatus:
    """What a Setting should tell: the value in force, and whether the wish was accepted."""
    refusal = _refusal(setting)
    kept = _has_last_good(setting) if refusal else True
    statements = [refusal or _accepted(setting), _in_force_statement(kept)]
    if warning:
        statements.append(Statement(WARNING, "True", "CoversMore", warning))
    return SettingStatus(
        observedGeneration=setting.metadata.generation,
        value=setting.status.value if refusal else setting.spec.value,
        conditions=stated(
            statements, setting.status.conditions, generation=setting.metadata.generation, now=now
        ),
    )


def _refusal(setting: Setting) -> Statement | None:
    definition = CATALOGUE.get(setting.metadata.name)
    if definition is None:
        message = f"delete it: the Settings are {', '.join(CATALOGUE)}"
        return Statement(ACCEPTED, "False", "UnknownSetting", message)
    fault = _fault(definition, setting.spec.value)
    if not fault:
        return None
    last = _has_last_good(setting)
    kept = f"still in force: {excerpt(setting.status.value)}" if last else "nothing is in force yet"
    message = f"the value is refused as a whole, {kept}: {fault}"
    return Statement(ACCEPTED, "False", "InvalidValue", message)


def _accepted(setting: Setting) -> Statement:
    """Say how the value is read, should that be news to who wrote it."""
    definition, wish = CATALOGUE[setting.metadata.name], setting.spec.value
    read = definition.read_as(definition.parse(wish))
    note = f"read as {read}" if read not in ("", wish) else ""
    return Statement(ACCEPTED, "True", "Accepted", note)


def _in_force_statement(holds: bool) -> Statement:  # noqa: FBT001 - it is the statement.
    if holds:
        return Statement(IN_FORCE, "True", "GoodValue")
    return Statement(IN_FORCE, "False", "NoGoodValue", "no good value was ever given")


def _has_last_good(setting: Setting) -> bool:
    """Whether the status holds a good value, which this version can still read."""
    told = condition_of(setting.status.conditions, IN_FORCE)
    definition = CATALOGUE.get(setting.metadata.name)
    readable = definition is None or not _fault(definition, setting.status.value)
    return told is not None and told.status == "True" and readable


def _fault(definition: Definition[Any], text: str) -> str:
    """What is wrong with *text*, or ""."""
    value = _parsed(definition, text)
    return str(value) if isinstance(value, ValueError) else ""


def _parsed(definition: Definition[T], text: str) -> T | ValueError:
    """What *text* says, or what is wrong with it."""
    return cast("T | ValueError", _remembered(definition, text))


@lru_cache(maxsize=256)
def _remembered(definition: Definition[Any], text: str) -> object:
    """Every pass asks, and few texts occur."""
    try:
        return definition.parse(text)
    except ValueError as error:
        return error
