"""Workloads whose use is known, and workloads that are in trouble."""

from typing import Any

import attrs

from e2e.node import RealNode
from e2e.tests.metrics.cards import Cards
from e2e.tests.team import SLEEP, Team

MI = 1 << 20
SMALL = {"cpu": "50m", "ram": "32Mi"}
_FULL = (
    "trap 'exit 0' TERM; dd if=/dev/zero of=/file bs=1M count=40; "
    f"{{ head -c {50 * MI} /dev/zero; exec sleep infinity; }} | tail -c {50 * MI} > /dev/null & "
    "nc -ll -p 8080 -e sh -c 'cat > /dev/null' & wait"
)
_SLEEP = "trap 'exit 0' TERM; sleep infinity & wait"
_MARKED = "echo >> /workspace/begun; [ $(wc -l < /workspace/begun) -gt {} ] && exec sleep infinity"
# What each of the crowd does, and what it may use.
CROWD: dict[str, tuple[str, dict[str, str]]] = {
    "busy": ("trap 'exit 0' TERM; while :; do :; done & wait", {"cpu": "300m", "ram": "32Mi"}),
    "full": (_FULL, {"cpu": "300m", "ram": "96Mi"}),
    "hungry": (f"{_MARKED.format(1)}; tail /dev/zero", SMALL),
    "crashing": (f"{_MARKED.format(3)}; exit 3", SMALL),
    "stopped": (_SLEEP, SMALL),
    # It works at first, and then sleeps.
    "deleted": (f"head -c {500 * MI} /dev/zero | md5sum; {_SLEEP}", SMALL),
}
_HOLD = f"{{ head -c {59 * MI} /dev/zero; exec sleep infinity; }} | tail -c {59 * MI} > /dev/null"

_EAT_ONCE = "[ -e /workspace/x ] && exec sleep infinity; touch /workspace/x; tail /dev/zero"


def _shell(script: str) -> list[str]:
    return ["sh", "-c", f"trap 'exit 0' TERM; {script} & wait"]


def _filled(path: str, kibibytes: int) -> list[str]:
    return _shell(f"dd if=/dev/zero of={path} bs=1k count={kibibytes}; sleep infinity")


# Who is in trouble, by what.
TROUBLED: dict[str, dict[str, Any]] = {
    "idle": {"type": "nvidia", "resources": {**SMALL, "accelerator": "1"}},
    "crashing": {"command": ["sh", "-c", "exit 3"]},
    "hungry": {"command": ["sh", "-c", _EAT_ONCE]},
    "remembering": {"command": _shell(_HOLD), "resources": {"cpu": "50m", "ram": "64Mi"}},
    "writing": {"type": "cpu-tiny", "command": _filled("/file", 14848)},
    "keeping": {
        "command": _filled("/workspace/file", 7680),
        "volume": {"ephemeral": {"capacity": "8Mi"}},
    },
    "unreachable": {"ports": [{"port": 22}]},
    "resting": {"stop": True},
    **{
        f"large-{number}": {"type": "nvidia", "resources": {**SMALL, "accelerator": "9"}}
        for number in range(5)
    },
}
CARD, SPARE = "GPU-5f0c", "GPU-77aa"


@attrs.frozen(kw_only=True)
class Scene:
    """Instances in trouble, the cards that are told of, and since when."""

    node: RealNode
    team: Team
    cards: Cards
    since: float


def join(team: Team, name: str) -> None:
    """Create one of the crowd."""
    script, resources = CROWD[name]
    ports = [{"port": 8080}] if name == "full" else None
    team.create(name, command=["sh", "-c", script], resources=resources, ports=ports)


def trouble(team: Team, cards: Cards) -> None:
    """Create all who are in trouble; one of them has an idle card that is ill."""
    for name, spec in TROUBLED.items():
        team.create(name, **{"resources": SMALL, "command": SLEEP, **spec})
    cards.add(CARD, (team.namespace, "idle"), GPU_UTIL=2, XID_ERRORS=79)
    cards.add(SPARE, (team.namespace, "nobody"), GPU_UTIL=0)
