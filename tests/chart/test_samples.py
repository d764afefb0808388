"""The samples, decided upon: each shows another way to hold a card."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
import yaml

from e2e.cluster.nodes import MACHINE, accelerators
from gpustack_ctrl.api.codec import reader
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.instance_type import InstanceType
from gpustack_ctrl.api.resources import Family
from gpustack_ctrl.reconcilers.accelerators.request import AcceleratorRequest, request
from tests.chart.helm import CHECKOUT, Manifest

SAMPLES = CHECKOUT / "deploy" / "samples"
OFFERED = {**MACHINE, **accelerators(8, "nvidia")}


def manifests(path: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(path.read_text()))


def types() -> dict[str, InstanceType]:
    read = reader(InstanceType)
    found = [read(msgspec.json.encode(manifest)) for manifest in manifests(SAMPLES / "types.yaml")]
    return {one.metadata.name: one for one in found}


def instance(name: str) -> Instance:
    (manifest,) = manifests(SAMPLES / name)
    read: Callable[[bytes], Instance] = reader(Instance)
    return read(msgspec.json.encode(manifest))


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("whole.yaml", Family.WHOLE),
        ("shared.yaml", Family.SHARED),
        ("sliced.yaml", Family.SLICED),
        ("cpu.yaml", None),
    ],
)
def test_sample_asks_for_what_its_name_says(name: str, family: Family | None) -> None:
    """Of its type, in a family of its own, and of resources that a simulated node offers."""
    sample = instance(name)

    asked = request(types()[sample.spec.type].spec, sample.spec.resources)

    assert isinstance(asked, AcceleratorRequest)
    assert family == asked.family
    assert asked.main.keys() <= OFFERED.keys()


def test_every_sample_is_listed() -> None:
    listed = set(yaml.safe_load((SAMPLES / "kustomization.yaml").read_text())["resources"])

    assert {path.name for path in SAMPLES.iterdir()} == {*listed, "kustomization.yaml"}


def test_two_tenants_share_the_samples() -> None:
    tenants = {manifest["metadata"]["name"] for manifest in manifests(SAMPLES / "tenants.yaml")}
    samples = [instance(f"{name}.yaml") for name in ("whole", "shared", "sliced", "cpu")]

    assert 2 == len(tenants)
    assert tenants == {sample.metadata.namespace for sample in samples}
