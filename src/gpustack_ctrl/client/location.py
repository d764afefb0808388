"""Where the credentials are: a decision on flags, environment and files that exist.

The order is the one that users of other operators know: `--kubeconfig`, `KUBECONFIG`,
the service account of a Pod, `~/.kube/config`.
"""

import os
from collections.abc import Mapping
from pathlib import Path

import attrs

from gpustack_ctrl.client.errors import ConfigurationError

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@attrs.frozen(kw_only=True)
class ConnectionOptions:
    """What the user said: paths as in `KUBECONFIG`, and a context; "" is "as usual"."""

    kubeconfig: str = ""
    context: str = ""


@attrs.frozen(kw_only=True)
class Surroundings:
    """What of this process and machine tells where credentials are."""

    environ: Mapping[str, str]
    home: Path
    service_account: Path = SERVICE_ACCOUNT

    @classmethod
    def current(cls) -> "Surroundings":
        """Those of this process."""
        return cls(environ=os.environ, home=Path("~").expanduser())


@attrs.frozen(kw_only=True)
class InCluster:
    """The service account of the Pod that we run in."""

    directory: Path
    environ: Mapping[str, str]

    @property
    def token(self) -> Path:
        """The file with the token; the kubelet replaces it before it expires."""
        return self.directory / "token"

    @property
    def authority(self) -> Path:
        """The file with the certificates that the API server's is signed by."""
        return self.directory / "ca.crt"

    def __str__(self) -> str:
        """What a message calls it."""
        return f"the service account in {self.directory}"


@attrs.frozen(kw_only=True)
class Kubeconfig:
    """One file or several, merged; *context* is empty for the current one."""

    paths: tuple[Path, ...]
    context: str

    def __str__(self) -> str:
        """What a message calls it."""
        return f"kubeconfig {os.pathsep.join(map(str, self.paths))}"


def locate(options: ConnectionOptions, surroundings: Surroundings) -> InCluster | Kubeconfig:
    """Where the credentials are; raise `ConfigurationError` that tells where it looked."""
    if options.kubeconfig:
        return _given("--kubeconfig", options.kubeconfig, options.context)
    if surroundings.environ.get("KUBECONFIG"):
        return _given("KUBECONFIG", surroundings.environ["KUBECONFIG"], options.context)
    service_account = InCluster(
        directory=surroundings.service_account, environ=surroundings.environ
    )
    if not options.context and service_account.token.exists():
        return service_account
    usual = surroundings.home / ".kube" / "config"
    if usual.exists():
        return Kubeconfig(paths=(usual,), context=options.context)
    raise ConfigurationError(
        "no kubeconfig: neither --kubeconfig nor KUBECONFIG is set, "
        f"there is no {usual}, and no service account in {surroundings.service_account}"
    )


def _given(where: str, value: str, context: str) -> Kubeconfig:
    named = tuple(Path(part).expanduser() for part in value.split(os.pathsep) if part)
    paths = tuple(path for path in named if path.exists())
    if not paths:
        raise ConfigurationError(f"no kubeconfig: {where} is {value}, and there is no such file")
    return Kubeconfig(paths=paths, context=context)
