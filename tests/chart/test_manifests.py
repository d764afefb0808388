"""The plain manifests, applied with kubectl alone."""

import pytest
import yaml

from e2e.cluster import Cluster
from tests.chart.helm import (
    CHECKOUT,
    EXPORTER,
    NAMESPACE,
    OPERATOR,
    Helm,
    Manifest,
    container,
    only,
    pod,
    variables,
)

DEPLOY = CHECKOUT / "deploy"
PER_NODE = DEPLOY / "exporter-per-node"
SAMPLES = DEPLOY / "samples"
# Only for an operator that runs with --install-crds.
OPTIONAL = {"rbac/crd-installer.yaml"}


@pytest.fixture(scope="module")
def applied(bare: Cluster) -> Cluster:
    """The cluster with `kubectl apply -k deploy` done."""
    bare.kubectl("apply", "-k", str(DEPLOY))
    return bare


def test_every_manifest_is_listed() -> None:
    listed = set(yaml.safe_load((DEPLOY / "kustomization.yaml").read_text())["resources"])
    there = {
        str(path.relative_to(DEPLOY))
        for path in (*DEPLOY.glob("*.yaml"), *DEPLOY.glob("crds/*"), *DEPLOY.glob("rbac/*"))
    }

    assert there - OPTIONAL == listed | {"kustomization.yaml"}


@pytest.mark.parametrize("name", [OPERATOR, EXPORTER])
def test_all_become_available_under_restricted_pod_security(applied: Cluster, name: str) -> None:
    rollout = applied.kubectl(
        "rollout", "status", f"deployment/{name}", f"-n{NAMESPACE}", "--timeout=60s"
    )
    namespace = applied.api().get(f"/api/v1/namespaces/{NAMESPACE}")

    assert "successfully rolled out" in rollout
    assert "restricted" == namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]


def test_second_apply_changes_nothing(applied: Cluster) -> None:
    again = applied.kubectl("apply", "-k", str(DEPLOY), "--dry-run=server").splitlines()

    assert {"unchanged (server dry run)"} == {line.split(" ", 1)[1] for line in again}


@pytest.mark.parametrize("service", ["gpustack-ctrl-metrics", "gpustack-ctrl-exporter"])
def test_metrics_services_find_their_pods(applied: Cluster, service: str) -> None:
    applied.kubectl(
        "wait", "--for=jsonpath={.endpoints[0].conditions.ready}=true", "endpointslice",
        f"--selector=kubernetes.io/service-name={service}",
        f"-n{NAMESPACE}", "--timeout=60s",
    )  # fmt: skip


def test_samples_are_accepted(applied: Cluster) -> None:
    applied.kubectl("apply", "-k", str(SAMPLES))

    instances = applied.kubectl("get", "instances", "-A", "--no-headers").splitlines()
    assert 4 == len(instances)


def test_installer_of_crds_is_accepted(bare: Cluster) -> None:
    manifest = str(DEPLOY / "rbac" / "crd-installer.yaml")

    assert "created (server dry run)" in bare.kubectl("create", "-f", manifest, "--dry-run=server")


def test_chart_and_manifests_run_the_same_pod(helm: Helm, bare: Cluster) -> None:
    """Both ways to install are one operator; only labels tell them apart."""
    built = list(yaml.safe_load_all(bare.kubectl("kustomize", str(DEPLOY))))
    plain, chart = only(built, "Deployment", OPERATOR), helm.deployment()

    assert without_labels(pod(plain)) == without_labels(pod(chart))
    assert annotations(plain) == annotations(chart)


def test_chart_and_manifests_run_the_same_exporter(helm: Helm, bare: Cluster) -> None:
    built = list(yaml.safe_load_all(bare.kubectl("kustomize", str(DEPLOY))))
    plain, chart = only(built, "Deployment", EXPORTER), helm.exporter()

    assert pod(plain) == pod(chart)
    assert annotations(plain) == annotations(chart)
    assert plain["spec"]["strategy"] == chart["spec"]["strategy"]


def test_chart_and_manifests_run_the_same_exporter_on_each_node(helm: Helm, bare: Cluster) -> None:
    """But for the namespace, which the plain manifests keep apart for its Pod security."""
    built = list(yaml.safe_load_all(bare.kubectl("kustomize", str(PER_NODE))))
    plain = only(built, "DaemonSet")
    chart = helm.exporter("--set", "exporter.mode=Node")
    differ = ("env", "resources")

    assert but(pod(plain), "containers") == but(pod(chart), "containers")
    assert but(container(plain), *differ) == but(container(chart), *differ)
    assert "gpustack-system" == variables(plain)["GPUSTACK_NAMESPACE"]
    assert {"GPUSTACK_NAMESPACE", "GPUSTACK_NODE_NAME"} == {
        entry["name"] for entry in container(chart)["env"]
    }


def test_exporter_on_each_node_is_available_where_it_may_look_into_nodes(applied: Cluster) -> None:
    applied.kubectl("apply", "-k", str(PER_NODE))
    rollout = applied.kubectl(
        "rollout", "status", f"daemonset/{EXPORTER}", "-ngpustack-exporter", "--timeout=60s"
    )

    assert "successfully rolled out" in rollout


def annotations(workload: Manifest) -> Manifest:
    """The annotations of the Pods of *workload*."""
    found: Manifest = workload["spec"]["template"]["metadata"]["annotations"]
    return found


def but(spec: Manifest, *keys: str) -> Manifest:
    """*spec* without *keys*."""
    return {key: value for key, value in spec.items() if key not in keys}


def without_labels(spec: Manifest) -> Manifest:
    """*spec* but for the affinity, in which the labels of the release stand."""
    assert "podAntiAffinity" in spec["affinity"]
    return {key: value for key, value in spec.items() if key != "affinity"}
