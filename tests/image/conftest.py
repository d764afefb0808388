"""What the image holds, made once by the steps of its Dockerfile."""

from pathlib import Path

import attrs
import pytest

from tests.image.dockerfile import build, context, stages


@attrs.frozen
class Installed:
    """The operator as the image has it, at *prefix*."""

    prefix: Path

    def command(self, name: str) -> Path:
        """A program of the environment."""
        return self.prefix / "bin" / name

    @property
    def packages(self) -> Path:
        """Where its packages lie."""
        (found,) = self.prefix.glob("lib/python*/site-packages")
        return found


@pytest.fixture(scope="session")
def context_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a build engine would be given."""
    return context(tmp_path_factory.mktemp("context"))


@pytest.fixture(scope="session")
def installed(context_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The operator, installed by the build stage into an empty folder."""
    home = tmp_path_factory.mktemp("image")
    build(stages()[0], context_path, work=home / "checkout", prefix=home / "prefix")
    return Installed(home / "prefix")
