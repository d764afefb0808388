"""The real operator beside the cluster, told what the chart tells the simulated one."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from signal import SIGTERM
from typing import Any

from e2e.cluster import Cluster
from e2e.cluster.processes import ends_with_parent
from tests.chart.helm import CHECKOUT, container, variables

DEPLOYMENT = "/apis/apps/v1/namespaces/{}/deployments/gpustack-ctrl"
NO_SERVERS = ("--metrics-bind-address=0", "--health-probe-bind-address=0")


@contextmanager
def operating(cluster: Cluster, namespace: str, log: Path) -> Iterator[None]:
    """
    Run what the Deployment in *namespace* says, as its ServiceAccount: kwok marks a Pod
    Ready, but nothing runs in it. The operator writes its log to *log*.
    """
    deployment = cluster.api().get(DEPLOYMENT.format(namespace))
    account = cluster.kubeconfig_for_service_account(namespace, "gpustack-ctrl")
    arguments = [*container(deployment)["args"], *NO_SERVERS, f"--kubeconfig={account}"]
    with log.open("ab") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "gpustack_ctrl", *arguments],
            env=environment(deployment, namespace),
            stdout=output,
            stderr=subprocess.STDOUT,
            preexec_fn=ends_with_parent(SIGTERM),  # noqa: PLW1509  One thread only.
        )
    try:
        yield
    finally:
        process.terminate()
        code = process.wait(60)
    assert 0 == code, log.read_text()


def environment(deployment: Any, namespace: str) -> dict[str, str]:
    """The variables of the Pod, and what this machine needs to run the command."""
    own = {"PATH": os.defpath, "PYTHONPATH": str(CHECKOUT / "src"), "GPUSTACK_NAMESPACE": namespace}
    return {**own, **variables(deployment)}
