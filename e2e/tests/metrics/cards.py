"""What dcgm-exporter would tell on the node of its simulated cards."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import attrs

from e2e.node import RealNode
from e2e.node.layout import NODE_ADDRESS
from e2e.node.network import entered

PORT = 9400
SOURCE = f"dcgm=http://{{address}}:{PORT}/metrics"
USED_MIB, FREE_MIB, RESERVED_MIB = 1024, 80000, 896


@attrs.define
class Cards:
    """Cards by their UUID, each with what is told of it; changed while it is served."""

    figures: dict[str, dict[str, float]] = attrs.field(factory=dict)
    holders: dict[str, tuple[str, str]] = attrs.field(factory=dict)

    def add(self, card: str, holder: tuple[str, str] | None, **figures: float) -> None:
        """Tell of *card*, which the Pod *holder*, as (namespace, name), has."""
        memory = {"FB_USED": USED_MIB, "FB_FREE": FREE_MIB, "FB_RESERVED": RESERVED_MIB}
        health = {"GPU_TEMP": 47, "POWER_USAGE": 213.5, "XID_ERRORS": 0}
        if holder:
            self.holders[card] = holder
        self.figures[card] = {**memory, **health, **figures}

    def page(self) -> str:
        """What is told now."""
        families = sorted({family for told in (*self.figures.values(),) for family in told})
        return "".join(text for family in families for text in self._family(family))

    def _family(self, family: str) -> Iterator[str]:
        name = f"DCGM_FI_DEV_{family}"
        yield f"# HELP {name} As the card tells.\n# TYPE {name} gauge\n"
        for number, (card, told) in enumerate((*self.figures.items(),)):
            if family in told:
                labels = {"gpu": str(number), "UUID": card, **self._pod(card)}
                inside = ",".join(f'{key}="{value}"' for key, value in labels.items())
                yield f"{name}{{{inside}}} {told[family]}\n"

    def _pod(self, card: str) -> Mapping[str, str]:
        if card not in self.holders:
            return {}
        namespace, pod = self.holders[card]
        return {"container": "main", "namespace": namespace, "pod": pod}


@contextmanager
def told_by(node: RealNode) -> Iterator[Cards]:
    """Serve what is told of cards on the node, for the length of the block."""
    cards = Cards()

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.end_headers()
            self.wfile.write(cards.page().encode())

        def log_message(self, *_: object) -> None:
            """Nobody asks."""

    # The socket stays in the network that it was made in.
    with entered(node.layout.node_network):
        server = ThreadingHTTPServer((NODE_ADDRESS, PORT), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield cards
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
