"""Why something a user asked for cannot be had."""

import attrs


@attrs.frozen(kw_only=True)
class Refusal:
    """A no, with a CamelCase reason and a sentence that names the field and the remedy."""

    reason: str
    message: str
