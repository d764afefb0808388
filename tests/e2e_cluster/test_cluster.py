"""What a running cluster offers: nodes of any shape, users, and the rules of a real API server."""

from collections.abc import Mapping
from typing import Any

import pytest

from e2e.cluster import TENANTS, USERS, ApiStatusError, Cluster, ClusterError, until
from e2e.cluster.credentials import ADMIN
from e2e.cluster.nodes import BASES, accelerators, all_addresses

Body = Mapping[str, Any]


def requesting(name: str, resource: str, amount: str) -> Body:
    container = {
        "name": "main",
        "image": "registry.example/main:1",
        "resources": {"limits": {resource: amount}},
    }
    return {"metadata": {"name": name}, "spec": {"containers": [container]}}


def is_ready(cluster: Cluster, path: str) -> bool:
    conditions = cluster.api().get(path)["status"].get("conditions", ())
    return ("Ready", "True") in {(entry["type"], entry["status"]) for entry in conditions}


@pytest.mark.parametrize("resource", accelerators(8, "nvidia"))
def test_a_pod_may_ask_for_every_kind_of_accelerator(
    cluster: Cluster, namespace: str, resource: str
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.api().post(pods, requesting("main", resource, "1"))

    until(lambda: is_ready(cluster, f"{pods}/main"), f"no node offers {resource}")


def test_a_pod_that_asks_for_more_than_a_node_has_stays_pending(
    cluster: Cluster, namespace: str
) -> None:
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.api().post(pods, requesting("main", "nvidia.com/gpu", "9"))

    def refused() -> bool:
        conditions = cluster.api().get(f"{pods}/main")["status"].get("conditions", ())
        return any(entry.get("reason") == "Unschedulable" for entry in conditions)

    until(refused, "the scheduler says nothing")


def test_a_node_of_any_shape_joins_and_leaves(cluster: Cluster, namespace: str) -> None:
    name = f"{namespace}-node"
    cluster.add_node(
        name,
        capacity={"example.com/fpga": "3"},
        labels={"pool": "test"},
        annotations={"note": "here"},
    )

    node = cluster.api().get(f"/api/v1/nodes/{name}")
    pods = f"/api/v1/namespaces/{namespace}/pods"
    cluster.api().post(pods, requesting("main", "example.com/fpga", "2"))
    until(lambda: is_ready(cluster, f"{pods}/main"), "the Pod does not start")

    assert "3" == node["status"]["allocatable"]["example.com/fpga"]
    assert "64" == node["status"]["allocatable"]["cpu"]
    assert "test" == node["metadata"]["labels"]["pool"]
    assert "here" == node["metadata"]["annotations"]["note"]
    assert name == cluster.api().get(f"{pods}/main")["spec"]["nodeName"]

    cluster.remove_node(name)

    assert cluster.api().find(f"/api/v1/nodes/{name}") is None


def test_nodes_have_addresses_of_their_own(cluster: Cluster, namespace: str) -> None:
    names = [f"{namespace}-{number}" for number in range(2)]
    for name in names:
        cluster.add_node(name, schedulable=False)

    nodes = cluster.api().get("/api/v1/nodes")["items"]
    addresses = [node["status"]["addresses"][0]["address"] for node in nodes]
    for name in names:
        cluster.remove_node(name)

    assert len(addresses) == len(set(addresses))
    assert set(addresses) <= set(all_addresses())


def test_every_manufacturer_has_all_kinds() -> None:
    for manufacturer, base in BASES.items():
        offered = accelerators(8, manufacturer)

        assert "8" == offered[base]
        assert f"{base}.partitioned" in offered
        assert f"device.gpustack.ai/{manufacturer}.visibility" in offered


def test_an_unknown_manufacturer_is_refused_with_those_there_are() -> None:
    with pytest.raises(ClusterError, match="manufacturer 'acme' is unknown: use one of amd, "):
        accelerators(1, "acme")


def test_a_tenant_may_do_what_she_is_bound_to_and_no_more(cluster: Cluster, namespace: str) -> None:
    tenant = TENANTS[0]
    pods = f"/api/v1/namespaces/{namespace}/pods"
    with pytest.raises(ApiStatusError, match=f'403: pods is forbidden: User "{tenant}"'):
        cluster.api(tenant).get(pods)

    cluster.kubectl(
        "create", "rolebinding", "t", "--clusterrole=edit", f"--user={tenant}", "-n", namespace
    )
    until(lambda: allowed(cluster, tenant, pods), "the binding has no effect")

    assert "No resources found" in cluster.kubectl(
        "get", "pods", "-n", namespace, check=False, user=tenant
    )
    with pytest.raises(ClusterError, match="nodes is forbidden"):
        cluster.kubectl("get", "nodes", user=tenant)


def allowed(cluster: Cluster, user: str, path: str) -> bool:
    try:
        cluster.api(user).get(path)
    except ApiStatusError:
        return False
    return True


def test_a_service_account_has_a_kubeconfig(cluster: Cluster, namespace: str) -> None:
    path = cluster.kubeconfig_for_service_account(namespace, "default")

    said = cluster.kubectl("auth", "whoami", "--kubeconfig", str(path))

    assert f"system:serviceaccount:{namespace}:default" in said


def test_every_user_has_a_kubeconfig_only_its_owner_can_read(cluster: Cluster) -> None:
    modes = {cluster.kubeconfig_for(user).stat().st_mode & 0o777 for user in USERS}

    assert {0o600} == modes
    assert ADMIN in USERS
    with pytest.raises(ClusterError, match="user 'nobody' is unknown"):
        cluster.kubeconfig_for("nobody")


def test_pod_security_is_enforced(cluster: Cluster, namespace: str) -> None:
    labels = {"pod-security.kubernetes.io/enforce": "restricted"}
    cluster.api().patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": labels}})

    def refused() -> bool:
        try:
            cluster.api().post(
                f"/api/v1/namespaces/{namespace}/pods?dryRun=All",
                requesting("main", "nvidia.com/gpu", "1"),
            )
        except ApiStatusError as error:
            return "violates PodSecurity" in str(error)
        return False

    until(refused, "the Pod is not refused")


def test_kubectl_errors_name_command_and_cause(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match=r'kubectl get no-such-kind: .*"no-such-kind"'):
        cluster.kubectl("get", "no-such-kind")
