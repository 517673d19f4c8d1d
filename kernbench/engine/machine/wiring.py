"""Building a machine: a component per node of the compiled graph, a link per edge, buffers and arbiters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from kernbench.engine.arbiters.fifo import Fifo
from kernbench.engine.arbiters.registry import arbiter_class
from kernbench.engine.components.base import Component, is_users_class
from kernbench.engine.components.registry import component_class, own_classes
from kernbench.engine.components.system import System
from kernbench.engine.core.inputs import Buffer
from kernbench.engine.core.node import Link
from kernbench.engine.core.port import Arbiter, Port
from kernbench.engine.core.server import Server
from kernbench.errors import ComponentError, ConfigError, KernBenchError
from kernbench.hardware.topology.link_parts import LinkParts, ring_of
from kernbench.hardware.topology.nodes import buffer_id
from kernbench.support.user_code import raised, raised_at


def wire(machine: System, components: Mapping[str, str] | None) -> bool:
    """Build all of ``machine`` on its clock and fabric; whether it has no class of a user's.

    ``components`` are extra ``impl: module:Class`` entries. Raises :class:`ConfigError` where an ``impl`` or
    an arbiter is not registered.
    """
    named = own_classes(machine.graph, components)
    classes = _classes(machine, named)
    machine.resources, machine.components, machine.links = [], {}, {}
    for node in machine.graph.nodes():
        if impl := str(node.properties["impl"]):
            with _made(f"component '{node.id}'", classes[impl]):
                made = classes[impl](node, machine)
            machine.components[node.id] = made
            machine.fabric.splits |= made.node.properties["kind"] == "channel_router"
            machine.register(made)
    config = LinkParts(machine.graph)
    for edge in machine.graph.edges("LINK"):
        link = Link(config.with_attributes(edge) if config else edge, machine.flit_bytes)
        link.kind = ring_of(edge)
        link.issue_ns = float(machine.graph.node(edge.source).properties.get("issue_ns", 0.0))
        machine.links[edge.source, edge.target] = link
        machine.register(link)
    arbiters: dict[str, type[Arbiter]] = {}
    if config:
        inputs: dict[str, list[Server]] = {name: [one] for name, one in machine.components.items()}
        for link in machine.links.values():
            inputs[link.edge.target].append(link)
        for link in machine.links.values():
            name = config.part(link.edge).arbiter
            if name not in arbiters:
                try:
                    arbiters[name] = arbiter_class(name, named)
                except ConfigError as error:
                    raise ConfigError(f"link '{link.resource}': {error}") from error
            _arbitrate(machine, link, arbiters[name], inputs[link.edge.source])
    _limit(machine, config)
    for component in machine.components.values():
        with _made(f"component '{component.resource}'", type(component)):
            component.wired()
    return not any(map(is_users_class, [*classes.values(), *arbiters.values()]))


def _classes(machine: System, named: Mapping[str, str]) -> dict[str, type[Component]]:
    """The classes of all components by ``impl`` name."""
    classes: dict[str, type[Component]] = {}
    for node in machine.graph.nodes():
        impl = str(node.properties["impl"])
        if impl and impl not in classes:
            try:
                classes[impl] = component_class(impl, named)
            except ConfigError as error:
                raise ConfigError(f"component '{node.id}': {error}") from error
    return classes


def _limit(machine: System, config: LinkParts) -> None:
    """Give links the buffers of ``config``, and ports to all links that leave the nodes behind them."""
    limited = {link: part for link in machine.links.values() if (part := config.part(link.edge)).buffer_flits}
    behind = {link.edge.target for link in limited}
    for link in machine.links.values():
        if link not in limited and link.edge.source not in behind:
            continue
        part = config.part(link.edge)
        buffer = None
        if part.buffer_flits is not None:
            buffer = Buffer(
                buffer_id(link.resource),
                link,
                part.buffer_flits,
                part.vcs,
                credit_ns=link.delay_ns if part.credit_ns is None else part.credit_ns,
                allocation_ns=part.allocation_ns,
                dateline=part.dateline,
                spread=config.most_vcs,
            )
            buffer.node = machine.graph.node(buffer.resource)
            machine.register(buffer)
        arbiter = Fifo(link) if link.port is None else link.port.arbiter
        link.port = Port(
            link, arbiter, machine.clock.entries, buffer,
            by_message=True, spread=config.most_vcs, crossing=link.kind in config.datelines,
        )  # fmt: skip


def _arbitrate(machine: System, link: Link, arbiter: type[Arbiter], inputs: Sequence[Server]) -> None:
    """Have an ``arbiter`` decide which of ``inputs`` is next on ``link``."""
    if arbiter is not Fifo:
        with _made(f"the arbiter of link '{link.resource}'", arbiter):
            made = arbiter(link)
        made.inputs = tuple(inputs)
        link.port = Port(link, made, machine.clock.entries)


@contextmanager
def _made(what: str, made: type) -> Iterator[None]:
    """Errors of a class of a user's that is made or asked in the block, as the machine is built, name it."""
    try:
        yield
    except (KernBenchError, KeyboardInterrupt):
        raise
    except BaseException as error:
        at = f" ({line})" if (line := raised_at(error)) else ""
        raise ComponentError(
            f"{what} ({made.__name__}) {raised(error)} while the machine is built{at}"
        ) from error
