"""Why the operator cannot start."""


class StartError(Exception):
    """The operator cannot start; the message says what is missing and how to mend it."""
