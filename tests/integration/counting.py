"""Writes as the API server itself counts them: who writes does not matter, nor whether it took."""

from collections import Counter

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
# Written by scheduler and kubelet, never by us.
THEIRS = frozenset({"pods/binding", "pods/status"})
_REQUESTS = "apiserver_request_total"


def writes_so_far(cluster: Cluster) -> Writes:
    """How often each verb was asked for on each resource, or subresource, that we could write."""
    counted: Writes = Counter()
    lines = cluster.api().text("/metrics").splitlines()
    text = "\n".join(line for line in lines if line.startswith(_REQUESTS))
    for family in text_string_to_metric_families(f"{text}\n"):
        for sample in family.samples:
            labels = sample.labels
            target = "/".join(filter(None, (labels["resource"], labels["subresource"])))
            if labels["verb"] in VERBS and labels["resource"] in OURS and target not in THEIRS:
                counted[labels["verb"], target] += int(sample.value)
    return counted
