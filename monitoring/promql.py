"""Which labels a query's result has, and whether it asks for series that there are.

A small type checker: a selector has the labels of its family, and each operation says what
becomes of them. What would silently match nothing is a mistake here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import attrs
import promql_parser as promql

Labels = frozenset[str]
SCALAR: None = None
"""A number has no labels at all."""
_SETS = ("and", "or", "unless")
_DROPPED = {"histogram_quantile": {"le"}}
"""Labels that a function takes away."""
_NUMBERS = ("time", "scalar", "pi")


class MistakeError(Exception):
    """A query that would not tell what it is meant to."""


def asked(query: str) -> frozenset[str]:
    """The names of all series that *query* asks for."""
    names: set[str] = set()
    promql.walk(promql.parse(query), lambda node: _note(node, names))
    return frozenset(names)


def _note(node: promql.Expr, names: set[str]) -> None:
    selector = node.vector_selector if isinstance(node, promql.MatrixSelector) else node
    if isinstance(selector, promql.VectorSelector) and selector.name:
        names.add(selector.name)


@attrs.frozen
class Checker:
    """Knows the labels of each series, by its name."""

    known: Mapping[str, Labels]

    def labels(self, query: str) -> Labels:
        """The labels of the result of *query*.

        Raises MistakeError where it cannot be parsed, or asks for a series or a label that
        does not exist.
        """
        try:
            parsed = promql.parse(query)
        except ValueError as error:
            raise MistakeError(f"is no PromQL: {error}") from error
        return self._of(parsed) or frozenset()

    def _of(self, node: Any) -> Labels | None:
        ways: Mapping[type, Callable[[Any], Labels | None]] = {
            promql.VectorSelector: self._selected,
            promql.MatrixSelector: lambda matrix: self._selected(matrix.vector_selector),
            promql.AggregateExpr: self._aggregated,
            promql.BinaryExpr: self._joined,
            promql.Call: self._called,
            promql.NumberLiteral: _number,
            promql.StringLiteral: _number,
        }
        way = ways.get(type(node))
        return way(node) if way else self._of(node.expr)  # A parenthesis, a sign or a subquery.

    def _selected(self, selector: promql.VectorSelector) -> Labels:
        name = selector.name or ""
        if name not in self.known:
            raise MistakeError(f"names {name}, which nobody tells")
        _demand({one.name for one in selector.matchers.matchers}, self.known[name], f"of {name}")
        return self.known[name]

    def _aggregated(self, node: promql.AggregateExpr) -> Labels:
        inner = self._of(node.expr) or frozenset()
        if node.modifier is None:
            return inner if str(node.op) in {"topk", "bottomk"} else frozenset()
        named = frozenset(node.modifier.labels)
        _demand(named, inner, f"to {node.op} by")
        return named if node.modifier.type == promql.AggModifierType.By else inner - named

    def _called(self, node: promql.Call) -> Labels | None:
        name = node.func.name
        if name in _NUMBERS:
            return SCALAR
        if name == "absent":
            return _equal_to_a_value(node.args[0]) & (self._of(node.args[0]) or frozenset())
        found = [self._of(argument) for argument in node.args]
        held = next((labels for labels in found if labels is not None), frozenset[str]())
        return held - _DROPPED.get(name, set()) | _made(node)

    def _joined(self, node: promql.BinaryExpr) -> Labels | None:
        left, right = self._of(node.lhs), self._of(node.rhs)
        if left is None or right is None:
            return left if right is None else right
        on = _matched(node, left, right)
        if str(node.op) == "or":
            return left | right
        _demand(on, left & right, "to match both sides on")
        return _kept(node, on, left, right)


def _demand(asked: Iterable[str], there: Labels, why: str) -> None:
    missing = sorted(set(asked) - there)
    if missing:
        raise MistakeError(f"has no label {', '.join(missing)} {why}")


def _matched(node: promql.BinaryExpr, left: Labels, right: Labels) -> Labels:
    """The labels that both sides have to agree in."""
    matching = node.modifier.matching if node.modifier else None
    if matching is None:
        return left | right
    named = frozenset(matching.labels)
    return named if matching.type == promql.LabelModifierType.Include else (left | right) - named


def _kept(node: promql.BinaryExpr, on: Labels, left: Labels, right: Labels) -> Labels:
    if str(node.op) in _SETS:
        return left
    card = node.modifier.card if node.modifier else promql.VectorMatchCardinality.OneToOne
    brought = frozenset((node.modifier.group_labels if node.modifier else None) or ())
    if card == promql.VectorMatchCardinality.ManyToOne:
        _demand(brought, right, "to bring over from the right")
        return left | brought
    if card == promql.VectorMatchCardinality.OneToMany:
        _demand(brought, left, "to bring over from the left")
        return right | brought
    return on


def _made(call: promql.Call) -> Labels:
    return frozenset({call.args[1].val} if call.func.name == "label_replace" else ())


def _number(_: object) -> Labels | None:
    return SCALAR


def _equal_to_a_value(node: Any) -> Labels:
    """`absent` takes over what its selector says, where it is one."""
    if not isinstance(node, promql.VectorSelector):
        return frozenset()
    equal = (one for one in node.matchers.matchers if one.op == promql.MatchOp.Equal)
    return frozenset(one.name for one in equal)
