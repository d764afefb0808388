"""Key pairs made on the spot, and public keys put together byte by byte."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from gpustack_ctrl.api.ssh_wire import string, to_base64


def generate(folder: Path, *options: str) -> Path:
    """The private key file of a new pair; the public one ends in `.pub`."""
    path = folder / "-".join(option.strip("-") for option in options)
    made = ("ssh-keygen", "-q", "-N", "", "-C", "me@here", "-f", str(path), *options)
    subprocess.run(made, check=True, capture_output=True)
    return path


def mpint(number: int) -> bytes:
    """A positive *number* in the shortest spelling of the wire."""
    return string(number.to_bytes(number.bit_length() // 8 + 1, "big"))


def line(key_type: str, *fields: bytes, comment: str = "") -> str:
    """A line of authorized_keys whose blob holds *fields* as they are."""
    blob = string(key_type.encode()) + b"".join(fields)
    return f"{key_type} {to_base64(blob)} {comment}".rstrip()


def listed(text: str) -> Sequence[str]:
    """The fingerprints that ssh-keygen reads from *text*; empty where it reads none."""
    said = subprocess.run(
        ("ssh-keygen", "-lf", "/dev/stdin"), input=text, text=True, capture_output=True, check=False
    )
    return [entry.split()[1] for entry in said.stdout.splitlines()] if not said.returncode else []
