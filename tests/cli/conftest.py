"""A cluster without our CRDs: what the command meets before anybody prepared anything."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from e2e.cluster import Cluster, Fleet, running
from gpustack_ctrl.gen.crd import KINDS


@pytest.fixture(scope="session")
def unprepared() -> Iterator[Cluster]:
    """A cluster in which nobody but these tests installs anything."""
    with running(Fleet(nodes=1, gpus=8)) as started:
        yield started


@pytest.fixture
def bare(unprepared: Cluster) -> Cluster:
    """That cluster, without our CRDs."""
    names = [f"crd/{kind.resource.full_name}" for kind in KINDS]
    unprepared.kubectl("delete", "--ignore-not-found", "--wait", *names)
    return unprepared


@pytest.fixture
def home(unprepared: Cluster) -> str:
    """A namespace for the operator."""
    name = f"operator-{secrets.token_hex(4)}"
    unprepared.add_namespace(name)
    return name


@pytest.fixture
def log(tmp_path: Path) -> Callable[[str], Path]:
    """A file for the log of each operator, by its name."""
    return lambda name: tmp_path / f"{name}.log"
