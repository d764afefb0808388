"""What the chart renders, and that the command understands it."""

import json
import os
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from gpustack_ctrl import cli
from gpustack_ctrl.flags import options
from gpustack_ctrl.gen.crd import KINDS
from gpustack_ctrl.options import ExporterOptions, Options
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION
from tests.chart.helm import (
    CHART,
    CHECKOUT,
    EXPORTER,
    OPERATOR,
    Helm,
    Manifest,
    container,
    only,
    pod,
    sets,
    variables,
)

VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
EVERYTHING = CHART / "ci" / "everything-values.yaml"
LEAST = CHART / "ci" / "least-values.yaml"
# Known to the schema, but without a default: for charts around ours, and for rare needs.
WITHOUT_DEFAULT = {
    "enabled",
    "exporter.resources.claims",
    *(
        f"metrics.{kind}.tokenSecret.{part}"
        for kind in ("serviceMonitor", "podMonitor")
        for part in ("name", "key")
    ),
    "worker.livenessProbe.successThreshold",
    "worker.readinessProbe.initialDelaySeconds",
    "worker.readinessProbe.successThreshold",
    "worker.resources.claims",
}


@pytest.mark.parametrize("values", [CHART / "values.yaml", *VALUES], ids=lambda path: path.stem)
def test_lint_finds_nothing(helm: Helm, values: os.PathLike[str]) -> None:
    assert "0 chart(s) failed" in helm("lint", CHART, "--strict", "--values", str(values))


def test_everything_optional_can_be_left_out(helm: Helm) -> None:
    left = helm.render("--values", LEAST)

    assert [("Deployment", OPERATOR)] == [
        (manifest["kind"], manifest["metadata"]["name"]) for manifest in left
    ]


def test_no_secret_is_ever_rendered(helm: Helm) -> None:
    assert "Secret" not in {manifest["kind"] for manifest in helm.render("--values", EVERYTHING)}


def test_every_crd_survives_an_uninstall(helm: Helm) -> None:
    kept = {
        manifest["metadata"]["name"]: manifest["metadata"]["annotations"]["helm.sh/resource-policy"]
        for manifest in helm.render()
        if manifest["kind"] == "CustomResourceDefinition"
    }

    assert {kind.resource.full_name: "keep" for kind in KINDS} == kept


@pytest.mark.parametrize(
    ("values", "image"),
    [
        ((), "gpustack/gpustack-ctrl:0.1.0"),
        (("image.tag=edge",), "gpustack/gpustack-ctrl:edge"),
        (("image.registry=own.example:5000",), "own.example:5000/gpustack/gpustack-ctrl:0.1.0"),
        (
            ("image.registry=own.example", "global.imageRegistry=all.example"),
            "all.example/gpustack/gpustack-ctrl:0.1.0",
        ),
        (("global.imageNamespace=a/b",), "a/b/gpustack-ctrl:0.1.0"),
        (
            (f"image.digest=sha256:{'0' * 64}", "image.tag=edge"),
            f"gpustack/gpustack-ctrl@sha256:{'0' * 64}",
        ),
    ],
)
def test_image_is_put_together(helm: Helm, values: tuple[str, ...], image: str) -> None:
    assert image == container(helm.deployment(*sets(*values)))["image"]


@pytest.mark.parametrize(
    ("value", "seed"),
    [
        ("10.244.0.0/16", "10.244.0.0/16"),
        (r"10.244.0.0/16\, fd00::/48", "10.244.0.0/16,fd00::/48"),
        ("{10.244.0.0/16,fd00::/48}", "10.244.0.0/16,fd00::/48"),
        ("", None),
        ("{}", None),
    ],
)
def test_n7_pod_cidrs_seed_the_setting(helm: Helm, value: str, seed: str | None) -> None:
    """A string or a list becomes the variable that the operator reads, in a form it accepts."""
    said = variables(helm.deployment(*sets(f"worker.instanceIsolationPodCIDRs={value}")))

    assert seed == said.get(ISOLATION.variable)
    assert bool(seed) == bool(ISOLATION.parse(seed or ISOLATION.default))


@pytest.mark.parametrize("values", [CHART / "values.yaml", *VALUES], ids=lambda path: path.stem)
def test_command_understands_its_arguments(helm: Helm, values: os.PathLike[str]) -> None:
    deployment = helm.deployment("--values", str(values))

    given = cli.parser().parse_args(container(deployment)["args"])
    told = options(Options, given, variables(deployment))

    assert told.leader_elect
    assert ":8080" == told.metrics_bind_address
    assert ":8081" == told.health_probe_bind_address


@pytest.mark.parametrize(
    "values",
    [CHART / "values.yaml", *(path for path in VALUES if path != LEAST)],
    ids=lambda path: path.stem,
)
def test_exporter_understands_its_arguments(helm: Helm, values: os.PathLike[str]) -> None:
    exporter = helm.exporter("--values", str(values))

    given = cli.parser().parse_args(container(exporter)["args"])
    told = options(ExporterOptions, given, variables(exporter))

    assert told.metrics_protection
    assert (":8080", ":8081") == (told.metrics_bind_address, told.health_probe_bind_address)


