"""Figures of cards, from a source on the node to Prometheus: to each its own, and no more."""

from collections.abc import Iterator

import pytest

from e2e.node import RealNode
from e2e.node.layout import NODE
from e2e.tests.keys import new_user
from e2e.tests.metrics.cards import FREE_MIB, RESERVED_MIB, USED_MIB, Cards
from e2e.tests.metrics.metering import named
from e2e.tests.metrics.prometheus import Prometheus
from e2e.tests.team import Team, tenancy

MI = 1 << 20
TOTAL_MIB = USED_MIB + FREE_MIB + RESERVED_MIB
_SMALL = {"cpu": "50m", "ram": "32Mi"}
# What is told of each card but for its use.
FIGURES = {
    "accelerator_memory_used_bytes": USED_MIB * MI,
    "accelerator_memory_limit_bytes": TOTAL_MIB * MI,
    "accelerator_temperature_celsius": 47.0,
    "accelerator_power_usage_watts": 213.5,
    "accelerator_memory_total_mib": TOTAL_MIB,
    "accelerator_memory_used_mib": USED_MIB,
    "accelerator_memory_utilization_percent": 100 * USED_MIB // TOTAL_MIB,
}


@pytest.fixture(scope="module")
def holders(
    shop: RealNode,
    prometheus: Prometheus,
    cards: Cards,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Team]:
    """One who has two cards, and a login that looks at them; and one who has a share."""
    with tenancy(shop) as team:
        team.add_keys("me", new_user(tmp_path_factory.mktemp("user")).public)
        login = {"sshPublicKey": {"name": "me"}, "ports": [{"port": 22}]}
        two = {**_SMALL, "accelerator": "2"}
        team.create("whole", type="nvidia", resources=two, **login)
        share = {**_SMALL, "acceleratorShared": True}
        team.create("sharing", type="nvidia", resources=share)
        for name in ("whole", "sharing"):
            team.wait_for("Ready", name)
        cards.add("GPU-a", (team.namespace, "whole"), GPU_UTIL=25)
        cards.add("GPU-b", (team.namespace, "whole"), GPU_UTIL=75, XID_ERRORS=79)
        cards.add("GPU-c", (team.namespace, "sharing"), GPU_UTIL=50)
        yield team


def by_card(prometheus: Prometheus, family: str, team: Team, name: str) -> dict[str, float]:
    """The values of *family* of an Instance, by the card's id."""
    return {told.labels["id"]: told.value for told in prometheus.ask(named(family, team, name))}


def test_each_card_is_told_of_who_has_it(prometheus: Prometheus, holders: Team) -> None:
    ratio = "accelerator_utilization_ratio"
    both = prometheus.wait(f"count({named(ratio, holders, 'whole')}) == 2")
    told = {family: by_card(prometheus, family, holders, "whole") for family in FIGURES}

    assert 2 == both.value
    assert {"GPU-a": 0.25, "GPU-b": 0.75} == by_card(prometheus, ratio, holders, "whole")
    percent = "accelerator_cores_utilization_percent"
    assert {"GPU-a": 25.0, "GPU-b": 75.0} == by_card(prometheus, percent, holders, "whole")
    ill = "accelerator_unhealthy"
    assert {"GPU-a": 0.0, "GPU-b": 1.0} == by_card(prometheus, ill, holders, "whole")
    assert {family: {"GPU-a": value, "GPU-b": value} for family, value in FIGURES.items()} == told


def test_labels_name_the_card_and_how_it_is_held(prometheus: Prometheus, holders: Team) -> None:
    told = prometheus.wait(named("accelerator_unhealthy", holders, "whole", id="GPU-a")).labels

    assert {
        "namespace": holders.namespace,
        "instance_name": "whole",
        "instance_uid": holders.instance("whole")["metadata"]["uid"],
        "node": NODE,
        "id": "GPU-a",
        "index": "2",
        "manufacturer": "nvidia",
        "mode": "Exclusive",
        "job": "gpustack-ctrl-exporter",
    } == {key: value for key, value in told.items() if key != "instance"}


def test_the_use_of_a_shared_card_is_not_that_of_one_who_shares_it(
    prometheus: Prometheus, holders: Team
) -> None:
    """Its source names one of them; how ill or warm it is holds for all."""
    prometheus.wait(named("accelerator_unhealthy", holders, "sharing", mode="Shared"))
    untold = prometheus.ask('gpustack_accelerator_process_capability{id="GPU-c"}')

    for family in ("utilization_ratio", "memory_used_bytes", "cores_utilization_percent"):
        assert {} == by_card(prometheus, f"accelerator_{family}", holders, "sharing")
    assert {("cores", "mediated"), ("memory", "mediated")} == {
        (told.labels["entry_point"], told.labels["reason"]) for told in untold
    }


def test_what_a_card_is_told_ends_with_the_pod(prometheus: Prometheus, holders: Team) -> None:
    """Though the source goes on to name it."""
    ratio = named("accelerator_utilization_ratio", holders, "whole")
    prometheus.wait(f"count({ratio}) == 2")
    holders.edit("whole", stop=True)
    holders.gone("pods", "whole")
    prometheus.silent(ratio)
    accelerators = named("accelerators", holders, "whole")

    assert 2 == prometheus.value(accelerators), "it still asks for them"
