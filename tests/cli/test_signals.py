"""How the command ends when it is told to."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from e2e.cluster import Cluster, until
from gpustack_ctrl.api import names
from gpustack_ctrl.runtime.manager import Ending
from tests.cli.command import Process, operating
from tests.cli.valve import Valve, valve_before

Log = Callable[[str], Path]


@pytest.mark.parametrize("order", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_in_order_and_the_code_is_0(
    unprepared: Cluster, home: str, log: Log, order: signal.Signals
) -> None:
    with operating(
        unprepared.kubeconfig, log("one"), f"--namespace={home}", "--install-crds"
    ) as operator:
        code = operator.end(order)

        assert Ending.STOPPED == code
        assert 1 == len(operator.logged("stopping"))
        assert "ended" == operator.lines()[-1]["event"]


async def test_a_signal_while_it_starts_ends_it_too(
    unprepared: Cluster, home: str, log: Log, tmp_path: Path
) -> None:
    """Here it waits for the first answer of the API server, which does not come."""
    async with valve_before(unprepared, tmp_path) as valve:
        with operating(
            valve.kubeconfig, log("one"), f"--namespace={home}", ready=False
        ) as operator:
            await asyncio.to_thread(until, lambda: valve.connected, "it does not connect")

            assert 0 == await asyncio.to_thread(operator.end)
            assert "" == operator.log.read_text()


async def test_a_second_signal_ends_it_at_once(
    unprepared: Cluster, home: str, log: Log, tmp_path: Path
) -> None:
    """Also while a pass waits for the API server, which the first one lets it do."""
    async with valve_before(unprepared, tmp_path) as valve:
        valve.open()
        with operating(
            valve.kubeconfig, log("one"), f"--namespace={home}", "--install-crds", ready=False
        ) as operator:
            await asyncio.to_thread(until, operator.is_ready, "it is not ready")
            await asyncio.to_thread(_keep_it_waiting, unprepared, home, valve, operator)

            operator.process.terminate()
            await asyncio.to_thread(until, lambda: bool(operator.logged("stopping")), "no end")

            assert None is operator.process.poll()
            assert Ending.FORCED == await asyncio.to_thread(operator.end)
            assert [] == operator.logged("ended")


def _keep_it_waiting(cluster: Cluster, home: str, valve: Valve, operator: Process) -> None:
    """Return once a pass of *operator* waits for an answer."""
    valve.shut()
    path = names.INSTANCE.collection(home)
    body = {"metadata": {"name": "box"}, "spec": {"type": "none", "image": "workload:1"}}
    head = {"apiVersion": names.INSTANCE.api_version, "kind": names.INSTANCE.kind}
    cluster.api().post(path, {**head, **body})

    def busy() -> bool:
        name = "controller_runtime_active_workers"
        [sample] = operator.samples(name, controller="instance")
        return bool(sample.value == 1)

    until(busy, "no pass waits")
