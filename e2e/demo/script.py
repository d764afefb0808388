"""What a story is made of: chapters of steps, each a command and what must be seen."""

from collections.abc import Callable, Mapping

import attrs


@attrs.frozen
class Person:
    """Somebody who types; *user* is who she is to the cluster, *namespace* where she works."""

    name: str
    user: str
    namespace: str


@attrs.frozen
class Seen:
    """What a command printed, and what earlier ones did, by the name that was given to it."""

    output: str
    earlier: Mapping[str, str]


# Raises NotSoError, with what was seen instead, when something does not hold.
Check = Callable[[Seen], None]


@attrs.frozen
class Fact:
    """A sentence for the reader, and the check that makes it true."""

    says: str
    check: Check


@attrs.frozen(kw_only=True)
class Step:
    """A command as *person* types it.

    One that is *refused* must fail. One that only looks may be given *again* until
    its facts hold. What it printed is kept as *remembered*, if that is a name.
    """

    person: Person
    command: str
    facts: tuple[Fact, ...] = ()
    refused: bool = False
    again: bool = False
    remembered: str = ""


@attrs.frozen(kw_only=True)
class StartOperator:
    """The operator starts, as a process of its own beside the cluster, for *person*."""

    person: Person


@attrs.frozen(kw_only=True)
class Chapter:
    """A part of the story under a *title*; *says* is one sentence."""

    title: str
    says: str
    steps: tuple[Step | StartOperator, ...]


def do(person: Person, command: str, *facts: Fact) -> Step:
    """Return a step that changes something, so that it is taken once."""
    return Step(person=person, command=command, facts=facts)


def look(person: Person, command: str, *facts: Fact, remembered: str = "") -> Step:
    """Return a step that only looks, until *facts* hold."""
    return Step(person=person, command=command, facts=facts, again=True, remembered=remembered)


def refused(person: Person, command: str, *facts: Fact) -> Step:
    """Return a step that the cluster must refuse."""
    return Step(person=person, command=command, facts=facts, refused=True)


def until_condition(person: Person, condition: str, instance: str) -> Step:
    """Return a step that ends when *instance* has *condition*."""
    return do(person, f"kubectl wait --for=condition={condition} instance/{instance}")
