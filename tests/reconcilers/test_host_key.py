"""The SSH host key of an Instance: the same for its life, different for every other."""

import shutil
import subprocess
from pathlib import Path

import pytest

from gpustack_ctrl.reconcilers.login.host_key import HostKey, host_key

SEED = bytes(range(32))
UID = "5c1f3a0e-0a52-4f0a-9a70-8f0d3f2f6a11"
needs_ssh_keygen = pytest.mark.skipif(
    not shutil.which("ssh-keygen"), reason="ssh-keygen is missing: install openssh-client"
)


def keygen(*arguments: str) -> str:
    return subprocess.run(
        ("ssh-keygen", *arguments), check=True, capture_output=True, text=True
    ).stdout.strip()


def test_i4_an_instance_has_one_host_key_for_its_life() -> None:
    assert host_key(SEED, UID) == host_key(bytes(SEED), str(UID))


def test_i4_the_derivation_never_changes() -> None:
    """A new release that derived other keys would look like an attack to every user."""
    assert "SHA256:HSH0jWRJmHww2vLdxyBbjy6k/4kGi+D1sM/XiFdCGQ4" == host_key(SEED, UID).fingerprint


def test_instances_and_seeds_share_no_key() -> None:
    keys = (host_key(SEED, UID), host_key(SEED, UID + "0"), host_key(SEED[::-1], UID))

    assert 3 == len({key.fingerprint for key in keys})
    assert 3 == len({key.private_key for key in keys})


@needs_ssh_keygen
@pytest.mark.parametrize("uid", [UID, "u", "uid-of-nine"])
def test_i4_openssh_reads_the_file_and_finds_the_same_public_half(tmp_path: Path, uid: str) -> None:
    key = host_key(SEED, uid)
    file = tmp_path / "host_key"
    file.write_text(key.private_key)
    file.chmod(0o600)

    assert key.public_line == keygen("-y", "-f", str(file))
    assert key.fingerprint == keygen("-l", "-f", str(file)).split()[1]


def test_the_private_half_stays_out_of_logs() -> None:
    assert "PRIVATE" not in repr(host_key(SEED, UID))
    assert isinstance(host_key(SEED, UID), HostKey)


@pytest.mark.parametrize(("seed", "uid"), [(SEED[:31], UID), (b"", UID), (SEED, "")])
def test_a_seed_or_uid_that_others_may_have_too_is_refused(seed: bytes, uid: str) -> None:
    with pytest.raises(ValueError, match="SSH host key"):
        host_key(seed, uid)