@pytest.mark.parametrize(
    ("values", "operator_tells"),
    [
        ((), False),
        (("exporter.mode=Node",), True),
        (("exporter.enabled=false",), True),
    ],
)
def test_series_of_each_instance_are_told_once(
    helm: Helm, values: tuple[str, ...], *, operator_tells: bool
) -> None:
    """By the exporter of the whole cluster, else by the operator."""
    operator = helm.deployment(*sets(*values))

    given = cli.parser().parse_args(container(operator)["args"])

    assert operator_tells == options(Options, given, variables(operator)).instance_metrics


def test_exporter_of_a_node_knows_which_one_and_where_its_socket_is(helm: Helm) -> None:
    exporter = helm.exporter(*sets("exporter.mode=Node"))
    (node,) = [it for it in container(exporter)["env"] if it["name"] == "GPUSTACK_NODE_NAME"]

    given = cli.parser().parse_args(container(exporter)["args"])
    folder = os.path.dirname(given.pod_resources_socket)  # noqa: PTH120 -- a path of the node.

    assert "spec.nodeName" == node["valueFrom"]["fieldRef"]["fieldPath"]
    assert [folder] == [
        it["hostPath"]["path"] for it in pod(exporter)["volumes"] if "hostPath" in it
    ]
    assert {"name": "pod-resources", "mountPath": folder, "readOnly": True} in container(exporter)[
        "volumeMounts"
    ]
    assert 0 == pod(exporter)["securityContext"]["runAsUser"]


@pytest.mark.parametrize("values", [(), ("exporter.mode=Node", "exporter.podResources=false")])
def test_exporter_needs_nothing_of_its_node_unless_told(
    helm: Helm, values: tuple[str, ...]
) -> None:
    exporter = helm.exporter(*sets(*values))

    assert [] == [it for it in pod(exporter)["volumes"] if "hostPath" in it]
    assert pod(exporter)["securityContext"]["runAsNonRoot"]
    assert (
        ""
        == options(
            ExporterOptions, cli.parser().parse_args(container(exporter)["args"]), {}
        ).pod_resources_socket
    )


def test_both_may_ask_who_scrapes_only_where_pages_are_protected(helm: Helm) -> None:
    off = ("exporter.protection.enabled=false", "metrics.protection.enabled=false")
    guard = "gpustack-metrics-guard"

    assert only(helm.render(), "ClusterRole", guard)
    assert only(helm.render(*sets(off[0])), "ClusterRole", guard)
    assert not [it for it in helm.render(*sets(*off)) if it["metadata"]["name"] == guard]


@pytest.mark.parametrize(
    ("part", "value"),
    [("deployment", "metrics.protection"), ("exporter", "exporter.protection")],
)
def test_protection_is_switched_for_each_page(helm: Helm, part: str, value: str) -> None:
    find = getattr(helm, part)
    usual, open_, named = (
        find(),
        find(*sets(f"{value}.enabled=false")),
        find(*sets(f"{value}.tlsSecretName=cert")),
    )
    files = {"--tls-cert-file=/etc/gpustack-ctrl/tls/tls.crt",
             "--tls-key-file=/etc/gpustack-ctrl/tls/tls.key"}  # fmt: skip

    assert "--metrics-protection" in container(usual)["args"]
    assert "--metrics-protection" not in container(open_)["args"]
    assert "https" == scraped(usual)["prometheus.io/scheme"]
    assert "prometheus.io/scheme" not in scraped(open_)
    assert files <= set(container(named)["args"])
    assert {"name": "tls", "secret": {"secretName": "cert"}} in pod(named)["volumes"]
    assert "/etc/gpustack-ctrl/tls" in {it["mountPath"] for it in container(named)["volumeMounts"]}
    assert not files & set(container(usual)["args"])


def scraped(workload: Manifest) -> Mapping[str, str]:
    """The annotations of its Pods."""
    found: Mapping[str, str] = workload["spec"]["template"]["metadata"].get("annotations", {})
    return found


@pytest.mark.parametrize(
    ("values", "kind", "endpoints"),
    [
        (CHART / "ci" / "service-monitor-values.yaml", "ServiceMonitor", "endpoints"),
        (CHART / "ci" / "pod-monitor-values.yaml", "PodMonitor", "podMetricsEndpoints"),
    ],
)
def test_monitors_find_both_pages_and_send_a_token(
    helm: Helm, values: os.PathLike[str], kind: str, endpoints: str
) -> None:
    made = helm.render("--values", str(values))
    monitors = {it["metadata"]["name"]: it for it in made if it["kind"] == kind}
    workloads = {
        it["metadata"]["name"]: it for it in made if it["kind"] in {"Deployment", "DaemonSet"}
    }
    (first, second) = [it["spec"][endpoints] for it in monitors.values()]

    assert {OPERATOR, EXPORTER} == set(monitors) == set(workloads)
    assert first == second
    assert "https" == first[0]["scheme"]
    assert first[0]["honorLabels"]
    assert {"authorization", "bearerTokenFile"} & set(first[0])
    for name, monitor in monitors.items():
        labels = workloads[name]["spec"]["template"]["metadata"]["labels"]
        assert monitor["spec"]["selector"]["matchLabels"].items() <= labels.items()
        assert {} == scraped(workloads[name])  # Else they would be scraped twice.


