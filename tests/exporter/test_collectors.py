"""What is asked of nodes, how often, and what of it is told."""

import asyncio
from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random

import attrs
import pytest
from structlog.testing import capture_logs

from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.exporter.node_collector import JITTER, MOST_PERIODS
from tests.exporter.fleet import PERIOD, SECONDS, Answer, Fleet, fleet, hang
from tests.helpers.builders import instance, node
from tests.helpers.clock import settle
from tests.metering.summaries import pod_stats, summary

CPU = "gpustack_instance_cpu_usage_seconds_total"
SUCCESS = "gpustack_instance_metrics_collector_success"
FAILURE = "gpustack_instance_metrics_collector_failure"
MISSING = "gpustack_instance_metrics_missing"
SINCE = "gpustack_instance_metrics_collector_last_success_timestamp_seconds"
REFUSED = SourceError(Unread.UNREACHABLE, "connection refused")
RESOURCE = 'pod_cpu_usage_seconds_total{namespace="team",pod="box"} 7 '


def one_node(answer: Answer | None = None) -> Fleet:
    """An Instance on a node that answers."""
    held = fleet()
    held.add("box", "node-1")
    held.kubelets.answers["node-1"] = held.answer_of("node-1") if answer is None else answer
    return held


def success(held: Fleet, name: str = "node-1", source: str = "kubelet") -> float | None:
    """Whether the last reading of the node succeeded, by the page."""
    found = held.series(SUCCESS, node=name, source=source)
    return found[0].value if found else None


def reasons(held: Fleet, name: str = "node-1") -> list[tuple[str, str]]:
    """Why readings of the node fail, by the page."""
    return [(it.labels["source"], it.labels["reason"]) for it in held.series(FAILURE, node=name)]


async def test_a_node_is_read_once_in_a_period_and_told_at_once() -> None:
    held = one_node()
    async with held.running():
        await held.clock.advance(1)
        assert {"box"} == held.told(CPU)
        assert success(held) == 1
        await held.clock.advance(10 * PERIOD)

    times = held.kubelets.times("node-1")
    assert {PERIOD} == {after - before for before, after in pairwise(times)}
    assert len(times) == 11


async def test_first_readings_are_spread_and_the_next_are_jittered() -> None:
    """A random number between 0 and 1 is asked for each time; here are both its ends."""
    for number, first, pause in ((0.0, 0, 1 - JITTER), (1.0, 1, 1 + JITTER)):
        held = fleet(random=lambda number=number: number)  # type: ignore[misc]
        held.add("box", "node-1")
        held.kubelets.answers["node-1"] = held.answer_of("node-1")
        async with held.running():
            began = held.clock.monotonic()
            await held.clock.advance(20)
        assert [began + first, began + first + pause * PERIOD] == held.kubelets.times("node-1")


async def test_many_nodes_found_together_are_spread_over_a_period() -> None:
    numbers = iter(range(1000))
    held = fleet(random=lambda: next(numbers) % 100 / 100)
    for number in range(1, 101):
        held.add(f"box-{number}", f"node-{number}")
    held.kubelets.default = summary()
    async with held.running():
        began = held.clock.monotonic()
        await held.clock.advance(100 / PERIOD)
    moments = [moment - began for moment, _, _ in held.kubelets.asked]

    assert len(moments) >= 100
    assert sum(moment < 1 for moment in moments) < 20


async def test_a_node_without_instances_is_asked_nothing_and_tells_nothing() -> None:
    held = one_node()
    held.add_node("node-2")
    held.add_pod(instance(name="orphan", uid="uid-of-nobody"), "node-2")
    async with held.running():
        await held.clock.advance(5 * PERIOD)

    assert {"node-1"} == {name for _, name, _ in held.kubelets.asked}
    assert {"node-1"} == held.told(SUCCESS, "node")


async def test_at_most_one_request_of_a_node_and_n_in_all_also_when_nodes_hang() -> None:
    held = fleet(in_flight=8)
    for number in range(1, 61):
        held.add(f"box-{number}", f"node-{number}")
    async with held.running():
        await held.clock.advance(40 * PERIOD)

    assert held.kubelets.most_of_one == 1
    assert held.kubelets.most_at_once == 8
    assert {f"node-{number}" for number in range(1, 61)} == held.told(SUCCESS, "node")


