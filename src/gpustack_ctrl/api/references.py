"""References to objects of the same namespace."""

from typing import Annotated

import attrs
from annotated_types import MaxLen, MinLen

from gpustack_ctrl.api.markers import Doc


@attrs.frozen(kw_only=True)
class LocalReference:
    """An object of the same namespace, by name."""

    name: Annotated[str, MinLen(1), MaxLen(253), Doc("Name of the object.")]
