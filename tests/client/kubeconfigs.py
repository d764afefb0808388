"""Kubeconfigs as tests need them, written to files."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from gpustack_ctrl.client.client import Client
from gpustack_ctrl.client.connection import connect
from gpustack_ctrl.client.credentials import Connection
from gpustack_ctrl.client.exchange import RequestMetrics, Unmetered
from gpustack_ctrl.client.location import ConnectionOptions, Surroundings
from gpustack_ctrl.runtime.clock import Clock, SystemClock

NOWHERE = Path("/nonexistent")


def kubeconfig(
    server: str,
    user: Mapping[str, Any] | None = None,
    *,
    cluster: Mapping[str, Any] | None = None,
    name: str = "only",
) -> dict[str, Any]:
    """One context of *name*, for *server* and *user*."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": name,
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "clusters": [{"name": name, "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": name, "user": dict(user or {})}],
    }


def write(path: Path, content: Mapping[str, Any]) -> Path:
    """*content* as YAML at *path*, which is returned."""
    path.write_text(yaml.safe_dump(dict(content)))
    return path


def surroundings(**environ: str) -> Surroundings:
    """A process without home or service account, with *environ*."""
    return Surroundings(environ=environ, home=NOWHERE, service_account=NOWHERE)


async def connected(path: Path, *, context: str = "", clock: Clock | None = None) -> Connection:
    """A connection by the kubeconfig at *path*."""
    options = ConnectionOptions(kubeconfig=str(path), context=context)
    return await connect(options, clock=clock or SystemClock(), surroundings=surroundings())


def client(connection: Connection, metrics: RequestMetrics | None = None) -> Client:
    """A client over *connection*."""
    return Client(connection=connection, clock=SystemClock(), metrics=metrics or Unmetered())
