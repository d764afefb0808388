"""The one door to kubernetes_asyncio: it knows where the API server is and who we are to it.

Its Configuration and loaders read service accounts and kubeconfigs, with everything that
these may ask for: exec plugins, OIDC, certificates, token files, contexts. Its ApiClient
says what that means for a request.
"""

import asyncio
import atexit
import logging
import os
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

import aiohttp
import attrs
import yaml

from gpustack_ctrl.api.names import PRODUCT
from gpustack_ctrl.client.credentials import Access, Connection
from gpustack_ctrl.client.errors import ConfigurationError, one_line
from gpustack_ctrl.client.kubeconfig import Entries
from gpustack_ctrl.client.lean_import import keep_out_generated_modules
from gpustack_ctrl.client.location import (
    ConnectionOptions,
    InCluster,
    Kubeconfig,
    Surroundings,
    locate,
)
from gpustack_ctrl.client.sessions import Endpoint
from gpustack_ctrl.runtime.clock import Clock

keep_out_generated_modules()

from kubernetes_asyncio.client import ApiClient, Configuration  # noqa: E402 -- see above.
from kubernetes_asyncio.config import ConfigException  # noqa: E402
from kubernetes_asyncio.config.incluster_config import InClusterConfigLoader  # noqa: E402
from kubernetes_asyncio.config.kube_config import (  # noqa: E402
    KubeConfigLoader,
    KubeConfigMerger,
    _cleanup_temp_files,
)

REREAD_SECONDS = 60.0
MARGIN_SECONDS = 300.0
SHORTEST_SECONDS = 1.0
PLUGIN_SECONDS = 60.0
BEARER = "BearerToken"
# The loaders check little of what they read, and OIDC asks other servers.
LOADER_FAULTS = (
    ConfigException,
    aiohttp.ClientError,
    OSError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    AssertionError,
)

# What the library logs as an error it also raises; what it logs as debug holds bodies.
logging.getLogger("kubernetes_asyncio").setLevel(logging.CRITICAL)


async def connect(
    options: ConnectionOptions, *, clock: Clock, surroundings: Surroundings | None = None
) -> Connection:
    """A connection by what *options* and *surroundings* say; raise `ConfigurationError`.

    Nothing is asked of the API server yet. Close the connection when done.
    """
    location = locate(options, surroundings or Surroundings.current())
    match location:
        case InCluster():
            return await Connection.open(ServiceAccountLogin(location), clock)
        case Kubeconfig():
            return await Connection.open(KubeconfigLogin(location, clock), clock)


@attrs.define
class Headers:
    """What the library's `ApiClient` would say of us in a request."""

    _client: ApiClient | None = None

    async def of(self, configuration: Configuration) -> Mapping[str, str]:
        """The headers for *configuration*: our name, and the authorization if there is one."""
        if self._client is None:
            self._client = ApiClient(configuration)
            self._client.user_agent = PRODUCT
            await self._client.close()  # Its session reads .netrc for each request; see `sessions`.
        self._client.configuration = configuration
        headers = dict(self._client.default_headers)
        await self._client.update_params_for_auth(headers, [], [BEARER])
        return {name: value.strip() for name, value in headers.items()}  # Files end in a newline.


@attrs.define
class ServiceAccountLogin:
    """The token and authority of a Pod, read again each minute."""

    location: InCluster
    _headers: Headers = attrs.field(factory=Headers)

    async def log_in(self, *, anew: bool) -> Access:  # noqa: ARG002 -- it is always anew.
        """Read the files that the kubelet keeps fresh."""
        configuration = Configuration()
        with explained(self.location):
            loader = InClusterConfigLoader(
                token_filename=str(self.location.token),
                cert_filename=str(self.location.authority),
                try_refresh_token=False,
                environ=dict(self.location.environ),
            )
            loader.load_and_set(configuration)
            found = endpoint(configuration)
            headers = await self._headers.of(configuration)
        return Access(endpoint=found, headers=headers, lifetime=REREAD_SECONDS)


