"""What may go wrong with the demo."""


class DemoError(Exception):
    """The demo cannot go on; the message is one line."""


class NotSoError(DemoError):
    """Something is not as the story says; the message tells what was seen instead."""
