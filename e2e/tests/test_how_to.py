"""The guide to a node by hand is executed as it stands, in a folder of this test."""

import re
import subprocess
from pathlib import Path

from e2e.node import RealNode

CHECKOUT = Path(__file__).parents[2]
GUIDE = CHECKOUT / "docs" / "how-to" / "run-on-a-laptop-node.md"
PLACE = "/tmp/node"  # noqa: S108  As the guide calls it; the test puts its own in its place.
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_the_guide_does_what_it_says(node: RealNode, tmp_path: Path) -> None:
    place = tmp_path / "node"
    script = "\n".join(_BLOCK.findall(GUIDE.read_text())).replace(PLACE, str(place))
    done = subprocess.run(
        ("bash", "-euc", script),
        cwd=CHECKOUT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout
    assert re.search(r"^logged in to workspace with device-\d$", done.stdout, re.MULTILINE)
    assert "logged in again\n" in done.stdout
    assert "-o HostKeyAlias=" in done.stdout
    assert not place.exists()
