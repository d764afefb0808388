"""The CRDs are made, brought up to date, and waited for."""

import asyncio
from typing import Any

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import ThrottledError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.start import POLL_SECONDS, SERVED_WITHIN_SECONDS, install_crds
from gpustack_ctrl.client.exchange import Call
from gpustack_ctrl.gen.crd import KINDS, crds
from tests.app.scripted import Server, Wire
from tests.helpers.clock import FakeClock

HOME = "gpustack-system"
PATHS = [names.CRD.path(ObjectKey("", crd["metadata"]["name"])) for crd in crds()]


def served() -> dict[str, Wire]:
    """What the API server answers once it serves all of ours."""
    told: dict[str, Wire] = {}
    for kind in KINDS:
        root = kind.resource.collection().rpartition("/")[0]
        told.setdefault(root, {"resources": []})["resources"].append({"name": kind.resource.plural})
        told[kind.resource.collection(HOME)] = {"items": []}
    return told


def old() -> dict[str, Wire]:
    """Our CRDs as an earlier version wrote them."""
    return {
        path: {**crd, "metadata": {"name": "old"}} for path, crd in zip(PATHS, crds(), strict=True)
    }


async def test_missing_crds_are_made() -> None:
    server = Server(served())
    await install_crds(server.rest, FakeClock(), HOME)

    assert [("POST", names.CRD.collection())] * len(KINDS) == server.writes()
    assert list(crds()) == [server.objects[path] for path in PATHS]


async def test_those_of_this_version_are_left_alone() -> None:
    server = Server({**served(), **dict(zip(PATHS, crds(), strict=True))})
    await install_crds(server.rest, FakeClock(), HOME)

    assert [] == server.writes()


async def test_old_ones_are_patched() -> None:
    server = Server({**served(), **old()})
    await install_crds(server.rest, FakeClock(), HOME)

    assert [("PATCH", path) for path in PATHS] == server.writes()
    assert list(crds()) == [server.objects[path] for path in PATHS]


async def test_one_that_another_replica_made_meanwhile_is_looked_at_again() -> None:
    """It may have been made by another version: then it is patched, else left alone."""
    server = Server(served())
    theirs = [*list(old().values())[:1], *crds()[1:]]

    def be_first(call: Call) -> None:
        if call.method == "POST":
            made = sum(method == "POST" for method, _ in server.writes()) - 1
            server.objects[PATHS[made]] = dict(theirs[made])

    server.before = be_first
    await install_crds(server.rest, FakeClock(), HOME)

    assert [("PATCH", PATHS[0])] == [write for write in server.writes() if write[0] == "PATCH"]
    assert list(crds()) == [server.objects[path] for path in PATHS]


async def waiting(server: Server, clock: FakeClock) -> "asyncio.Task[None]":
    """An installation that waits for *server* to serve what it has."""
    task = asyncio.create_task(install_crds(server.rest, clock, HOME))
    await clock.advance(POLL_SECONDS)
    assert not task.done()
    return task


async def test_it_waits_until_they_are_served() -> None:
    server, clock = Server(), FakeClock()
    task = await waiting(server, clock)
    server.objects |= served()
    await clock.advance(POLL_SECONDS)

    assert task.done()
    await task


async def test_it_waits_until_they_can_be_listed() -> None:
    """A new kind is announced before its storage answers."""
    server, clock = Server(served()), FakeClock()

    def not_yet(call: Call) -> None:
        if call.path.endswith("/settings"):
            raise ThrottledError("storage is (re)initializing", code=429)

    server.before = not_yet
    task = await waiting(server, clock)
    server.before = lambda _: None
    await clock.advance(POLL_SECONDS)

    assert task.done()
    await task


async def test_what_is_never_served_is_named() -> None:
    held: Any = served()
    del held["/apis/gpustack.ai/v1"]
    server, clock = Server(held), FakeClock()
    task = await waiting(server, clock)
    await clock.advance(SERVED_WITHIN_SECONDS + POLL_SECONDS)

    with pytest.raises(StartError, match=r"installed, but are not served: settings\.gpustack\.ai$"):
        await task
