"""How the process writes its log: one JSON object a line in a cluster, colours for people."""

import logging
import sys
from typing import TextIO

import msgspec
import structlog
from structlog.stdlib import ProcessorFormatter
from structlog.typing import Processor

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
FORMATS = ("auto", "json", "console")


def set_up(*, level: str, form: str, stream: TextIO = sys.stderr) -> None:
    """Log to *stream* from *level* on; *form* "auto" is console for a terminal, else JSON.

    What libraries log from WARNING on is written in the same form.
    """
    people = form == "console" or (form == "auto" and stream.isatty())
    every_line: list[Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    form_of_line = _for_people(stream) if people else _for_programs()
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, *every_line, *form_of_line],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
        logger_factory=structlog.PrintLoggerFactory(stream),
        cache_logger_on_first_use=True,
    )
    libraries = logging.StreamHandler(stream)
    libraries.setFormatter(
        ProcessorFormatter(
            foreign_pre_chain=[*every_line, structlog.stdlib.add_logger_name],
            processors=[ProcessorFormatter.remove_processors_meta, *form_of_line],
        )
    )
    logging.basicConfig(handlers=[libraries], level=max(logging.WARNING, LEVELS[level]))


def _for_people(stream: TextIO) -> list[Processor]:
    return [structlog.dev.ConsoleRenderer(colors=stream.isatty())]


def _for_programs() -> list[Processor]:
    return [
        structlog.processors.format_exc_info,
        structlog.processors.JSONRenderer(serializer=_json),
    ]


def _json(event: object, **_: object) -> str:
    return msgspec.json.encode(event, enc_hook=str).decode()
