"""The exporter by its own command with plain flags, run beside the operator of a test."""

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from e2e.cluster.processes import ends_with_parent
from tests.cli.command import COMMAND, Process, environment, free_addresses
from tests.integration.world import until

PERIOD = "--period-seconds=1"


@asynccontextmanager
async def exporting(
    kubeconfig: Path, namespace: str, log: Path, *arguments: str, ready: bool = True
) -> AsyncIterator[Process]:
    """Run it until the block ends; it is *ready* when the block begins, where that can be."""
    metrics, probes = free_addresses(2)
    places = (f"--metrics-bind-address={metrics}", f"--health-probe-bind-address={probes}")
    told = (f"--kubeconfig={kubeconfig}", f"--namespace={namespace}", PERIOD, "--log-format=json")
    with log.open("ab") as said:
        process = subprocess.Popen(  # noqa: ASYNC220 -- it is begun, not waited for.
            [*COMMAND, "exporter", *told, *places, *arguments],
            env=environment({}),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509 -- we have one thread.
        )
    held = Process(process=process, metrics_address=metrics, probes_address=probes, log=log)
    try:
        if ready:
            await so(held.is_ready)
        yield held
    finally:
        process.kill()
        process.wait()


async def so(holds: Callable[[], bool]) -> None:
    """Return once *holds* is so; it may block, others go on meanwhile."""

    async def read() -> bool:
        return await asyncio.to_thread(holds)

    await until(read)