async def test_nodes_that_hang_leave_the_series_of_the_others_untouched() -> None:
    held = fleet(in_flight=8)
    for number in range(1, 41):
        name = f"node-{number}"
        held.add(f"box-{number}", name)
        held.kubelets.answers[name] = held.answer_of(name) if number > 20 else hang
    healthy = {f"box-{number}" for number in range(21, 41)}
    async with held.running():
        await held.clock.advance(4 * PERIOD)
        for _ in range(40):
            assert healthy == held.told(CPU)
            await held.clock.advance(PERIOD / 3)

    gaps = [
        after - before
        for name in (f"node-{number}" for number in range(21, 41))
        for before, after in pairwise(held.kubelets.times(name)[3:])
    ]
    assert max(gaps) <= PERIOD * (1 + JITTER)
    assert {("kubelet", "timeout")} == set(reasons(held))


async def test_a_failed_reading_takes_the_series_away_at_once_and_says_why() -> None:
    held = one_node()
    async with held.running():
        await held.clock.advance(1)
        [read] = held.series(SINCE)
        held.kubelets.answers["node-1"] = REFUSED
        await held.clock.advance(PERIOD)

        assert set() == held.told(CPU)
        assert success(held) == 0
        assert [("kubelet", "unreachable")] == reasons(held)
        assert [read] == held.series(SINCE)
        [missing] = held.series(MISSING)
        assert ("box", "unreachable") == (
            missing.labels["instance_name"], missing.labels["reason"]
        )  # fmt: skip

        held.kubelets.answers["node-1"] = held.answer_of("node-1")
        await held.clock.advance(PERIOD)
        assert {"box"} == held.told(CPU)
        assert (1, []) == (success(held), reasons(held))
        assert [] == held.series(MISSING)


async def test_a_node_that_fails_again_and_again_is_asked_less_and_less() -> None:
    held = one_node(REFUSED)
    async with held.running():
        await held.clock.advance(30 * PERIOD)
        held.kubelets.answers["node-1"] = held.answer_of("node-1")
        await held.clock.advance(MOST_PERIODS * PERIOD)
        assert {"box"} == held.told(CPU)
        asked = len(held.kubelets.times("node-1"))
        await held.clock.advance(3 * PERIOD)

    times = held.kubelets.times("node-1")
    gaps = [(after - before) / PERIOD for before, after in pairwise(times)]
    assert [1, 2, 4, 4] == gaps[:4]
    assert max(gaps) == MOST_PERIODS
    assert len(times) == asked + 3


async def test_an_answer_within_the_deadline_counts_and_a_later_one_does_not() -> None:
    async def slow(path: str) -> bytes:
        await held.clock.sleep(took)
        return await held.answer_of("node-1")(path)

    held, took = one_node(slow), SECONDS - 1
    async with held.running():
        await held.clock.advance(1 + SECONDS)
        assert success(held) == 1
        took = SECONDS + 1
        await held.clock.advance(2 * PERIOD)
        assert (0, [("kubelet", "timeout")]) == (success(held), reasons(held))


async def test_what_could_not_be_read_again_in_time_is_told_no_more_and_is_late() -> None:
    """The node's turn does not come, because all places are taken by others."""
    held = fleet(in_flight=1)
    held.add("box", "node-1")
    held.kubelets.answers["node-1"] = held.answer_of("node-1")
    async with held.running():
        await held.clock.advance(1)
        others = [asyncio.create_task(held.collectors.shared.lanes.patiently(forever))]
        others += [
            asyncio.create_task(held.collectors.shared.lanes.quickly(forever)) for _ in range(100)
        ]
        await held.clock.advance(2 * PERIOD - 1)
        assert {"box"} == held.told(CPU)
        await held.clock.advance(2)
        assert set() == held.told(CPU)
        assert (0, [("kubelet", "late")]) == (success(held), reasons(held))
        assert {"late"} == held.told(MISSING, "reason")
        for other in others:
            other.cancel()
        await settle()
        assert {"box"} == held.told(CPU)
        assert (1, []) == (success(held), reasons(held))


async def forever() -> None:
    """A request of another node that is not answered."""
    await hang("")


