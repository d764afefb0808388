"""How the process writes its log: one JSON object a line in a cluster, colours for people."""

import logging
import sys
from typing import TextIO

import msgspec
import structlog

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
FORMATS = ("auto", "json", "console")


def set_up(*, level: str, form: str, stream: TextIO = sys.stderr) -> None:
    """Log to *stream* from *level* on; *form* "auto" is console for a terminal, else JSON."""
    people = form == "console" or (form == "auto" and stream.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            *(_for_people(stream) if people else _for_programs()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(stream=stream, level=logging.WARNING)


def _for_people(stream: TextIO) -> list[structlog.typing.Processor]:
    return [structlog.dev.ConsoleRenderer(colors=stream.isatty())]


def _for_programs() -> list[structlog.typing.Processor]:
    return [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_json),
    ]


def _json(event: object, **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()
