"""What every test may ask for: one real node for the whole run, seen from outside."""

import os
import secrets
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from e2e.cluster.interrupts import heed_interrupts
from e2e.node import RealNode, missing, running
from e2e.tests.keys import User, new_user
from e2e.tests.shop import DEPLOYMENT, open_shop
from e2e.tests.team import Team, tenancy


def pytest_configure() -> None:
    """Let interrupts through."""
    heed_interrupts()


_complaint = cache(missing)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs a node where there can be none: here, so that it is told once for all."""
    complaint = _complaint()
    if complaint and "node" in getattr(item, "fixturenames", ()):
        pytest.skip(complaint)


@pytest.fixture(scope="session")
def node() -> Iterator[RealNode]:
    """
    A real node; the tests are the client outside. GPUSTACK_CTRL_NODE names the directory
    of a running one to use instead, which saves developers its start.
    """
    directory = os.environ.get("GPUSTACK_CTRL_NODE")
    if directory:
        held = RealNode(directory=Path(directory).resolve())
        with held.outside():
            yield held
        return
    with running() as started, started.outside():
        yield started


@pytest.fixture
def namespace(node: RealNode) -> Iterator[str]:
    """A namespace of its own for each test."""
    name = f"test-{secrets.token_hex(3)}"
    node.add_namespace(name)
    yield name
    node.api().delete(f"/api/v1/namespaces/{name}")


@pytest.fixture(scope="session")
def shop(node: RealNode) -> RealNode:
    """The node with the operator on it, and types to choose from."""
    if node.api().find(DEPLOYMENT) is None:
        open_shop(node)
    return node


@pytest.fixture
def team(shop: RealNode) -> Iterator[Team]:
    """A tenant with nothing yet."""
    with tenancy(shop) as made:
        yield made


@pytest.fixture
def user(tmp_path: Path) -> User:
    """Somebody outside, with a key pair."""
    folder = tmp_path / "user"
    folder.mkdir()
    return new_user(folder)
