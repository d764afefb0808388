"""Kubernetes' own cases of network policies: a program of theirs, and the image it takes."""

import os
import re
import subprocess
from pathlib import Path

import attrs

from e2e.cluster.programs import Module, Programs
from e2e.node.images.archive import Image, write_archive
from e2e.node.images.layers import Layer, Work
from e2e.node.real_node import RealNode

FOLDER = Path(__file__).with_name("netpol")
MODULE = Module(
    name="netpol",
    directory=FOLDER,
    packages={"netpol": "./netpol", "agnhost": "./agnhost"},
    sources=("*/*.go",),
)
# The full name of each case, one a line: what `Suite.cases` returns.
LIST = FOLDER / "cases.txt"
_FLAGS = ("--provider=skeleton", "-ginkgo.no-color", "-ginkgo.vv")


@attrs.frozen(kw_only=True)
class Suite:
    """The cases, as *programs* that are built."""

    programs: Programs

    def cases(self) -> list[str]:
        """Return the full name of each case."""
        return sorted(self._netpol("list").stdout.splitlines())

    def image(self) -> Image:
        """Return the image that its Pods run, under the name by which they ask for it."""
        agnhost = self.programs.path("agnhost")

        def make(work: Work) -> None:
            work.write("agnhost", agnhost.read_bytes(), mode=0o755)

        layer = Layer(name="agnhost", recipe=str(self.programs.directory), make=make)
        return Image(
            reference=self._netpol("image").stdout.strip(),
            layers=(layer,),
            entrypoint=("/agnhost",),
        )

    def give_image(self, node: RealNode, folder: Path) -> None:
        """Import the image by way of *folder*."""
        archive = folder / "agnhost.tar"
        write_archive([self.image()], archive)
        node.import_images(archive)

    def run(self, node: RealNode, case: str) -> "subprocess.CompletedProcess[str]":
        """Run one case by its full name; namespaces of its own, it makes and removes."""
        chosen = ("-ginkgo.focus", f"^netpol {re.escape(case)}$")
        return self._netpol(f"--kubeconfig={node.kubeconfig}", *_FLAGS, *chosen)

    def _netpol(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            (self.programs.path("netpol"), *arguments),
            env={**os.environ, "KUBE_TEST_REPO_LIST": str(FOLDER / "images.yaml")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )


def suite() -> Suite:
    """Return the suite, built if it is missing. Raises ClusterError when it cannot be."""
    return Suite(programs=MODULE.build(("netpol", "agnhost")))
