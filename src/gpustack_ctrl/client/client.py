"""All that the program asks of the API server, over one connection."""

from collections.abc import Callable

import attrs

from gpustack_ctrl.api.meta import Resource
from gpustack_ctrl.client.credentials import Connection
from gpustack_ctrl.client.exchange import Exchange, RequestMetrics, Unmetered, ignore
from gpustack_ctrl.client.leases import Leases
from gpustack_ctrl.client.list_watch import ListWatch
from gpustack_ctrl.client.rest import FieldValidation, Rest
from gpustack_ctrl.client.reviews import Reviews
from gpustack_ctrl.client.sessions import Pool
from gpustack_ctrl.runtime.clock import Clock

ELECTOR_SECONDS = 3.0
REVIEW_SECONDS = 4.0
"""Two reviews fit into the ten seconds that Prometheus waits for a page."""


@attrs.frozen(kw_only=True)
class Client:
    """Gives each user of *connection* what it needs, on the pool that is meant for it."""

    connection: Connection
    clock: Clock
    metrics: RequestMetrics = attrs.field(factory=Unmetered)
    on_warning: Callable[[str], None] = ignore
    field_validation: FieldValidation = FieldValidation.WARN

    @property
    def rest(self) -> Rest:
        """Reads and writes of single objects."""
        return Rest(exchange=self._exchange(Pool.REQUESTS), field_validation=self.field_validation)

    @property
    def leases(self) -> Leases:
        """Leases for an elector, on connections of their own."""
        return Leases(Rest(exchange=self._exchange(Pool.ELECTOR), seconds=ELECTOR_SECONDS))

    @property
    def reviews(self) -> Reviews:
        """Questions about those who ask us something."""
        return Reviews(Rest(exchange=self._exchange(Pool.REQUESTS), seconds=REVIEW_SECONDS))

    def list_watch(
        self,
        resource: Resource,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
    ) -> ListWatch:
        """Lists and watches of *resource* for a reflector."""
        return ListWatch(
            requests=self._exchange(Pool.REQUESTS),
            watches=self._exchange(Pool.WATCHES),
            resource=resource,
            namespace=namespace,
            label_selector=label_selector,
            field_selector=field_selector,
        )

    def _exchange(self, pool: Pool) -> Exchange:
        return Exchange(
            connection=self.connection,
            pool=pool,
            clock=self.clock,
            metrics=self.metrics,
            on_warning=self.on_warning,
        )
