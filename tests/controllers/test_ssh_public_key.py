"""One pass over an InstanceSSHPublicKey: it never says that keys let in which do not."""

from contextlib import suppress
from typing import Any

import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.api.errors import InvalidError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.controllers.ssh_public_key import SSHPublicKeyReconciler
from tests.helpers.memory_world import MemoryWorld

ME = ObjectKey("team", "me")
RENDERED = ObjectKey("team", "me.authorized-keys")
BLOB = "AAAAC3NzaC1lZDI1NTE5AAAAIGCYCcIZOTu7cyZ4Rz6NWU+6OUhWg6r3HXeo+Zmk4Iex"
LINE = f"ssh-ed25519 {BLOB} me@home"


def begun() -> MemoryWorld:
    """A world with one key object."""
    world = MemoryWorld()
    metadata = {"name": ME.name, "namespace": ME.namespace, "generation": 1}
    world.api.create(names.SSH_PUBLIC_KEY, {"metadata": metadata, "spec": {"data": LINE}})
    return world


async def one_pass(world: MemoryWorld) -> None:
    """A pass with caches that show what an informer of our label would."""
    world.sync()
    shown = [
        held
        for held in world.stores["config_maps"].list()
        if held.metadata.labels.get(names.TYPE) == names.SSH_PUBLIC_KEYS
    ]
    world.stores["config_maps"].replace(shown, resource_version=str(world.api.revision))
    caches, actor = world.instances.caches, world.actor
    await SSHPublicKeyReconciler(caches=caches, actor=actor, clock=world.clock).reconcile(ME)


def told(world: MemoryWorld) -> tuple[str, int]:
    """Why the keys are or are not accepted, and how many let in."""
    held: Any = world.get(names.SSH_PUBLIC_KEY, ME)
    [accepted] = held["status"]["conditions"]
    return accepted["reason"], len(held["status"].get("keys", ()))


async def test_keys_are_rendered_and_told() -> None:
    world = begun()

    await one_pass(world)

    rendered = world.get(names.CONFIG_MAP, RENDERED)
    assert rendered is not None
    assert {names.AUTHORIZED_KEYS: f"{LINE}\n"} == rendered["data"]
    assert ("AllLinesTaken", 1) == told(world)


@pytest.mark.parametrize("labels", [{}, {names.TYPE: names.SSH_PUBLIC_KEYS}])
async def test_s6_a_foreign_config_map_is_left_alone_and_no_key_is_said_to_let_in(
    labels: dict[str, str],
) -> None:
    world = begun()
    metadata = {"name": RENDERED.name, "namespace": RENDERED.namespace, "labels": labels}
    world.api.create(names.CONFIG_MAP, {"metadata": metadata, "data": {"mine": "1"}})

    with suppress(ExceptionGroup):  # Only one that is seen is not written to.
        await one_pass(world)

    rendered = world.get(names.CONFIG_MAP, RENDERED)
    assert rendered is not None
    assert {"mine": "1"} == rendered["data"]
    assert ("NameConflict", 0) == told(world)


async def test_i4_a_label_that_is_lost_does_not_hide_that_a_key_was_not_replaced() -> None:
    world = begun()
    await one_pass(world)
    world.api.patch(names.CONFIG_MAP, RENDERED, {"metadata": {"labels": {names.TYPE: None}}})
    other = LINE.replace("me@home", "you@home")
    world.api.patch(names.SSH_PUBLIC_KEY, ME, {"spec": {"data": other}})

    with pytest.raises(ExceptionGroup, match="refused"):
        await one_pass(world)

    assert ("NameConflict", 0) == told(world)

    del world.api.objects[names.CONFIG_MAP, RENDERED]
    await one_pass(world)

    assert ("AllLinesTaken", 1) == told(world)


async def test_a_config_map_that_is_refused_is_told_in_the_words_of_the_api_server() -> None:
    world = begun()
    world.writer.refuse["ConfigMap"] = InvalidError("must be no more than 253 characters")

    with pytest.raises(ExceptionGroup, match="refused"):
        await one_pass(world)

    assert ("ConfigMapRefused", 0) == told(world)
