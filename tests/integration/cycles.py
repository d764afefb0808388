"""One Instance through many cycles of stop, edit and start, and what must hold after each.

A cycle is data, so that a failing run prints the cycles that led to it.
"""

from collections.abc import Collection, Mapping
from enum import Enum

import attrs
from hypothesis import strategies as st

from gpustack_ctrl.api import names
from gpustack_ctrl.api.meta import Resource
from tests.integration.observer import History
from tests.integration.world import Operator, Wire, World, node_ports, until

Identity = tuple[int, str]
SHAPE = "test.example/shape"
TYPES = ("test-round", "test-square")


class Deed(Enum):
    """What somebody does between an edit of the Instance and the next."""

    NOTHING = "nothing"
    RESTART = "set restartedAt"
    CRASH = "kill the operator and start it again"
    DELETE_POD = "delete the Pod by hand"
    DELETE_SERVICE = "delete the Service by hand"


@attrs.frozen
class Port:
    """An entry of `spec.ports`; *name* is for the eye alone."""

    port: int
    protocol: str
    name: str

    @property
    def identity(self) -> Identity:
        """What its node port belongs to."""
        return self.port, self.protocol

    def wire(self) -> Wire:
        """As it stands in the spec."""
        return {"port": self.port, "protocol": self.protocol, "name": self.name}


@attrs.frozen(kw_only=True)
class Cycle:
    """Stop, edit, start. *blind*: the operator is dead meanwhile and sees only the outcome.

    Who is *patient* waits for the effect of each step before the next one.
    """

    stopped: Deed
    ports: tuple[Port, ...]
    type: str
    running: Deed
    patient: bool
    blind: bool

    @property
    def waits(self) -> bool:
        """Whether the operator has seen the stop before the start."""
        return self.patient and not self.blind


_ports = st.lists(
    st.builds(
        Port,
        st.sampled_from((22, 53, 8080)),
        st.sampled_from(("TCP", "UDP", "TCP", "SCTP")),
        st.sampled_from(("", "a", "b")),
    ),
    unique_by=lambda port: port.identity,
    max_size=6,
).map(tuple)

cycles = st.builds(
    Cycle,
    stopped=st.sampled_from((Deed.NOTHING, Deed.NOTHING, Deed.CRASH, Deed.DELETE_SERVICE)),
    ports=_ports,
    type=st.sampled_from(TYPES),
    running=st.sampled_from(Deed),
    patient=st.booleans(),
    blind=st.sampled_from((False, False, False, True)),
)


@attrs.define
class Life:
    """The Instance `box`, and what its users were promised.

    *service* is the UID that its Service must have, or "" if it may have a new one.
    """

    world: World
    operator: Operator
    pods: History
    promised: Mapping[Identity, int] = attrs.field(factory=dict)
    service: str = ""
    restarts: int = 0

    async def begin(self) -> None:
        """Create the Instance and see it Ready, without ports."""
        await self.world.instance(type=TYPES[0])
        await self._is_up(())

    async def go_through(self, cycle: Cycle) -> None:
        """One cycle, and what must hold at each point of it."""
        before = await self._uid_of(names.POD)
        if cycle.blind:
            await self.operator.kill()
        await self.world.edit(stop=True)
        await self._do(cycle.stopped, blind=cycle.blind)
        await self.world.edit(ports=[port.wire() for port in cycle.ports], type=cycle.type)
        if cycle.waits:
            await self._is_down()
        await self.world.edit(stop=False)
        if cycle.blind:
            await self.operator.start()
        await self._is_up({port.identity for port in cycle.ports})
        await self._has_the_right_pod(cycle, before)
        await self._do(cycle.running)
        await self._is_up(set(self.promised))

    async def _do(self, deed: Deed, *, blind: bool = False) -> None:
        match deed:
            case Deed.RESTART:
                self.restarts += 1
                before = await self._uid_of(names.POD)
                await self.world.edit(restartedAt=f"{self.restarts}")
                await self._is_another(names.POD, before)
            case Deed.CRASH if not blind:
                await self.operator.kill()
                await self.operator.start()
            case Deed.DELETE_POD:
                await self._replaced(names.POD)
            case Deed.DELETE_SERVICE if self.promised:
                self.service = ""
                if blind:
                    await self.world.delete(names.SERVICE, "box")
                else:
                    await self._replaced(names.SERVICE)

    async def _replaced(self, resource: Resource) -> None:
        """Delete an object by hand and see it come back."""
        before = await self._uid_of(resource)
        await self.world.delete(resource, "box")
        await self._is_another(resource, before)

    async def _is_down(self) -> None:
        """Stopped, and nothing that users were promised has changed."""
        stopped = await self.world.is_in_phase("Stopped")
        assert [] == await self.world.list(names.POD)
        assert self.promised == node_ports(stopped)
        assert self.promised == await self._held_by_the_service()

    async def _is_up(self, ports: Collection[Identity]) -> None:
        """Ready with *ports*: those that were there before have the node ports they had."""
        (now,) = await until(lambda: self._reported(ports))
        kept = self.promised.keys() & now.keys()
        assert {port: self.promised[port] for port in kept} == {port: now[port] for port in kept}
        uid = await self._uid_of(names.SERVICE)
        assert self.service in ("", uid) or not ports
        self.service, self.promised = uid, dict(now)
        assert 1 == (await self.pods.caught_up()).most_at_once

    async def _reported(self, ports: Collection[Identity]) -> tuple[Mapping[Identity, int]] | None:
        """The node ports, once status, Pod and Service agree on them."""
        instance = await self.world.is_in_phase("Ready")
        told = node_ports(instance)
        agreed = (
            set(told) == set(ports)
            and told == await self._held_by_the_service()
            and instance["status"]["podUID"] == await self._uid_of(names.POD)
        )
        return (told,) if agreed else None

    async def _has_the_right_pod(self, cycle: Cycle, before: str) -> None:
        """By the new type after a stop; the same after one that nobody saw."""
        pod = await self.world.get(names.POD, "box")
        if cycle.blind and before not in self.pods.struck_down:
            assert before == pod["metadata"]["uid"]
        if cycle.waits:
            assert before != pod["metadata"]["uid"]
            assert cycle.type == pod["metadata"]["annotations"][SHAPE]

    async def _held_by_the_service(self) -> Mapping[Identity, int]:
        service = await self.world.find(names.SERVICE, "box")
        ports = service["spec"]["ports"] if service else []
        return {(port["port"], port["protocol"]): port["nodePort"] for port in ports}

    async def _uid_of(self, resource: Resource) -> str:
        held = await self.world.find(resource, "box")
        return str(held["metadata"]["uid"]) if held else ""

    async def _is_another(self, resource: Resource, before: str) -> None:
        async def is_another() -> bool:
            return await self._uid_of(resource) not in ("", before)

        await until(is_another)
