"""A real Prometheus on loopback that scrapes one address, with its data in a folder of its own."""

import json
import shutil
import signal
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import attrs
import yaml

from e2e.cluster import until
from e2e.cluster.processes import ends_with_parent
from tests.cli.command import free_addresses

PROMETHEUS = shutil.which("prometheus")
JOB = "gpustack-ctrl"


@attrs.frozen(kw_only=True)
class Prometheus:
    """One that runs; it listens at *address* and scrapes *target* each second."""

    address: str
    target: str

    def query(self, expression: str) -> list[tuple[dict[str, str], float]]:
        """The labels and the value of each series that *expression* gives now."""
        return [
            (held["metric"], float(held["value"][1]))
            for held in self._ask("query", query=expression)["result"]
        ]

    def value(self, expression: str) -> float | None:
        """The value of the only series that *expression* gives; None without any."""
        found = self.query(expression)
        assert len(found) <= 1, found
        return found[0][1] if found else None

    def targets(self) -> list[dict[str, Any]]:
        """What is scraped, with the last error of each."""
        targets: list[dict[str, Any]] = self._ask("targets")["activeTargets"]
        return targets

    def metadata(self) -> dict[str, str]:
        """The type of each family that was scraped, by its name."""
        return {held["metric"]: held["type"] for held in self._ask("targets/metadata")}

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready") as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _ask(self, what: str, **query: str) -> Any:
        url = f"http://{self.address}/api/v1/{what}?{urlencode(query)}"
        with urllib.request.urlopen(url) as answer:
            return json.load(answer)["data"]


@contextmanager
def scraping(target: str, folder: Path, **how: object) -> Iterator[Prometheus]:
    """A Prometheus that scrapes *target*, and *how*, for the length of the block."""
    [address] = free_addresses(1)
    job = {"job_name": JOB, **how, "static_configs": [{"targets": [target]}]}
    configuration = {
        "global": {"scrape_interval": "1s", "scrape_timeout": "1s"},
        "scrape_configs": [job],
    }
    (folder / "prometheus.yml").write_text(yaml.safe_dump(configuration))
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                str(PROMETHEUS),
                f"--config.file={folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={folder / 'data'}",
                f"--web.listen-address={address}",
            ],
            stdout=log,
            stderr=log,
            preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509 -- we have one thread.
        )
    held = Prometheus(address=address, target=target)
    try:
        until(held.is_ready, f"Prometheus does not answer, see {folder / 'log'}")
        yield held
    finally:
        process.kill()
        process.wait()
