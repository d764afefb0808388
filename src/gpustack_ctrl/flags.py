"""The flags of the long-running commands, and the environment variables that stand in for them.

There is one of each for each field of their options. Both are read by the same reader, so
what is wrong as a flag is wrong as a variable.
"""

import argparse
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias, TypeVar

import attrs

from gpustack_ctrl import logs
from gpustack_ctrl.options import CommonOptions, Options
from gpustack_ctrl.runtime.server import address

Field: TypeAlias = "attrs.Attribute[Any]"
T = TypeVar("T", bound=CommonOptions)
FIELDS = attrs.fields(Options)
HELP = {
    "kubeconfig": "kubeconfig file; absent: that of KUBECONFIG, else the Pod's own service "
    "account, else ~/.kube/config",
    "context": "context of the kubeconfig; absent: its current one",
    "namespace": "the operator's own namespace, which holds Settings and the lease",
    "metrics_bind_address": "where /metrics listens; 0 switches it off",
    "health_probe_bind_address": "where /healthz and /readyz listen; 0 switches them off",
    "leader_elect": "work only while holding the lease, so that replicas may stand by",
    "log_level": "what is worth a line",
    "log_format": "auto: console in a terminal, else json, one object a line",
    "install_crds": "create or update the CRDs first",
    "workers": "how many Instances are worked on at once",
    "instance_metrics": "tell the series of each Instance; off where an exporter tells them",
    "metrics_protection": "serve /metrics by TLS, and to those alone who may get it",
    "tls_cert_file": "certificate for /metrics, in PEM; absent: one of its own making",
    "tls_key_file": "key of that certificate, in PEM",
    "node_name": "collect on this node alone; absent: on all",
    "period_seconds": "how often each node is read",
    "requests_in_flight": "how many nodes are read at once",
    "request_seconds": "how long a node may take to answer",
    "kubelet_insecure_tls": "do not verify the certificates of kubelets",
    "reference_metrics": "tell the series by the names of the reference, too",
    "accelerator_sources": "end points on nodes that tell of accelerators, such as "
    "dcgm=http://{address}:9400/metrics; several by comma",
    "accelerator_mapping": "file that says how the source `mapping` is to be read",
    "pod_resources_socket": "socket of the kubelet that tells who holds which device",
}


def add_flags(
    command: argparse.ArgumentParser,
    kind: type[CommonOptions] = Options,
    *,
    only: Collection[str] = HELP,
) -> None:
    """Let *command* take a flag for each option of *kind*, or *only* some; None if not given."""
    for field in attrs.fields(kind):
        if field.name in only:
            _add_flag(command, field)


def options(kind: type[T], given: argparse.Namespace, environ: Mapping[str, str]) -> T:
    """Each option of *kind* by its flag, else by its variable in *environ*, else its default.

    Raises ValueError, naming the variable, for a value that cannot be read. A variable
    that is empty says nothing.
    """
    return kind(**{field.name: _value(field, given, environ) for field in attrs.fields(kind)})


def flag(field: Field) -> str:
    """The flag of an option."""
    return f"--{field.name.replace('_', '-')}"


def variable(field: Field) -> str:
    """The environment variable of an option."""
    return f"GPUSTACK_{field.name.upper()}"


def _add_flag(command: argparse.ArgumentParser, field: Field) -> None:
    told = f"{HELP[field.name]}{_shown(field.default)} [{variable(field)}]"
    if isinstance(field.default, bool):
        command.add_argument(flag(field), action=argparse.BooleanOptionalAction, help=told)
        return
    words = _CHOICES.get(field.name)
    shown = f"{{{','.join(words)}}}" if words else _PLACEHOLDERS[field.name]
    command.add_argument(flag(field), type=_checked(_reader(field)), metavar=shown, help=told)


def _shown(default: object) -> str:
    if default == "":
        return ""
    return f" (default: {str(default).lower() if isinstance(default, bool) else default})"


def _checked(read: Callable[[str], object]) -> Callable[[str], object]:
    """*read*, whose complaint argparse passes on word by word."""

    def checked(text: str) -> object:
        try:
            return read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    return checked


def _value(field: Field, given: argparse.Namespace, environ: Mapping[str, str]) -> Any:
    by_flag = getattr(given, field.name, None)
    if by_flag is not None:
        return by_flag
    told = environ.get(variable(field), "")
    if not told:
        return field.default
    try:
        return _reader(field)(told)
    except ValueError as error:
        raise ValueError(f"environment variable {variable(field)}: {error}") from error


def _reader(field: Field) -> Callable[[str], object]:
    """What turns text into a value of *field*, or raises ValueError with the remedy."""
    if field.name in _CHOICES:
        return lambda text: _choice(text, _CHOICES[field.name])
    if field.name.endswith("_bind_address"):
        return _bind_address
    if isinstance(field.default, bool):
        return lambda text: _choice(text, ("true", "false")) == "true"
    return _count if isinstance(field.default, int) else str


def _choice(text: str, words: tuple[str, ...]) -> str:
    if text not in words:
        raise ValueError(f"{text!r} is not one of {', '.join(words)}")
    return text


def _bind_address(text: str) -> str:
    address(text)
    return text


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ValueError(f"{text!r} is not a whole number from 1 on")
    return int(text)


_CHOICES: Mapping[str, tuple[str, ...]] = {
    "log_level": tuple(logs.LEVELS),
    "log_format": logs.FORMATS,
}
_PLACEHOLDERS = {
    "kubeconfig": "FILE",
    "context": "NAME",
    "namespace": "NAME",
    "metrics_bind_address": "HOST:PORT",
    "health_probe_bind_address": "HOST:PORT",
    "workers": "NUMBER",
    "tls_cert_file": "FILE",
    "tls_key_file": "FILE",
    "node_name": "NAME",
    "period_seconds": "NUMBER",
    "requests_in_flight": "NUMBER",
    "request_seconds": "NUMBER",
    "accelerator_sources": "KIND=URL,...",
    "accelerator_mapping": "FILE",
    "pod_resources_socket": "FILE",
}
