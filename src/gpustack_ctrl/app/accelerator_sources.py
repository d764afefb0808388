"""The sources of accelerator figures that the options name."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from gpustack_ctrl.app.errors import StartError
from gpustack_ctrl.exporter.accelerators import Source
from gpustack_ctrl.metering.accelerators.adapter import Adapter
from gpustack_ctrl.metering.accelerators.dcgm import DcgmAdapter
from gpustack_ctrl.metering.accelerators.hami import HamiAdapter
from gpustack_ctrl.metering.accelerators.mapping import MappedAdapter, MappingError, parse_mapping

MAPPING = "mapping"
KINDS = ("dcgm", "hami", MAPPING)


def sources(told: str, mapping: str) -> tuple[Source, ...]:
    """The sources of *told*, `KIND=URL,...`; *mapping* is the file for those of kind `mapping`.

    Raises StartError with the flag, what is wrong and what helps.
    """
    found = tuple(_source(entry, mapping) for entry in _entries(told))
    twice = sorted(name for name, times in Counter(it.name for it in found).items() if times > 1)
    if twice:
        raise StartError(
            f"--accelerator-sources: {twice[0]} is named twice: its series could not be told apart"
        )
    return found


def _entries(told: str) -> Iterator[str]:
    return (entry.strip() for entry in told.split(",") if entry.strip())


def _source(entry: str, mapping: str) -> Source:
    kind, _, url = entry.partition("=")
    if kind not in KINDS or urlsplit(url).scheme not in {"http", "https"}:
        kinds = ", ".join(KINDS)
        raise StartError(
            f"--accelerator-sources: {entry!r} is no source: write KIND=URL, with one of {kinds} "
            "and a URL such as http://{address}:9400/metrics"
        )
    return Source(name=kind, url=url, adapter=_adapter(kind, mapping))


def _adapter(kind: str, mapping: str) -> Adapter:
    match kind:
        case "dcgm":
            return DcgmAdapter()
        case "hami":
            return HamiAdapter()
        case _:
            return _mapped(mapping)


def _mapped(mapping: str) -> Adapter:
    if not mapping:
        raise StartError("a source of kind mapping needs a file: name it by --accelerator-mapping")
    try:
        return MappedAdapter(parse_mapping(Path(mapping).read_text(encoding="utf-8"), mapping))
    except (OSError, UnicodeDecodeError, MappingError) as error:
        raise StartError(f"--accelerator-mapping: {error}") from error
