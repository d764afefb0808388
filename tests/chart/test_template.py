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
from gpustack_ctrl.options import Options
from gpustack_ctrl.reconcilers.settings.catalogue import ISOLATION
from tests.chart.helm import CHART, CHECKOUT, Helm, container, only, pod, sets, variables

VALUES = sorted((CHART / "ci").glob("*-values.yaml"))
EVERYTHING = CHART / "ci" / "everything-values.yaml"
LEAST = CHART / "ci" / "least-values.yaml"
# Known to the schema, but without a default: for charts around ours, and for rare needs.
WITHOUT_DEFAULT = {
    "enabled",
    "worker.livenessProbe.successThreshold",
    "worker.readinessProbe.initialDelaySeconds",
    "worker.readinessProbe.successThreshold",
    "worker.resources.claims",
}


@pytest.mark.parametrize("values", [CHART / "values.yaml", *VALUES], ids=lambda path: path.stem)
def test_lint_finds_nothing(helm: Helm, values: os.PathLike[str]) -> None:
    assert "0 chart(s) failed" in helm("lint", CHART, "--strict", "--values", str(values))


def test_everything_optional_can_be_left_out(helm: Helm) -> None:
    assert ["Deployment"] == [manifest["kind"] for manifest in helm.render("--values", LEAST)]


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
    selectors = [
        only(manifests, "Deployment")["spec"]["selector"]["matchLabels"],
        only(manifests, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        only(manifests, "Service")["spec"]["selector"],
    ]

    assert [True, True, True] == [selector.items() <= labels.items() for selector in selectors]


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
    (image,) = yaml.safe_load((CHECKOUT / "deploy" / "kustomization.yaml").read_text())["images"]

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