@pytest.mark.parametrize("hung", [20, 50, 100])
async def test_many_nodes_that_fail_together_leave_the_others_untouched(hung: int) -> None:
    """A network of its own for some of the nodes is gone: at once, in the middle of the work."""
    held = fleet(in_flight=16, random=Random(1).random)  # noqa: S311 -- only spreads.
    for number in range(1, 201):
        held.add(f"box-{number}", f"node-{number}")
        held.kubelets.answers[f"node-{number}"] = held.answer_of(f"node-{number}")
    healthy = {f"box-{number}" for number in range(hung + 1, 201)}
    async with held.running():
        await held.clock.advance(2 * PERIOD)
        held.kubelets.answers |= {f"node-{number}": hang for number in range(1, hung + 1)}
        for _ in range(30):
            await held.clock.advance(PERIOD / 3)
            assert healthy <= held.told(CPU)
        assert healthy == held.told(CPU)
    assert held.kubelets.most_at_once <= 16


async def test_a_slow_node_is_asked_twice_at_first_and_then_given_its_time() -> None:
    async def slow(path: str) -> bytes:
        await held.clock.sleep(took)
        return await held.answer_of("node-1")(path)

    held, took = one_node(slow), 3.0
    async with held.running():
        await held.clock.advance(5)
        assert ({"box"}, 2) == (held.told(CPU), len(held.kubelets.asked))
        await held.clock.advance(10 * PERIOD)
        assert ({"box"}, 12) == (held.told(CPU), len(held.kubelets.asked))


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", summary(pod_stats())[:100], b'{"pods":[{}]}', b"\xff" * 1000],
    ids=["nothing", "html", "half", "wrong", "bytes"],
)
async def test_garbage_is_told_as_such_and_the_shorter_page_tried(answer: bytes) -> None:
    held = one_node(answer)
    async with held.running():
        await held.clock.advance(1)

    assert ["/stats/summary", "/metrics/resource"] == [path for _, _, path in held.kubelets.asked]
    assert ("kubelet", "invalid_data") in reasons(held)
    assert set() == held.told(CPU)


@pytest.mark.parametrize(
    "reason", [Unread.FORBIDDEN, Unread.NOT_FOUND, Unread.HTTP_ERROR, Unread.TRUNCATED]
)
async def test_without_the_summary_the_shorter_page_tells_processor_and_memory(
    reason: Unread,
) -> None:
    held = one_node()
    taken = held.clock.now().timestamp() * 1000
    held.kubelets.answers["node-1"] = by_path(SourceError(reason, "no"), f"{RESOURCE}{taken:.0f}\n")
    async with held.running():
        await held.clock.advance(1)

    assert [7] == [it.value for it in held.series(CPU)]
    assert (0, 1) == (success(held), success(held, source="kubelet_resource"))
    assert [("kubelet", reason)] == reasons(held)
    assert [] == held.series(MISSING)


@pytest.mark.parametrize(
    "reason", [Unread.UNREACHABLE, Unread.TIMEOUT, Unread.UNTRUSTED, Unread.UNAUTHORIZED]
)
async def test_what_the_shorter_page_would_fail_by_too_is_not_tried_there(reason: Unread) -> None:
    held = one_node(SourceError(reason, "no"))
    async with held.running():
        await held.clock.advance(1)
    assert ["/stats/summary"] == [path for _, _, path in held.kubelets.asked]


@pytest.mark.parametrize("seconds", [-3600.0, -1.0, 0.5])
async def test_the_shorter_page_about_an_older_pod_of_the_name_tells_nothing(
    seconds: float,
) -> None:
    """Kubernetes tells when a Pod began without a fraction: within that second nobody knows."""
    held = one_node()
    taken = (held.clock.now().timestamp() + seconds) * 1000
    held.add_pod(instance(), "node-1", startTime="2026-01-01T00:00:00Z")
    held.kubelets.answers["node-1"] = by_path(
        SourceError(Unread.FORBIDDEN, "no"), f"{RESOURCE}{taken:.0f}\n"
    )
    async with held.running():
        await held.clock.advance(1)

    assert set() == held.told(CPU)
    assert {"not_in_answer"} == held.told(MISSING, "reason")


def by_path(summary_fails: Exception, resource: str) -> Answer:
    """A kubelet that refuses the summary and gives the shorter page."""

    async def answer(path: str) -> bytes:
        if path == "/stats/summary":
            raise summary_fails
        return resource.encode()

    return answer


