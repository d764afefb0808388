"""I4: whose memory a session uses. Beside main it is the server's, which has no limit."""

from pathlib import Path

from e2e.node import RealNode
from e2e.node.images.catalogue import DEBIAN
from e2e.tests.seats import Seat, seat

MIB = 1 << 20
LIMIT = 200 * MIB  # That of main, by `login_spec`.
TAKEN = 300 * MIB
# The last command keeps all of it before it prints anything.
TAKE = f"head -c {TAKEN} /dev/zero | tail -c {TAKEN} | wc -c"


def peak(place: Seat, container: str) -> int:
    """The most memory that a container ever held."""
    file = "/sys/fs/cgroup/memory/memory.max_usage_in_bytes"
    return int(place.team.exec("cat", file, container=container))


def test_i4_a_session_beside_main_may_take_more_than_main_has(
    shop: RealNode, tmp_path: Path
) -> None:
    with seat(shop, tmp_path, DEBIAN) as place:
        done = place.login.run(TAKE)
        mains, servers = peak(place, "main"), peak(place, "sshd")
        in_main = place.team.kubectl("exec", "box", "-c", "main", "--", "sh", "-c", TAKE)
        pod = place.team.pod()

    assert (0, f"{TAKEN}\n") == (done.returncode, done.stdout)
    assert mains < LIMIT < TAKEN < servers
    assert "0\n" == in_main.stdout, "main itself may not: what keeps it is killed"
    assert pod is not None
    assert {0} == {told["restartCount"] for told in pod["status"]["containerStatuses"]}
