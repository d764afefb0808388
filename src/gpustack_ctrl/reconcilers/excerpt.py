"""What a person wrote, quoted in a sentence that has to stay readable."""

LONGEST = 80


def excerpt(text: str) -> str:
    """*text* in quotes; of a long one the beginning, and its length."""
    if len(text) <= LONGEST:
        return repr(text)
    return f"{text[:LONGEST]!r}... ({len(text)} characters)"
