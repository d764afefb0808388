"""The operator in the cluster, from its own image and with the rights that deploy/ gives it."""

from pathlib import Path
from typing import Any

from e2e.cluster import until
from e2e.node import RealNode

NAMESPACE = "gpustack-system"
NAME = "gpustack-ctrl"
# The project's own deploy/, with images that were imported.
DEPLOY = Path(__file__).parents[1] / "node" / "deploy"
DEPLOYMENT = f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments/{NAME}"
TYPES = "/apis/worker.gpustack.ai/v1/instancetypes"
SETTINGS = f"/apis/gpustack.ai/v1/namespaces/{NAMESPACE}/settings"
_SMALL = {"unitResources": {"cpu": "1", "ram": "256Mi"}, "localStorage": "1Gi"}
_CARD = {**_SMALL, "acceleratorMemoryMiB": 81920}
# What the administrator offers: two manufacturers, in three dialects, and no card at all.
OFFERED: dict[str, dict[str, Any]] = {
    "nvidia": {
        **_CARD,
        "manufacturer": "nvidia",
        "partitionProfiles": [{"name": "3g.40gb", "memoryMiB": 40960}],
    },
    "amd": {**_CARD, "manufacturer": "amd"},
    "nvidia-plain": {**_CARD, "manufacturer": "nvidia", "dialect": "nvidia"},
    "nvidia-hami": {**_CARD, "manufacturer": "nvidia", "dialect": "hami"},
    "cpu": _SMALL,
    "cpu-tiny": {"unitResources": {"cpu": "1", "ram": "64Mi"}, "localStorage": "16Mi"},
}


def open_shop(node: RealNode) -> None:
    """Install the operator and what it offers, and return when it works."""
    node.kubectl("apply", "--server-side", "-k", str(DEPLOY))
    rolled_out(node)
    for kind, spec in OFFERED.items():
        node.api().post(TYPES, instance_type(kind, spec))


def instance_type(name: str, spec: dict[str, Any]) -> dict[str, Any]:
    """Return the InstanceType *name* with *spec*."""
    kind = {"apiVersion": "worker.gpustack.ai/v1", "kind": "InstanceType"}
    return {**kind, "metadata": {"name": name}, "spec": spec}


def rolled_out(node: RealNode) -> None:
    """Return when the operator that was asked for is the one that runs, and is ready."""
    wanted = ("rollout", "status", f"deployment/{NAME}", "--timeout=90s")
    node.kubectl(*wanted, "--namespace", NAMESPACE)


def change_setting(node: RealNode, name: str, value: str) -> None:
    """Give the Setting *name* a *value*, and return when that is in force."""
    path = f"{SETTINGS}/{name}"
    until(lambda: node.api().find(path) is not None, f"the Setting {name} does not appear")
    node.api().patch(path, {"spec": {"value": value}})
    until(
        lambda: node.api().get(path).get("status", {}).get("value", "") == value,
        f"the Setting {name} is not in force",
    )


def replicas(node: RealNode, count: int) -> None:
    """Have *count* operators, and return when it is so."""
    node.api().patch(f"{DEPLOYMENT}/scale", {"spec": {"replicas": count}})
    pods = f"/api/v1/namespaces/{NAMESPACE}/pods?labelSelector=app.kubernetes.io/name={NAME}"
    until(lambda: len(node.api().get(pods)["items"]) == count, f"there are not {count} operators")
    rolled_out(node)


def bury_the_evicted(node: RealNode) -> None:
    """Remove Pods of the operator that were evicted, which a Deployment keeps to tell of them."""
    rolled_out(node)
    for phase in ("Failed", "Succeeded"):
        ended = f"--field-selector=status.phase={phase}"
        node.kubectl("delete", "pods", "--namespace", NAMESPACE, ended)