async def test_an_answer_about_an_older_pod_tells_nothing_of_the_new_one() -> None:
    held = one_node(summary(pod_stats("uid-of-an-older-pod")))
    async with held.running():
        await held.clock.advance(1)

    assert set() == held.told(CPU)
    assert {"not_in_answer"} == held.told(MISSING, "reason")
    assert success(held) == 1


async def test_a_pod_that_is_gone_is_told_no_more_at_once() -> None:
    held = one_node()
    held.add("other", "node-1")
    async with held.running():
        await held.clock.advance(1)
        asked = len(held.kubelets.asked)
        held.caches.drop(held.caches.pods, ObjectKey("team", "box"))
        await settle()

        assert {"other"} == held.told(CPU)
        assert asked == len(held.kubelets.asked)


async def test_a_deleted_instance_is_told_no_more_though_its_pod_still_runs() -> None:
    held = one_node()
    held.add("other", "node-1")
    async with held.running():
        await held.clock.advance(1)
        held.caches.drop(held.caches.instances, ObjectKey("team", "box"))
        await settle()
        assert {"other"} == held.told(CPU)


async def test_an_instance_made_anew_under_its_name_is_not_told_what_the_old_one_used() -> None:
    """An informer may tell both as one change; the old Pod may outlive its Instance."""
    held = one_node()
    held.add("other", "node-1")
    async with held.running():
        await held.clock.advance(1)
        held.caches.put(held.caches.instances, instance(uid="uid-of-another"))
        await settle()
        assert {"other"} == held.told(CPU)

        held.add_pod(instance(uid="uid-of-another"), "node-1")
        await held.clock.advance(PERIOD)
        assert {"uid-of-another", "uid-of-other"} == held.told(CPU, "instance_uid")


async def test_a_pod_made_anew_is_told_from_its_own_first_reading_on() -> None:
    held = one_node()
    async with held.running():
        await held.clock.advance(1)
        held.add_pod(instance(), "node-1", uid="uid-of-the-next")
        await settle()
        assert set() == held.told(CPU)
        assert {"not_in_answer"} == held.told(MISSING, "reason")

        await held.clock.advance(PERIOD)
        assert {"box"} == held.told(CPU)
        assert [] == held.series(MISSING)


async def test_a_pod_that_moved_is_told_where_it_is() -> None:
    held = one_node()
    held.add_node("node-2")
    held.kubelets.answers["node-2"] = held.answer_of("node-2")
    async with held.running():
        await held.clock.advance(1)
        held.add_pod(instance(), "node-2", uid="uid-of-the-next")
        await settle()
        assert set() == held.told(SUCCESS, "node")
        await held.clock.advance(1)

        assert {"node-2"} == held.told(CPU, "node")
        assert {"node-2"} == held.told(SUCCESS, "node")
        asked = len(held.kubelets.times("node-1"))
        await held.clock.advance(5 * PERIOD)
        assert asked == len(held.kubelets.times("node-1"))


async def test_a_reading_under_way_when_the_last_pod_goes_tells_nothing_afterwards() -> None:
    async def slow(path: str) -> bytes:
        await held.clock.sleep(5)
        return summary(pod_stats("pod-uid-of-box"))

    held = one_node(slow)
    async with held.running():
        await held.clock.advance(1)
        held.remove(instance())
        await held.clock.advance(10)

        assert "node-1" not in held.page()
        assert held.kubelets.under_way.total() == 0


async def test_a_node_that_is_gone_is_told_as_the_reason() -> None:
    held = one_node()
    async with held.running():
        await held.clock.advance(1)
        held.caches.drop(held.caches.nodes, ObjectKey("", "node-1"))
        await held.clock.advance(PERIOD)

        assert set() == held.told(CPU)
        assert (0, [("kubelet", "no_node")]) == (success(held), reasons(held))
        assert len(held.kubelets.asked) == 1

        held.add_node("node-1")
        await held.clock.advance(PERIOD)
        assert {"box"} == held.told(CPU)


async def in_order_instances_first(held: Fleet) -> None:
    made = instance()
    held.caches.put(held.caches.instances, made)
    await held.clock.advance(PERIOD)
    held.add_pod(made, "node-1")


