"""The catalogue of Settings, and what of each is in force.

A value that cannot be read is refused as a whole: the last good one stays in force, and
the status of the Setting says so.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import lru_cache, partial
from typing import Any, Generic, TypeVar, cast

import attrs

from gpustack_ctrl.api import codec, names
from gpustack_ctrl.api.manufacturer_overrides import override
from gpustack_ctrl.api.manufacturers import MANUFACTURERS, Manufacturer
from gpustack_ctrl.api.meta import ObjectKey, ObjectMeta, condition_of
from gpustack_ctrl.api.setting import Setting, SettingSpec, SettingStatus
from gpustack_ctrl.plan.actions import Plan, create
from gpustack_ctrl.reconcilers.conditions import Statement, stated
from gpustack_ctrl.reconcilers.excerpt import excerpt
from gpustack_ctrl.reconcilers.images import image_at, image_reference
from gpustack_ctrl.reconcilers.isolation import PodCIDRs, parse_cidrs

T = TypeVar("T")

ACCEPTED = "Accepted"
IN_FORCE = "InForce"
WARNING = "Warning"


@attrs.frozen(kw_only=True)
class Definition(Generic[T]):
    """One entry of the catalogue. *parse* raises ValueError with the remedy.

    *read_as* writes a value the shortest way, where there is more than one.
    """

    name: str
    default: str
    meaning: str
    parse: Callable[[str], T]
    read_as: Callable[[T], str] = lambda _: ""

    @property
    def variable(self) -> str:
        """The environment variable that seeds the Setting."""
        return f"GPUSTACK_{self.name.upper().replace('-', '_')}"


def _boolean(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(f"{excerpt(text)} is neither true nor false")
    return text == "true"


ISOLATION = Definition(
    name="instance-isolation-pod-cidrs",
    default="",
    meaning="CIDRs of the cluster's Pods, comma-separated; blank switches isolation off",
    parse=parse_cidrs,
    read_as=str,
)
OVERCOMMIT = Definition(
    name="instance-general-resources-overcommit",
    default="true",
    meaning="request less CPU, memory and storage of the nodes than the limits allow",
    parse=_boolean,
)

PRIVILEGED = Definition(
    name="instance-privileged-allowed",
    default="false",
    meaning="let Instances run privileged",
    parse=_boolean,
)
HOST_PATHS = Definition(
    name="instance-host-path-volume-allowed",
    default="false",
    meaning="let Instances mount paths of their node",
    parse=_boolean,
)
SSH_IMAGE = Definition(
    name="instance-ssh-server-image",
    default="gpustack/gpustack-ctrl-ssh-server:0.1.0",
    meaning="image of the SSH server beside a workload",
    parse=image_reference,
)
REGISTRY = Definition(
    name="container-registry",
    default="",
    meaning="registry that the image of the SSH server is pulled from",
    parse=str,
)
REPOSITORY_NAMESPACE = Definition(
    name="container-namespace",
    default="",
    meaning="namespace of the registry in place of the one that the image names",
    parse=str,
)
STATIC_ADDRESS = Definition(
    name="instance-access-static-address",
    default="",
    meaning="address by which users reach the node ports of every Instance",
    parse=str,
)
WILDCARD_DNS = Definition(
    name="instance-access-wildcard-dns",
    default="",
    meaning="DNS suffix after a node's address with hyphens, where no static address is set",
    parse=str,
)
MANUFACTURERS_TABLE = Definition(
    name="accelerator-manufacturers",
    default="",
    meaning="rows of the table of manufacturers to add or replace, as JSON",
    parse=partial(override, MANUFACTURERS),
)

CATALOGUE: Mapping[str, Definition[Any]] = {
    entry.name: entry
    for entry in (
        ISOLATION,
        OVERCOMMIT,
        PRIVILEGED,
        HOST_PATHS,
        SSH_IMAGE,
        REGISTRY,
        REPOSITORY_NAMESPACE,
        STATIC_ADDRESS,
        WILDCARD_DNS,
        MANUFACTURERS_TABLE,
    )
}


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
    told = condition_of(setting.status.conditions, IN_FORCE)
    return told is not None and told.status == "True"


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
