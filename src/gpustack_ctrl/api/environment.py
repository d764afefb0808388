"""Environment variables of a workload, in the form of core/v1."""

from typing import Annotated, ClassVar

import attrs
from annotated_types import MaxLen, MinLen

from gpustack_ctrl.api import names
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.api.markers import Doc, Pattern, Rule

RESERVED = tuple(
    sorted(
        {names.CONTAINER_MARK, *(name for row in MANUFACTURERS.values() for name in row.invisible)}
    )
)
"""Variables by which devices and logins are given out: no user may set them."""
_RESERVED = ", ".join(f"'{name}'" for name in RESERVED)


@attrs.frozen(kw_only=True)
class KeySelector:
    """One entry of a ConfigMap or Secret of the same namespace."""

    name: Annotated[str, MinLen(1), MaxLen(253), Doc("Name of the object.")]
    key: Annotated[str, MinLen(1), MaxLen(253), Doc("Key of the entry.")]
    optional: Annotated[bool | None, Doc("Start the workload even where it is missing.")] = None


@attrs.frozen(kw_only=True)
class FieldSelector:
    """A field of the Pod, such as metadata.name or status.podIP."""

    fieldPath: Annotated[str, MinLen(1), MaxLen(253), Doc("Path of the field.")]
    apiVersion: Annotated[str, MaxLen(64), Doc("Version of the path.")] = ""


@attrs.frozen(kw_only=True)
class ResourceFieldSelector:
    """A request or limit of a container, such as limits.memory."""

    resource: Annotated[str, MinLen(1), MaxLen(253), Doc("The resource.")]
    containerName: Annotated[str, MaxLen(63), Doc("The container; absent: main.")] = ""
    divisor: Annotated[str, MaxLen(32), Doc("Unit of the value.")] = ""


@attrs.frozen(kw_only=True)
class EnvVarSource:
    """Where the value of a variable comes from."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "[has(self.configMapKeyRef), has(self.secretKeyRef), has(self.fieldRef),"
            " has(self.resourceFieldRef)].filter(x, x).size() == 1",
            "valueFrom needs exactly one of configMapKeyRef, secretKeyRef, fieldRef and "
            "resourceFieldRef",
        ),
    )

    configMapKeyRef: Annotated[KeySelector | None, Doc("An entry of a ConfigMap.")] = None
    secretKeyRef: Annotated[KeySelector | None, Doc("An entry of a Secret.")] = None
    fieldRef: Annotated[FieldSelector | None, Doc("A field of the Pod.")] = None
    resourceFieldRef: Annotated[ResourceFieldSelector | None, Doc("A request or limit.")] = None


@attrs.frozen(kw_only=True)
class EnvVar:
    """One environment variable."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "!(has(self.value) && has(self.valueFrom))",
            "a variable has either value or valueFrom: remove one of them",
        ),
        Rule(
            f"!(self.name in [{_RESERVED}])",
            "variables that open devices or logins are set by the operator alone: ask for a card "
            "in spec.resources and remove this one",
            field=".name",
        ),
    )

    name: Annotated[
        str, MinLen(1), MaxLen(253), Pattern(r"[-._a-zA-Z][-._a-zA-Z0-9]*"), Doc("Its name.")
    ]
    value: Annotated[str, MaxLen(32768), Doc("Its value.")] = ""
    valueFrom: Annotated[EnvVarSource | None, Doc("Where its value comes from.")] = None


@attrs.frozen(kw_only=True)
class OptionalReference:
    """An object of the same namespace that may be allowed to be missing."""

    name: Annotated[str, MinLen(1), MaxLen(253), Doc("Name of the object.")]
    optional: Annotated[bool | None, Doc("Start the workload even where it is missing.")] = None


@attrs.frozen(kw_only=True)
class EnvFromSource:
    """All entries of one ConfigMap or Secret."""

    rules: ClassVar[tuple[Rule, ...]] = (
        Rule(
            "has(self.configMapRef) != has(self.secretRef)",
            "an entry of envFrom needs exactly one of configMapRef and secretRef",
        ),
    )

    prefix: Annotated[str, MaxLen(253), Doc("Put before each name.")] = ""
    configMapRef: Annotated[OptionalReference | None, Doc("A ConfigMap.")] = None
    secretRef: Annotated[OptionalReference | None, Doc("A Secret.")] = None
