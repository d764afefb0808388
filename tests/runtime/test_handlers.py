"""From events to requests."""

from collections.abc import Iterable, Sequence

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpustack_ctrl.api.meta import ObjectKey, OwnerReference, Resource
from gpustack_ctrl.runtime.handlers import enqueue_mapped, enqueue_object, enqueue_owner
from gpustack_ctrl.runtime.informer import Event, Handler
from gpustack_ctrl.runtime.predicates import changed
from gpustack_ctrl.runtime.reconcile import Request
from gpustack_ctrl.runtime.schedule import Priority
from gpustack_ctrl.runtime.workqueue import WorkQueue
from tests.helpers.clock import FakeClock
from tests.helpers.list_watch import THINGS, Thing, owned_by, thing


@attrs.define
class Recorder:
    """A queue that keeps what it was asked for."""

    added: list[tuple[str, Priority]] = attrs.field(factory=list)

    def add(self, key: Request, *, priority: Priority) -> None:
        self.added.append((str(key), priority))

    @property
    def keys(self) -> list[str]:
        return [key for key, _ in self.added]


def tell(handler: Handler[Thing], event: Event[Thing]) -> None:
    handler(event)


def color(obj: Thing) -> str:
    return obj.color


def by_color(obj: Thing) -> Iterable[Request]:
    """One request for each letter of the color."""
    return [ObjectKey("team", letter) for letter in obj.color]


def test_an_event_requests_its_object() -> None:
    queue = Recorder()
    handle: Handler[Thing] = enqueue_object(queue)

    handle(Event(old=None, new=thing("a")))
    handle(Event(old=thing("b"), new=thing("b", 2)))
    handle(Event(old=thing("c"), new=None))

    assert ["team/a", "team/b", "team/c"] == queue.keys


def test_what_a_first_list_names_waits_behind_live_changes() -> None:
    queue = Recorder()
    handle: Handler[Thing] = enqueue_object(queue)

    handle(Event(old=None, new=thing("a"), initial=True))
    handle(Event(old=None, new=thing("b")))

    assert [("team/a", Priority.LOW), ("team/b", Priority.HIGH)] == queue.added


@given(old=st.none() | st.text("rgb"), new=st.none() | st.text("rgb"))
def test_c9_a_mapping_is_asked_about_both_states(old: str | None, new: str | None) -> None:
    queue = Recorder()
    handle = enqueue_mapped(queue, by_color)

    handle(
        Event(
            old=None if old is None else thing("a", color=old),
            new=None if new is None else thing("a", 2, color=new),
        )
    )

    assert {f"team/{letter}" for letter in (old or "") + (new or "")} == set(queue.keys)
    assert len(set(queue.keys)) == len(queue.keys)


OTHER_GROUP = attrs.evolve(THINGS, group="example.org")
CORE = Resource(group="", version="v1", kind="Thing", plural="things")
CLUSTER = attrs.evolve(THINGS, namespaced=False)


@pytest.mark.parametrize(
    ("resource", "owners", "requested"),
    [
        (THINGS, [owned_by("x")], ["team/x"]),
        (attrs.evolve(THINGS, version="v2"), [owned_by("x")], ["team/x"]),
        (CLUSTER, [owned_by("x")], ["x"]),
        (THINGS, [], []),
        (THINGS, [owned_by("x", controller=False)], []),
        (THINGS, [owned_by("x", kind="Other")], []),
        (OTHER_GROUP, [owned_by("x")], []),
        (CORE, [owned_by("x")], []),
        (CORE, [attrs.evolve(owned_by("x"), apiVersion="v1")], ["team/x"]),
        (THINGS, [owned_by("x", controller=False), owned_by("y")], ["team/y"]),
    ],
)
def test_an_event_requests_the_owner_that_controls_its_object(
    resource: Resource, owners: Sequence[OwnerReference], requested: list[str]
) -> None:
    queue = Recorder()

    tell(
        enqueue_owner(queue, resource),
        Event(old=None, new=thing("a", ownerReferences=tuple(owners))),
    )

    assert requested == queue.keys


def test_c9_an_object_that_changed_hands_requests_both_owners() -> None:
    queue = Recorder()
    old = thing("a", ownerReferences=(owned_by("x"),))
    new = thing("a", 2, ownerReferences=(owned_by("y"),))

    tell(enqueue_owner(queue, THINGS), Event(old=old, new=new))

    assert ["team/x", "team/y"] == queue.keys


def test_a_predicate_keeps_events_from_the_queue() -> None:
    queue = Recorder()
    colored = changed(color)
    handlers = (
        enqueue_object(queue, predicate=colored),
        enqueue_owner(queue, THINGS, predicate=colored),
        enqueue_mapped(queue, by_color, predicate=colored),
    )
    for handle in handlers:
        handle(Event(old=thing("a", color="r"), new=thing("a", 2, color="r")))
    assert [] == queue.keys

    handlers[0](Event(old=thing("a", color="r"), new=thing("a", 2, color="g")))
    assert ["team/a"] == queue.keys


async def test_a_workqueue_is_a_queue_of_requests() -> None:
    queue: WorkQueue[Request] = WorkQueue("things", clock=FakeClock())

    tell(enqueue_object(queue), Event(old=None, new=thing("a")))

    assert ObjectKey("team", "a") == await queue.get()
