"""What is taken is what OpenSSH takes: ssh-keygen is asked about every key."""

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpustack_ctrl.api.authorized_keys import parse
from gpustack_ctrl.api.ssh_wire import string, to_base64
from tests.api.ssh_samples import generate, line, listed

pytestmark = pytest.mark.skipif(
    not shutil.which("ssh-keygen"), reason="ssh-keygen is missing: install openssh-client"
)

GENERATED = (
    ("-t", "ed25519"),
    ("-t", "ecdsa", "-b", "256"),
    ("-t", "ecdsa", "-b", "384"),
    ("-t", "ecdsa", "-b", "521"),
    ("-t", "rsa", "-b", "2048"),
    ("-t", "rsa", "-b", "3072"),
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as made:
        yield Path(made)


@cache
def sample(options: tuple[str, ...]) -> str:
    with TemporaryDirectory() as made:
        return generate(Path(made), *options).with_suffix(".pub").read_text()


@pytest.mark.parametrize("options", GENERATED)
def test_i4_a_generated_key_is_taken_with_its_fingerprint(options: tuple[str, ...]) -> None:
    text = sample(options)

    parsed = parse(text)

    assert () == parsed.refused
    assert listed(text) == [key.fingerprint for key in parsed.keys]
    assert text == f"{parsed.keys[0].line}\n"


def test_i4_a_security_key_is_taken_with_its_fingerprint() -> None:
    blob_fields = _fields(sample(("-t", "ed25519")))
    text = line("sk-ssh-ed25519@openssh.com", blob_fields, string(b"ssh:"))

    assert listed(text) == [key.fingerprint for key in parse(text).keys]


def test_the_private_file_of_a_pair_is_refused(folder: Path) -> None:
    private = generate(folder, "-t", "ed25519").read_text()

    parsed = parse(private)

    assert () == parsed.keys
    assert 1 == len(parsed.refused)
    assert "private key" in str(parsed.refused[0])
    assert private.splitlines()[1] not in str(parsed)


@settings(max_examples=60, deadline=None)
@given(
    options=st.sampled_from(GENERATED[:5]),
    flips=st.lists(st.tuples(st.integers(0, 2000), st.integers(1, 255)), max_size=3),
    cut=st.integers(-4, 0),
    more=st.binary(max_size=2),
)
def test_what_is_taken_is_taken_by_openssh_too(
    options: tuple[str, ...], flips: list[tuple[int, int]], cut: int, more: bytes
) -> None:
    """However a key is damaged: one that we take, OpenSSH reads, and as the same key."""
    key_type, text, _ = sample(options).split()
    blob = bytearray(parse(f"{key_type} {text}").keys[0].blob)
    for at, flip in flips:
        blob[at % len(blob)] ^= flip
    damaged = f"{key_type} {to_base64(bytes(blob[: len(blob) + cut]) + more)}\n"

    parsed = parse(damaged)

    if parsed.keys:
        assert listed(damaged) == [key.fingerprint for key in parsed.keys]
    if not (flips or cut or more):
        assert parsed.keys


def _fields(text: str) -> bytes:
    return parse(text).keys[0].blob[len(string(b"ssh-ed25519")) :]
