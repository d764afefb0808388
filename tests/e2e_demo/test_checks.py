"""Every check of the demo holds where it should, and fails where it should."""

import pytest

from e2e.demo import checks
from e2e.demo.errors import NotSoError
from e2e.demo.judge import judge
from e2e.demo.people import RED
from e2e.demo.script import Check, Fact, Seen, do, refused

BEFORE = """\
NAME       CLUSTER-IP   PORT(S)
notebook   10.0.0.1     6006:31000/TCP,8888:31001/TCP
"""
KEPT = BEFORE
MOVED = """\
NAME       CLUSTER-IP   PORT(S)
notebook   10.0.0.2     8000:31000/TCP,8888:31002/TCP
"""


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (checks.contains("10.0.0.1", "8888"), KEPT, MOVED),
        (checks.lacks("8000:"), KEPT, MOVED),
        (checks.tells("notebook", **{"CLUSTER-IP": "10.0.0.1"}), KEPT, MOVED),
        (checks.lists("notebook"), KEPT, f"{KEPT}editor     10.0.0.3     1:2/TCP\n"),
        (checks.lists("notebook"), KEPT, "No resources found in team-red namespace.\n"),
        (checks.exposes("notebook", "PORT(S)", "8888/TCP", "6006/TCP"), KEPT, MOVED),
        (checks.keeps_node_port("notebook", "PORT(S)", "8888/TCP", since="then"), KEPT, MOVED),
        (checks.keeps("notebook", "CLUSTER-IP", since="then"), KEPT, MOVED),
        (checks.differs("notebook", "CLUSTER-IP", since="then"), MOVED, KEPT),
        (checks.same(since="then"), KEPT, MOVED),
    ],
)
def test_a_check_tells_good_from_bad(check: Check, good: str, bad: str) -> None:
    earlier = {"then": BEFORE}
    check(Seen(good, earlier))

    with pytest.raises(NotSoError):
        check(Seen(bad, earlier))


def test_the_complaint_says_what_was_wanted_and_what_was_seen() -> None:
    check = checks.keeps_node_port("notebook", "PORT(S)", "8888/TCP", since="then")

    with pytest.raises(NotSoError) as caught:
        check(Seen(MOVED, {"then": BEFORE}))

    assert "the node port of 8888/TCP should be 31001, but is 31002" == str(caught.value)


def test_a_fact_that_does_not_hold_is_quoted() -> None:
    step = do(RED, "kubectl get pods", Fact("The Pod is gone.", checks.contains("No resources")))

    with pytest.raises(NotSoError, match=r"“The Pod is gone\.” does not hold: 'No resources' is"):
        judge(step, Seen("NAME\nnotebook\n", {}), failed=False)


def test_a_command_that_fails_is_a_fault_whatever_it_printed() -> None:
    with pytest.raises(NotSoError, match="this failed: Error from server"):
        judge(do(RED, "kubectl get pods"), Seen("Error from server\n", {}), failed=True)


def test_a_refusal_that_does_not_come_is_a_fault() -> None:
    step = refused(RED, "kubectl delete node node-0")
    judge(step, Seen("Forbidden\n", {}), failed=True)

    with pytest.raises(NotSoError, match="should be refused, but was done: deleted"):
        judge(step, Seen("deleted\n", {}), failed=False)
