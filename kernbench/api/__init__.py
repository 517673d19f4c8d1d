"""The Python interface: everything that users import and that the command line calls.

The names are those of the stub beside this file. A name's module is imported when the name is first asked
for, so that a command pays for what it uses.
"""

from kernbench.later import Later

_later = Later(__name__, __file__)
__getattr__, __dir__ = _later.value, _later.names
