"""The client on the real API server: what scripted servers cannot promise."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import attrs
import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api.codec import decode
from gpustack_ctrl.api.errors import (
    AlreadyExistsError,
    ApiError,
    ConflictError,
    InvalidError,
    NotFoundError,
    ServerError,
)
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.api.names import INSTANCE, LEASE, POD, SERVICE
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.discovery import missing
from gpustack_ctrl.client.list_watch import ListWatch
from gpustack_ctrl.client.location import ConnectionOptions
from gpustack_ctrl.client.rest import FieldValidation
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.lines import LineSplitter
from gpustack_ctrl.runtime.watch import ListRequest, WatchRequest
from tests.integration.world import World

CONFIG_MAP = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps")
UNKNOWN = Resource(group="none.example", version="v1", kind="Nothing", plural="nothings")
CLOCK = SystemClock()
SECONDS = 20.0


@pytest_asyncio.fixture
async def client(cluster: Cluster) -> AsyncIterator[Client]:
    options = ConnectionOptions(kubeconfig=str(cluster.kubeconfig))
    async with await connect(options, clock=CLOCK) as connection:
        yield Client(connection=connection, clock=CLOCK)


def config_map(namespace: str, **fields: Any) -> dict[str, Any]:
    metadata = {"name": "a", "namespace": namespace, "labels": {"app": "a"}}
    return {"metadata": metadata, "data": {"key": "value"}, **fields}


async def created(client: Client, namespace: str) -> dict[str, Any]:
    made: dict[str, Any] = decode(await client.rest.create(CONFIG_MAP, config_map(namespace)))
    return made


async def test_an_object_is_created_patched_replaced_and_deleted(
    client: Client, namespace: str
) -> None:
    key, rest = ObjectKey(namespace, "a"), client.rest
    made = await created(client, namespace)
    assert "gpustack-ctrl" == made["metadata"]["managedFields"][0]["manager"]

    patched = decode(await rest.merge_patch(CONFIG_MAP, key, {"data": {"key": None, "b": "c"}}))
    assert {"b": "c"} == patched["data"]

    replaced = decode(await rest.update(CONFIG_MAP, key, {**patched, "data": {}}))
    assert "data" not in replaced
    with pytest.raises(ConflictError):
        await rest.update(CONFIG_MAP, key, patched)

    await rest.delete(CONFIG_MAP, key, uid=made["metadata"]["uid"])
    with pytest.raises(NotFoundError):
        await rest.get(CONFIG_MAP.path(key))


async def test_each_precondition_of_a_delete_protects_another_object(
    client: Client, namespace: str
) -> None:
    key, rest = ObjectKey(namespace, "a"), client.rest
    made = (await created(client, namespace))["metadata"]
    await rest.merge_patch(CONFIG_MAP, key, {"data": {"key": "edited"}})

    with pytest.raises(ConflictError):
        await rest.delete(CONFIG_MAP, key, uid="another")
    with pytest.raises(ConflictError):
        await rest.delete(
            CONFIG_MAP, key, uid=made["uid"], resource_version=made["resourceVersion"]
        )
    assert {"key": "edited"} == (await rest.read(CONFIG_MAP.path(key)))["data"]


@pytest.mark.parametrize("resource", [CONFIG_MAP, INSTANCE])
async def test_a_patch_that_names_a_uid_does_not_touch_a_namesake(
    world: World, resource: Resource
) -> None:
    await world.instance("a")
    await world.create(CONFIG_MAP, {"metadata": {"name": "a"}})
    patch = {"metadata": {"uid": "another", "labels": {"key": "edited"}}}
    with pytest.raises(ConflictError):
        await world.rest.merge_patch(resource, ObjectKey(world.namespace, "a"), patch)

    assert "labels" not in (await world.get(resource, "a"))["metadata"]


async def test_a_patch_of_a_status_is_held_to_a_version_alone(world: World) -> None:
    """The API server does not look at the UID there: whoever relies on it would be wrong."""
    before = await world.instance("a")
    await world.edit("a", displayName="edited")
    key, patch = ObjectKey(world.namespace, "a"), {"status": {"phase": "Ready"}}
    version = {"resourceVersion": before["metadata"]["resourceVersion"]}
    with pytest.raises(ConflictError):
        await world.rest.merge_patch(INSTANCE, key, {**patch, "metadata": version}, "status")

    named = {**patch, "metadata": {"uid": "another"}}
    after = decode(await world.rest.merge_patch(INSTANCE, key, named, "status"))
    assert "Ready" == after["status"]["phase"]


async def test_what_exists_is_not_created_again(client: Client, namespace: str) -> None:
    await created(client, namespace)
    with pytest.raises(AlreadyExistsError, match='configmaps "a" already exists'):
        await created(client, namespace)


async def test_what_is_invalid_is_told_by_field(client: Client, namespace: str) -> None:
    service = {"metadata": {"name": "a", "namespace": namespace}, "spec": {"ports": []}}
    with pytest.raises(InvalidError, match=r"spec\.ports: Required value") as caught:
        await client.rest.create(SERVICE, service)

    assert ("FieldValueRequired",) == caught.value.causes


async def test_an_unknown_field_is_warned_of_or_refused(client: Client, namespace: str) -> None:
    warned: list[str] = []
    warning = attrs.evolve(client, on_warning=warned.append)
    await warning.rest.create(CONFIG_MAP, config_map(namespace, dta={}))
    assert ['unknown field "dta"'] == warned

    strict = attrs.evolve(client, field_validation=FieldValidation.STRICT)
    with pytest.raises(ApiError, match='unknown field "dta"'):
        await strict.rest.create(CONFIG_MAP, config_map(namespace, dta={}))


async def events(list_watch: ListWatch, request: WatchRequest, count: int) -> list[Any]:
    """The first *count* events of a watch."""
    lines, seen = LineSplitter(), []
    async with asyncio.timeout(SECONDS), list_watch.watch(request) as chunks:
        async for chunk in chunks:
            seen += [decode(line) for line in lines.feed(chunk)]
            if len(seen) >= count:
                return seen
    return seen


async def test_a_watch_goes_on_from_a_list(client: Client, namespace: str) -> None:
    list_watch = client.list_watch(CONFIG_MAP, namespace=namespace, label_selector="app=a")
    listed = decode(await list_watch.list(ListRequest(resource_version="")))
    assert [] == listed["items"]
    version = listed["metadata"]["resourceVersion"]
    made = (await created(client, namespace))["metadata"]
    await client.rest.merge_patch(CONFIG_MAP, ObjectKey(namespace, "a"), {"data": None})
    await client.rest.delete(CONFIG_MAP, ObjectKey(namespace, "a"), uid=made["uid"])

    request = WatchRequest(resource_version=version, timeout_seconds=30)
    seen = await events(list_watch, request, 3)

    assert ["ADDED", "MODIFIED", "DELETED"] == [event["type"] for event in seen]


async def test_a_watch_ends_in_good_order_at_its_time(client: Client, namespace: str) -> None:
    list_watch = client.list_watch(CONFIG_MAP, namespace=namespace)
    listed = decode(await list_watch.list(ListRequest(resource_version="0")))
    version = listed["metadata"]["resourceVersion"]
    request = WatchRequest(resource_version=version, timeout_seconds=1)

    seen = await events(list_watch, request, 100)

    assert all(event["type"] in {"ADDED", "BOOKMARK"} for event in seen)


async def test_a_list_comes_in_pages(client: Client, namespace: str) -> None:
    for name in ("b", "c", "d"):
        body = {"metadata": {"name": name, "namespace": namespace}}
        await client.rest.create(CONFIG_MAP, body)
    field_selector = "metadata.name!=kube-root-ca.crt"
    list_watch = client.list_watch(CONFIG_MAP, namespace=namespace, field_selector=field_selector)
    names: list[str] = []
    follow = ""
    while True:
        request = ListRequest(resource_version="", limit=2, continue_=follow)
        page = decode(await list_watch.list(request))
        names += [item["metadata"]["name"] for item in page["items"]]
        follow = page["metadata"].get("continue", "")
        if not follow:
            break

    assert ["b", "c", "d"] == names


async def test_a_version_that_the_server_has_not_reached_is_told_apart(
    client: Client, namespace: str
) -> None:
    list_watch = client.list_watch(CONFIG_MAP, namespace=namespace)
    with pytest.raises(ServerError) as caught:
        await list_watch.list(ListRequest(resource_version="999999999"))

    assert ("ResourceVersionTooLarge",) == caught.value.causes
    assert caught.value.retry_after is not None


async def test_a_version_whose_history_is_gone_ends_the_watch(client: Client, world: World) -> None:
    """The error comes as an event: the answer as such is a 200. No Instance is as old as that."""
    list_watch = client.list_watch(INSTANCE, namespace=world.namespace)
    request = WatchRequest(resource_version="1", timeout_seconds=5)
    seen = await events(list_watch, request, 1)

    assert [("ERROR", 410)] == [(event["type"], event["object"]["code"]) for event in seen]


async def test_a_lease_is_read_created_and_replaced(client: Client, namespace: str) -> None:
    key, leases = ObjectKey(namespace, "a"), client.leases
    with pytest.raises(NotFoundError):
        await leases.get(key)
    metadata = {"name": "a", "namespace": namespace}
    made = await leases.create({"metadata": metadata, "spec": {"holderIdentity": "one"}})
    with pytest.raises(AlreadyExistsError):
        await leases.create({"metadata": metadata})
    await leases.update({**made, "spec": {"holderIdentity": "two"}})
    with pytest.raises(ConflictError):
        await leases.update({**made, "spec": {"holderIdentity": "three"}})

    assert "two" == (await leases.get(key))["spec"]["holderIdentity"]


async def test_kinds_that_are_not_served_are_named(client: Client) -> None:
    bindings = Resource(group="", version="v1", kind="Thing", plural="things")

    assert (UNKNOWN, bindings) == await missing(
        client.rest, (POD, LEASE, UNKNOWN, CONFIG_MAP, bindings)
    )
