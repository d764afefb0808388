"""The import of the library, in fresh processes."""

import subprocess
import sys
from pathlib import Path

SRC = Path(__file__).parents[2] / "src"

REPORT = """
import asyncio, sys
from gpustack_ctrl.client.connection import ApiClient, ConnectionOptions, connect
from gpustack_ctrl.runtime.clock import SystemClock

async def use() -> None:
    async with await connect(ConnectionOptions(kubeconfig=sys.argv[1]), clock=SystemClock()) as it:
        print(it.host, (await it.headers())["authorization"])

asyncio.run(use())
print(sum(name.startswith("kubernetes_asyncio.client.models.") for name in sys.modules))
print(sum(name.startswith("kubernetes_asyncio.client.api.") for name in sys.modules))
"""

# What a release of the library that has no such module would do.
BROKEN = """
import gpustack_ctrl.client.lean_import as lean
real = lean.import_module
def broken(name):
    if name.endswith(".configuration"):
        raise ImportError(name)
    return real(name)
lean.import_module = broken
"""

KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: c}}]
clusters: [{name: c, cluster: {server: "http://h:1"}}]
users: [{name: c, user: {token: t}}]
"""


def report(folder: Path, script: str) -> list[str]:
    (folder / "k").write_text(KUBECONFIG)
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder / "k")],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(SRC)},
    )
    return done.stdout.split("\n")


def test_no_generated_module_is_loaded(tmp_path: Path) -> None:
    assert ["http://h:1 Bearer t", "0", "0", ""] == report(tmp_path, REPORT)


def test_the_plain_import_works_when_the_lean_one_does_not(tmp_path: Path) -> None:
    used, models, apis, _ = report(tmp_path, BROKEN + REPORT)

    assert "http://h:1 Bearer t" == used
    assert int(models) > 0
    assert int(apis) > 0


def test_a_library_that_is_there_already_is_left_alone(tmp_path: Path) -> None:
    used, models, _, _ = report(tmp_path, "import kubernetes_asyncio\n" + REPORT)

    assert "http://h:1 Bearer t" == used
    assert int(models) > 0
