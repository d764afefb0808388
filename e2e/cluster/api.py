"""The API server over plain HTTPS: cheaper than a kubectl process when much is asked."""

import json
import ssl
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPSConnection
from typing import Any

import attrs

from e2e.cluster.credentials import ADMIN, read_token
from e2e.cluster.errors import ClusterError
from e2e.cluster.layout import Layout

_TIMEOUT = 30.0
MERGE_PATCH = "application/merge-patch+json"
# Merges lists by their keys; not for custom resources.
STRATEGIC_PATCH = "application/strategic-merge-patch+json"


class ApiStatusError(ClusterError):
    """The API server refused a request; *status* is its HTTP status."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"the API server said {status}: {message}")
        self.status = status


@attrs.frozen(kw_only=True)
class Api:
    """The API server of the cluster in *layout*, as *user* sees it. Paths begin with a slash."""

    layout: Layout
    user: str = ADMIN

    def get(self, path: str) -> Any:
        """Return the object or list at *path*."""
        return json.loads(self.text(path))

    def find(self, path: str) -> Any:
        """Return the object at *path*, or None if it does not exist."""
        try:
            return self.get(path)
        except ApiStatusError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            return None

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create *body* in the collection at *path* and return what became of it."""
        return json.loads(self._send("POST", path, body))

    def patch(self, path: str, body: Mapping[str, Any], *, kind: str = MERGE_PATCH) -> Any:
        """Merge *body* into the object at *path* and return what became of it."""
        return json.loads(self._send("PATCH", path, body, content_type=kind))

    def delete(self, path: str) -> None:
        """Delete the object at *path* without waiting for its end."""
        self._send("DELETE", path)

    def text(self, path: str) -> str:
        """Return whatever is at *path*, such as the metrics.

        Raises ApiStatusError when the API server refuses, as every method here does.
        """
        return self._send("GET", path)

    def _send(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        content_type: str = "application/json",
    ) -> str:
        context = ssl.create_default_context(cafile=str(self.layout.certificate))
        port = self.layout.read_ports().api_server
        connection = HTTPSConnection(self.layout.host, port, context=context, timeout=_TIMEOUT)
        headers = {
            "Authorization": f"Bearer {read_token(self.layout, self.user)}",
            "Content-Type": content_type,
        }
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            content = response.read().decode()
        except (OSError, HTTPException) as error:
            raise ClusterError(f"the API server cannot be reached: {error}") from error
        finally:
            connection.close()
        if response.status >= HTTPStatus.BAD_REQUEST:
            raise ApiStatusError(response.status, _message(content))
        return content


def _message(content: str) -> str:
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content.strip()
