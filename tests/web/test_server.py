"""The answers of the server, and its refusals: other hosts, other sites, and to change anything."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, TestResponse

import kernbench as kb
from kernbench.api.contents import views
from kernbench.api.kept_runs import tag
from kernbench.api.stores import borrowed
from kernbench.page.answers import ANSWERS
from kernbench.page.server.app import App
from kernbench.page.server.guard import HEADERS, Guard
from tests.page_tables import records, values

BASE = "http://127.0.0.1:8765"


@pytest.fixture(scope="module")
def client(kept: tuple[Path, list[str]]) -> Iterator[Client]:
    with borrowed(kept[0]) as store:
        yield Client(App(store))


def ask(client: Client, path: str, **kwargs: Any) -> TestResponse:
    return client.get(path, base_url=BASE, **kwargs)


def post(client: Client, name: str, body: Any, **kwargs: Any) -> TestResponse:
    return client.post(f"/api/{name}", base_url=BASE, json=body, **kwargs)


def test_the_page_and_its_files(client: Client) -> None:
    page = ask(client, "/")
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert "<script>" not in page.text
    assert " style=" not in page.text
    for name, kind in (
        ("main.js", "text/javascript"),
        ("page.css", "text/css"),
        ("icon.svg", "image/svg+xml"),
    ):
        found = ask(client, f"/{name}")
        assert (found.status_code, found.mimetype) == (200, kind)


def test_a_wrong_address_is_named_with_what_there_is(client: Client) -> None:
    found = ask(client, "/time<line>")
    assert (found.status_code, found.mimetype) == (404, "text/html")
    assert "There is no page '/time&lt;line&gt;'." in found.text
    links = re.findall('href="/#([^"]+)"', found.text)
    assert links == [name for name, _ in views()]
    assert {"overview", "timeline", "roofline", "runs"} <= set(links)


def test_the_name_of_a_view_as_a_path_leads_to_it(client: Client) -> None:
    found = ask(client, "/timeline?run=last&launch=0")
    assert (found.status_code, found.headers["Location"]) == (302, "/#timeline?run=last&launch=0")
    linked = ask(client, "/roofline", headers={"Sec-Fetch-Site": "cross-site"})
    assert (linked.status_code, linked.headers["Location"]) == (302, "/#roofline")


@pytest.mark.parametrize("path", ["/", "/main.js", "/api/runs", "/api/nosuch", "/nosuch", "/api/cypher"])
def test_every_answer_has_the_headers(client: Client, path: str) -> None:
    found = ask(client, path)
    assert {name: found.headers[name] for name in HEADERS} == dict(HEADERS)
    policy = found.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert policy.startswith("default-src 'none'")
    assert "Access-Control-Allow-Origin" not in found.headers
    assert "Set-Cookie" not in found.headers


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8765",
        "127.0.0.1.evil.example",
        "192.168.1.5",
        "localhost.evil",
        "",
        "[::2]",
    ],
)
def test_other_hosts_are_refused(client: Client, host: str) -> None:
    for path in ("/", "/main.js", "/api/runs"):
        found = ask(client, path, headers={"Host": host})
        assert found.status_code == 403
        assert "open it as localhost" in found.json["error"]


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8765", "[::1]:8765", "[::1]"])
def test_names_of_this_machine_are_answered(client: Client, host: str) -> None:
    assert ask(client, "/api/runs", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_pages_of_other_sites_get_no_data(client: Client, headers: dict[str, str]) -> None:
    assert ask(client, "/api/runs", headers=headers).status_code == 403
    assert post(client, "cypher", {"text": "RETURN 1"}, headers=headers).status_code == 403


def test_other_sites_may_link_to_the_page(client: Client) -> None:
    assert ask(client, "/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200
    assert (
        ask(client, "/api/runs", headers={"Origin": BASE, "Sec-Fetch-Site": "same-origin"}).status_code == 200
    )


def test_a_server_for_others_knows_its_address_and_no_foreign_name() -> None:
    guard = Guard("0.0.0.0")
    assert guard.refusal({"Host": "192.168.1.5:8765"}, page=True) == ""
    assert guard.refusal({"Host": "localhost"}, page=True) == ""
    assert "not this server" in guard.refusal({"Host": "evil.example"}, page=True)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_can_be_changed(client: Client, method: str) -> None:
    for path in ("/", "/main.js", "/api/runs", "/api/overview"):
        found = client.open(path, base_url=BASE, method=method)
        assert found.status_code == 405
        assert found.headers["Allow"] == "GET, HEAD"
    found = client.open("/api/cypher", base_url=BASE, method="OPTIONS")
    assert (found.status_code, found.headers["Allow"]) == (405, "POST")


def test_a_text_is_saved_as_a_question_on_this_computer_only(
    client: Client, kept: tuple[Path, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERNBENCH_QUERIES", str(tmp_path))
    text = "MATCH (:Run {id: $run})-[:SENT]->(t:Transaction) RETURN count(t) AS n"
    body = {"name": "mine/count", "title": "How many were sent?", "text": text}
    with borrowed(kept[0]) as store:
        elsewhere = Client(App(store, "0.0.0.0"))
        assert post(elsewhere, "save", body).status_code == 403
    assert post(client, "save", {**body, "title": ""}).status_code == 400
    assert not list(tmp_path.rglob("*.yaml"))
    assert post(client, "save", body).json == {"name": "mine/count"}
    asked = post(client, "ask", {"question": "mine/count"}).json
    assert asked["table"]["rows"] == post(client, "cypher", {"text": text}).json["table"]["rows"]
    assert "already" in post(client, "save", body).json["error"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "CREATE (n:Run {id: 'x'}) RETURN n",
        "MATCH (n) DETACH DELETE n",
        "MATCH (n:Run) SET n.bench = 'x' RETURN n",
    ],
)
def test_cypher_may_only_read(client: Client, store: Path, text: str) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*.parquet"))
    found = post(client, "cypher", {"text": text})
    assert found.status_code == 400
    assert "read" in found.json["error"]
    assert sorted((path, path.stat().st_mtime_ns) for path in store.rglob("*.parquet")) == before


def test_a_question_must_be_json(client: Client) -> None:
    """A form of another site can send text, but not JSON without being asked first."""
    found = client.post("/api/cypher", base_url=BASE, data='{"text": "RETURN 1"}', content_type="text/plain")
    assert found.status_code == 400
    assert "application/json" in found.json["error"]
    for body in ([1], {"params": 3}, None):
        assert post(client, "ask", body).status_code == 400
    large = client.post(
        "/api/cypher", base_url=BASE, data=b'"' + b"x" * 200_000 + b'"', content_type="application/json"
    )
    assert large.status_code in (400, 413)


WINDOWED = ("overview", "advice", "machine", "timeline", "path", "waits", "roofline")


@pytest.mark.slow
def test_every_answer_says_nothing_of_the_disk(client: Client, kept: tuple[Path, list[str]]) -> None:
    folder, ids = kept
    texts = [
        ask(client, f"/api/{name}?run={ids[2]}").text for name in (*WINDOWED, "runs", "questions", "state")
    ]
    texts += [ask(client, f"/api/compare?before={ids[1]}&after={ids[2]}").text]
    texts += [ask(client, "/api/overview?run=nosuch").text]
    texts += [post(client, "ask", {"question": "bottleneck/busiest-links"}).text]
    for text in texts:
        json.loads(text)
    pages = [ask(client, path) for path in ("/../conftest.py", "/..%2f", "/etc/passwd")]
    assert {page.status_code for page in pages} == {404}
    for text in [*texts, *(page.text for page in pages)]:
        for path in (folder, folder.parent, Path(__file__).parents[2], Path.home() / "x"):
            assert str(path) not in text


@pytest.mark.daily(but=("advice",))
@pytest.mark.parametrize("name", [*WINDOWED, "runs", "questions"])
def test_answers_are_what_the_program_gives(client: Client, ids: list[str], name: str) -> None:
    found = ask(client, f"/api/{name}?run={ids[2]}")
    assert (found.status_code, found.mimetype) == (200, "application/json")
    assert found.text == ask(client, f"/api/{name}?run={ids[2]}").text
    assert name in ANSWERS


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/api/overview?run=nosuch", "nosuch"),
        ("/api/overview?launch=7", "the run has no launch 7"),
        ("/api/overview?from=x", "from 'x' is not a time"),
        ("/api/machine?view=moon", "there is no view 'moon'"),
        ("/api/machine?view=cube&of=sip9.cube9", "sip9.cube9"),
        ("/api/timeline?rows=-1", "rows '-1' is not a number"),
        ("/api/roofline?launch=setup", "a roofline is of whole launches"),
        ("/api/advice?from=10", "advice is about whole launches"),
        ("/api/compare?before=last", "a comparison is of two runs"),
        ("/api/nosuch", "there is no answer 'nosuch'"),
    ],
)
def test_wrong_questions_say_what_is_wrong(client: Client, path: str, said: str) -> None:
    found = ask(client, path)
    assert found.status_code == 400
    assert said in found.json["error"]


def test_wrong_parameters_of_questions(client: Client) -> None:
    for body, said in (
        ({"question": "nosuch"}, "nosuch"),
        ({"question": "routing/path", "params": {"src": "sip0.cube0.pe0"}}, "dst"),
        ({"question": "bottleneck/busiest-links", "params": {"kind": "moon"}}, "moon"),
    ):
        found = post(client, "ask", body)
        assert found.status_code == 400
        assert said in found.json["error"]
    assert post(client, "cypher", {"text": " "}).json["error"].startswith("there is nothing to ask")


def test_a_question_looks_at_the_window_of_the_page(client: Client, ids: list[str]) -> None:
    asked = {"run": ids[2], "question": "bottleneck/busiest-links"}
    launch, setup = (post(client, "ask", {**asked, "launch": name}).json for name in ("0", "setup"))
    assert launch["table"]["rows"] != setup["table"]["rows"]
    assert launch["engine"] == "ladybug"
    result = kb.ask(
        "bottleneck/busiest-links", ids[2], kb.open_store(client.application.answers.store.url), launch="0"
    )
    shown = [row[0] for row in launch["table"]["rows"]]
    assert shown[0] == result.rows[0][0]


@pytest.mark.slow
def test_advice_is_what_the_run_says(client: Client, kept: tuple[Path, list[str]]) -> None:
    said = kb.open_run(kept[1][0], kept[0]).advice()
    rows = ask(client, f"/api/advice?run={kept[1][0]}").json["grids"][0]["table"]["rows"]
    assert [row[2:] for row in rows] == [[one["rule"], one["advice"]] for one in said]
    assert said


@pytest.mark.slow
def test_waits_are_the_answers_of_the_questions(client: Client, kept: tuple[Path, list[str]]) -> None:
    some = 0
    with borrowed(kept[0]) as store:
        for run in kept[1]:
            for window, path in (
                ({"launch": "all"}, ""),
                ({"launch": "run", "from_ns": 100.0, "to_ns": 900.0}, "&launch=run&from=100&to=900"),
            ):
                grids = ask(client, f"/api/waits?run={run}{path}").json["grids"]
                found = {grid["key"]: grid["table"] for grid in grids}
                for rows, name in (
                    (values(found["pairs"]), "who-waited-for-whom"),
                    (values(found["places"]), "waits-by-resource"),
                ):
                    limit = {"limit": 200 if "who" in name else 10**6}
                    expected = kb.ask(name, run, store, {**window, **limit}).rows
                    alike = found["places"]["columns"][-1]["name"] == "count" and "who" not in name
                    count = sum(row[-1] for row in rows) if alike else len(rows)
                    assert count == len(expected), (run, name)
                    some += count
    assert some > 100


@pytest.mark.slow
def test_alike_counts_all_that_are(tmp_path: Path) -> None:
    """Rows are folded before they are cut, so a row stands for all that are like it."""
    with borrowed(tmp_path / "store") as store:
        run = kb.traffic("pattern:all-local", "default", store=store, params={"bytes": 256}).id
        found = Client(App(store)).get(f"/api/overview?run={run}", base_url=BASE).json
        busiest = next(grid["table"] for grid in found["grids"] if grid["key"] == "busiest")
        rows = records(busiest)
        assert sum(row["count"] for row in rows) > 256


def test_the_time_line_has_as_many_rows_as_are_asked_for(client: Client, ids: list[str]) -> None:
    few, more = (ask(client, f"/api/timeline?run={ids[2]}&rows={n}").json for n in (2, 5))
    assert few
    assert more
    assert len(few["groups"]) + few["left_out"] == len(more["groups"]) + more["left_out"]
    assert few["left_out"] > more["left_out"]
    assert not any("ask for more" in remark for remark in few["remarks"])


@pytest.mark.slow
def test_paths_of_cypher_are_graphs(client: Client, ids: list[str]) -> None:
    text = "MATCH p = (:Component)-[:CONNECTS]->(:Component {kind: 'router'}) RETURN p LIMIT 3"
    found = post(client, "cypher", {"text": text, "run": ids[2]}).json
    assert len(found["graph"]["edges"]) == 3
    names = {node["id"] for node in found["graph"]["nodes"]}
    assert all({edge["source"], edge["target"]} <= names for edge in found["graph"]["edges"])
    assert all(edge["label"] == "CONNECTS" for edge in found["graph"]["edges"])
    one = post(client, "cypher", {"text": "RETURN 1 AS one"}).json
    assert (one["graph"], one["engine"], found["engine"]) == (None, "arcadedb", "arcadedb")
    run = post(client, "cypher", {"text": "MATCH (n:Run) RETURN n"}).text
    assert str(client.application.answers.store.url) not in run


def test_a_plan_is_a_column_of_lines(client: Client, ids: list[str]) -> None:
    found = post(client, "cypher", {"text": "EXPLAIN MATCH (t:Transaction) RETURN t", "run": ids[2]}).json
    names = [column["name"] for column in found["table"]["columns"]]
    assert names == ["plan"]
    assert found["graph"] is None


def test_nodes_of_a_graph_open_what_they_are(client: Client, ids: list[str]) -> None:
    sent = "(:Run {id: $run})-[:SENT]->(:Transaction {number: 3})"
    text = f"MATCH p = {sent}-[:FROM]->(:Use)-[:OF]->(:Component) RETURN p"
    nodes = post(client, "cypher", {"text": text, "run": ids[2]}).json["graph"]["nodes"]
    opened = {node["kind"]: (node.get("leads"), node.get("value")) for node in nodes}
    assert opened["Run"] == ("run", ids[2])
    assert opened["Transaction"] == ("transaction", 3)
    assert opened["Use"] == opened["Component"]
    assert opened["Use"][0] == "resource"
    over_all = "MATCH p = (:Run)-[:LAUNCHED]->(:Launch) RETURN p"
    nodes = post(client, "cypher", {"text": over_all, "run": "*"}).json["graph"]["nodes"]
    assert {node["kind"]: node.get("leads") for node in nodes} == {"Run": "run", "Launch": None}


def test_a_route_is_a_graph(client: Client) -> None:
    route = {"src": "sip0.cube0.pe0.pe_dma", "dst": "sip0.cube0.hbm_ctrl.pe0"}
    found = post(client, "ask", {"question": "routing/path", "params": route}).json
    names = {node["id"]: node["label"] for node in found["graph"]["nodes"]}
    ends = [names[found["graph"]["edges"][n][end]] for n, end in ((0, "source"), (-1, "target"))]
    assert ends == [route["src"], route["dst"]]
    assert "path" not in [column["name"] for column in found["table"]["columns"]]


def test_tags_are_those_that_a_run_has_now(tmp_path: Path) -> None:
    """Also where 'runs tag' in another process changed them since the run was shown."""
    with borrowed(tmp_path / "store") as store:
        run = kb.run("gemm-single-pe", "minimal", store=store, tags=["old"]).id
        client = Client(App(store))

        def shown() -> str:
            found = client.get(f"/api/overview?run={run}", base_url=BASE).json
            return str({one[0]: one[1] for one in found["facts"]}["tags"])

        assert shown() == "old"
        tag(run, ["new"], store=tmp_path / "store")
        assert shown() == "old, new"
        tag(run, [], ["old"], store=tmp_path / "store")
        assert shown() == "new"


def test_json_that_is_nested_deeply_is_a_bad_request(client: Client) -> None:
    body = b'{"text": ' + b"[" * 20_000 + b"]" * 20_000 + b"}"
    found = client.post("/api/cypher", base_url=BASE, data=body, content_type="application/json")
    assert (found.status_code, "JSON" in found.json["error"]) == (400, True)
