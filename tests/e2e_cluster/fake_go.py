"""Stands in for Go: it obeys the files of the folder it lies in.

`version` holds the version it claims; `fail` makes builds fail; `hold` makes a build
wait until it is removed; each build adds a line to `builds`.
"""

import sys
import time
from pathlib import Path

HERE = Path(__file__).parent


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def build(arguments: list[str]) -> int:
    target = Path(arguments[arguments.index("-o") + 1])
    with (HERE / "builds").open("a") as log:
        log.write(f"{arguments}\n")
    say("go: downloading example.org/module v1.0.0")
    say("example.org/module/package")
    (target / "kube").write_text("half")
    while (HERE / "hold").exists():
        time.sleep(0.01)
    if (HERE / "fail").exists():
        say("# example.org/module/package")
        say("main.go:1:2: undefined: something")
        return 1
    for package in arguments[arguments.index("-o") + 2 :]:
        name = "kube" if package == "." else package.rpartition("/")[2]
        (target / name).write_text(name)
    return 0


def main() -> int:
    match sys.argv[1]:
        case "env":
            say((HERE / "version").read_text())
        case "list":
            say("example.org/module/package\nexample.org/module/other")
        case "build":
            return build(sys.argv[2:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
