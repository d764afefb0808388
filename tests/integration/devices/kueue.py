"""A simulated Kueue: it gates Pods that name a queue, and holds them when they end."""

from typing import Any

from e2e.cluster import Cluster, until
from gpustack_ctrl.api import names
from tests.integration.world import World

GATE = "kueue.x-k8s.io/admission"
FINALIZER = "kueue.x-k8s.io/managed"
QUEUE = "team-queue"

_API = "admissionregistration.k8s.io/v1"
_NAME = "simulated-kueue"
_EXPRESSION = (
    f"Object{{metadata: Object.metadata{{finalizers: ['{FINALIZER}']}},"
    f" spec: Object.spec{{schedulingGates: [Object.spec.schedulingGates{{name: '{GATE}'}}]}}}}"
)


def _policy() -> dict[str, Any]:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    labelled = f"has(object.metadata.labels) && '{names.QUEUE_NAME}' in object.metadata.labels"
    return {
        "apiVersion": _API,
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": _NAME},
        "spec": {
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "matchConstraints": {"resourceRules": [{**rule, "operations": ["CREATE"]}]},
            "matchConditions": [{"name": "names-a-queue", "expression": labelled}],
            "mutations": [
                {
                    "patchType": "ApplyConfiguration",
                    "applyConfiguration": {"expression": _EXPRESSION},
                }
            ],
        },
    }


def start(cluster: Cluster) -> None:
    """Return when Pods that name a queue are gated."""
    api, root = cluster.api(), f"/apis/{_API}"
    api.post(f"{root}/mutatingadmissionpolicies", _policy())
    binding = {
        "apiVersion": _API,
        "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": _NAME},
        "spec": {"policyName": _NAME},
    }
    api.post(f"{root}/mutatingadmissionpolicybindings", binding)
    probe = {
        "metadata": {"generateName": "probe-", "labels": {names.QUEUE_NAME: QUEUE}},
        "spec": {"containers": [{"name": "main", "image": "none"}]},
    }

    def gates() -> bool:
        made = api.post("/api/v1/namespaces/default/pods?dryRun=All", probe)
        return "schedulingGates" in made["spec"]

    until(gates, "the simulated Kueue does not gate")


async def admit(world: World, name: str = "box") -> None:
    """Lift the gates of the Pod."""
    await world.patch(names.POD, name, {"spec": {"schedulingGates": []}})


async def let_go(world: World, name: str = "box") -> None:
    """Take the finalizer off the Pod."""
    await world.patch(names.POD, name, {"metadata": {"finalizers": []}})