def test_rules_and_dashboards_come_as_they_were_generated(helm: Helm) -> None:
    made = helm.render("--values", CHART / "ci" / "service-monitor-values.yaml")
    generated = CHECKOUT / "deploy" / "monitoring"
    boards = {path.name: json.loads(path.read_text()) for path in generated.glob("dashboards/*")}
    rules, held = only(made, "PrometheusRule"), [it for it in made if it["kind"] == "ConfigMap"]
    told = {name: json.loads(text) for it in held for name, text in it["data"].items()}

    assert yaml.safe_load((generated / "rules.yaml").read_text()) == rules["spec"]
    assert "monitoring" == rules["metadata"]["labels"]["release"]
    assert boards
    assert {f"gpustack-{name}": board for name, board in boards.items()} == told
    assert {"1"} == {it["metadata"]["labels"]["grafana_dashboard"] for it in held}


def test_certificates_are_verified_once_there_is_a_ca(helm: Helm) -> None:
    monitor = "metrics.serviceMonitor"
    usual = helm.render(*sets(f"{monitor}.enabled=true"))
    with_ca = helm.render("--values", CHART / "ci" / "service-monitor-values.yaml")
    told = [only(made, "ServiceMonitor", EXPORTER)["spec"]["endpoints"][0]["tlsConfig"]
            for made in (usual, with_ca)]  # fmt: skip

    assert {"insecureSkipVerify": True} == told[0]
    assert {"ca", "serverName"} == set(told[1])


def test_pods_spread_over_nodes_unless_told_otherwise(helm: Helm) -> None:
    usual = helm.deployment()
    (preferred,) = pod(usual)["affinity"]["podAntiAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]

    assert usual["spec"]["selector"] == preferred["podAffinityTerm"]["labelSelector"]
    assert {"nodeAffinity"} == set(pod(helm.deployment("--values", EVERYTHING))["affinity"])


def test_selectors_find_the_pods(helm: Helm) -> None:
    manifests = helm.render("--values", EVERYTHING)
    labels = only(manifests, "Deployment")["spec"]["template"]["metadata"]["labels"]
    others = only(manifests, "DaemonSet", EXPORTER)["spec"]["template"]["metadata"]["labels"]
    selectors = [
        only(manifests, "Deployment")["spec"]["selector"]["matchLabels"],
        only(manifests, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        only(manifests, "Service", f"{OPERATOR}-metrics")["spec"]["selector"],
    ]
    of_exporter = [
        only(manifests, "DaemonSet")["spec"]["selector"]["matchLabels"],
        only(manifests, "Service", EXPORTER)["spec"]["selector"],
    ]

    assert [True] * 3 == [selector.items() <= labels.items() for selector in selectors]
    assert [False] * 3 == [selector.items() <= others.items() for selector in selectors]
    assert [True] * 2 == [selector.items() <= others.items() for selector in of_exporter]


def test_labels_of_users_change_none_of_ours(helm: Helm) -> None:
    name = r"app\.kubernetes\.io/name"
    deployment = helm.deployment(
        *sets(f"worker.podLabels.{name}=theirs", f"commonLabels.{name}=theirs")
    )

    labels = deployment["spec"]["template"]["metadata"]["labels"]
    assert "gpustack-ctrl" == labels["app.kubernetes.io/name"]


def test_schema_and_defaults_know_the_same_values() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text())
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())
    known = set(_known(schema, schema["$defs"]))

    assert known - WITHOUT_DEFAULT == set(_given(defaults)) & known
    assert set() == {path for path in _given(defaults) if not _covered(path, known)}


def test_versions_are_one() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["version"]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    deploy = CHECKOUT / "deploy"
    (image,), (per_node,) = (
        yaml.safe_load((folder / "kustomization.yaml").read_text())["images"]
        for folder in (deploy, deploy / "exporter-per-node")
    )

    assert image == per_node
    assert {project} == {chart["version"], chart["appVersion"], image["newTag"]}
    assert f"ARG VERSION={project}\n" in (CHECKOUT / "Dockerfile").read_text()


def _known(schema: Mapping[str, Any], shared: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """The paths of the values that *schema* names, innermost ones only."""
    name = schema.get("$ref", "").removeprefix("#/$defs/")
    schema = shared.get(name, schema)
    if "properties" not in schema:
        yield path
        return
    for key, inner in schema["properties"].items():
        yield from _known(inner, shared, f"{path}.{key}".lstrip("."))


def _given(values: object, path: str = "") -> Iterator[str]:
    """The paths of all *values*, inner and outer."""
    if path:
        yield path
    if isinstance(values, dict):
        for key, inner in values.items():
            yield from _given(inner, f"{path}.{key}".lstrip("."))


def _covered(path: str, known: set[str]) -> bool:
    """Whether *path* leads to a known value, or into one."""
    return any(f"{one}.".startswith(f"{path}.") or path.startswith(f"{one}.") for one in known)
