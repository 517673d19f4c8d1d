# The names of the Python interface, each once; kernbench/api/__init__.py imports them on first use.
from kernbench.api.advising import advise as advise
from kernbench.api.annotating import annotate as annotate
from kernbench.api.asking import (
    ask as ask,
    ask_cypher as ask_cypher,
    print_question as print_question,
    question as question,
    questions as questions,
)
from kernbench.api.comparing import compare as compare
from kernbench.api.diagnosis import doctor as doctor
from kernbench.api.energy_use import ENERGY_BY as ENERGY_BY, energy as energy
from kernbench.sweeps.evaluating import (
    Evaluated as Evaluated,
    evaluate as evaluate,
    evaluations as evaluations,
)
from kernbench.api.folding import ask_folded as ask_folded
from kernbench.api.kept_runs import (
    copy_runs as copy_runs,
    listed as listed,
    prune as prune,
    remove as remove,
    tag as tag,
    tagged as tagged,
)
from kernbench.api.kernel import KernelRun as KernelRun, run_kernel as run_kernel
from kernbench.api.pictures import (
    DIAGRAM_VIEWS as DIAGRAM_VIEWS,
    diagram as diagram,
    diagram_frames as diagram_frames,
    require_figures as require_figures,
)
from kernbench.api.probing import probe as probe
from kernbench.api.result import Frame as Frame, Run as Run
from kernbench.pages.run_report import write_report as write_report
from kernbench.api.running import RunVerificationError as RunVerificationError, benches as benches, run as run
from kernbench.api.stores import (
    borrowed as borrowed,
    default_store as default_store,
    open_run as open_run,
    open_store as open_store,
    runs as runs,
)
from kernbench.sweeps.figures import pareto_figure as pareto_figure, sweep_figure as sweep_figure
from kernbench.sweeps.result import Sweep as Sweep, SweepPoint as SweepPoint
from kernbench.sweeps.sweeping import sweep as sweep
from kernbench.api.topologies import (
    TRAFFIC as TRAFFIC,
    check_routes as check_routes,
    load_topology as load_topology,
    route as route,
    topology_area as topology_area,
    topology_counts as topology_counts,
    topology_overrides as topology_overrides,
    topology_schema as topology_schema,
)
from kernbench.api.traffic_runs import (
    TrafficRun as TrafficRun,
    traffic as traffic,
    traffic_patterns as traffic_patterns,
)
from kernbench.api.tuning import TUNING_GOALS as TUNING_GOALS, Point as Point, Tuning as Tuning, tune as tune
from kernbench.api.going import Going as Going, under_way as under_way
from kernbench.api.what_if_runs import what_if as what_if, what_if_candidates as what_if_candidates
from kernbench.report.progress import Standing as Standing
from kernbench.pgraph import (
    GraphNode as GraphNode,
    GraphPath as GraphPath,
    GraphRelationship as GraphRelationship,
    PropertyGraph as PropertyGraph,
)
