"""Policies of the cluster that change Pods as they are made: what a mutating webhook would do."""

from collections.abc import Callable
from typing import Any

import attrs

from e2e.cluster import ApiStatusError, Cluster
from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.world import Wire, World, until

_GROUP = "admissionregistration.k8s.io"
POLICY = Resource(
    group=_GROUP, version="v1", kind="MutatingAdmissionPolicy",
    plural="mutatingadmissionpolicies", namespaced=False,
)  # fmt: skip
BINDING = Resource(
    group=_GROUP, version="v1", kind="MutatingAdmissionPolicyBinding",
    plural="mutatingadmissionpolicybindings", namespaced=False,
)  # fmt: skip
REFUSED = "refused"


@attrs.define
class Admission:
    """The policies of one test, in force in the namespace of *world* alone."""

    world: World
    cluster: Cluster
    _made: list[str] = attrs.field(factory=list, init=False)

    async def apply(self, change: str, *, seen: Callable[[Wire], Any]) -> None:
        """Merge *change*, a CEL object, into each new Pod; return once a Pod has *seen* it."""
        name = f"{self.world.namespace}-{len(self._made)}"
        self._made.append(name)
        await self.world.create(POLICY, {"metadata": {"name": name}, "spec": _mutation(change)})
        here = {"matchLabels": {"kubernetes.io/metadata.name": self.world.namespace}}
        binding = {"policyName": name, "matchResources": {"namespaceSelector": here}}
        await self.world.create(BINDING, {"metadata": {"name": name}, "spec": binding})

        async def in_force() -> bool:
            return bool(seen(self._probe()))

        await until(in_force)

    async def remove(self) -> None:
        """Let Pods be made as they are asked for."""
        for name in self._made:
            await self.world.delete(BINDING, name)
            await self.world.delete(POLICY, name)
        self._made.clear()

    def _probe(self) -> Wire:
        """A Pod as it would be made now, or why it is `REFUSED`."""
        pod = {
            "metadata": {"name": "probe", "labels": {names.QUEUE_NAME: "probe"}},
            "spec": {"containers": [{"name": "main", "image": "workload:1"}]},
        }
        path = f"{names.POD.collection(self.world.namespace)}?dryRun=All"
        try:
            return dict(self.cluster.api().post(path, pod))
        except ApiStatusError as error:
            return {REFUSED: str(error)}


def _mutation(change: str) -> Wire:
    pods = {"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}
    return {
        "matchConstraints": {"resourceRules": [{**pods, "operations": ["CREATE"]}]},
        "reinvocationPolicy": "Never",
        "failurePolicy": "Fail",
        "mutations": [
            {
                "patchType": "ApplyConfiguration",
                "applyConfiguration": {"expression": f"Object{{{change}}}"},
            }
        ],
    }
