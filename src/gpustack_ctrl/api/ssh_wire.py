"""The wire format of SSH (RFC 4251 §5): strings and big integers behind a length.

Reading is strict. What is read and written again gives the same bytes, so a key has one
spelling, and one fingerprint.
"""

import base64
import binascii
import hashlib

_LENGTH = 4


class KeyFormatError(ValueError):
    """A key is not what it says; the message is a sentence for its owner, without the key."""


class WireReader:
    """Takes fields off the front of *blob*; raises `KeyFormatError` where one is cut short."""

    def __init__(self, blob: bytes) -> None:
        self._rest = blob

    def string(self) -> bytes:
        """The next string."""
        length = int.from_bytes(self._rest[:_LENGTH], "big")
        end = _LENGTH + length
        if len(self._rest) < end or len(self._rest) < _LENGTH:
            raise KeyFormatError("the key is cut short: paste the whole line again")
        taken, self._rest = self._rest[_LENGTH:end], self._rest[end:]
        return taken

    def positive(self) -> int:
        """The next big integer, which must be positive and in its shortest spelling."""
        spelled = self.string()
        number = int.from_bytes(spelled, "big", signed=True)
        if number <= 0 or len(spelled) != number.bit_length() // 8 + 1:
            raise KeyFormatError("a number of the key is damaged: paste the whole line again")
        return number

    def end(self) -> None:
        """Nothing is left."""
        if self._rest:
            raise KeyFormatError("bytes follow the key: paste the line again, nothing added")


def string(held: bytes) -> bytes:
    """*held* as a string of the wire."""
    return len(held).to_bytes(_LENGTH, "big") + held


def fingerprint(blob: bytes) -> str:
    """The name people compare a public key by: `SHA256:` and 43 characters."""
    digest = base64.b64encode(hashlib.sha256(blob).digest())
    return "SHA256:" + digest.rstrip(b"=").decode()


def from_base64(text: str) -> bytes:
    """The bytes *text* stands for, where it is their one canonical spelling."""
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        decoded = b""
    if not decoded or to_base64(decoded) != text:
        raise KeyFormatError("the key is not valid base64: paste the whole line again")
    return decoded


def to_base64(held: bytes) -> str:
    """*held* in base64, on one line."""
    return base64.b64encode(held).decode()
