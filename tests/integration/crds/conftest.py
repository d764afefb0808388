"""The CRDs in the cluster, and two Instances to try writes on."""

import secrets
from collections.abc import Iterator

import pytest

from e2e.cluster import Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.gen.crd import KINDS, crds
from gpustack_ctrl.gen.text import manifest
from tests.integration.crds.cases import SPEC
from tests.integration.crds.writer import Writer, instance


@pytest.fixture(scope="session", autouse=True)
def installed(cluster: Cluster) -> str:
    """All CRDs in the cluster; what kubectl printed, warnings included, while they came."""
    printed = cluster.kubectl(
        "apply",
        "--server-side",
        "--force-conflicts",
        "-f",
        "-",
        input=manifest(crds()),
        check=False,
    )
    cluster.kubectl(
        "wait",
        "--for=condition=Established",
        "--timeout=30s",
        *(f"crd/{kind.resource.full_name}" for kind in KINDS),
    )
    return printed


@pytest.fixture(scope="session")
def writer(cluster: Cluster) -> Iterator[Writer]:
    """A namespace with one running and one stopped Instance of the same spec."""
    namespace = f"test-{secrets.token_hex(4)}"
    cluster.add_namespace(namespace)
    for name, stop in (("running", False), ("stopped", True)):
        body = instance(name, {**SPEC, "stop": stop})
        cluster.api().post(names.INSTANCE.collection(namespace), body)
    yield Writer(cluster.api(), namespace)
    cluster.api().delete(f"/api/v1/namespaces/{namespace}")
