"""The life of one Instance's ports: a user edits, a stranger meddles, passes run."""

import attrs

from gpustack_ctrl.api import names
from gpustack_ctrl.api.core import Service
from gpustack_ctrl.api.instance import Instance
from gpustack_ctrl.api.meta import ObjectKey
from gpustack_ctrl.api.ports import InstancePort, PortIdentity
from gpustack_ctrl.plan.actions import Plan
from gpustack_ctrl.reconcilers import service
from gpustack_ctrl.reconcilers.snapshot import InstanceSnapshot
from gpustack_ctrl.reconcilers.status.summary import status
from tests.helpers.builders import instance, seen
from tests.helpers.memory_api import MemoryApi

KEY = ObjectKey("team", "box")
NodePorts = dict[PortIdentity, int | None]


@attrs.define
class ServiceLife:
    """One Instance and its Service, in an API server in memory."""

    instance: Instance = attrs.field(factory=instance)
    api: MemoryApi = attrs.field(factory=MemoryApi)

    @property
    def service(self) -> Service | None:
        """The Service as it is."""
        return self.api.get(names.SERVICE, KEY, Service)

    @property
    def uid(self) -> str | None:
        """Which Service it is."""
        held = self.service
        return held.metadata.uid if held else None

    @property
    def told(self) -> NodePorts:
        """What the status promises."""
        return {port.identity: port.nodePort for port in self.instance.status.ports}

    @property
    def held(self) -> NodePorts:
        """What the Service has."""
        held = self.service
        return {port.identity: port.nodePort for port in held.spec.ports} if held else {}

    def edit(self, *, stop: bool, ports: tuple[InstancePort, ...] | None = None) -> None:
        """The user edits the spec."""
        spec = attrs.evolve(self.instance.spec, stop=stop)
        spec = spec if ports is None else attrs.evolve(spec, ports=ports)
        self.instance = attrs.evolve(self.instance, spec=spec)

    def observe(self) -> InstanceSnapshot:
        """What a pass sees."""
        return seen(self.instance, service=self.service)

    def one_pass(self) -> Plan:
        """A pass: it acts on what it saw, and tells the status of that."""
        snapshot = self.observe()
        plan = service.plan(snapshot)
        self.api.perform(plan)
        self.instance = attrs.evolve(self.instance, status=status(snapshot))
        return plan

    def settle(self) -> int:
        """Passes until one neither acts nor tells anything new; how many actions it took."""
        taken = 0
        for _ in range(5):
            before = self.instance.status
            plan = self.one_pass()
            taken += len(plan)
            if not plan and before == self.instance.status:
                return taken
        raise AssertionError("the Service does not settle")

    def meddle(self, patch: dict[str, object]) -> None:
        """A stranger edits the Service."""
        if self.service is not None:
            self.api.patch(names.SERVICE, KEY, patch)

    def lose_service(self) -> None:
        """A stranger deletes the Service."""
        held = self.service
        if held is not None:
            self.api.delete(names.SERVICE, KEY, uid=held.metadata.uid)
