"""The operator from its own image, with its own account and no more rights than deploy/ gives."""

from e2e.node import RealNode
from e2e.tests.shop import NAME, NAMESPACE
from e2e.tests.team import Team


def test_the_operator_runs_an_instance(team: Team) -> None:
    held = team.running()

    pod = team.pod()
    assert pod is not None
    assert held["metadata"]["uid"] == pod["metadata"]["labels"]["app.kubernetes.io/part-of"]


def test_the_operator_logs_no_error(team: Team) -> None:
    team.running()
    team.delete()
    team.gone("pods")

    said = team.node.kubectl("logs", f"deployment/{NAME}", "--namespace", NAMESPACE)

    assert said
    assert [] == [line for line in said.splitlines() if '"level":"error"' in line.replace(" ", "")]


def test_the_operator_is_as_confined_as_its_namespace_demands(shop: RealNode) -> None:
    where = ("exec", f"deployment/{NAME}", "--namespace", NAMESPACE, "--")
    said = shop.kubectl(*where, "sh", "-c", "id -u; touch /x 2>&1; grep CapEff /proc/self/status")

    assert said.startswith("65532\n")
    assert "Read-only file system" in said
    assert "CapEff:\t0000000000000000" in said
