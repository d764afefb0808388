"""I5: delete removes all, whatever state the Instance is in and whoever is away."""

from e2e.cluster import until
from e2e.tests.keys import User
from e2e.tests.seats import login_spec
from e2e.tests.shop import replicas
from e2e.tests.team import Team

DEAF = ["sh", "-c", "trap '' TERM; while true; do sleep 1; done"]


def all_gone(team: Team, *, seconds: float = 60) -> None:
    for plural in ("pods", "services"):
        team.gone(plural, seconds=seconds)


def test_i5_delete_while_starting(team: Team) -> None:
    team.create(image="localhost/missing:1", ports=[{"port": 8080}])
    until(lambda: team.find("services") is not None, "there is no Service")
    team.delete()

    all_gone(team)


def test_i5_delete_while_stopping_a_container_that_ignores_sigterm(team: Team) -> None:
    """The kubelet waits for its grace period of 30 seconds, and so do we."""
    team.running(command=DEAF, ports=[{"port": 8080}])
    team.edit(stop=True)
    team.wait_for("Stopping")
    team.delete()

    all_gone(team)


def test_i5_a_stop_keeps_all_but_the_pod(team: Team, user: User) -> None:
    team.add_keys("me", user.public)
    team.running(**login_spec("localhost/busybox:1"))
    kept = {plural: _names(team, plural) for plural in ("services", "configmaps", "secrets")}
    team.edit(stop=True)
    team.wait_for("Stopped")

    assert [] == team.pods()
    assert kept == {plural: _names(team, plural) for plural in kept}


def test_i5_a_namespace_goes_while_the_operator_is_away(team: Team) -> None:
    team.running(ports=[{"port": 8080}])
    replicas(team.node, 0)
    try:
        path = f"/api/v1/namespaces/{team.namespace}"
        team.node.api().delete(path)
        until(lambda: team.node.api().find(path) is None, "the namespace stays", seconds=60)
    finally:
        replicas(team.node, 1)
    team.node.add_namespace(team.namespace)  # For the fixture, which deletes it.


def _names(team: Team, plural: str) -> list[str]:
    path = f"/api/v1/namespaces/{team.namespace}/{plural}"
    return sorted(item["metadata"]["name"] for item in team.node.api().get(path)["items"])
