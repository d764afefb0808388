"""What the documentation says of a node by hand is executed as it stands, in a folder of a test."""

import re
import subprocess
from pathlib import Path

from e2e.node import RealNode
from e2e.tests.home import AT_HOME

CHECKOUT = Path(__file__).parents[2]
DOCS = CHECKOUT / "docs"
GUIDE = DOCS / "how-to" / "run-on-a-laptop-node.md"
TUTORIAL = DOCS / "tutorial" / "first-instance.md"
ACTIVATE = ". .venv/bin/activate\n"


def executed(page: Path, language: str, place: Path, *, called: str) -> str:
    """Return what the blocks of *page* print, in *place* instead of the folder so *called*."""
    block = re.compile(rf"^```{language}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
    script = "\n".join(block.findall(page.read_text())).replace(called, str(place))
    done = subprocess.run(
        (*AT_HOME, "bash", "-euc", ACTIVATE + script),
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout
    assert not place.exists()
    return done.stdout


def test_the_guide_does_what_it_says(node: RealNode, tmp_path: Path) -> None:
    told = executed(GUIDE, "sh", tmp_path / "node", called="/tmp/node")  # noqa: S108  As it says.

    assert re.search(r"^logged in to workspace with device-\d$", told, re.MULTILINE)
    assert "logged in again\n" in told
    assert "-o HostKeyAlias=" in told


def test_the_tutorials_login_does_what_it_says(node: RealNode, tmp_path: Path) -> None:
    told = executed(TUTORIAL, "bash", tmp_path / "real", called="/tmp/real")  # noqa: S108  As it says.

    assert re.search(r"^I am root in workspace with device-\d$", told, re.MULTILINE), told
    assert "\nwritten from outside\n" in told
    assert "Permission denied (publickey)" in told
