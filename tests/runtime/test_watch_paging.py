"""The list-watch machine over a list that comes in pages."""

from gpustack_ctrl.api.errors import GoneError, UnreachableError
from gpustack_ctrl.runtime.watch import ListRequest, Page, Watcher

GONE = GoneError("too old", code=410, reason="Expired")


def page(version: str, *objects: str, continue_: str = "") -> Page[str]:
    return Page(objects=objects, resource_version=version, continue_=continue_)


def watcher() -> Watcher[str]:
    return Watcher(random=lambda: 0.5)


def test_r10_pages_are_joined_in_order() -> None:
    machine = watcher()

    assert machine.listed(page("7", "a", continue_="t1")) is None
    assert "t1" == getattr(machine.request(), "continue_", None)
    assert machine.listed(page("7", "b", continue_="t2")) is None
    replace = machine.listed(page("7", "c"))

    assert replace is not None
    assert ("a", "b", "c") == replace.objects


def test_r10_a_page_that_failed_is_asked_for_again() -> None:
    machine = watcher()
    machine.listed(page("7", "a", continue_="t1"))
    before = machine.request()

    machine.failed(UnreachableError("reset"), 10)

    assert before == machine.request()


def test_r10_pages_that_have_expired_are_dropped_for_one_whole_list() -> None:
    machine = watcher()
    machine.listed(page("7", "a", continue_="t1"))

    machine.failed(GONE, 10)

    assert ListRequest(resource_version="") == machine.request()
    replace = machine.listed(page("9", "b"))
    assert replace is not None
    assert ("b",) == replace.objects
