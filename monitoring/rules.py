"""Recording rules and alerts, and how Prometheus reads them."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any

import attrs

from gpustack_ctrl.metering.families import Family

PREFIX = "Gpustack"


class Severity(StrEnum):
    """How soon somebody has to look."""

    CRITICAL = "critical"
    """Now: users are cut off, or unprotected."""
    WARNING = "warning"
    """Today: it will not pass by itself."""
    INFO = "info"
    """When there is time."""


@attrs.frozen(kw_only=True)
class Recording:
    """A series that Prometheus works out, under the name *record*."""

    record: str
    expr: str

    def rule(self, runbooks: str) -> dict[str, Any]:  # noqa: ARG002 - as of an Alert.
        """The rule, as a rule file holds it."""
        return {"record": self.record, "expr": self.expr}

    def __str__(self) -> str:
        return self.record


@attrs.frozen(kw_only=True)
class Alert:
    """Something that somebody should do something about, which *description* tells.

    *wait* is for how long *expr* has to hold first.
    """

    name: str
    expr: str
    wait: str
    severity: Severity
    summary: str
    description: str

    @property
    def runbook(self) -> str:
        """The name of its page: `operator-down` of `GpustackOperatorDown`."""
        return re.sub(r"\B([A-Z])", r"-\1", self.name.removeprefix(PREFIX)).lower()

    def rule(self, runbooks: str) -> dict[str, Any]:
        """The rule, as a rule file holds it; its page lies under *runbooks*."""
        return {
            "alert": self.name,
            "expr": self.expr,
            "for": self.wait,
            "labels": {"severity": str(self.severity)},
            "annotations": {
                "summary": self.summary,
                "description": self.description,
                "runbook_url": f"{runbooks}/{self.runbook}.md",
            },
        }


@attrs.frozen(kw_only=True)
class Group:
    """Rules that are evaluated one after another, so that a later one may use an earlier."""

    name: str
    rules: tuple[Recording | Alert, ...]
    interval: str | None = None

    def wire(self, runbooks: str) -> dict[str, Any]:
        """The group, as a rule file holds it."""
        every = {"interval": self.interval} if self.interval else {}
        rules = [rule.rule(runbooks) for rule in self.rules]
        return {"name": self.name, **every, "rules": rules}


def names(labels: Iterable[str]) -> str:
    """*labels* as PromQL lists them."""
    return ", ".join(labels)


def once(family: Family, *labels: str) -> str:
    """*family* by *labels*, also where operator and exporter, or two of them, tell the same."""
    return f"max by ({names(labels)}) ({family.name})"
