"""Writes as the API server itself counts them: who writes does not matter, nor whether it took."""

from collections import Counter
from collections.abc import Mapping

from prometheus_client.parser import text_string_to_metric_families

from e2e.cluster import Cluster

Writes = Counter[tuple[str, str]]

VERBS = frozenset({"POST", "PUT", "PATCH", "APPLY", "DELETE", "DELETECOLLECTION"})
OURS = frozenset(
    {
        "instances",
        "instancetypes",
        "networkpolicies",
        "pods",
        "secrets",
        "services",
        "settings",
    }
)
# Written by scheduler and kubelet, never by us; and all that is nobody's.
THEIRS = frozenset({"", "pods/binding", "pods/status"})
_REQUESTS = "apiserver_request_total"


def writes_so_far(cluster: Cluster) -> Writes:
    """How often each verb was asked for on each resource, or subresource, that we could write."""
    counted: Writes = Counter()
    lines = cluster.api().text("/metrics").splitlines()
    text = "\n".join(line for line in lines if line.startswith(_REQUESTS))
    for family in text_string_to_metric_families(f"{text}\n"):
        for sample in family.samples:
            target = _target(sample.labels)
            if sample.labels["verb"] in VERBS and target not in THEIRS:
                counted[sample.labels["verb"], target] += int(sample.value)
    return counted


def _target(labels: Mapping[str, str]) -> str:
    """Resource and subresource that are written, or "" where it is nothing of ours."""
    if labels["resource"] not in OURS or labels["dry_run"]:
        return ""
    return "/".join(filter(None, (labels["resource"], labels["subresource"])))
