"""Our servers by their own command, told what the plain manifests tell them."""

import signal
import ssl
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError

import attrs
import yaml

from e2e.cluster.processes import ends_with_parent
from tests.cli.command import CHECKOUT, COMMAND, environment, free_addresses

DEPLOY = CHECKOUT / "deploy"
ANYBODY = ssl._create_unverified_context()  # noqa: S323, SLF001 -- it made its own certificate.


@attrs.frozen(kw_only=True)
class Server:
    """One that runs; it serves its page at *address*."""

    process: subprocess.Popen[bytes]
    address: str
    probes: str
    log: Path

    def is_ready(self) -> bool:
        """Whether it says so; it must not have ended."""
        assert self.process.poll() is None, self.log.read_text()
        try:
            with urllib.request.urlopen(f"http://{self.probes}/readyz") as answer:
                return bool(answer.status == 200)
        except (OSError, HTTPException):
            return False

    def scrape(self, bearer: str = "") -> tuple[int, str]:
        """What a scraper with that token is answered."""
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        request = urllib.request.Request(f"https://{self.address}/metrics", headers=headers)
        try:
            with urllib.request.urlopen(request, context=ANYBODY) as answer:  # noqa: S310 -- ours.
                return answer.status, answer.read().decode()
        except HTTPError as refused:
            return refused.code, refused.read().decode()


@contextmanager
def installed(manifest: str, kubeconfig: Path, namespace: str, log: Path) -> Iterator[Server]:
    """Run what the Deployment in *manifest* says, for the length of the block."""
    address, probes = free_addresses(2)
    places = (f"--metrics-bind-address={address}", f"--health-probe-bind-address={probes}")
    with log.open("ab") as said:
        process = subprocess.Popen(
            [*COMMAND, *_arguments(DEPLOY / manifest), *places, f"--kubeconfig={kubeconfig}"],
            env=environment({"GPUSTACK_NAMESPACE": namespace}),
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=ends_with_parent(signal.SIGKILL),  # noqa: PLW1509 -- we have one thread.
        )
    try:
        yield Server(process=process, address=address, probes=probes, log=log)
    finally:
        process.kill()
        process.wait()


def _arguments(manifest: Path) -> list[str]:
    documents = yaml.safe_load_all(manifest.read_text())
    [deployment] = [it for it in documents if it["kind"] == "Deployment"]
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    arguments: list[str] = container["args"]
    return arguments
