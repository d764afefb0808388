"""The seed of the host keys is made once, then only read."""

import asyncio
import base64

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import NotFoundError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.app.seed import host_key_seed
from gpustack_ctrl.client.exchange import Call
from gpustack_ctrl.reconcilers.login.host_key import MIN_SEED_BYTES
from tests.app.scripted import Server, Wire

HOME = "gpustack-system"
PATH = names.SECRET.path(ObjectKey(HOME, names.HOST_KEY_SEED))


def secret(seed: bytes, entry: str = "seed") -> dict[str, Wire]:
    """The Secret with *seed*."""
    return {PATH: {"data": {entry: base64.b64encode(seed).decode()}}}


async def test_it_is_made_where_there_is_none_and_cannot_be_changed() -> None:
    server = Server()
    seed = await host_key_seed(server.rest, HOME)
    again = await host_key_seed(server.rest, HOME)

    assert [("POST", names.SECRET.collection(HOME))] == server.writes()
    assert seed == again
    assert len(seed) == MIN_SEED_BYTES
    assert True is server.objects[PATH]["immutable"]


async def test_two_clusters_have_two_seeds() -> None:
    assert await host_key_seed(Server().rest, HOME) != await host_key_seed(Server().rest, HOME)


async def test_the_one_that_is_there_is_used() -> None:
    held = bytes(range(MIN_SEED_BYTES))
    server = Server(secret(held))

    assert held == await host_key_seed(server.rest, HOME)
    assert [] == server.writes()


async def test_two_operators_that_start_at_once_agree() -> None:
    server = Server()
    async with asyncio.TaskGroup() as group:
        started = [group.create_task(host_key_seed(server.rest, HOME)) for _ in range(2)]
    first, second = (task.result() for task in started)

    assert 2 == len(server.writes())
    assert first == second


@pytest.mark.parametrize(
    "held", [secret(bytes(MIN_SEED_BYTES - 1)), secret(bytes(64), "other"), {PATH: {}}]
)
async def test_one_that_is_too_short_or_elsewhere_is_refused(held: dict[str, Wire]) -> None:
    """It would make host keys that can be guessed; which is not the operator's to mend."""
    server = Server(held)

    with pytest.raises(StartError, match=rf"{names.HOST_KEY_SEED} holds no seed .* delete it"):
        await host_key_seed(server.rest, HOME)
    assert [] == server.writes()


async def test_a_missing_namespace_is_named() -> None:
    def no_namespace(call: Call) -> None:
        if call.method == "POST":
            raise NotFoundError(f'namespaces "{HOME}" not found', code=404)

    with pytest.raises(StartError, match=f"^namespace {HOME} does not exist: create it, or name"):
        await host_key_seed(Server(before=no_namespace).rest, HOME)
