"""The image: its steps, done here, and what they leave."""

import json
import re
import subprocess
import tomllib
from email.parser import HeaderParser
from pathlib import Path

import pytest

from tests.image.conftest import Installed
from tests.image.dockerfile import CHECKOUT, PREFIX, run, stages

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
PIN = re.compile(r"(?m)^([a-z0-9.-]+)==(\S+)")


def test_command_runs_from_the_prefix(installed: Installed) -> None:
    """With nothing of the checkout or of the user's environment in reach."""
    done = subprocess.run(
        [installed.command("gpustack-ctrl"), "version"],
        env={},
        cwd="/",
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"{PROJECT['name']} {PROJECT['version']}\n" == done.stdout


def test_environment_holds_the_lock_and_the_project_alone(installed: Installed) -> None:
    locked = dict(PIN.findall((CHECKOUT / "requirements.lock").read_text()))
    metadata = [
        HeaderParser().parsestr(path.read_text())
        for path in installed.packages.glob("*.dist-info/METADATA")
    ]
    held = {one["Name"].lower().replace("_", "-"): one["Version"] for one in metadata}

    assert {**locked, PROJECT["name"]: PROJECT["version"]} == held


def test_wheel_holds_the_package_and_nothing_else(installed: Installed, context_path: Path) -> None:
    source = context_path / "src"
    (about,) = installed.packages.glob("gpustack_ctrl-*.dist-info")
    recorded = {line.split(",")[0] for line in (about / "RECORD").read_text().splitlines()}
    there = {
        str(path.relative_to(source))
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    shipped = {name for name in recorded if not name.startswith((f"{about.name}/", "../"))}
    assert there == {name for name in shipped if "__pycache__" not in name}
    assert {"LICENSE"} == {path.name for path in (about / "licenses").iterdir()}


def test_every_module_is_compiled(installed: Installed) -> None:
    package = installed.packages / "gpustack_ctrl"
    modules = {path.relative_to(package) for path in package.rglob("*.py")}
    compiled = {path.relative_to(package) for path in package.rglob("__pycache__/*.pyc")}

    assert modules == {
        path.parent.parent / f"{path.name.partition('.')[0]}.py" for path in compiled
    }


def test_package_with_another_hash_is_refused(context_path: Path, tmp_path: Path) -> None:
    (tmp_path / "packaging").mkdir()
    script = (context_path / "packaging" / "install.sh").read_bytes()
    (tmp_path / "packaging" / "install.sh").write_bytes(script)
    lock = f"attrs==25.4.0 --hash=sha256:{'0' * 64}\n"
    (tmp_path / "requirements.lock").write_text(lock)

    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("sh packaging/install.sh dependencies prefix", tmp_path)

    assert "DO NOT MATCH THE HASHES" in refused.value.stdout


def test_wrong_call_of_the_steps_says_how(tmp_path: Path) -> None:
    script = CHECKOUT / "packaging" / "install.sh"

    with pytest.raises(subprocess.CalledProcessError) as refused:
        run(f"{script} everything", tmp_path)

    assert f"usage: {script} dependencies|project PREFIX\n" == refused.value.stdout


def test_image_runs_the_operator_as_nobody_in_particular() -> None:
    final = {instruction.word: instruction.rest for instruction in stages()[-1]}

    assert "65532:65532" == final["USER"]
    assert ["gpustack-ctrl"] == json.loads(final["ENTRYPOINT"])
    assert ["run"] == json.loads(final["CMD"])
    assert f"--from=build {PREFIX} {PREFIX}" == final["COPY"]
    assert f"PATH={PREFIX}/bin:$PATH" in final["ENV"]
    assert "PYTHONDONTWRITEBYTECODE=1" in final["ENV"]
