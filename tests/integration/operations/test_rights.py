"""A right that the operator lacks is told on the Instance: which verb, on what, and where."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from tests.integration.operations.roles import granted, user, without
from tests.integration.test_ssh import KEY
from tests.integration.world import Operator, Wire, World, condition, until

USER = "user-10"
SEED = "of at least thirty-two characters, for a test"


@asynccontextmanager
async def operating(
    cluster: Cluster, home: str, keep: Callable[[Any], Any]
) -> AsyncIterator[Operator]:
    """The operator as a user who may do what *keep* leaves of its roles."""
    with granted(cluster, home, user(USER), keep=keep):
        held = Operator(str(cluster.kubeconfig_for(USER)), home)
        await held.start()
        yield held
        await held.kill()


async def forbidden(world: World) -> Wire:
    """What is told of the Instance, once it is that something is forbidden."""

    async def read() -> Wire | None:
        held = await world.get(names.INSTANCE, "box")
        blocker: Wire | None = held.get("status", {}).get("blocker")
        return blocker

    return await until(read)


async def test_a_namespace_without_rights_is_told_and_another_is_not_held_up(
    world: World, cluster: Cluster, operator_namespace: str
) -> None:
    """Pods may be made in one namespace only, by a RoleBinding there."""
    elsewhere = World(world.rest, f"{world.namespace}-b")
    cluster.add_namespace(elsewhere.namespace)
    role = ("--verb=create", "--resource=pods", f"--namespace={elsewhere.namespace}")
    cluster.kubectl("create", "role", "makes-pods", *role)
    bound = ("--role=makes-pods", f"--user={USER}", f"--namespace={elsewhere.namespace}")
    cluster.kubectl("create", "rolebinding", "makes-pods", *bound)
    async with operating(cluster, operator_namespace, without("create", "pods")):
        await world.instance()
        told = await forbidden(world)
        await elsewhere.instance()
        await elsewhere.is_in_phase("Ready")
        still = await world.get(names.INSTANCE, "box")

    assert ("permission", "Forbidden", "admin") == (told["gate"], told["reason"], told["owner"])
    assert f'User "{USER}" cannot create resource "pods"' in told["message"]
    assert f'in the namespace "{world.namespace}"' in told["message"]
    assert told["message"].endswith("an administrator must bind the operator to its ClusterRole")
    assert "Forbidden" == condition(still, "Ready")["reason"]

    cluster.api().delete(f"/api/v1/namespaces/{elsewhere.namespace}")


async def test_a_right_that_is_given_later_is_used_without_a_restart(
    world: World, cluster: Cluster, operator_namespace: str
) -> None:
    async with operating(cluster, operator_namespace, without("create", "pods")):
        await world.instance()
        await forbidden(world)
        role = ("--verb=create", "--resource=pods", f"--namespace={world.namespace}")
        cluster.kubectl("create", "role", "makes-pods", *role)
        bound = ("--role=makes-pods", f"--user={USER}", f"--namespace={world.namespace}")
        cluster.kubectl("create", "rolebinding", "makes-pods", *bound)
        held = await world.is_in_phase("Ready")

    assert "blocker" not in held["status"]


async def test_a_missing_right_on_services_is_told_while_the_pod_runs(
    world: World, cluster: Cluster, operator_namespace: str
) -> None:
    async with operating(cluster, operator_namespace, without("create", "services")):
        await world.instance(ports=[{"port": 8080}])
        told = await forbidden(world)
        pods = await until(lambda: world.list(names.POD))

    assert 'cannot create resource "services"' in told["message"]
    assert 1 == len(pods)


async def test_without_secrets_no_pod_with_ssh_is_made(
    world: World, cluster: Cluster, operator_namespace: str
) -> None:
    """The Pod would wait for its host key for ever, and say less."""
    key = {"metadata": {"name": "me"}, "spec": {"data": KEY}}
    await world.create(names.SSH_PUBLIC_KEY, key)
    seed = {"metadata": {"name": names.HOST_KEY_SEED}, "stringData": {"seed": SEED}}
    await World(world.rest, operator_namespace).create(names.SECRET, seed)
    async with operating(cluster, operator_namespace, without("create", "secrets")):
        await world.instance(sshPublicKey={"name": "me"}, ports=[{"port": 22}])
        told = await forbidden(world)

    assert 'cannot create resource "secrets"' in told["message"]
    assert [] == await world.list(names.POD)


async def test_owner_references_need_the_finalizers_of_their_owner(
    world: World, cluster: Cluster, operator_namespace: str
) -> None:
    """By the admission plugin OwnerReferencesPermissionEnforcement, which is switched on."""
    keep = without("update", "instances/finalizers")
    async with operating(cluster, operator_namespace, keep):
        await world.instance()
        told = await forbidden(world)

    assert "cannot set blockOwnerDeletion" in told["message"]
    assert "Forbidden" == told["reason"]
