# The public names, each once; kernbench/__init__.py imports them on first use.
from kernbench import tl as tl
from kernbench.api.advising import advise as advise, energy as energy
from kernbench.api.annotating import annotate as annotate
from kernbench.api.asking import ask as ask, ask_cypher as ask_cypher, questions as questions
from kernbench.api.comparing import compare as compare
from kernbench.api.kernel import KernelRun as KernelRun, run_kernel as run_kernel
from kernbench.api.models.model import model as model
from kernbench.api.open_runs import open_run as open_run, runs as runs
from kernbench.api.pictures import diagram as diagram
from kernbench.api.probing import probe as probe
from kernbench.api.result import Run as Run
from kernbench.api.running import RunVerificationError as RunVerificationError, run as run
from kernbench.api.saving import save_question as save_question
from kernbench.api.serving.result import Serving as Serving
from kernbench.api.serving.simulated_service import serve_sim as serve_sim
from kernbench.api.stores import open_store as open_store
from kernbench.api.topologies import (
    check_routes as check_routes,
    load_topology as load_topology,
    route as route,
)
from kernbench.api.traffic_runs import (
    TrafficRun as TrafficRun,
    traffic as traffic,
    traffic_patterns as traffic_patterns,
)
from kernbench.api.tuning import Tuning as Tuning, tune as tune
from kernbench.api.what_if_runs import what_if as what_if, what_if_candidates as what_if_candidates
from kernbench.errors import KernBenchError as KernBenchError
from kernbench.language import autotune as autotune
from kernbench.page.run_report import write_report as write_report
from kernbench.support.pgraph import (
    GraphNode as GraphNode,
    GraphPath as GraphPath,
    GraphRelationship as GraphRelationship,
)
from kernbench.support.bounded import Bounded as Bounded
from kernbench.host import DPPolicy as DPPolicy
from kernbench.engine.core.instrument import Instrument as Instrument
from kernbench.api.sweeps.evaluating import evaluate as evaluate
from kernbench.api.sweeps.figures import sweep_figure as sweep_figure
from kernbench.api.sweeps.result import Sweep as Sweep
from kernbench.api.sweeps.sweeping import sweep as sweep
from kernbench.hardware.topology.builder import Topology as Topology
from kernbench.validation import validate as validate
from kernbench.version import __version__ as __version__
