"""The API server cannot be found or reached: one line says why, and the code is 1."""

import json
from pathlib import Path

import pytest

from e2e.cluster import Cluster
from tests.cli.command import Ended, free_addresses, run

ELSEWHERE = ("--metrics-bind-address=0", "--health-probe-bind-address=0")


def complaint(ended: Ended) -> str:
    """The one line of *ended*, which could not start."""
    assert (1, "") == (ended.code, ended.out)
    assert ended.only_line.startswith("gpustack-ctrl: ")
    return ended.only_line.removeprefix("gpustack-ctrl: ")


@pytest.fixture
def kubeconfig(unprepared: Cluster, tmp_path: Path) -> Path:
    """A copy of the administrator's, to be spoiled."""
    path = tmp_path / "kubeconfig"
    path.touch(mode=0o600)
    path.write_text(unprepared.kubeconfig.read_text())
    return path


def spoiled(kubeconfig: Path, **cluster: str) -> str:
    """The flag for *kubeconfig* after its cluster became *cluster*."""
    held = json.loads(kubeconfig.read_text())
    held["clusters"][0]["cluster"] = cluster
    kubeconfig.write_text(json.dumps(held))
    return f"--kubeconfig={kubeconfig}"


def test_no_kubeconfig_anywhere_is_told_with_all_places(tmp_path: Path) -> None:
    told = complaint(run("run", *ELSEWHERE, environ={"HOME": str(tmp_path)}))

    assert told.startswith("no kubeconfig: neither --kubeconfig nor KUBECONFIG is set")
    assert f"there is no {tmp_path}/.kube/config" in told
    assert "no service account in /var/run/secrets/kubernetes.io/serviceaccount" in told


def test_a_kubeconfig_that_is_not_there_is_told_with_who_named_it() -> None:
    by_flag = complaint(run("run", *ELSEWHERE, "--kubeconfig=/missing"))
    by_variable = complaint(run("run", *ELSEWHERE, environ={"KUBECONFIG": "/missing"}))

    assert "no kubeconfig: --kubeconfig is /missing, and there is no such file" == by_flag
    assert "no kubeconfig: KUBECONFIG is /missing, and there is no such file" == by_variable


def test_an_unknown_context_is_told_with_those_there_are(kubeconfig: Path) -> None:
    told = complaint(run("run", *ELSEWHERE, f"--kubeconfig={kubeconfig}", "--context=moon"))

    assert f"kubeconfig {kubeconfig} has no context moon; it has: gpustack-ctrl" == told


def test_an_api_server_that_is_not_there_is_told_with_its_address(kubeconfig: Path) -> None:
    [address] = free_addresses(1)
    told = complaint(run("run", *ELSEWHERE, spoiled(kubeconfig, server=f"https://{address}")))

    assert f"cannot reach the API server at https://{address}: connection refused" == told


def test_a_certificate_of_somebody_else_is_told(kubeconfig: Path, unprepared: Cluster) -> None:
    told = complaint(run("run", *ELSEWHERE, spoiled(kubeconfig, server=unprepared.server)))

    assert told.startswith(
        f"the certificate of the API server at {unprepared.server} is not trusted: "
    )


def test_a_token_that_nobody_knows_is_told(kubeconfig: Path) -> None:
    held = json.loads(kubeconfig.read_text())
    held["users"][0]["user"] = {"token": "unknown"}
    kubeconfig.write_text(json.dumps(held))
    told = complaint(run("run", *ELSEWHERE, f"--kubeconfig={kubeconfig}"))

    assert "does not accept our credentials (Unauthorized): renew them, or choose" in told
