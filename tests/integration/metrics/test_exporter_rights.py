"""The exporter's ServiceAccount: all that it needs, and nothing else."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.codec import decode
from gpustack_ctrl.api.errors import ForbiddenError
from gpustack_ctrl.api.meta import ObjectKey, Resource
from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.exchange import Call
from gpustack_ctrl.gen import rbac
from gpustack_ctrl.gen.permissions import EXPORTER, EXPORTER_AT_HOME, METRICS_GUARD
from gpustack_ctrl.runtime.watch import ListRequest
from tests.integration.metrics.accounts import acting, add_account, home_with
from tests.integration.operations.verbs import Use, allowed
from tests.integration.world import World

RULES = Resource(
    group="authorization.k8s.io", version="v1", kind="SelfSubjectRulesReview",
    plural="selfsubjectrulesreviews", namespaced=False,
)  # fmt: skip
ACCESS = Resource(
    group="authorization.k8s.io", version="v1", kind="SelfSubjectAccessReview",
    plural="selfsubjectaccessreviews", namespaced=False,
)  # fmt: skip
FOLLOWED = (names.INSTANCE, names.INSTANCE_TYPE, names.POD, names.NODE)
CONTAINERS = [{"name": "main", "image": "none"}]


@pytest.fixture(scope="module")
def home(cluster: Cluster) -> Iterator[str]:
    """The operator's namespace, with all that the exporter is granted with protection on."""
    with home_with(cluster, lambda at: (*rbac.exporter(at), *rbac.metrics_guard(at))) as made:
        yield made


@pytest.fixture(scope="module")
def account(cluster: Cluster, home: str) -> Path:
    """The kubeconfig of the exporter."""
    return add_account(cluster, home, names.EXPORTER)


@pytest_asyncio.fixture
async def exporter(account: Path, world: World) -> AsyncIterator[Client]:
    """The API server as the exporter sees it."""
    async with acting(account) as client:
        yield client


async def rules(client: Client, namespace: str) -> tuple[set[Use], set[tuple[str, str]]]:
    """What the client may do there: with objects, and with other paths."""
    body = {
        "apiVersion": RULES.api_version,
        "kind": RULES.kind,
        "metadata": {},
        "spec": {"namespace": namespace},
    }
    told = decode(await client.rest.create(RULES, body))["status"]
    uses = {
        Use(verb, group, resource)
        for rule in told["resourceRules"]
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    }
    paths = {
        (verb, path)
        for rule in told["nonResourceRules"]
        for verb in rule["verbs"]
        for path in rule["nonResourceURLs"]
    }
    return uses, paths


async def test_r22_its_rights_are_those_of_the_list_and_of_everybody(
    cluster: Cluster, home: str, exporter: Client
) -> None:
    """Compared with an account that nobody granted anything, in and outside its namespace."""
    async with acting(add_account(cluster, home, "nobody")) as nobody:
        all_have, all_paths = await rules(nobody, home)
    at_home, paths = await rules(exporter, home)
    elsewhere, _ = await rules(exporter, "default")
    granted = allowed((*EXPORTER, *METRICS_GUARD))
    granted_at_home = granted | allowed(EXPORTER_AT_HOME)

    assert granted_at_home <= at_home
    assert at_home - all_have <= granted_at_home
    assert granted <= elsewhere
    assert elsewhere - all_have <= granted
    assert all_paths == paths
    assert not {use for use in at_home if "*" in f"{use.verb}{use.group}{use.resource}"}


@pytest.mark.parametrize("resource", FOLLOWED, ids=lambda held: str(held.plural))
async def test_it_may_list_and_watch_everywhere(exporter: Client, resource: Resource) -> None:
    await follows(exporter, resource)


async def test_it_may_list_and_watch_settings_of_the_operator_only(
    exporter: Client, home: str
) -> None:
    await follows(exporter, names.SETTING, home)
    with pytest.raises(ForbiddenError):
        await follows(exporter, names.SETTING, "default")


async def follows(client: Client, resource: Resource, namespace: str = "") -> None:
    """List and begin a watch, as an informer does."""
    source = client.list_watch(resource, namespace=namespace)
    page = decode(await source.list(ListRequest(resource_version="", limit=1)))
    query = f"watch=1&timeoutSeconds=1&resourceVersion={page['metadata']['resourceVersion']}"
    path = resource.collection(namespace)
    await client.rest.exchange.send(Call(method="GET", path=path, query=query))


