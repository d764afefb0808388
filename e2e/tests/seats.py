"""Workloads to log in to, one of each kind of image."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs

from e2e.node import RealNode
from e2e.node.images.catalogue import BUSYBOX, DEBIAN, DEBIAN_USER
from e2e.tests.keys import Login, User, new_user
from e2e.tests.team import SLEEP, Team, Wire, tenancy

# By what the workload's image has: its user, its shell, its tools.
IMAGES: dict[str, str] = {"bash": DEBIAN, "another user": DEBIAN_USER, "sh only": BUSYBOX}
# The types of card by where their dialect puts the SSH server.
WAYS: dict[str, str] = {"beside": "nvidia", "inside": "nvidia-plain"}
ENVIRONMENT = {
    "MASTER_ADDR": "10.1.2.3",
    "MASTER_PORT": "29500",
    "MULTI": "one\ntwo\n\nfour 'quoted' \"twice\" `id` \\",
    "UTF8": "grüße, 世界 🚀",
    "EMPTY": "",
    "EQUALS": "a=b=c",
}


@attrs.frozen(kw_only=True)
class Seat:
    """An Instance that its user may log in to."""

    team: Team
    user: User
    instance: Wire

    @property
    def login(self) -> Login:
        """The way in."""
        return self.user.reaching(self.instance)


@contextmanager
def seat(node: RealNode, folder: Path, image: str, **spec: Any) -> Iterator[Seat]:
    """Have an Instance of *image* with a simulated card, for the length of the block."""
    with tenancy(node) as team:
        user = new_user(folder)
        team.add_keys("me", user.public)
        instance = team.running(**{**login_spec(image), **spec})
        yield Seat(team=team, user=user, instance=instance)


def login_spec(image: str, kind: str = WAYS["beside"]) -> dict[str, Any]:
    """Return the spec of an Instance of *image* that can be logged in to."""
    return {
        "type": kind,
        "image": image,
        "command": SLEEP,
        "env": [{"name": name, "value": value} for name, value in ENVIRONMENT.items()],
        "sshPublicKey": {"name": "me"},
        "ports": [{"port": 22}],
        "resources": {"cpu": "200m", "ram": "200Mi", "accelerator": "1"},
    }
