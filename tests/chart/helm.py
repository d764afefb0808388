"""Helm as the tests use it: with a home of its own, and rendered manifests as objects."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml

CHECKOUT = Path(__file__).parents[2]
CHART = CHECKOUT / "helm" / "gpustack-ctrl"
RELEASE = "operator"
NAMESPACE = "gpustack-system"
OPERATOR = "gpustack-ctrl"
EXPORTER = "gpustack-ctrl-exporter"

Manifest = Mapping[str, Any]


class HelmError(Exception):
    """Helm refused; the message is what it said."""


@attrs.frozen(kw_only=True)
class Helm:
    """A Helm that knows no configuration but that below *home*."""

    program: Path
    home: Path
    environment: Mapping[str, str] = attrs.field(factory=dict)

    def __call__(self, *arguments: str | Path) -> str:
        """What Helm prints. Raises HelmError."""
        homes = {f"HELM_{kind}_HOME": str(self.home / kind) for kind in ("CACHE", "CONFIG", "DATA")}
        done = subprocess.run(
            [self.program, *arguments],
            env={"PATH": os.defpath, "HOME": str(self.home), **homes, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise HelmError(done.stderr)
        return done.stdout

    def render(self, *arguments: str | Path) -> Sequence[Manifest]:
        """The objects of the chart with the values that *arguments* say."""
        text = self("template", RELEASE, CHART, "--namespace", NAMESPACE, *arguments)
        return [document for document in yaml.safe_load_all(text) if document]

    def deployment(self, *arguments: str | Path) -> Manifest:
        """The Deployment of the operator."""
        return only(self.render(*arguments), "Deployment", OPERATOR)

    def exporter(self, *arguments: str | Path) -> Manifest:
        """The Deployment of the exporter, or its DaemonSet."""
        workloads = ("Deployment", "DaemonSet")
        (found,) = [
            manifest
            for manifest in self.render(*arguments)
            if manifest["kind"] in workloads and EXPORTER == manifest["metadata"]["name"]
        ]
        return found


def only(manifests: Sequence[Manifest], kind: str, name: str = "") -> Manifest:
    """The one object of *kind*, and of that *name* if one is given, among *manifests*."""
    (found,) = [
        manifest
        for manifest in manifests
        if manifest["kind"] == kind and name in {"", manifest["metadata"]["name"]}
    ]
    return found


def pod(deployment: Manifest) -> Manifest:
    """The spec of the Pods of *deployment*."""
    spec: Manifest = deployment["spec"]["template"]["spec"]
    return spec


def container(deployment: Manifest) -> Manifest:
    """The one container of *deployment*."""
    (found,) = pod(deployment)["containers"]
    spec: Manifest = found
    return spec


def variables(deployment: Manifest) -> Mapping[str, str]:
    """The variables that *deployment* gives as plain values."""
    return {
        entry["name"]: entry["value"] for entry in container(deployment)["env"] if "value" in entry
    }


def sets(*values: str) -> Iterator[str]:
    """Arguments that set *values*, such as worker.replicas=2."""
    for value in values:
        yield from ("--set", value)