@pytest.mark.parametrize(
    ("subresource", "may"),
    [
        ("metrics", True),
        ("stats", True),
        ("proxy", False),
        ("pods", False),
        ("log", False),
        ("configz", False),
        ("healthz", False),
        ("checkpoint", False),
        ("", False),
    ],
)
async def test_r22_of_a_kubelet_it_may_read_figures_only(
    exporter: Client, subresource: str, *, may: bool
) -> None:
    """A kubelet asks the API server exactly this when somebody reads its paths."""
    assert may == await is_allowed(exporter, "get", "nodes", subresource)
    assert not await is_allowed(exporter, "create", "nodes", subresource)


async def is_allowed(client: Client, verb: str, resource: str, subresource: str = "") -> bool:
    attributes = {"verb": verb, "resource": resource, "subresource": subresource, "name": "node-0"}
    body = {
        "apiVersion": ACCESS.api_version,
        "kind": ACCESS.kind,
        "metadata": {},
        "spec": {"resourceAttributes": {name: held for name, held in attributes.items() if held}},
    }
    return bool(decode(await client.rest.create(ACCESS, body))["status"]["allowed"])


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1/namespaces/{home}/secrets/" + names.HOST_KEY_SEED,
        "/api/v1/configmaps",
        "/api/v1/services",
        "/api/v1/namespaces/{namespace}/pods/box",
        "/api/v1/namespaces/{namespace}/pods/box/log",
        "/api/v1/nodes/node-0/proxy/metrics",
        "/api/v1/nodes/node-0/proxy/stats/summary",
        "/apis/worker.gpustack.ai/v1/instancesshpublickeys",
        "/apis/worker.gpustack.ai/v1/namespaces/{namespace}/instances/box",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/metrics",
        "/debug/pprof/",
    ],
)
async def test_it_may_not_read(exporter: Client, world: World, home: str, path: str) -> None:
    await world.instance()
    with pytest.raises(ForbiddenError):
        await exporter.rest.get(path.format(home=home, namespace=world.namespace))


def _object(resource: Resource, namespace: str, name: str, **rest: Any) -> dict[str, Any]:
    head = {"apiVersion": resource.api_version, "kind": resource.kind}
    return {**head, "metadata": {"namespace": namespace, "name": name}, **rest}


@pytest.mark.parametrize(
    ("resource", "spec"),
    [
        (names.POD, {"spec": {"containers": CONTAINERS}}),
        (names.INSTANCE, {"spec": {"type": "any", "image": "any"}}),
        (names.SECRET, {}),
        (names.CONFIG_MAP, {}),
        (names.EVENT, {}),
        (names.LEASE, {}),
        (names.SETTING, {"spec": {"value": ""}}),
    ],
    ids=lambda held: getattr(held, "plural", ""),
)
async def test_it_may_not_make_anything(
    exporter: Client, world: World, home: str, *, resource: Resource, spec: dict[str, Any]
) -> None:
    for namespace in (world.namespace, home):
        with pytest.raises(ForbiddenError):
            await exporter.rest.create(resource, _object(resource, namespace, "made", **spec))


@pytest.mark.parametrize("subresource", ["", "status"])
async def test_it_may_not_change_or_delete_what_it_reads(
    exporter: Client, world: World, subresource: str
) -> None:
    made = await world.instance()
    key = ObjectKey(world.namespace, "box")
    patch = {"metadata": {"labels": {"by": "exporter"}}}
    body = {**made, "status": {}}
    with pytest.raises(ForbiddenError):
        await exporter.rest.merge_patch(names.INSTANCE, key, patch, subresource)
    with pytest.raises(ForbiddenError):
        await exporter.rest.update(names.INSTANCE, key, body, subresource)
    with pytest.raises(ForbiddenError):
        await exporter.rest.delete(names.INSTANCE, key, uid=made["metadata"]["uid"])
    with pytest.raises(ForbiddenError):
        await exporter.rest.merge_patch(names.NODE, ObjectKey("", "node-0"), patch, subresource)


async def test_it_may_not_be_somebody_else(exporter: Client, home: str) -> None:
    """Neither by a token of another account nor by impersonation."""
    tokens = f"/api/v1/namespaces/{home}/serviceaccounts/default/token"
    with pytest.raises(ForbiddenError):
        await exporter.rest.exchange.send(Call(method="POST", path=tokens, body=b"{}"))
    for kind in ("users", "groups", "serviceaccounts"):
        assert not await is_allowed(exporter, "impersonate", kind)
