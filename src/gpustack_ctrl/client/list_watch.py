"""Lists and watches of one resource, as a reflector asks for them."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from urllib.parse import urlencode

import attrs

from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.client.exchange import Call, Exchange
from gpustack_ctrl.runtime.watch import ListRequest, WatchRequest

LIST_SECONDS = 60.0


@attrs.frozen(kw_only=True)
class ListWatch:
    """The objects of *resource*: in one namespace or all, and those that selectors select.

    Lists travel over *requests*, watches over *watches*.
    """

    requests: Exchange
    watches: Exchange
    resource: Resource
    namespace: str = ""
    label_selector: str = ""
    field_selector: str = ""

    async def list(self, request: ListRequest) -> bytes:
        """The body of the `List`; raise `ApiError`."""
        query = {
            "resourceVersion": request.resource_version,
            "resourceVersionMatch": "NotOlderThan" if request.resource_version else "",
            "limit": str(request.limit or ""),
            "continue": request.continue_,
        }
        return await self.requests.send(self._call(query))

    def watch(self, request: WatchRequest) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        """The body as it arrives, in chunks of any size; raise `ApiError`.

        Leaving the context closes the connection, unless the body was read to its end.
        """
        query = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": request.resource_version,
            "timeoutSeconds": str(request.timeout_seconds),
        }
        return self.watches.stream(self._call(query))

    def _call(self, query: dict[str, str]) -> Call:
        selected = {
            **query,
            "labelSelector": self.label_selector,
            "fieldSelector": self.field_selector,
        }
        return Call(
            method="GET",
            path=self.resource.collection(self.namespace),
            query=urlencode({name: value for name, value in selected.items() if value}),
            seconds=LIST_SECONDS,
        )
