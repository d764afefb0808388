"""Lines of authorized_keys, read strictly and written anew.

What a server gets to see is never what a user typed: type, base64 and a tame comment
are written again from the parts. A refusal says what to do, and never repeats the line:
it might be a private key.
"""

import re
from collections.abc import Iterator

import attrs

from gpustack_ctrl.api.ssh_key_types import KEY_TYPES, check
from gpustack_ctrl.api.ssh_wire import KeyFormatError, fingerprint, from_base64, to_base64

MAX_KEYS = 32
MAX_LINE = 8192
_MAX_COMMENT = 64

_NEW_PAIR = "make a new pair with ssh-keygen -t ed25519 and paste its .pub file"
_PRIVATE = re.compile(
    # The last one is how base64 of OpenSSH's private format starts.
    r"PRIVATE KEY( BLOCK)?-----|^PuTTY-User-Key-File-|\bb3BlbnNzaC1rZXktdjE"
)
_BLOCK_END = re.compile(r"-----END |---- END |^Private-MAC:")
_CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_BLANKS = re.compile("[ \t]+")

_REFUSALS = (
    (
        re.compile(r"-----BEGIN .*PUBLIC KEY-----"),
        "this is a PEM file: convert it with ssh-keygen -i -m PKCS8 -f FILE and paste the result",
    ),
    (
        re.compile(r"---- BEGIN SSH2 PUBLIC KEY"),
        "this is the RFC 4716 form: convert it with ssh-keygen -i -f FILE and paste the result",
    ),
    (re.compile(r"-----BEGIN "), f"this is not a public key of SSH: {_NEW_PAIR}"),
    (
        re.compile(r"\S+-cert-v0[01]@openssh\.com\b"),
        "certificates are not supported: paste the plain public key that was certified",
    ),
    (
        re.compile(r"cert-authority\b|@cert-authority\b|@revoked\b"),
        "certificate authorities and markers are not supported: paste plain public keys",
    ),
    (re.compile(r"ssh-dss\b"), f"DSA keys are too weak and no server takes them: {_NEW_PAIR}"),
    (re.compile(r"\d+\s+\d+\s+\d+"), f"keys of SSH protocol 1 are not supported: {_NEW_PAIR}"),
    (
        re.compile(rf"[A-Za-z0-9-]+=\"|.*[ \t]({'|'.join(map(re.escape, KEY_TYPES))})[ \t]"),
        "options before the key are not supported: start the line with the key's type",
    ),
)


@attrs.frozen(kw_only=True)
class PublicKey:
    """A key that may log in: *blob* is a sound key of *type*, *comment* is harmless."""

    type: str
    blob: bytes
    comment: str = ""

    @property
    def line(self) -> str:
        """The key as a line of authorized_keys, without its line end."""
        return " ".join(filter(None, (self.type, to_base64(self.blob), self.comment)))

    @property
    def fingerprint(self) -> str:
        """`SHA256:` and 43 characters, as ssh-keygen -l prints it."""
        return fingerprint(self.blob)


@attrs.frozen(kw_only=True)
class RefusedLine:
    """Why line *number*, counted from 1, is no key, and what to do about it."""

    number: int
    reason: str

    def __str__(self) -> str:
        """The sentence a user reads."""
        return f"line {self.number}: {self.reason}"


@attrs.frozen(kw_only=True)
class ParsedKeys:
    """The keys of a text, in its order, and the lines that are none."""

    keys: tuple[PublicKey, ...] = ()
    refused: tuple[RefusedLine, ...] = ()


def parse(text: str) -> ParsedKeys:
    """The keys and the refused lines of *text*; blank lines and comments count for nothing."""
    entries = tuple(_entries(text))
    read = tuple(_read(number, line) for number, line in entries[:MAX_KEYS])
    over = tuple(_too_many(number) for number, _ in entries[MAX_KEYS : MAX_KEYS + 1])
    refused = tuple(entry for entry in read if isinstance(entry, RefusedLine))
    return ParsedKeys(
        keys=tuple(entry for entry in read if isinstance(entry, PublicKey)),
        refused=refused + over,
    )


def rendered(keys: tuple[PublicKey, ...]) -> str:
    """The authorized_keys file that lets exactly *keys* in."""
    return "".join(f"{key.line}\n" for key in keys)


def _entries(text: str) -> Iterator[tuple[int, str]]:
    """Numbered lines that are to be judged; a key file of many lines counts as its first."""
    in_block = False
    for number, raw in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = raw.removesuffix("\r").strip(" \t")
        if in_block and not line.startswith(tuple(KEY_TYPES)):
            in_block = not _BLOCK_END.search(line)
            continue
        if line and not line.startswith("#"):
            yield number, line
        in_block = _opens_block(line)


def _opens_block(line: str) -> bool:
    opens = "-----BEGIN " in line or "---- BEGIN " in line or line.startswith("PuTTY-User-Key")
    return opens and not _BLOCK_END.search(line)


def _too_many(number: int) -> RefusedLine:
    return RefusedLine(
        number=number,
        reason=f"only the first {MAX_KEYS} lines with keys count: "
        "move this one and those after it to another InstanceSSHPublicKey",
    )


def _read(number: int, line: str) -> PublicKey | RefusedLine:
    try:
        return _key(line)
    except KeyFormatError as error:
        return RefusedLine(number=number, reason=str(error))


def _key(line: str) -> PublicKey:
    _refuse_whole_line(line)
    key_type, *rest = _BLANKS.split(line, maxsplit=2)
    if key_type not in KEY_TYPES:
        raise KeyFormatError(_why_unknown(line))
    if not rest:
        raise KeyFormatError("the key itself is missing: paste the whole line again")
    blob = from_base64(rest[0])
    check(key_type, blob)
    return PublicKey(type=key_type, blob=blob, comment=_tame("".join(rest[1:])))


def _refuse_whole_line(line: str) -> None:
    if _PRIVATE.search(line):
        raise KeyFormatError(
            f"this is a private key: whoever saw it can log in with it, so give it up, {_NEW_PAIR}"
        )
    if len(line) > MAX_LINE:
        raise KeyFormatError(f"the line is longer than {MAX_LINE} characters: {_NEW_PAIR}")
    if _CONTROL.search(line):
        raise KeyFormatError("the line holds a control character: paste it again as plain text")


def _why_unknown(line: str) -> str:
    reasons = (reason for pattern, reason in _REFUSALS if pattern.match(line))
    return next(reasons, f"a key starts with one of {', '.join(KEY_TYPES)}: {_NEW_PAIR}")


def _tame(comment: str) -> str:
    return re.sub(r"[^A-Za-z0-9@._+-]+", "-", comment).strip("-")[:_MAX_COMMENT]