@attrs.define
class KubeconfigLogin:
    """The user of a context in a kubeconfig.

    Tokens of OIDC are renewed, and written back as kubectl does. Exec plugins run when their
    credentials near their end. Files are read again each minute.
    """

    location: Kubeconfig
    clock: Clock
    _headers: Headers = attrs.field(factory=Headers)
    _loader: KubeConfigLoader | None = None
    _runs_plugin: bool = False

    async def log_in(self, *, anew: bool) -> Access:
        """Let the loader bring address, certificates and token up to date."""
        configuration = Configuration()
        with explained(self.location), decoded_files_removed():
            loader = self._current_loader(anew=anew)
            async with asyncio.timeout(PLUGIN_SECONDS):
                await loader.load_and_set(configuration)
            found = endpoint(configuration)
            headers = await self._headers.of(configuration)
        if self._runs_plugin and not (configuration.api_key or configuration.cert_file):
            raise ConfigurationError(
                f"{self.location}: the exec plugin gave neither a token nor a certificate"
            )
        return Access(endpoint=found, headers=headers, lifetime=self._lifetime(loader))

    def _current_loader(self, *, anew: bool) -> KubeConfigLoader:
        """The loader at hand, unless it would not look again."""
        if self._loader is None or self._runs_plugin or anew:
            entries = Entries.read(self.location)
            merged = KubeConfigMerger(os.pathsep.join(map(str, self.location.paths)))
            self._runs_plugin = "exec" in entries.user
            self._loader = KubeConfigLoader(
                config_dict=merged.config,
                active_context=entries.context,
                config_base_path=None,
                config_persister=lambda _: merged.save_changes(),
            )
        return self._loader

    def _lifetime(self, loader: KubeConfigLoader) -> float:
        """Seconds until it is time to log in again."""
        if not self._runs_plugin:
            return REREAD_SECONDS
        expiry = getattr(loader, "exec_plugin_expiry", None)
        return float("inf") if expiry is None else _before(expiry, self.clock.now())


def _before(expiry: datetime, now: datetime) -> float:
    """Seconds until a fifth of the time to *expiry*, or five minutes, are left."""
    left = (expiry - now).total_seconds()
    return max(SHORTEST_SECONDS, left - min(MARGIN_SECONDS, left / 5))


def endpoint(configuration: Configuration) -> Endpoint:
    """What the library's *configuration* says of the way to the API server."""
    return Endpoint(
        host=str(configuration.host).rstrip("/"),
        authority=_content(configuration.ssl_ca_cert),
        certificate=_content(configuration.cert_file),
        key=_content(configuration.key_file),
        verified=configuration.verify_ssl,
        server_name=configuration.tls_server_name,
        proxy=configuration.proxy,
    )


def _content(path: str | None) -> bytes | None:
    return Path(path).read_bytes() if path else None


@contextmanager
def decoded_files_removed() -> Iterator[None]:
    """Remove what the library decodes of a kubeconfig: keys are among it, and it waits for exit.

    A process that is killed, or that ends at once because it lost its lease, would leave them.
    """
    try:
        yield
    finally:
        _cleanup_temp_files()
        atexit.unregister(_cleanup_temp_files)


@contextmanager
def explained(location: InCluster | Kubeconfig) -> Iterator[None]:
    """Turn whatever the loaders raise about *location* into one line."""
    try:
        yield
    except yaml.YAMLError as error:
        raise ConfigurationError(f"{location} is not YAML: {one_line(error)}") from error
    except ssl.SSLError as error:
        why = f"a certificate or key in it cannot be used: {error.reason}"
        raise ConfigurationError(f"{location}: {why}") from error
    except TimeoutError as error:
        why = f"the exec plugin did not end within {PLUGIN_SECONDS:.0f} s"
        raise ConfigurationError(f"{location}: {why}") from error
    except LOADER_FAULTS as error:
        raise ConfigurationError(f"{location}: {one_line(error)}") from error
