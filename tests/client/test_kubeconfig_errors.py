"""What is wrong with a kubeconfig is told in one line."""

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from gpustack_ctrl.client.errors import ConfigurationError
from tests.client.kubeconfigs import connected, kubeconfig, write


def without(section: str) -> dict[str, Any]:
    return {key: value for key, value in kubeconfig("http://127.0.0.1:1").items() if key != section}


@pytest.mark.parametrize(
    ("text", "context", "told"),
    [
        (yaml.safe_dump(kubeconfig("http://h")), "two", "has no context two; it has: only"),
        (
            yaml.safe_dump(without("current-context")),
            "",
            "names no current context; choose one by --context (it has: only)",
        ),
        (yaml.safe_dump(without("contexts")), "", "has no context only; it has none"),
        (yaml.safe_dump(without("users")), "", "context only has no user that it defines"),
        (yaml.safe_dump(without("clusters")), "", "Expected object with name only in"),
        ("{", "", "is not YAML: "),
        ("", "", "holds no configuration"),
        ("[]", "", "holds no configuration"),
    ],
)
async def test_a_kubeconfig_that_makes_no_sense_is_told_in_one_line(
    tmp_path: Path, text: str, context: str, told: str
) -> None:
    path = tmp_path / "k"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        await connected(path, context=context)

    assert str(path) in str(caught.value)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("user", "cluster", "told"),
    [
        ({}, {"certificate-authority": "absent"}, "absent"),
        ({}, {"certificate-authority-data": "!"}, "certificate or key"),
        (
            {},
            {"certificate-authority-data": base64.b64encode(b"no").decode()},
            "certificate or key",
        ),
        ({"tokenFile": "absent"}, {}, "absent"),
        ({"exec": {"command": "absent"}}, {}, "apiVersion"),
        (
            {"exec": {"command": "/absent/plugin", "apiVersion": "v1"}},
            {},
            "No such file or directory: '/absent/plugin'",
        ),
    ],
)
async def test_what_a_kubeconfig_refers_to_must_be_there(
    tmp_path: Path, user: Mapping[str, Any], cluster: Mapping[str, Any], told: str
) -> None:
    content = kubeconfig("https://127.0.0.1:1", user, cluster=cluster)
    with pytest.raises(ConfigurationError) as caught:
        await connected(write(tmp_path / "k", content))

    assert str(tmp_path / "k") in str(caught.value)
    assert told.lower() in str(caught.value).lower()
    assert "\n" not in str(caught.value)


async def test_a_kubeconfig_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Is a directory"):
        await connected(tmp_path)
