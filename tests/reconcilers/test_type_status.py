"""What an InstanceType tells of itself."""

from typing import Any

import attrs
import pytest

from gpustack_ctrl.api.instance_type import InstanceTypeSpec, InstanceTypeStatus, View
from gpustack_ctrl.api.manufacturers import MANUFACTURERS
from gpustack_ctrl.reconcilers.types.capacity import NodeUse
from gpustack_ctrl.reconcilers.types.status import TypeSnapshot, type_status
from tests.helpers.builders import instance_type

GPU = "nvidia.com/gpu"
NODE = NodeUse(offers={GPU: 8, f"{GPU}.shared": 80}, held={GPU: 3})


def told(*uses: NodeUse, **offered: Any) -> InstanceTypeStatus:
    spec = InstanceTypeSpec(**({"manufacturer": "nvidia"} | offered))
    return type_status(
        TypeSnapshot(type=instance_type(spec), uses=uses, manufacturers=MANUFACTURERS)
    )


def test_the_summary_has_a_place_for_each_family_and_a_hyphen_where_there_is_none() -> None:
    assert "5/5  80/80  -  -" == told(NODE).summary


def test_the_most_of_one_request_comes_before_all_that_is_left() -> None:
    assert "5/10  80/160  -  -" == told(NODE, NODE).summary
    assert View(capacity=16, allocated=6, remaining=10, onceMaxRequest=5) == told(NODE, NODE).whole


@pytest.mark.parametrize(
    ("offered", "uses", "phase", "words"),
    [
        ({}, (NODE,), "Active", ""),
        ({"inactive": True}, (NODE,), "Inactive", "no new Instances are made, running ones stay"),
        ({}, (), "Active", "no node that is Ready and takes Pods"),
        ({"manufacturer": ""}, (NODE,), "Active", ""),
        ({"manufacturer": "acme"}, (NODE,), "Active", "'acme' is not known"),
        ({"manufacturer": "acme", "inactive": True}, (), "Inactive", "'acme' is not known"),
    ],
)
def test_phase_and_message(
    offered: dict[str, Any], uses: tuple[NodeUse, ...], phase: str, words: str
) -> None:
    found = told(*uses, **offered)

    assert phase == found.phase
    assert words in found.message
    assert bool(words) == bool(found.message)
    assert len(uses) == found.nodes


def test_a_type_without_cards_has_no_views() -> None:
    found = told(NODE, manufacturer="")

    assert ("", View()) == (found.summary, found.whole)


def test_a_maker_that_an_administrator_added_is_known() -> None:
    acme = attrs.evolve(MANUFACTURERS["nvidia"], key="acme", resource="acme.example/card")
    seen = TypeSnapshot(
        type=instance_type(InstanceTypeSpec(manufacturer="acme")),
        uses=(NodeUse(offers={"acme.example/card": 4}, held={}),),
        manufacturers={"acme": acme},
    )

    assert "4/4  -  -  -" == type_status(seen).summary
