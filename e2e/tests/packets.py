"""Packets from outside and from within Pods, and what became of them."""

import subprocess
from enum import StrEnum

import attrs

from e2e.node import RealNode
from e2e.node.images.small import probe as probe_layer
from e2e.node.network import inside

_MILLISECONDS = "1000"
_UNANSWERED = ("refused", "timeout", "closed", "no answer", "No route to host")


class Verdict(StrEnum):
    """Whether the answer to a packet came back. A refusal is a denial, and so is silence."""

    ALLOW = "allow"
    DENY = "deny"


@attrs.frozen(kw_only=True)
class Answer:
    """What a probe printed; an answer reads `HOSTNAME sees ADDRESS`."""

    text: str

    @property
    def verdict(self) -> Verdict:
        """Whether somebody answered.

        Raises AssertionError when the packet was never sent, which shows nothing.
        """
        if " sees " in self.text:
            return Verdict.ALLOW
        assert self.text in _UNANSWERED, self.text
        return Verdict.DENY

    @property
    def who(self) -> str:
        """Who answered."""
        return self.text.partition(" sees ")[0]

    @property
    def source(self) -> str:
        """The address that the answering side saw."""
        return self.text.partition(" sees ")[2]


def probe(protocol: str, address: str, port: int, *, source: str = "") -> Answer:
    """Return what a packet from outside, sent from *source* where that is named, came to."""
    own = (source,) if source else ()
    return _answer(str(_program()), protocol, address, str(port), _MILLISECONDS, *own)


def probe_from_pod(
    node: RealNode, pod: tuple[str, str], protocol: str, address: str, port: int
) -> Answer:
    """Return what a packet from the Pod (namespace, name) came to."""
    namespace, name = pod
    kubectl = (str(node.layout.bin / "kubectl"), "--kubeconfig", str(node.kubeconfig))
    command = ("exec", "--namespace", namespace, name, "-c", "main", "--", "/probe")
    return _answer(*kubectl, *command, protocol, address, str(port), _MILLISECONDS)


def probe_from_node(
    node: RealNode, protocol: str, address: str, port: int, *, source: str
) -> Answer:
    """Return what a packet from the node's own network, from its address *source*, came to."""
    own = (*node.box.prefix(), str(_program()))
    return _answer(*own, protocol, address, str(port), _MILLISECONDS, source)


def probe_from_network(
    network: str, protocol: str, address: str, port: int, *, source: str
) -> Answer:
    """Return what a packet from the namespace *network*, from its address *source*, came to."""
    own = (*inside(network), str(_program()))
    return _answer(*own, protocol, address, str(port), _MILLISECONDS, source)


def _program() -> str:
    return str(probe_layer().made() / "probe")


def _answer(*command: str) -> Answer:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return Answer(text=done.stdout.strip() or done.stderr.strip())
