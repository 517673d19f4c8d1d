# The names that come from the graph package, each once; kernbench/support/pgraph.py imports them on first
# use.
from kernbench_graph.model import (
    Edge as Edge,
    Node as Node,
    Properties as Properties,
    PropertyGraph as PropertyGraph,
    Value as Value,
)
from kernbench_graph.archive.atomic import UNDER_WAY as UNDER_WAY, ScratchFolder as ScratchFolder
from kernbench_graph.archive.atomic import lasting_folder as lasting_folder
from kernbench_graph.archive.atomic import lasting_folders as lasting_folders
from kernbench_graph.archive.atomic import replace_file as replace_file
from kernbench_graph.archive.brief import has as has
from kernbench_graph.archive.listing import archived_run_names as archived_run_names
from kernbench_graph.archive.manifest import not_utf_8 as not_utf_8
from kernbench_graph.archive.launched import run_times as run_times, span_of as span_of
from kernbench_graph.archive.launched import times_of as times_of, under_way as under_way
from kernbench_graph.archive.record import new_run_id as new_run_id
from kernbench_graph.described import CONFIGURED as CONFIGURED, flat as flat, settings as settings
from kernbench_graph.drawing import lay_out as lay_out, name_at as name_at, path_of as path_of
from kernbench_graph.entities import (
    GraphNode as GraphNode,
    GraphPath as GraphPath,
    GraphRelationship as GraphRelationship,
    plain_entities as plain_entities,
)
from kernbench_graph.errors import (
    QueryCancelledError as QueryCancelledError,
    QueryError as QueryError,
    QuerySyntaxError as QuerySyntaxError,
    QueryTimeoutError as QueryTimeoutError,
    ReadOnlyError as ReadOnlyError,
    RunNotFoundError as RunNotFoundError,
    StoreError as StoreError,
    StoreUrlError as StoreUrlError,
)
from kernbench_graph.extras import install as install
from kernbench_graph.networkx_view import run_graph as run_graph
from kernbench_graph.notebook import cell_text as cell_text, html_table as html_table
from kernbench_graph.notebook import exact as exact
from kernbench_graph.notebook import is_number as is_number, number as number
from kernbench_graph.opening import open_store as open_store
from kernbench_graph.query.guard import parameter_names as parameter_names
from kernbench_graph.query.library import ask as ask, load_library as load_library
from kernbench_graph.query.shared_params import with_shared as with_shared
from kernbench_graph.query.library import find_question as find_question
from kernbench_graph.query.looked_at import looked_at as looked_at
from kernbench_graph.query.plans import EXPLAIN as EXPLAIN, asked_for_plan as asked_for_plan
from kernbench_graph.query.printed import printed as printed
from kernbench_graph.query.question import Question as Question, is_a as is_a
from kernbench_graph.running import RunningQuery as RunningQuery, asked_by as asked_by
from kernbench_graph.schema import SCHEMA as SCHEMA, SCHEMA_VERSION as SCHEMA_VERSION
from kernbench_graph.schema_added import MARKED as MARKED, NOTE as NOTE
from kernbench_graph.records import RunRecord as RunRecord, TopologyRecord as TopologyRecord
from kernbench_graph.records import resolve_ref as resolve_ref
from kernbench_graph.result import Result as Result
from kernbench_graph.store import QUERY_TIMEOUT_S as QUERY_TIMEOUT_S, GraphStore as GraphStore
from kernbench_graph.topology import (
    further_link_properties as further_link_properties,
    topology_graph as topology_graph,
    topology_id as topology_id,
    topology_record as topology_record,
)
from kernbench_graph.yaml_text import load_plain as load_plain, loaded as loaded
