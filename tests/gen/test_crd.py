"""CustomResourceDefinitions: names, columns, and the digest that tells them apart."""

import copy
from typing import Any

import attrs
import pytest

from gpustack_ctrl.api import names
from gpustack_ctrl.gen.crd import KINDS, Kind, crd, crds, digest_of


def _version(definition: dict[str, Any]) -> dict[str, Any]:
    [version] = definition["spec"]["versions"]
    return dict(version)


def test_each_kind_has_its_names() -> None:
    assert [
        ("instances.worker.gpustack.ai", "Instance", "inst", "Namespaced"),
        ("instancetypes.worker.gpustack.ai", "InstanceType", "instype", "Cluster"),
        (
            "instancesshpublickeys.worker.gpustack.ai",
            "InstanceSSHPublicKey",
            "instkey",
            "Namespaced",
        ),
        ("settings.gpustack.ai", "Setting", "set", "Namespaced"),
    ] == [
        (
            it["metadata"]["name"],
            it["spec"]["names"]["kind"],
            *it["spec"]["names"]["shortNames"],
            it["spec"]["scope"],
        )
        for it in crds()
    ]


def test_every_kind_tells_its_status_in_a_subresource() -> None:
    assert all("status" in _version(it)["subresources"] for it in crds())


def test_a_wide_column_is_shown_only_on_request() -> None:
    columns = _version(crd(KINDS[0]))["additionalPrinterColumns"]

    assert {"Message", "Image"} == {it["name"] for it in columns if it.get("priority") == 1}
    assert {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"} in columns


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.resource.plural)
def test_the_digest_is_stable_and_follows_the_spec(kind: Kind) -> None:
    moved = attrs.evolve(kind, short_name="other")

    assert "" != digest_of(crd(kind)) == digest_of(crd(kind))
    assert digest_of(crd(moved)) != digest_of(crd(kind))


def test_a_foreign_crd_has_no_digest() -> None:
    foreign = copy.deepcopy(crd(KINDS[0]))
    del foreign["metadata"]["annotations"]

    assert "" == digest_of(foreign)


def test_every_kind_of_ours_has_a_crd() -> None:
    ours = {
        value
        for value in vars(names).values()
        if isinstance(value, type(names.INSTANCE)) and value.group.endswith("gpustack.ai")
    }

    assert ours == {kind.resource for kind in KINDS}
