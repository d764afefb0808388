"""A node and its Pods, for tests of what may happen to them."""

from collections.abc import Callable, Mapping
from typing import Any

import attrs

from e2e.cluster import Cluster, until

Pod = Mapping[str, Any]


@attrs.frozen(kw_only=True)
class Bench:
    """A node for one test, and Pods on it."""

    cluster: Cluster
    namespace: str
    node: str

    def run(
        self,
        name: str = "main",
        *,
        finalizers: tuple[str, ...] = (),
        labels: Mapping[str, str] | None = None,
    ) -> None:
        container = {"name": "main", "image": "registry.example/main:1"}
        body = {
            "metadata": {"name": name, "finalizers": list(finalizers), "labels": labels},
            "spec": {
                "nodeName": self.node,
                "containers": [container],
                "terminationGracePeriodSeconds": 2,
            },
        }
        self.cluster.api().post(f"/api/v1/namespaces/{self.namespace}/pods", body)

    def pod(self, name: str = "main") -> Pod | None:
        found: Pod | None = self.cluster.api().find(self._path(name))
        return found

    def relabel(self, labels: Mapping[str, str | None]) -> None:
        self.cluster.api().patch(self._path("main"), {"metadata": {"labels": labels}})

    def delete(self, name: str = "main") -> None:
        self.cluster.api().delete(self._path(name))

    def wait(self, condition: Callable[[Pod], bool]) -> Pod:
        seen: list[Pod] = []

        def holds() -> bool:
            pod = self.pod()
            if pod is None:
                return False
            seen.append(pod)
            return condition(pod)

        until(holds, "the Pod does not get there", seconds=30)
        return seen[-1]

    def wait_gone(self) -> None:
        until(lambda: self.pod() is None, "the Pod is still there", seconds=30)

    def reasons(self) -> set[str]:
        events = self.cluster.api().get(f"/api/v1/namespaces/{self.namespace}/events")["items"]
        return {event["reason"] for event in events}

    def _path(self, name: str) -> str:
        return f"/api/v1/namespaces/{self.namespace}/pods/{name}"


def condition(pod: Pod, kind: str) -> Any:
    found = [entry for entry in pod["status"].get("conditions", ()) if entry["type"] == kind]
    return found[0]["status"] if found else None


def ready(pod: Pod) -> bool:
    return bool(condition(pod, "Ready") == "True")


def waiting_reason(pod: Pod) -> Any:
    container = container_status(pod)
    return container.get("state", {}).get("waiting", {}).get("reason")


def container_status(pod: Pod) -> Mapping[str, Any]:
    statuses: list[Mapping[str, Any]] = pod["status"].get("containerStatuses", [{}])
    return statuses[0]
