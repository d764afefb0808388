"""Volumes on a real node: what stays, what is live, and what is not allowed."""

from pathlib import Path

import pytest

from e2e.cluster import ApiStatusError, until
from e2e.tests.shop import change_setting
from e2e.tests.team import Team

HOST_PATHS = "instance-host-path-volume-allowed"


def test_a_claim_keeps_its_files_over_stop_and_start(team: Team) -> None:
    _claim(team)
    team.running(volume={"persistent": {"name": "data"}})
    team.exec("sh", "-c", "echo kept > /workspace/file")
    team.edit(stop=True)
    team.wait_for("Stopped")
    team.edit(stop=False)
    team.wait_for("Ready")

    assert "kept\n" == team.exec("cat", "/workspace/file")


def test_shared_memory_has_the_size_that_was_asked_for(team: Team) -> None:
    team.running(sharedMemory="16Mi")

    said = team.exec("sh", "-c", "df -k /dev/shm | tail -1; mount | grep ' /dev/shm '").split()

    assert "16384" == said[1]
    assert "tmpfs" in said


def test_a_changed_configmap_is_seen_without_a_restart(team: Team) -> None:
    team.make("configmaps", {"metadata": {"name": "conf"}, "data": {"file": "old"}})
    mount = {"mountPath": "/conf", "configMap": {"name": "conf"}}
    team.running(additionalVolumes=[mount])
    path = f"/api/v1/namespaces/{team.namespace}/configmaps/conf"
    before = team.exec("cat", "/conf/file")
    team.node.api().patch(path, {"data": {"file": "new"}})
    until(lambda: team.exec("cat", "/conf/file") == "new", "the change is not seen", seconds=90)
    pod = team.pod()
    assert pod is not None

    assert "old" == before
    assert [0] == [told["restartCount"] for told in pod["status"]["containerStatuses"]]


def test_a_path_of_the_node_takes_the_administrators_leave(team: Team, tmp_path: Path) -> None:
    tmp_path.joinpath("file").write_text("of the node\n")
    mount = {"mountPath": "/host", "readOnly": True, "hostPath": {"path": str(tmp_path)}}
    with pytest.raises(ApiStatusError, match=HOST_PATHS) as refused:
        team.create(additionalVolumes=[mount])
    change_setting(team.node, HOST_PATHS, "true")
    try:
        until(lambda: _accepted(team, mount), "it is refused still")
        team.wait_for("Ready")
        seen = team.exec("cat", "/host/file")
    finally:
        change_setting(team.node, HOST_PATHS, "false")

    assert 403 == refused.value.status
    assert "of the node\n" == seen


def _accepted(team: Team, mount: dict[str, object]) -> bool:
    """Create the Instance, unless the API server has not heard of the Setting yet."""
    try:
        team.create(additionalVolumes=[mount])
    except ApiStatusError:
        return False
    return True


def _claim(team: Team) -> None:
    """A claim, bound to a folder of the node."""
    name = f"data-{team.namespace}"
    volume = {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "storageClassName": name,
            "hostPath": {
                "path": f"{team.node.layout.inside}/volumes/{name}",
                "type": "DirectoryOrCreate",
            },
        },
    }
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": name,
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }
    team.node.api().post("/api/v1/persistentvolumes", volume)
    team.make("persistentvolumeclaims", claim)
