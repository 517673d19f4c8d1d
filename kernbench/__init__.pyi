# What kernbench/__init__.py hands out on first use, for type checkers and editors.
from kernbench.api import KernelRun as KernelRun
from kernbench.api import Run as Run
from kernbench.api import RunVerificationError as RunVerificationError
from kernbench.api import Sweep as Sweep
from kernbench.api import TrafficRun as TrafficRun
from kernbench.api import Tuning as Tuning
from kernbench.api import ask as ask
from kernbench.api import ask_cypher as ask_cypher
from kernbench.api import diagram as diagram
from kernbench.api import evaluate as evaluate
from kernbench.api import figures as figures
from kernbench.api import load_topology as load_topology
from kernbench.api import open_run as open_run
from kernbench.api import open_store as open_store
from kernbench.api import probe as probe
from kernbench.api import questions as questions
from kernbench.api import roofline_figure as roofline_figure
from kernbench.api import route as route
from kernbench.api import run as run
from kernbench.api import run_kernel as run_kernel
from kernbench.api import runs as runs
from kernbench.api import sweep as sweep
from kernbench.api import sweep_figure as sweep_figure
from kernbench.api import traffic as traffic
from kernbench.api import traffic_patterns as traffic_patterns
from kernbench.api import tune as tune
from kernbench.api import what_if as what_if
from kernbench.api import what_if_candidates as what_if_candidates
from kernbench.errors import KernBenchError as KernBenchError
from kernbench.kernels import autotune as autotune
from kernbench.replay import Bounded as Bounded
from kernbench.runtime import DPPolicy as DPPolicy

__version__: str
