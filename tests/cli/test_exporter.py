"""The exporter cannot start: what is wrong is told in one line, with how to mend it."""

import socket
from pathlib import Path

import pytest

from e2e.cluster import Cluster
from tests.cli.command import free_addresses, run

QUIET = ("--metrics-bind-address=0", "--health-probe-bind-address=0")


@pytest.fixture
def prepared(bare: Cluster) -> Cluster:
    """A cluster with our CRDs."""
    printed = run("crds").out
    bare.kubectl("apply", "-f", "-", input=printed)
    bare.kubectl("wait", "--for=condition=Established", "--timeout=30s", "-f", "-", input=printed)
    return bare


def complaint(*arguments: str, environ: dict[str, str] | None = None) -> str:
    """The one line of an exporter that cannot start."""
    ended = run("exporter", *QUIET, *arguments, environ=environ)
    assert ended.code != 0
    assert "Traceback" not in ended.error
    return ended.only_line


def test_missing_crds_are_told_with_the_remedy(bare: Cluster) -> None:
    said = complaint(f"--kubeconfig={bare.kubeconfig}", "--namespace=default")

    assert "does not serve instances.worker.gpustack.ai" in said
    assert said.endswith("`gpustack-ctrl crds | kubectl apply -f -`")


def test_missing_rights_are_told_with_the_remedy(prepared: Cluster) -> None:
    said = complaint(f"--kubeconfig={prepared.kubeconfig_for('tenant-a')}")
    assert "bind the roles in deploy/rbac" in said


def test_an_api_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    [nobody] = free_addresses(1)
    path = tmp_path / "kubeconfig"
    path.write_text(
        "{apiVersion: v1, kind: Config, current-context: a,"
        " contexts: [{name: a, context: {cluster: a, user: a}}],"
        f" clusters: [{{name: a, cluster: {{server: 'https://{nobody}'}}}}],"
        " users: [{name: a, user: {}}]}"
    )
    assert nobody in complaint(f"--kubeconfig={path}")


@pytest.mark.parametrize(
    ("flag", "value"),
    [
        ("--period-seconds", "0"),
        ("--period-seconds", "-1"),
        ("--period-seconds", "soon"),
        ("--requests-in-flight", "0"),
        ("--request-seconds", "0"),
        ("--log-level", "loud"),
        ("--metrics-bind-address", "nowhere"),
    ],
)
def test_a_value_that_is_none_is_refused_by_the_name_of_its_flag(flag: str, value: str) -> None:
    ended = run("exporter", *QUIET, f"{flag}={value}")

    assert ended.code == 2
    assert flag in ended.error
    assert "Traceback" not in ended.error


def test_sources_that_are_none_are_told_in_one_line(prepared: Cluster) -> None:
    kubeconfig = f"--kubeconfig={prepared.kubeconfig}"
    mapping = "--accelerator-sources=mapping=http://{address}/metrics"
    for wrong in (
        ["--accelerator-sources=dcgm"],
        ["--accelerator-sources=magic=http://{address}/metrics"],
        ["--accelerator-sources=dcgm=ftp://{address}/metrics"],
        ["--accelerator-sources=dcgm=http://{address}/metrics,dcgm=http://{address}/more"],
        [mapping],
        [mapping, "--accelerator-mapping=/nonexistent/mapping.yaml"],
    ):
        assert "--accelerator" in complaint(kubeconfig, *wrong)


def test_a_variable_that_is_none_is_refused_by_its_name() -> None:
    ended = run("exporter", *QUIET, environ={"GPUSTACK_PERIOD_SECONDS": "soon"})

    assert ended.code == 2
    assert "GPUSTACK_PERIOD_SECONDS" in ended.error
    assert "Traceback" not in ended.error


def test_an_address_that_is_taken_is_told(prepared: Cluster) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        ended = run(
            "exporter",
            f"--kubeconfig={prepared.kubeconfig}",
            f"--metrics-bind-address={address}",
            "--health-probe-bind-address=0",
        )
    assert ended.code != 0
    assert f"cannot listen on {address}" in ended.only_line
