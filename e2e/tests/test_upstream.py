"""N3's engine: Kubernetes' own cases of network policies hold on the node that N3 is shown on."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from subprocess import CompletedProcess

import pytest

from e2e.node import RealNode
from e2e.node.upstream import LIST, Suite, suite

CASES = LIST.read_text().splitlines()
# Cases that cannot be shown here, by a part of their name, and why.
EXCLUDED = {"[Feature:SCTPConnectivity]": "the kernel has no SCTP"}
# Most of a case is waiting; each has up to six Pods, of which the node takes sixty.
AT_ONCE = 6


def why_not(case: str) -> str:
    return next((why for part, why in EXCLUDED.items() if part in case), "")


def shortened(case: str) -> str:
    """What a case says, and its protocol, without where in the suite it says so."""
    where, _, what = case.removesuffix(" [Feature:NetworkPolicy]").partition(" should ")
    protocol = where.partition(" using ")[2]
    return f"{what} by {protocol}" if protocol else what


@pytest.fixture(scope="module")
def upstream() -> Suite:
    return suite()


@pytest.fixture(scope="module")
def outcomes(
    node: RealNode, upstream: Suite, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Mapping[str, Future[CompletedProcess[str]]]]:
    """What came of each case, as they end."""
    upstream.give_image(node, tmp_path_factory.mktemp("agnhost"))
    with ThreadPoolExecutor(AT_ONCE) as crowd:
        shown = [case for case in CASES if not why_not(case)]
        yield {case: crowd.submit(upstream.run, node, case) for case in shown}
        crowd.shutdown(cancel_futures=True)


def test_the_list_has_every_case_of_the_suite(node: RealNode, upstream: Suite) -> None:
    assert upstream.cases() == CASES


@pytest.mark.parametrize("case", CASES, ids=shortened)
def test_n3_upstreams_own_case(request: pytest.FixtureRequest, node: RealNode, case: str) -> None:
    if why_not(case):
        pytest.skip(why_not(case))
    done = request.getfixturevalue("outcomes")[case].result()

    assert 0 == done.returncode, done.stdout[-20000:]
    assert "Ran 1 of " in done.stdout
    assert "1 Passed" in done.stdout
