"""A question as text for other clients: its parameters, in their commands, and its Cypher."""

from __future__ import annotations

from collections.abc import Mapping

from kernbench_graph.query.question import Scalar


def printed(text: str, params: Mapping[str, Scalar], form: str, remark: str = "") -> str:
    """Commands that set ``params``, and the statement ``text``, as a client of that form takes them.

    A ``remark`` stands before the statement, as a comment.

    >>> print(printed("RETURN $a AS a, $b AS b", {"a": 1, "b": "it's"}, "cypher-shell"))
    :param a => 1
    :param b => 'it\\\\'s'
    RETURN $a AS a, $b AS b;
    >>> print(printed("RETURN $a AS a, $b AS b", {"a": 1, "b": True}, "neo4j"))
    :params {a: 1, b: true}
    RETURN $a AS a, $b AS b;
    """
    values = {name: literal(value) for name, value in params.items()}
    if form == "cypher-shell":
        commands = [f":param {name} => {value}" for name, value in values.items()]
    else:
        commands = [f":params {{{', '.join(f'{name}: {value}' for name, value in values.items())}}}"]
    comment = [f"// {remark}"] if remark else []
    return "\n".join([*(commands if values else []), *comment, f"{text.strip().rstrip(';')};"])


def literal(value: Scalar) -> str:
    """A value as Cypher writes it.

    >>> [literal(value) for value in (True, -1.0, 1e300, 3, "a\\nb")]
    ['true', '-1.0', '1e+300', '3', "'a\\\\nb'"]
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escapes = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
        return "'" + "".join(escapes.get(char, char) for char in value) + "'"
    return repr(value)
