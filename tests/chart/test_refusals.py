"""What the chart refuses, and that it says where and why."""

import pytest

from tests.chart.helm import CHART, Helm, HelmError, sets

REFUSED = [
    ("worker.replica=2", "at '/worker': additional properties 'replica' not allowed"),
    ("workers.replicas=2", "at '': additional properties 'workers' not allowed"),
    ("worker.replicas=two", "at '/worker/replicas': got string, want integer"),
    ("worker.replicas=-1", "at '/worker/replicas': minimum: got -1, want 0"),
    (
        "worker.instanceIsolationPodCIDRs=10",
        "at '/worker/instanceIsolationPodCIDRs': got number, want string or array",
    ),
    (
        "worker.instanceIsolationPodCIDRs=10.244.0.0",
        'worker.instanceIsolationPodCIDRs: "10.244.0.0" is not a CIDR such as 10.244.0.0/16',
    ),
    (
        "worker.instanceIsolationPodCIDRs={10.244.0.0/16,none}",
        'worker.instanceIsolationPodCIDRs: "none" is not a CIDR such as 10.244.0.0/16',
    ),
    # A number would be printed as YAML reads it: 1000000 as 1e+06.
    ("worker.env.LIMIT=1000000", "at '/worker/env/LIMIT': got number, want boolean or string"),
    (
        "worker.env.LIMIT.value=5",
        "at '/worker/env/LIMIT': missing property 'valueFrom'",
    ),
    (
        "worker.env.GPUSTACK_NAMESPACE=other",
        "worker.env.GPUSTACK_NAMESPACE: the chart sets it already; leave it out",
    ),
    ("worker.logLevel=loud", "at '/worker/logLevel': value must be one of 'debug', 'info'"),
    ("worker.extraArgs=--workers=16", "at '/worker/extraArgs': got string, want array"),
    (
        "worker.livenessProbe.httpGet.path=/",
        "at '/worker/livenessProbe': additional properties 'httpGet' not allowed",
    ),
    ("image.pullPolicy=always", "at '/image/pullPolicy': value must be one of 'Always'"),
    ("image.digest=latest", "at '/image/digest': 'latest' does not match pattern"),
    ("exporter.mode=Both", "at '/exporter/mode': value must be one of 'Cluster', 'Node'"),
    (
        "exporter.protection.insecure=true",
        "at '/exporter/protection': additional properties 'insecure' not allowed",
    ),
    (
        "exporter.env.GPUSTACK_NAMESPACE=other",
        "exporter.env.GPUSTACK_NAMESPACE: the chart sets it already; leave it out",
    ),
    (
        "worker.env.GPUSTACK_INSTANCE_METRICS=true",
        "worker.env.GPUSTACK_INSTANCE_METRICS: the chart sets it already; leave it out",
    ),
    (
        "metrics.serviceMonitor.interval=15",
        "at '/metrics/serviceMonitor/interval': got number, want string",
    ),
    (
        "metrics.podMonitor.tokenSecret.name=scraper",
        "at '/metrics/podMonitor/tokenSecret': properties 'key' required, if 'name' exists",
    ),
    (
        "metrics.podMonitor.enabled=true",
        "metrics.podMonitor.tokenSecret: a PodMonitor needs it where pages are protected",
    ),
    ("metrics.service.port=1", "at '/metrics/service': additional properties 'port' not allowed"),
]


@pytest.mark.parametrize(("value", "says"), REFUSED, ids=[value for value, _ in REFUSED])
def test_bad_value_is_refused_in_words(helm: Helm, value: str, says: str) -> None:
    with pytest.raises(HelmError) as refused:
        helm.render(*sets(value))

    assert says in str(refused.value)


def test_cidrs_are_said_in_one_place_only(helm: Helm) -> None:
    twice = sets(
        "worker.instanceIsolationPodCIDRs=10.244.0.0/16",
        "worker.env.GPUSTACK_INSTANCE_ISOLATION_POD_CIDRS=10.0.0.0/8",
    )

    with pytest.raises(HelmError, match="the chart sets it already"):
        helm.render(*twice)


def test_budget_that_blocks_every_drain_is_refused(helm: Helm) -> None:
    budget = "worker.podDisruptionBudget"

    with pytest.raises(HelmError, match="would block every drain of a node: lower it"):
        helm.render(*sets(f"{budget}.enabled=true", f"{budget}.minAvailable=1"))


def test_pages_are_not_scraped_twice(helm: Helm) -> None:
    both = sets("metrics.serviceMonitor.enabled=true", "metrics.podMonitor.enabled=true")

    with pytest.raises(HelmError, match="both would scrape every page twice; enable one"):
        helm.render(*both)


def test_monitor_of_a_service_that_is_not_made_is_refused(helm: Helm) -> None:
    blind = sets("metrics.serviceMonitor.enabled=true", "metrics.service.enabled=false")

    with pytest.raises(HelmError, match=r"needs metrics\.service\.enabled"):
        helm.render(*blind)


def test_old_kubernetes_is_refused(helm: Helm) -> None:
    with pytest.raises(HelmError, match=r"incompatible with Kubernetes v1\.28\.9"):
        helm.render("--kube-version", "1.28.9")

    assert helm.deployment("--kube-version", "1.29.0")


def test_values_of_charts_around_it_are_let_in(helm: Helm) -> None:
    """Globals belong to everybody, and `enabled` is how a chart around ours switches it."""
    assert helm.render(*sets("global.storageClass=fast", "enabled=true"))


def test_value_without_meaning_is_refused_by_lint_too(helm: Helm) -> None:
    with pytest.raises(HelmError, match="1 chart\\(s\\) failed"):
        helm("lint", CHART, "--set", "worker.replica=2")
