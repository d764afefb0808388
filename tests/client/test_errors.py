"""Reasons why no answer came, in one line each."""

from types import SimpleNamespace
from typing import Any, cast

import aiohttp
import pytest

from gpustack_ctrl.client.errors import unreachable

KEY = cast("Any", SimpleNamespace(host="api.example", port=6443, ssl=True))


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (
            aiohttp.ClientConnectorDNSError(KEY, OSError(-2, "unknown")),
            "the name api.example cannot be resolved",
        ),
        (aiohttp.ClientConnectorError(KEY, OSError(113, "x")), "no route to host"),
        (aiohttp.ClientConnectorError(KEY, OSError("several\nreasons")), "several reasons"),
        (
            aiohttp.ServerDisconnectedError(),
            "it closed the connection before its answer was complete",
        ),
        (TimeoutError(), "it did not answer in time"),
        (ConnectionResetError(), "ConnectionResetError"),
    ],
)
def test_the_reason_is_one_line_that_names_the_server(error: Exception, why: str) -> None:
    expected = f"cannot reach the API server at https://h: {why}"
    assert expected == str(unreachable("https://h", error))
