# The names of the package, each once; kernbench/__init__.py imports them on first use.
from kernbench import tl as tl
from kernbench.api import (
    GraphNode as GraphNode,
    GraphPath as GraphPath,
    GraphRelationship as GraphRelationship,
    KernelRun as KernelRun,
    Run as Run,
    RunVerificationError as RunVerificationError,
    Sweep as Sweep,
    TrafficRun as TrafficRun,
    Tuning as Tuning,
    advise as advise,
    annotate as annotate,
    ask as ask,
    ask_cypher as ask_cypher,
    diagram as diagram,
    energy as energy,
    evaluate as evaluate,
    load_topology as load_topology,
    open_run as open_run,
    open_store as open_store,
    probe as probe,
    questions as questions,
    route as route,
    run as run,
    run_kernel as run_kernel,
    runs as runs,
    sweep as sweep,
    sweep_figure as sweep_figure,
    traffic as traffic,
    traffic_patterns as traffic_patterns,
    tune as tune,
    what_if as what_if,
    what_if_candidates as what_if_candidates,
    write_report as write_report,
)
from kernbench.errors import KernBenchError as KernBenchError
from kernbench.kernels import autotune as autotune
from kernbench.replay import Bounded as Bounded
from kernbench.runtime import DPPolicy as DPPolicy
from kernbench.sim.instrument import Instrument as Instrument
from kernbench.topology.parts import Topology as Topology
from kernbench.validation import validate as validate

__version__: str
