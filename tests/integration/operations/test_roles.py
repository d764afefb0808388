"""The operator's roles: all it needs for the whole life of an Instance, and nothing else.

In a cluster of its own, where nothing is forbidden for another test's sake.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from e2e.cluster import Cluster, Fleet, running
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.gen.permissions import OPERATOR, OPERATOR_AT_HOME
from tests.cli.command import Process, operating
from tests.integration.operations.conftest import Maker
from tests.integration.operations.roles import granted
from tests.integration.operations.verbs import Use, allowed, used
from tests.integration.proxy import Proxy
from tests.integration.test_ssh import KEY
from tests.integration.world import Wire, World, until

ISOLATION = "instance-isolation-pod-cidrs"
ASKED_BY_ADMISSION = Use("update", names.INSTANCE.group, "instances/finalizers")
"""Never requested: test_rights shows that no Pod can be made without it."""
IN_THE_BACKGROUND = {
    Use("update", names.LEASE.group, names.LEASE.plural),
    Use("patch", names.EVENT.group, names.EVENT.plural),
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with running(Fleet(nodes=1, gpus=8)) as started:
        yield started


@pytest_asyncio.fixture
async def process(
    cluster: Cluster, world: World, proxy: Proxy, operator_namespace: str, tmp_path: Path
) -> AsyncIterator[Process]:
    """The operator by its own command, as a ServiceAccount with its roles, on a watched way."""
    account = {"kind": "ServiceAccount", "name": names.PRODUCT, "namespace": operator_namespace}
    cluster.kubectl("create", "serviceaccount", names.PRODUCT, "-n", operator_namespace)
    direct = cluster.kubeconfig_for_service_account(operator_namespace, names.PRODUCT)
    kubeconfig = _by_way_of(proxy, direct, tmp_path / "kubeconfig")
    flags = (f"--namespace={operator_namespace}", "--leader-elect")
    with (
        granted(cluster, operator_namespace, account),
        operating(kubeconfig, tmp_path / "log", *flags, ready=False) as operator,
    ):

        async def is_ready() -> bool:
            return await asyncio.to_thread(operator.is_ready)

        await until(is_ready)
        yield operator


def _by_way_of(proxy: Proxy, direct: Path, path: Path) -> Path:
    held: dict[str, Any] = json.loads(direct.read_text())
    held["clusters"] = yaml.safe_load(proxy.kubeconfig.read_text())["clusters"]
    path.touch(mode=0o600)
    path.write_text(json.dumps(held))
    return path


async def live(world: World, home: World, proxy: Proxy, offered: str) -> None:
    """Let an Instance of the type *offered* go through all that can happen to it."""
    key = {"metadata": {"name": "me"}, "spec": {"data": KEY}}
    await world.create(names.SSH_PUBLIC_KEY, key)
    login: Wire = {"sshPublicKey": {"name": "me"}, "ports": [{"port": 22}, {"port": 8080}]}
    await world.instance(type=offered, **login)
    await world.is_in_phase("Ready")
    await isolated(world, home, "10.244.0.0/16")
    for resource, name, edit in (
        (names.POD, "box", {"metadata": {"labels": {names.TYPE: None}}}),
        (names.SERVICE, "box", {"spec": {"selector": {"of": "others"}}}),
        (names.NETWORK_POLICY, names.ISOLATION_POLICY, {"spec": {"ingress": None}}),
        (names.CONFIG_MAP, names.authorized_keys("me"), {"data": {"authorized_keys": ""}}),
    ):
        await edited(world, proxy, resource, name, edit)
    for moment in ("once", "and again"):  # The second one is told by the Event of the first.
        await restarted(world, moment)
    await world.edit(stop=True)
    await world.is_in_phase("Stopped")
    await world.edit(ports=[], sshPublicKey=None)
    await world.edit(stop=False)
    await world.is_in_phase("Ready")
    await isolated(world, home, "")
    await world.gone(names.NETWORK_POLICY, names.ISOLATION_POLICY)
    await world.delete(names.INSTANCE, "box")
    await world.gone(names.INSTANCE, "box")


async def isolated(world: World, home: World, cidrs: str) -> None:
    """Wish for *cidrs* and return once the Instance tells of it."""
    await home.patch(names.SETTING, ISOLATION, {"spec": {"value": cidrs}})
    await world.tells("NetworkIsolated", "True" if cidrs else "False")


async def restarted(world: World, moment: str) -> None:
    """Return once the Instance runs in another Pod."""
    before = (await world.is_in_phase("Ready"))["status"]["podUID"]
    await world.edit(restartedAt=moment)

    async def is_another() -> bool:
        status = (await world.is_in_phase("Ready"))["status"]
        return bool(status["podUID"] != before)

    await until(is_another)


async def edited(world: World, proxy: Proxy, resource: Resource, name: str, edit: Wire) -> None:
    """Edit an object by hand and return once the operator has edited it back."""
    path, before = resource.path(world.key(name, resource)), len(proxy.calls)
    await world.patch(resource, name, edit)

    async def is_put_right() -> bool:
        calls = proxy.calls[before:]
        return any(("PATCH", path) == (call.method, call.path) for call in calls)

    await until(is_put_right)


async def test_the_roles_are_enough_and_not_more_than_that(
    world: World, proxy: Proxy, process: Process, operator_namespace: str, offer: Maker
) -> None:
    await live(world, World(world.rest, operator_namespace), proxy, await offer())

    async def came_to_it() -> bool:
        return used(proxy.calls) >= IN_THE_BACKGROUND

    await until(came_to_it)
    refused = await asyncio.to_thread(process.samples, "rest_client_requests_total", code="403")
    granted_ = allowed((*OPERATOR, *OPERATOR_AT_HOME)) - {ASKED_BY_ADMISSION}

    assert [] == refused
    assert [] == process.logged("reconciled", outcome="error")
    assert granted_ == used(proxy.calls)
