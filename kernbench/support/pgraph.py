"""The one door from KernBench into the ``graph`` package. Its names are those of the stub beside this file.

The engine needs only the model. Stores and questions bring in pyarrow and a Cypher engine; like all names
here they are imported when first asked for.
"""

from kernbench.support.lazy_names import LazyNames

_later = LazyNames(__name__, __file__)
__getattr__, __dir__ = _later.value, _later.names
