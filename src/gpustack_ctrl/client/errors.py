"""What can go wrong on the way to the API server, said in one line."""

import os

import aiohttp

from gpustack_ctrl.api.errors import UnreachableError


class ConfigurationError(Exception):
    """How to reach the API server is not, or wrongly, configured; the message names the remedy."""


class UntrustedError(UnreachableError):
    """The API server answered, but its certificate is not one that we were told to trust."""


def unreachable(host: str, error: Exception) -> UnreachableError:
    """The `UnreachableError` that says why no answer came from *host*."""
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        why = getattr(error.certificate_error, "verify_message", "") or error.certificate_error
        return UntrustedError(f"the certificate of the API server at {host} is not trusted: {why}")
    return UnreachableError(f"cannot reach the API server at {host}: {_why(error)}")


def _why(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorDNSError():
            return f"the name {error.host} cannot be resolved"
        case aiohttp.ClientConnectorError():
            number = error.os_error.errno or 0
            return os.strerror(number).lower() if number > 0 else one_line(error.os_error)
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientPayloadError():
            return "it closed the connection before its answer was complete"
        case TimeoutError():
            return "it did not answer in time"
        case _:
            return one_line(error)


def one_line(error: Exception) -> str:
    """What *error* says, without line breaks; its class if it says nothing."""
    return " ".join(str(error).split()) or type(error).__name__
