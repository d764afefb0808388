"""Hosts, DNS suffixes and registries, as administrators write them into Settings.

They end up in the status of every Instance, in a command to paste and in the image of
every SSH server: one that is no such thing would spoil them all at once.
"""

import re
from ipaddress import ip_address

from gpustack_ctrl.reconcilers.excerpt import excerpt

LONGEST_HOST = 253
LONGEST_SUFFIX = 200
"""Leaves room for an address of either family before it."""

_LABEL = r"[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?"
_HOST = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_PATH = r"[a-z0-9]+([._-]+[a-z0-9]+)*"
_REGISTRY = re.compile(rf"{_LABEL}(\.{_LABEL})*(:[0-9]{{1,5}})?(/{_PATH})*")
_NAMESPACE = re.compile(rf"{_PATH}(/{_PATH})*")


def host(text: str) -> str:
    """The host name or address that *text* is; "" for none."""
    name = text.strip()
    if name and not (_is_address(name) or _is_host(name, LONGEST_HOST)):
        raise ValueError(f"{excerpt(name)} is not a host: write an address or a DNS name")
    return name


def dns_suffix(text: str) -> str:
    """The DNS suffix that *text* is, without the `*.` or dot before it; "" for none."""
    name = text.strip().removeprefix("*").removeprefix(".")
    if name and not _is_host(name, LONGEST_SUFFIX):
        raise ValueError(
            f"{excerpt(name)} is not a DNS suffix: write a DNS name of at most "
            f"{LONGEST_SUFFIX} characters, such as nodes.example"
        )
    return name


def registry(text: str) -> str:
    """The registry that *text* is, perhaps with a path; "" for none."""
    return _of_form(_REGISTRY, text, "a registry: write host, host:port or host/path, no scheme")


def repository_namespace(text: str) -> str:
    """The namespace of a registry that *text* is; "" for none."""
    return _of_form(_NAMESPACE, text, "a namespace: write lower-case words, apart by slashes")


def _of_form(form: re.Pattern[str], text: str, wanted: str) -> str:
    name = text.strip().strip("/")
    if name and not (len(name) <= LONGEST_HOST and form.fullmatch(name)):
        raise ValueError(f"{excerpt(name)} is not {wanted}")
    return name


def _is_host(name: str, longest: int) -> bool:
    return len(name) <= longest and _HOST.fullmatch(name) is not None


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return "%" not in name
