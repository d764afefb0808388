"""The plain manifests, applied with kubectl alone."""

import pytest
import yaml

from e2e.cluster import Cluster
from tests.chart.helm import CHECKOUT, NAMESPACE, Helm, Manifest, only, pod

DEPLOY = CHECKOUT / "deploy"
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


def test_operator_becomes_available_under_restricted_pod_security(applied: Cluster) -> None:
    rollout = applied.kubectl(
        "rollout", "status", "deployment/gpustack-ctrl", f"-n{NAMESPACE}", "--timeout=60s"
    )
    namespace = applied.api().get(f"/api/v1/namespaces/{NAMESPACE}")

    assert "successfully rolled out" in rollout
    assert "restricted" == namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"]


def test_second_apply_changes_nothing(applied: Cluster) -> None:
    again = applied.kubectl("apply", "-k", str(DEPLOY), "--dry-run=server").splitlines()

    assert {"unchanged (server dry run)"} == {line.split(" ", 1)[1] for line in again}


def test_metrics_service_finds_the_pod(applied: Cluster) -> None:
    applied.kubectl(
        "wait", "--for=jsonpath={.endpoints[0].conditions.ready}=true", "endpointslice",
        "--selector=kubernetes.io/service-name=gpustack-ctrl-metrics",
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
    built = bare.kubectl("kustomize", str(DEPLOY))
    plain = pod(only(list(yaml.safe_load_all(built)), "Deployment"))
    chart = pod(helm.deployment())

    assert without_labels(plain) == without_labels(chart)


def without_labels(spec: Manifest) -> Manifest:
    """*spec* but for the affinity, in which the labels of the release stand."""
    assert "podAntiAffinity" in spec["affinity"]
    return {key: value for key, value in spec.items() if key != "affinity"}
