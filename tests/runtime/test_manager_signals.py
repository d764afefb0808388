"""A real process, ended by real signals."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from gpustack_ctrl.runtime.manager import Ending

PROGRAM = """
import asyncio, signal, sys
from gpustack_ctrl.runtime.clock import SystemClock
from gpustack_ctrl.runtime.manager import Manager

class Busy:
    name = "busy"
    async def run(self):
        print("working", flush=True)
        await asyncio.Event().wait()
    def stop(self):
        print("asked to stop", flush=True)
        if "idle" in sys.argv:
            for task in asyncio.all_tasks():
                if task.get_name() == "busy":
                    task.cancel()

async def main():
    manager = Manager(clock=SystemClock(), controllers=[Busy()])
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, manager.stop)
    return await manager.run()

sys.exit(asyncio.run(main()))
"""


@pytest.mark.parametrize(
    ("work", "signals", "code"), [("idle", 1, Ending.STOPPED), ("busy", 2, Ending.FORCED)]
)
def test_g2_a_real_process_ends_on_sigterm_and_its_exit_code_tells_why(
    work: str, signals: int, code: Ending
) -> None:
    source = Path(__file__).parents[2] / "src"
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, work],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(source)},
    ) as process:
        assert process.stdout is not None
        try:
            wait_for_line(process.stdout, "working")
            process.send_signal(signal.SIGTERM)
            wait_for_line(process.stdout, "asked to stop")
            for _ in range(signals - 1):
                process.send_signal(signal.SIGTERM)

            assert code == process.wait(timeout=20)
        finally:
            process.kill()


def wait_for_line(lines: Iterable[str], expected: str) -> None:
    """Read *lines* until one is *expected*; the test's own time limit bounds it."""
    assert any(line.strip() == expected for line in lines), f"{expected!r} never came"
