"""Setting: one switch of the operator, in the operator's own namespace."""

from typing import Annotated, ClassVar

import attrs
from annotated_types import MaxLen

from gpustack_ctrl.api.markers import Column, Doc, ListMap
from gpustack_ctrl.api.meta import Condition, ObjectMeta


@attrs.frozen(kw_only=True)
class SettingSpec:
    """What an administrator wishes."""

    value: Annotated[str, MaxLen(16384), Doc("The value wished for.")] = ""


@attrs.frozen(kw_only=True)
class SettingStatus:
    """What is in force: a bad value is refused as a whole and changes nothing."""

    observedGeneration: Annotated[int | None, Doc("The spec that this speaks of.")] = None
    value: Annotated[str, MaxLen(16384), Doc("The value in force.")] = ""
    conditions: Annotated[
        tuple[Condition, ...], ListMap(("type",)), MaxLen(8), Doc("Accepted, and warnings.")
    ] = ()


@attrs.frozen(kw_only=True)
class Setting:
    """One switch of the operator; the names are a fixed catalogue."""

    columns: ClassVar[tuple[Column, ...]] = (
        Column("Value", ".spec.value"),
        Column("In force", ".status.value"),
        Column("Accepted", ".status.conditions[?(@.type=='Accepted')].status"),
        Column("Age", ".metadata.creationTimestamp", "date"),
    )

    metadata: ObjectMeta
    spec: Annotated[SettingSpec, Doc("What is wished for.")] = SettingSpec()
    status: Annotated[SettingStatus, Doc("What is in force; written by the operator.")] = (
        SettingStatus()
    )
