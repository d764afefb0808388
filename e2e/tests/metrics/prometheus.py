"""A real Prometheus outside the cluster: whom it scrapes, and what it is asked."""

import json
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster import until
from e2e.cluster.layout import last_line

# In the network of the client outside, where nobody else listens.
ADDRESS = "127.0.0.1:9090"
EVERY_SECONDS = 1
_TIMEOUT = 10.0
_END_SECONDS = 20.0
# Shorter than a rule's interval: what was there at one evaluation alone is found, too.
_STEP = "0.5"


@attrs.frozen
class Told:
    """A series of an answer: its labels, but for its name; its value, and of when that is."""

    labels: Mapping[str, str]
    value: float
    at: float


@attrs.frozen(kw_only=True)
class Prometheus:
    """A Prometheus that runs."""

    def ask(self, query: str, *, at: float | None = None) -> list[Told]:
        """Return what *query* finds now, or *at* a time."""
        moment = {} if at is None else {"time": str(at)}
        return [_told(one) for one in self._get("query", query=query, **moment)["result"]]

    def one(self, query: str, *, at: float | None = None) -> Told:
        """Return the only series that *query* finds."""
        found = self.ask(query, at=at)
        assert len(found) == 1, f"{query} finds {found}"
        return found[0]

    def value(self, query: str, *, at: float | None = None) -> float:
        """Return the value of the only series that *query* finds."""
        return self.one(query, at=at).value

    def wait(self, query: str, *, seconds: float = 60) -> Told:
        """Return the only series that *query* finds, once it finds any."""
        until(lambda: bool(self.ask(query)), f"nothing is found by {query}", seconds=seconds)
        return self.one(query)

    def silent(self, query: str, *, seconds: float = 60) -> None:
        """Return once *query* finds nothing."""
        until(lambda: not self.ask(query), f"{query} finds something", seconds=seconds)

    def now(self) -> float:
        """Return the time, as it sees it."""
        return self.value("vector(time())")

    def samples(self, selector: str, *, over: str = "10m") -> list[tuple[float, float]]:
        """Return (time, value) of each sample, in order, of all series of *selector*."""
        found = self._get("query", query=f"{selector}[{over}]")["result"]
        each = (pair for series in found for pair in series["values"])
        return sorted((float(at), float(value)) for at, value in each)

    def ever(self, query: str, *, since: float) -> bool:
        """Whether *query* found a number at any time *since* then."""
        over = {"start": str(since), "end": str(self.now()), "step": _STEP}
        found = self._get("query_range", query=query, **over)["result"]
        return any(value != "NaN" for series in found for _, value in series["values"])

    def rules(self) -> list[dict[str, Any]]:
        """Return all rules, and how their evaluation goes."""
        return [rule for group in self._get("rules")["groups"] for rule in group["rules"]]

    def is_up(self) -> bool:
        """Whether it answers."""
        try:
            with urllib.request.urlopen(f"http://{ADDRESS}/-/ready", timeout=_TIMEOUT):
                return True
        except OSError:
            return False

    def _get(self, what: str, **asked: str) -> Any:
        url = f"http://{ADDRESS}/api/v1/{what}?{urllib.parse.urlencode(asked)}"
        try:
            with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{asked}: {error.read().decode()}") from error


@contextmanager
def watching(
    folder: Path, jobs: Sequence[Mapping[str, Any]], rules: Mapping[str, Any]
) -> Iterator[Prometheus]:
    """Have a Prometheus with *jobs* and *rules* for the length of the block."""
    folder.joinpath("rules.json").write_text(json.dumps(rules))
    every = f"{EVERY_SECONDS}s"
    told = {
        "global": {"scrape_interval": every, "scrape_timeout": every, "evaluation_interval": every},
        "rule_files": ["rules.json"],
        "scrape_configs": jobs,
    }
    folder.joinpath("prometheus.json").write_text(json.dumps(told))  # JSON is YAML, too.
    with _process(folder) as process:
        made = Prometheus()
        log = folder / "log"
        until(
            lambda: made.is_up() or process.poll() is not None,
            f"Prometheus is not ready: {last_line(log)}",
        )
        assert process.poll() is None, last_line(log)
        yield made


@contextmanager
def _process(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """Prometheus itself, which ends with us at the latest."""
    command = (
        *("setpriv", "--pdeathsig", "KILL", "prometheus"),
        f"--config.file={folder}/prometheus.json",
        f"--storage.tsdb.path={folder}/data",
        f"--web.listen-address={ADDRESS}",
    )
    with folder.joinpath("log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=_END_SECONDS)


def _told(series: Mapping[str, Any]) -> Told:
    at, value = series["value"]
    labels = {key: held for key, held in series["metric"].items() if key != "__name__"}
    return Told(labels, float(value), float(at))
