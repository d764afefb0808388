"""The life of a release in a real cluster: install, upgrade, uninstall, install again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import attrs
import pytest

from e2e.cluster import Cluster, until
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.gen.text import manifest
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION, OVERCOMMIT, Definition
from tests.chart.helm import CHART, EXPORTER, NAMESPACE, RELEASE, Helm, Manifest, variables
from tests.chart.monitoring import monitoring_crds
from tests.chart.operator import DEPLOYMENT, operating

CIDRS = "worker.instanceIsolationPodCIDRs"
EXPORTER_PATH = f"/apis/apps/v1/namespaces/{{}}/deployments/{EXPORTER}"
RESTRICTED = {"pod-security.kubernetes.io/enforce": "restricted"}


@attrs.frozen(kw_only=True)
class Release:
    """The chart in its namespace of a cluster."""

    helm: Helm
    cluster: Cluster
    namespace: str = NAMESPACE

    def install(self, *values: str) -> None:
        """Install or upgrade with *values*, and return when the Pod is Ready."""
        self.helm(
            "upgrade", "--install", RELEASE, CHART, "--namespace", self.namespace,
            "--wait", "--timeout", "60s", *values,
        )  # fmt: skip

    def uninstall(self) -> None:
        """Uninstall what is installed, and return when all is gone that goes."""
        namespace = ("--namespace", self.namespace)
        self.helm("uninstall", RELEASE, *namespace, "--ignore-not-found", "--wait")

    @property
    def deployment(self) -> Manifest | None:
        """The operator's Deployment."""
        found: Manifest | None = self.cluster.api().find(DEPLOYMENT.format(self.namespace))
        return found

    def setting(self, definition: Definition[Any]) -> Manifest | None:
        """The Setting that *definition* is about."""
        found: Manifest | None = self.cluster.api().find(self._path(definition))
        return found

    def isolation_is(self, value: str) -> Callable[[], bool]:
        """Whether the operator says that *value* is in force."""
        return lambda: value == ((self.setting(ISOLATION) or {}).get("status") or {}).get("value")

    def edit_isolation(self, value: str) -> None:
        """Do what a user does who wants *value*."""
        self.cluster.api().patch(self._path(ISOLATION), {"spec": {"value": value}})

    def delete_setting(self, definition: Definition[Any]) -> None:
        """Delete the Setting that *definition* is about."""
        self.cluster.api().delete(self._path(definition))

    def _path(self, definition: Definition[Any]) -> str:
        return names.SETTING.path(ObjectKey(self.namespace, definition.name))


@pytest.fixture(scope="module")
def restricted(bare: Cluster) -> Cluster:
    """The cluster with the operator's namespace, which has the strictest Pod security."""
    bare.add_namespace(NAMESPACE, labels=RESTRICTED)
    return bare


@pytest.fixture
def release(helm: Helm, restricted: Cluster) -> Iterator[Release]:
    """The chart, not installed yet. CRDs of an earlier test may be there: the chart keeps them."""
    connected = attrs.evolve(helm, environment={"KUBECONFIG": str(restricted.kubeconfig)})
    held = Release(helm=connected, cluster=restricted)
    yield held
    held.uninstall()


def test_installed_operator_is_available_under_restricted_pod_security(release: Release) -> None:
    release.install()

    exporter = release.cluster.api().get(EXPORTER_PATH.format(release.namespace))
    assert release.deployment is not None
    assert [1, 1] == [it["status"]["availableReplicas"] for it in (release.deployment, exporter)]


@pytest.mark.parametrize("values", sorted(CHART.glob("ci/*.yaml")), ids=lambda path: path.stem)
def test_server_accepts_every_object(release: Release, values: Path) -> None:
    release.cluster.kubectl("apply", "-f", "-", input=manifest(monitoring_crds()))
    namespace = ("--namespace", release.namespace)
    rendered = release.helm("template", RELEASE, CHART, *namespace, "--values", values)

    written = release.cluster.kubectl(
        "apply", "-f", "-", "--dry-run=server", *namespace, input=rendered
    )

    assert rendered.count("\nkind: ") == len(written.splitlines())


def test_uninstall_keeps_crds_and_what_users_made(release: Release) -> None:
    release.install()
    offered = names.INSTANCE_TYPE.collection("")
    body = {"apiVersion": "worker.gpustack.ai/v1", "kind": "InstanceType"}
    release.cluster.api().post(offered, {**body, "metadata": {"name": "kept"}, "spec": {}})

    release.uninstall()

    assert release.deployment is None
    assert ["kept"] == [
        one["metadata"]["name"] for one in release.cluster.api().get(offered)["items"]
    ]

    release.install()

    assert release.deployment is not None


def test_n7_upgrade_leaves_the_edited_setting_alone(release: Release, tmp_path: Path) -> None:
    """
    The chart's value is the Setting's first one. Once somebody has edited the Setting, an
    upgrade with another value, and the operator that restarts with it, change nothing.
    """
    log = tmp_path / "operator.log"
    release.install("--set", f"{CIDRS}=10.244.0.0/16")
    with operating(release.cluster, release.namespace, log):
        until(release.isolation_is("10.244.0.0/16"), "the Setting is not made from the value")
        release.edit_isolation("10.0.0.0/8")
        until(release.isolation_is("10.0.0.0/8"), "the edit does not take effect")

    release.install("--set", f"{CIDRS}=172.16.0.0/12")
    assert release.deployment is not None
    assert "172.16.0.0/12" == variables(release.deployment)[ISOLATION.variable]
    release.delete_setting(OVERCOMMIT)
    with operating(release.cluster, release.namespace, log):
        until(lambda: release.setting(OVERCOMMIT) is not None, "a deleted Setting is not made anew")
        kept = release.setting(ISOLATION)
        release.edit_isolation("10.128.0.0/9")
        until(release.isolation_is("10.128.0.0/9"), "an edit after the upgrade has no effect")

    assert kept is not None
    assert "10.0.0.0/8" == kept["spec"]["value"]
    # Made once and edited twice: nobody else ever wrote it.
    last = release.setting(ISOLATION)
    assert last is not None
    assert 3 == last["metadata"]["generation"]