async def in_order_pods_first(held: Fleet) -> None:
    held.add_pod(instance(), "node-1")
    await held.clock.advance(PERIOD)
    held.caches.put(held.caches.instances, instance())


async def in_order_unscheduled_first(held: Fleet) -> None:
    held.caches.put(held.caches.instances, instance())
    held.add_pod(instance(), "", phase="Pending")
    await held.clock.advance(PERIOD)
    held.add_pod(instance(), "node-1")


@pytest.mark.parametrize(
    "come", [in_order_instances_first, in_order_pods_first, in_order_unscheduled_first]
)
@pytest.mark.parametrize("node_first", [True, False])
async def test_the_order_in_which_caches_fill_does_not_matter(
    come: Callable[[Fleet], object], *, node_first: bool
) -> None:
    held = fleet()
    held.kubelets.answers["node-1"] = held.answer_of("node-1")
    if node_first:
        held.add_node("node-1")
    async with held.running():
        await come(held)  # type: ignore[misc]
        await settle()
        if not node_first:
            held.add_node("node-1")
        await held.clock.advance(1)
        assert {"box"} == held.told(CPU)


async def test_a_pod_that_ended_is_told_no_more() -> None:
    held = one_node()
    async with held.running():
        await held.clock.advance(1)
        held.add_pod(instance(), "node-1", phase="Failed")
        await settle()
        assert "node-1" not in {it.labels["node"] for it in held.series(CPU)}
        assert set() == held.told(SUCCESS, "node")


async def test_a_fault_of_ours_is_told_and_ends_nothing_else() -> None:
    held = one_node()
    held.add("other", "node-2")
    held.kubelets.answers |= {"node-1": RuntimeError("ours"), "node-2": held.answer_of("node-2")}
    async with held.running():
        with capture_logs() as logs:
            await held.clock.advance(4 * PERIOD)
        assert {"node-1"} == {line["node"] for line in logs if line["log_level"] == "error"}
        assert {"other"} == held.told(CPU)
        assert [("kubelet", "fault")] == reasons(held)

        held.kubelets.answers["node-1"] = held.answer_of("node-1")
        await held.clock.advance(MOST_PERIODS * PERIOD)
        assert {"box", "other"} == held.told(CPU)


async def test_thousands_of_failures_leave_nothing_behind() -> None:
    held = one_node(REFUSED)
    async with held.running():
        await held.clock.advance(PERIOD)
        before, size = len(held.pages), sizes(held)
        await held.clock.advance(3000 * MOST_PERIODS * PERIOD)

        assert len(held.kubelets.asked) >= 3000
        assert (before, size) == (len(held.pages), sizes(held))


async def test_thousands_of_pods_that_come_and_go_leave_nothing_behind() -> None:
    held = fleet()
    held.kubelets.default = summary()
    async with held.telling_states():
        await settle()
        before = sizes(held)
        for number in range(2000):
            made = held.add(f"box-{number}", f"node-{number % 50}")
            await settle()
            held.remove(made)
            held.caches.drop(held.caches.nodes, ObjectKey("", f"node-{number % 50}"))
        await held.clock.advance(PERIOD)

        assert before == sizes(held)
        assert "box" not in held.page()
        assert "node-" not in held.page()


def sizes(held: Fleet) -> dict[str, int]:
    """How many entries there are in everything that grows, and timers that wait."""
    parts = (held.collectors, held.states)
    grown = {f"{type(part).__name__}{name}": entries(it) for part in parts for name, it in of(part)}
    return {**grown, "timers": held.clock.pending}


def of(part: attrs.AttrsInstance) -> Iterable[tuple[str, object]]:
    """The attributes of *part*."""
    return ((field.name, getattr(part, field.name)) for field in attrs.fields(type(part)))


def entries(held: object) -> int:
    """How many things are in *held*, those within others included."""
    if isinstance(held, dict):
        return len(held) + sum(map(entries, held.values()))
    if isinstance(held, list | set | tuple):
        return len(held) + sum(map(entries, held))
    return 0


async def test_a_node_without_an_address_says_so() -> None:
    held = one_node(SourceError(Unread.NO_ADDRESS, "node node-1 tells no address"))
    held.caches.put(held.caches.nodes, node("node-1"))
    async with held.running():
        await held.clock.advance(1)
    assert [("kubelet", "no_address")] == reasons(held)
