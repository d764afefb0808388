"""How long cluster and operator live: as long as the demo, or until somebody ends them."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster import Cluster, ClusterError, down, running, up
from e2e.demo.by_hand import FLEET
from e2e.demo.errors import DemoError
from e2e.demo.narrator import Narrator
from e2e.demo.stage import Stage

_PREFIX = "gpustack-ctrl-demo-"


@contextmanager
def passing_stage(narrator: Narrator) -> Iterator[Stage]:
    """Have a stage for the length of the block; of a failure only the logs are left.

    Raises DemoError, which says where the logs are, for one that comes out of the block.
    """
    with running(FLEET) as cluster:
        stage = Stage(cluster=cluster, narrator=narrator)
        try:
            yield stage
        except (DemoError, ClusterError) as error:
            logs = Path(tempfile.mkdtemp(prefix=_PREFIX)) / "log"
            shutil.copytree(cluster.layout.log, logs)
            raise DemoError(f"{error}; logs: {logs}") from error
        finally:
            _end_operator(stage)


@contextmanager
def lasting_stage(narrator: Narrator) -> Iterator[Stage]:
    """Have a stage that is left standing, also after a failure; only an interrupt ends it.

    Raises DemoError, which says where the logs are, for one that comes out of the block.
    """
    cluster = _left_up()
    stage = Stage(cluster=cluster, narrator=narrator, keep=True)
    try:
        yield stage
    except (DemoError, ClusterError) as error:
        raise DemoError(f"{error}; logs: {cluster.layout.log}") from error
    except BaseException:
        _end_operator(stage)
        down(cluster.directory)
        raise


def _left_up() -> Cluster:
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        return up(directory, FLEET)
    except ClusterError:
        raise  # Its message names the logs in there.
    except BaseException:
        shutil.rmtree(directory, ignore_errors=True)
        raise


def _end_operator(stage: Stage) -> None:
    if stage.operator is not None:
        stage.operator.stop()
