"""What somebody with the built-in role `edit` in a namespace may do there, by real requests."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from e2e.cluster import Api, ApiStatusError, Cluster, until
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.gen.text import manifest
from tests.integration.test_ssh import KEY
from tests.integration.world import TYPE, Operator, Wire, World

TENANT = "user-12"
FORBIDDEN = 403


@pytest.fixture
def tenant(cluster: Cluster, world: World) -> Api:
    """The API server as somebody who has the role `edit` in the namespace sees it."""
    cluster.kubectl("apply", "-f", "-", input=manifest(rbac.tenants()))
    bound = ("--clusterrole=edit", f"--user={TENANT}", f"--namespace={world.namespace}")
    cluster.kubectl("create", "rolebinding", "edits", *bound)
    api = cluster.api(TENANT)
    path = names.INSTANCE.collection(world.namespace)
    until(lambda: not refusal(lambda: api.get(path)), "the role was not aggregated")
    return api


def refusal(call: Callable[[], Any]) -> str:
    """Why the API server forbids *call*, or ""."""
    try:
        call()
    except ApiStatusError as error:
        if error.status != FORBIDDEN:
            raise
        return str(error)
    return ""


def body(resource: Resource, name: str, **rest: Any) -> Wire:
    """An object to create."""
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    return {**head, "metadata": {"name": name}, **rest}


async def test_a_tenant_runs_instances_and_keeps_keys(
    world: World, tenant: Api, operator: Operator
) -> None:
    box = {"type": TYPE, "image": "workload:1", "sshPublicKey": {"name": "me"}}
    keys = names.SSH_PUBLIC_KEY.collection(world.namespace)
    path = names.INSTANCE.path(world.key("box", names.INSTANCE))
    tenant.post(keys, body(names.SSH_PUBLIC_KEY, "me", spec={"data": KEY}))
    tenant.post(names.INSTANCE.collection(world.namespace), body(names.INSTANCE, "box", spec=box))
    ready = await world.is_in_phase("Ready")

    assert ready["status"] == tenant.get(path)["status"]

    tenant.patch(path, {"spec": {"stop": True}})
    await world.is_in_phase("Stopped")
    tenant.delete(path)
    await world.gone(names.INSTANCE, "box")


async def test_a_tenant_cannot_write_what_is_the_operators(
    world: World, tenant: Api, operator: Operator
) -> None:
    await world.instance()
    await world.is_in_phase("Ready")
    path = names.INSTANCE.path(world.key("box", names.INSTANCE), subresource="status")
    told = refusal(lambda: tenant.patch(path, {"status": {"phase": "Failed"}}))

    assert f'User "{TENANT}" cannot patch resource "instances/status"' in told
    assert "Ready" == (await world.get(names.INSTANCE, "box"))["status"]["phase"]


async def test_a_tenant_sees_types_and_cannot_write_them(world: World, tenant: Api) -> None:
    types = names.INSTANCE_TYPE.collection()
    mine = names.INSTANCE_TYPE.path(ObjectKey("", TYPE))

    assert TYPE in {held["metadata"]["name"] for held in tenant.get(types)["items"]}
    for call in (
        lambda: tenant.post(types, body(names.INSTANCE_TYPE, "gift", spec={})),
        lambda: tenant.patch(mine, {"spec": {"inactive": True}}),
        lambda: tenant.delete(mine),
    ):
        assert "cannot" in refusal(call)


async def test_a_tenant_cannot_read_or_write_settings(
    world: World, tenant: Api, operator_namespace: str, operator: Operator
) -> None:
    value = body(names.SETTING, "instance-privileged-allowed", spec={"value": "true"})
    for namespace in (operator_namespace, world.namespace):
        settings = names.SETTING.collection(namespace)

        assert 'cannot list resource "settings"' in refusal(partial(tenant.get, settings))
        assert 'cannot create resource "settings"' in refusal(partial(tenant.post, settings, value))


async def test_a_tenant_is_nobody_in_another_namespace(world: World, tenant: Api) -> None:
    assert 'cannot list resource "instances"' in refusal(
        lambda: tenant.get(names.INSTANCE.collection("default"))
    )
