"""`top` shows what an Instance has and uses, whoever is asked."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from e2e.cluster import until
from e2e.node import RealNode
from e2e.node.layout import NODE, NODE_ADDRESS
from e2e.tests.metrics.metering import EXPORTER, READER, token_of
from e2e.tests.shop import NAMESPACE
from e2e.tests.team import Team

COMMAND = Path(sys.executable).with_name("gpustack-ctrl")
MI = 1 << 20
TOUCHED = 50 * MI
WRITTEN = 40 * MI
DOOR = f"/api/v1/namespaces/{NAMESPACE}/services/{EXPORTER}-outside"


def shown(team: Team, *flags: str) -> str:
    """What `top` writes of the team's namespace."""
    told: dict[str, str] = {**os.environ, **team.node.environment()}
    command = (str(COMMAND), "top", "--namespace", team.namespace, *flags)
    done = subprocess.run(command, env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return str(done.stdout)


def row_of(team: Team, name: str, *flags: str) -> dict[str, Any]:
    """The row of an Instance, once all that it touched and wrote was measured."""
    found: dict[str, dict[str, Any]] = {}

    def is_measured() -> bool:
        found.update({row["name"]: row for row in json.loads(shown(team, "-o", "json", *flags))})
        told = found[name]
        return (told["memory_used"] or 0) > TOUCHED and (told["storage_used"] or 0) > WRITTEN

    until(is_measured, f"what {name} uses is not told")
    return found[name]


def test_by_the_kubelet(crowd: Team) -> None:
    row = row_of(crowd, "full")

    assert (row["namespace"], row["phase"], row["node"]) == (crowd.namespace, "Ready", NODE)
    assert (row["cpu_limit"], row["memory_limit"]) == (0.3, 96 * MI)
    assert row["memory_used"] < row["memory_limit"]
    first, *_ = [line.split() for line in shown(crowd, "--sort", "memory").splitlines()[1:]]
    assert first[:3] == [crowd.namespace, "full", "Ready"]


def test_by_a_protected_exporter(shop: RealNode, crowd: Team, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.touch(mode=0o600)
    token.write_text(token_of(shop, READER))
    port = shop.api().get(DOOR)["spec"]["ports"][0]["nodePort"]
    page = f"https://{NODE_ADDRESS}:{port}/metrics"
    flags = ("--exporter", page, "--exporter-token-file", str(token), "--exporter-insecure-tls")
    row = row_of(crowd, "full", *flags)

    assert (row["phase"], row["node"], row["memory_limit"]) == ("Ready", NODE, 96 * MI)
