"""Certificates made by openssl, for servers and clients on loopback."""

import shutil
import ssl
import subprocess
from pathlib import Path

import attrs
import pytest

OPENSSL = shutil.which("openssl")
needs_openssl = pytest.mark.skipif(OPENSSL is None, reason="makes certificates with openssl")


@attrs.frozen(kw_only=True)
class Pair:
    """A certificate and its key."""

    certificate: Path
    key: Path


@attrs.frozen
class Authority:
    """Signs certificates, in *folder*."""

    folder: Path

    @property
    def certificate(self) -> Path:
        return self.folder / "ca.crt"

    @classmethod
    def create(cls, folder: Path) -> "Authority":
        folder.mkdir(exist_ok=True)
        made = cls(folder)
        subject = ("-subj", "/CN=test authority", "-addext", "keyUsage=critical,keyCertSign")
        _openssl(folder, "req", "-x509", *_new("ca"), "-days", "2", *subject)
        return made

    def sign(self, name: str, *, alternative: str = "IP:127.0.0.1") -> Pair:
        """A certificate for *name*, valid for the address or name *alternative*."""
        (self.folder / "extensions").write_text(f"subjectAltName={alternative}\n")
        _openssl(self.folder, "req", *_new(name, ".csr"), "-subj", f"/CN={name}")
        signed = ("-in", f"{name}.csr", "-out", f"{name}.crt", "-extfile", "extensions")
        issuer = ("-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial")
        _openssl(self.folder, "x509", "-req", *signed, *issuer, "-days", "2")
        return Pair(certificate=self.folder / f"{name}.crt", key=self.folder / f"{name}.key")

    def server(self, *, alternative: str = "IP:127.0.0.1") -> ssl.SSLContext:
        """A server's context that asks clients for a certificate of this authority."""
        pair = self.sign("server", alternative=alternative)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(self.certificate))
        context.verify_mode = ssl.CERT_OPTIONAL
        context.load_cert_chain(pair.certificate, pair.key)
        return context


def _new(name: str, suffix: str = ".crt") -> tuple[str, ...]:
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1")
    return (*curve, "-nodes", "-keyout", f"{name}.key", "-out", f"{name}{suffix}")


def _openssl(folder: Path, *arguments: str) -> None:
    done = subprocess.run(
        ["openssl", *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
