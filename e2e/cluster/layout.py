"""Where a cluster keeps what: the files of its directory and its ports."""

import json
import secrets
import shutil
import socket
from contextlib import ExitStack
from pathlib import Path

import attrs

LOOPBACK = "127.0.0.1"
# Below the ports the kernel gives to outgoing connections, so that none is taken meanwhile.
_RANGE = range(10000, 30000)


@attrs.frozen(kw_only=True)
class Ports:
    """The loopback ports of one cluster."""

    etcd: int
    etcd_peer: int
    api_server: int

    @classmethod
    def free(cls) -> "Ports":
        """Return ports that nobody listens on, all different."""
        with ExitStack() as held:
            numbers = [_free_port(held) for _ in attrs.fields(cls)]
        return cls(etcd=numbers[0], etcd_peer=numbers[1], api_server=numbers[2])


def _free_port(held: ExitStack) -> int:
    listener = held.enter_context(socket.socket())
    while True:
        number = secrets.choice(_RANGE)
        try:
            listener.bind((LOOPBACK, number))
        except OSError:
            continue
        return number


@attrs.frozen(kw_only=True)
class Layout:
    """The files of a cluster below its directory, and the address of its API server."""

    directory: Path
    host: str = LOOPBACK

    @property
    def lock(self) -> Path:
        """Held by the supervisor as long as it lives; contains its process id."""
        return self.directory / "supervisor.pid"

    @property
    def ports(self) -> Path:
        """The ports, as JSON."""
        return self.directory / "ports.json"

    @property
    def bin(self) -> Path:
        """A link for each part, named after it."""
        return self.directory / "bin"

    @property
    def log(self) -> Path:
        """One file for each part."""
        return self.directory / "log"

    @property
    def etcd(self) -> Path:
        """The data of etcd."""
        return self.directory / "etcd"

    @property
    def pki(self) -> Path:
        """The certificate of the API server and the key that signs ServiceAccount tokens."""
        return self.directory / "pki"

    @property
    def certificate(self) -> Path:
        """The certificate chain of the API server, which signed it itself."""
        return self.pki / "apiserver.crt"

    @property
    def signing_key(self) -> Path:
        """The key that signs ServiceAccount tokens."""
        return self.pki / "service-accounts.key"

    @property
    def tokens(self) -> Path:
        """The users: token, name, id and group, as the API server reads them."""
        return self.directory / "tokens.csv"

    @property
    def users(self) -> Path:
        """A kubeconfig for each user."""
        return self.directory / "users"

    @property
    def kubeconfig(self) -> Path:
        """The kubeconfig of the administrator."""
        return self.directory / "kubeconfig"

    @property
    def cache(self) -> Path:
        """What kubectl remembers of the API."""
        return self.directory / "cache"

    def read_ports(self) -> Ports:
        """Return the ports the cluster was started with."""
        return Ports(**json.loads(self.ports.read_text()))

    def write_ports(self, ports: Ports) -> None:
        """Record *ports* for those who connect."""
        self.ports.write_text(json.dumps(attrs.asdict(ports)))

    def remove(self, *, keep_log: bool) -> None:
        """Delete what the cluster made, and the directory if nothing else is in it."""
        for folder in (self.bin, self.etcd, self.pki, self.users, self.cache):
            shutil.rmtree(folder, ignore_errors=True)
        if not keep_log:
            shutil.rmtree(self.log, ignore_errors=True)
        for file in (self.kubeconfig, self.tokens, self.ports, self.lock):
            file.unlink(missing_ok=True)
        if not any(self.directory.iterdir()):
            self.directory.rmdir()


def last_line(log: Path) -> str:
    """Return the last line of *log*, or that there is none."""
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
