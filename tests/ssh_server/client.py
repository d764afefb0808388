"""A user's side: a key pair, and a client configuration that trusts one host key."""

import subprocess
from pathlib import Path

import attrs

from gpustack_ctrl.reconcilers.login.host_key import HostKey

CONFIG = """\
Host workload
  IdentityFile {folder}/id
Host *
  HostName 127.0.0.1
  User root
  IdentitiesOnly yes
  HostKeyAlias {alias}
  StrictHostKeyChecking yes
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile none
  BatchMode yes
  LogLevel ERROR
  ConnectTimeout 10
"""


@attrs.frozen(kw_only=True)
class Client:
    """*config* knows the host `workload`, reached with a key, and any other host without."""

    config: Path
    public_key: str


def make_client(folder: Path, host_key: HostKey, *, alias: str) -> Client:
    """A user who was told *host_key* under the name *alias* and keeps all in *folder*."""
    folder.mkdir()
    key = make_pair(folder / "id")
    known = " ".join(host_key.public_line.split()[:2])
    (folder / "known_hosts").write_text(f"{alias} {known}\n")
    config = folder / "config"
    config.write_text(CONFIG.format(folder=folder, alias=alias))
    return Client(config=config, public_key=key.with_suffix(".pub").read_text().strip())


def make_pair(path: Path) -> Path:
    """The private key of a new pair, at *path*."""
    made = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path))
    subprocess.run(made, check=True)
    return path
