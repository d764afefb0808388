"""N6: a Setting that would spoil the status of every Instance is refused as a whole."""

from collections.abc import Callable

import pytest

from gpustack_ctrl.reconcilers.settings.places import (
    dns_suffix,
    host,
    registry,
    repository_namespace,
)

Parse = Callable[[str], str]
BLANK = ("", "  ")


@pytest.mark.parametrize("parse", [host, dns_suffix, registry, repository_namespace])
@pytest.mark.parametrize("text", BLANK)
def test_blank_is_none(parse: Parse, text: str) -> None:
    assert "" == parse(text)


@pytest.mark.parametrize(
    ("parse", "text", "expected"),
    [
        (host, " gpu.example ", "gpu.example"),
        (host, "192.0.2.7", "192.0.2.7"),
        (host, "2001:db8::7", "2001:db8::7"),
        (host, "GPU-1", "GPU-1"),
        (dns_suffix, "*.nodes.example", "nodes.example"),
        (dns_suffix, ".nodes.example", "nodes.example"),
        (dns_suffix, "sslip.io", "sslip.io"),
        (registry, "registry.example:5000/mirror/", "registry.example:5000/mirror"),
        (registry, "localhost", "localhost"),
        (repository_namespace, "/team/images_x/", "team/images_x"),
    ],
)
def test_good_values_are_read(parse: Parse, text: str, expected: str) -> None:
    assert expected == parse(text)


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (host, "x" * 254),
        (host, "gpu.example; rm -rf ~"),
        (host, "gpu.example\nother"),
        (host, "$(id)"),
        (host, "-oProxyCommand=id"),
        (host, "https://gpu.example"),
        (host, "fe80::1%eth0"),
        (host, "gpu..example"),
        (dns_suffix, "x" * 201),
        (dns_suffix, "nodes.example/path"),
        (dns_suffix, "*.*.example"),
        (registry, "https://registry.example"),
        (registry, "registry.example/UPPER"),
        (registry, "a b"),
        (registry, "r" * 254),
        (repository_namespace, "Team"),
        (repository_namespace, "team//images"),
    ],
)
def test_n6_bad_values_are_refused_with_the_remedy(parse: Parse, text: str) -> None:
    with pytest.raises(ValueError, match=r"is not an? .*: write "):
        parse(text)
