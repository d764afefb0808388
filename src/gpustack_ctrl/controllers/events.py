"""Tells what happens to an object to whoever records Events."""

from collections.abc import Callable, Iterable

import attrs

from gpustack_ctrl.api.meta import ObjectMeta, Resource
from gpustack_ctrl.reconcilers.status.happenings import Happening
from gpustack_ctrl.runtime.event_series import ObjectReference, Occurrence


def unrecorded(_: Occurrence) -> None:
    """Record nothing."""


@attrs.frozen
class Events:
    """Hands happenings to *record*, which neither waits nor raises."""

    record: Callable[[Occurrence], None] = unrecorded

    def tell(
        self, resource: Resource, metadata: ObjectMeta, happenings: Iterable[Happening]
    ) -> None:
        """All *happenings* regard the object of *resource* with that *metadata*."""
        regarding = ObjectReference(
            api_version=resource.api_version,
            kind=resource.kind,
            namespace=metadata.namespace,
            name=metadata.name,
            uid=metadata.uid,
        )
        for told in happenings:
            occurrence = Occurrence(
                regarding=regarding,
                type=told.type,
                reason=told.reason,
                action=told.action,
                note=told.note,
            )
            self.record(occurrence)
