"""Series by an exporter, read from its page."""

from collections.abc import Iterator

from prometheus_client.parser import text_string_to_metric_families

from gpustack_ctrl.api.errors import SourceError
from gpustack_ctrl.api.unread import Unread
from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.client.endpoints import Endpoints
from gpustack_ctrl.metering.rows import Series


async def series_of_page(endpoints: Endpoints, url: str) -> tuple[Series, ...]:
    """All series at *url*; raise `StartError` where they cannot be had."""
    try:
        page = await endpoints.get(url)
    except SourceError as error:
        raise StartError(f"--exporter: {error}{_remedy(error)}") from error
    try:
        return tuple(_read(page.decode()))
    except ValueError as error:
        raise StartError(f"--exporter: {url} is no page of metrics: {error}") from error


def _read(page: str) -> Iterator[Series]:
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            yield Series(sample.name, sample.labels, sample.value)


def _remedy(error: SourceError) -> str:
    match error.reason:
        case Unread.UNAUTHORIZED | Unread.FORBIDDEN:
            return ": name a token that may read it by --exporter-token-file"
        case Unread.UNTRUSTED:
            return ": --exporter-insecure-tls, where the way to it is safe"
        case Unread.NOT_FOUND:
            return ": name the whole URL, such as http://127.0.0.1:8080/metrics"
        case _:
            return ""
