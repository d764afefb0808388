"""An archive of images in the layout of the Open Container Initiative."""

import hashlib
import io
import json
import subprocess
import tarfile
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs

from e2e.node.images.layers import Layer

_KIND = "application/vnd.oci.image"


@attrs.frozen(kw_only=True)
class Image:
    """Layers, lowest first, and what a container of them runs."""

    reference: str
    layers: tuple[Layer, ...]
    entrypoint: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    user: str = ""
    folder: str = ""
    environment: Mapping[str, str] = attrs.field(factory=dict)

    @property
    def fingerprint(self) -> str:
        """What tells this image from all others."""
        layers = [layer.fingerprint for layer in self.layers]
        return repr((self.reference, layers, self.configuration([])))

    def configuration(self, differences: Sequence[str]) -> Mapping[str, Any]:
        """The image's configuration; *differences* are the digests of its layers."""
        return {
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "Entrypoint": list(self.entrypoint),
                "Cmd": list(self.command),
                "User": self.user,
                "WorkingDir": self.folder,
                "Env": [f"{name}={value}" for name, value in self.environment.items()],
            },
            "rootfs": {"type": "layers", "diff_ids": list(differences)},
        }


def write_archive(images: Sequence[Image], target: Path) -> None:
    """Write *images* to *target*; layers they share are in it once."""
    partial = target.with_suffix(".partial")
    with tarfile.open(partial, "w") as archive:
        writer = _Writer(archive=archive)
        entries = [_entry(writer, image) for image in images]
        index = {"schemaVersion": 2, "mediaType": f"{_KIND}.index.v1+json", "manifests": entries}
        writer.file("oci-layout", b'{"imageLayoutVersion":"1.0.0"}')
        writer.file("index.json", json.dumps(index).encode())
    partial.rename(target)


@attrs.define(kw_only=True)
class _Writer:
    """Adds blobs to an archive, each once."""

    archive: tarfile.TarFile
    layers: dict[str, Mapping[str, Any]] = attrs.field(factory=dict)

    def file(self, name: str, content: bytes) -> None:
        header = tarfile.TarInfo(name)
        header.size = len(content)
        self.archive.addfile(header, io.BytesIO(content))

    def blob(self, content: bytes, kind: str) -> dict[str, Any]:
        digest = hashlib.sha256(content).hexdigest()
        self.file(f"blobs/sha256/{digest}", content)
        return {
            "mediaType": f"{_KIND}.{kind}",
            "digest": f"sha256:{digest}",
            "size": len(content),
        }

    def layer(self, layer: Layer) -> Mapping[str, Any]:
        if layer.fingerprint not in self.layers:
            self.layers[layer.fingerprint] = self._add_layer(layer.made())
        return self.layers[layer.fingerprint]

    def _add_layer(self, folder: Path) -> Mapping[str, Any]:
        with tempfile.TemporaryFile() as packed:
            command = ("tar", "--numeric-owner", "--xattrs", "--sort=name", "-C", folder, "-c", ".")
            subprocess.run(command, stdout=packed, check=True)
            packed.seek(0)
            digest = hashlib.file_digest(packed, "sha256").hexdigest()
            header = tarfile.TarInfo(f"blobs/sha256/{digest}")
            header.size = packed.tell()
            packed.seek(0)
            self.archive.addfile(header, packed)
        kind = f"{_KIND}.layer.v1.tar"
        return {"mediaType": kind, "digest": f"sha256:{digest}", "size": header.size}


def _entry(writer: _Writer, image: Image) -> Mapping[str, Any]:
    layers = [writer.layer(layer) for layer in image.layers]
    configuration = image.configuration([layer["digest"] for layer in layers])
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_KIND}.manifest.v1+json",
        "config": writer.blob(json.dumps(configuration).encode(), "config.v1+json"),
        "layers": layers,
    }
    entry = writer.blob(json.dumps(manifest).encode(), "manifest.v1+json")
    entry["annotations"] = {
        "io.containerd.image.name": image.reference,
        "org.opencontainers.image.ref.name": image.reference.rpartition(":")[2],
    }
    return entry
