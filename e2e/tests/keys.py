"""A user's key pairs, and OpenSSH's client as she would call it from outside."""

import socket
import subprocess
from pathlib import Path
from typing import Any

import attrs

from e2e.cluster import until
from e2e.node.layout import NODE_ADDRESS
from e2e.tests.team import node_ports

Done = subprocess.CompletedProcess[str]
_PATIENCE = 90.0


@attrs.frozen(kw_only=True)
class User:
    """Somebody with a key pair in *folder*, outside the cluster."""

    folder: Path

    @property
    def public(self) -> str:
        """The line that she gives to others."""
        return self.key.with_suffix(".pub").read_text().strip()

    @property
    def key(self) -> Path:
        """Her private key."""
        return self.folder / "id"

    def reaching(self, instance: dict[str, Any]) -> "Login":
        """Return her way into *instance*, trusting the host key that its status tells."""
        told = instance["status"]["ssh"]["knownHosts"]
        self.folder.joinpath("known_hosts").write_text(f"{told}\n")
        made = Login(
            user=self, port=node_ports(instance)[22, "TCP"], alias=instance["metadata"]["uid"]
        )
        until(made.is_open, "the SSH server does not answer", seconds=10)
        return made


@attrs.frozen(kw_only=True)
class Login:
    """Where *user* logs in: a node port, and the host key known as *alias*."""

    user: User
    port: int
    alias: str

    def is_open(self) -> bool:
        """Whether the server answers through its node port.

        It listens when the Instance is Ready; kube-proxy may open the way a moment later.
        """
        try:
            with socket.create_connection((NODE_ADDRESS, self.port), timeout=5) as connection:
                return connection.recv(4) == b"SSH-"
        except OSError:
            return False

    def options(self) -> tuple[str, ...]:
        """What every client of OpenSSH is told."""
        known = self.user.folder / "known_hosts"
        told = {
            "Port": self.port,
            "User": "root",
            "IdentityFile": self.user.key,
            "IdentitiesOnly": "yes",
            "HostKeyAlias": self.alias,
            "UserKnownHostsFile": known,
            "StrictHostKeyChecking": "yes",
            "BatchMode": "yes",
            "LogLevel": "ERROR",
            "ConnectTimeout": 10,
        }
        return tuple(f"-o{name}={value}" for name, value in told.items())

    def run(self, *command: str, options: tuple[str, ...] = (), stdin: str = "") -> Done:
        """Return what *command* on the far side came to."""
        return self._call("ssh", *options, *self.options(), NODE_ADDRESS, *command, stdin=stdin)

    def copy(self, source: str, target: str) -> Done:
        """Copy by scp; a side that begins with a colon is the far one."""
        sides = [
            f"{NODE_ADDRESS}{side}" if side.startswith(":") else side for side in (source, target)
        ]
        return self._call("scp", "-q", *self.options(), *sides)

    def sftp(self, *orders: str) -> Done:
        """Give *orders* to sftp."""
        return self._call(
            "sftp", "-q", "-b", "-", *self.options(), NODE_ADDRESS, stdin="\n".join(orders)
        )

    def spawn(self, *command: str, options: tuple[str, ...] = ()) -> "subprocess.Popen[str]":
        """Start *command* on the far side."""
        return subprocess.Popen(
            ("ssh", *options, *self.options(), NODE_ADDRESS, *command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def _call(self, *command: str, stdin: str = "") -> Done:
        return subprocess.run(
            command, input=stdin, capture_output=True, text=True, check=False, timeout=_PATIENCE
        )


def new_user(folder: Path, sort: str = "ed25519") -> User:
    """Return somebody with a new key pair of a *sort*."""
    made = User(folder=folder)
    generate = ("ssh-keygen", "-q", "-t", sort, "-N", "", "-C", "me", "-f", str(made.key))
    subprocess.run(generate, check=True)
    return made
