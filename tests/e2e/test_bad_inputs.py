"""Bad input of every kind: one line that says what, where and what to do; the right exit status; no hang.

Each case is a command line. ``{dir}`` is a folder of its own with the case's files in it. A pattern must
be found in the one line that the command prints to stderr.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from kernbench_graph.archive.manifest import encode

import kernbench as kb
from kernbench.cli.main import main

FAILED, WRONG = 1, 2
SECONDS = 60

BENCH = """\
import numpy as np
from kernbench.workloads.benches.registry import bench

def kernel(a, out, tl):
    x = tl.load(a)
    {body}

@bench(name="user-bench", description="A bench of a user.")
def run(torch):
    a = torch.from_numpy(np.ones((8, 64), np.float16), name="a")
    out = torch.empty(8, 64, name="out")
    torch.launch("k", kernel, a, out)
"""


@dataclass(frozen=True)
class Case:
    name: str
    command: str
    status: int
    pattern: str
    files: dict[str, str] = field(default_factory=dict)


def topology(
    name: str, text: str, pattern: str, command: str = "topology check {dir}/m.yaml", status: int = FAILED
) -> Case:
    return Case(f"topology-{name}", command, status, pattern, {"m.yaml": text})


def kernel(name: str, body: str, pattern: str, status: int = FAILED) -> Case:
    indented = body.replace("\n", "\n    ")
    command = "run --bench {dir}/b.py --topology minimal --store {dir}/store"
    return Case(f"kernel-{name}", command, status, pattern, {"b.py": BENCH.format(body=indented)})


def program(name: str, text: str, pattern: str, status: int = FAILED) -> Case:
    """A bench whose host side is wrong."""
    text = BENCH.format(body="pass").replace('    torch.launch("k", kernel, a, out)\n', text)
    command = "run --bench {dir}/b.py --topology minimal --store {dir}/store"
    return Case(f"program-{name}", command, status, pattern, {"b.py": text})


def argument(name: str, command: str, pattern: str, status: int = WRONG) -> Case:
    return Case(f"argument-{name}", command, status, pattern)


HEAD = "schema_version: 1\nname: m\n"
RUN = "run --topology minimal --store {dir}/store "

CASES = [
    topology(
        "missing-file", "", r"none\.yaml: no such topology file", "topology check {dir}/none.yaml", WRONG
    ),
    topology("empty", "", r"m\.yaml:1: .*expected"),
    topology("not-yaml", HEAD + "system: [1, 2\n", r"m\.yaml:\d+: "),
    topology("tabs", HEAD + "system:\n\tsips: 2\n", r"m\.yaml:4: "),
    topology("a-list", "- 1\n- 2\n", r"m\.yaml:1: .*expected"),
    topology("unknown-key", HEAD + "system:\n  spis: 2\n", r"m\.yaml:4: system\.spis: .*sips"),
    topology("wrong-type", HEAD + "system:\n  sips: two\n", r"m\.yaml:4: system\.sips: .*expected"),
    topology("twice", HEAD + "system:\n  sips: 2\n  sips: 3\n", r"m\.yaml:5: system\.sips: "),
    topology("no-sips", HEAD + "system:\n  sips: 0\n", r"m\.yaml:4: system\.sips: .*0"),
    topology("too-many-sips", HEAD + "system:\n  sips: 1025\n", r"m\.yaml:4: system\.sips: .*102[45]"),
    topology("too-many-cubes", HEAD + "sip:\n  cube_mesh: {w: 5, h: 4}\n", r"m\.yaml:4: sip\.cube_mesh.*16"),
    topology("too-many-pes", HEAD + "cube:\n  pes: {count: 20}\n", r"m\.yaml:4: cube\.pes.*16"),
    topology(
        "channels",
        HEAD + "cube:\n  hbm:\n    pseudo_channels: 60\n",
        r"m\.yaml:5: cube\.hbm\.pseudo_channels",
    ),
    topology(
        "negative-bandwidth", HEAD + "cube:\n  router: {link_gbs: -1}\n", r"m\.yaml:4: cube\.router\.link_gbs"
    ),
    topology("zero-bandwidth", HEAD + "cube:\n  sram: {link_gbs: 0}\n", r"m\.yaml:4: cube\.sram\.link_gbs"),
    topology(
        "not-a-number",
        HEAD + "cube:\n  router: {overhead_ns: .nan}\n",
        r"m\.yaml:4: cube\.router\.overhead_ns",
    ),
    topology(
        "pattern",
        HEAD + "system:\n  inter_sip: {pattern: star}\n",
        r"m\.yaml:4: system\.inter_sip\.pattern.*ring_1d",
    ),
    topology(
        "torus",
        HEAD + "system:\n  sips: 6\n  inter_sip: {pattern: torus_2d, w: 4, h: 2}\n",
        r"m\.yaml:5: system\.inter_sip.*(6|sips)",
    ),
    topology(
        "tcm",
        HEAD + "pe:\n  pe_tcm: {scratch_bytes: 2 MiB, scheduler_reserved_bytes: 1 MiB}\n",
        r"m\.yaml:4: pe\.pe_tcm.*size_bytes",
    ),
    topology(
        "io-cube",
        HEAD + "sip:\n  io_chiplets:\n    - {name: io0, side: N, cubes: [77]}\n",
        r"m\.yaml:5: .*cubes.*77",
    ),
    topology(
        "override-nowhere",
        HEAD + "overrides:\n  - {where: 'kind:ruter', speed: 2}\n",
        r"m\.yaml:4: overrides\.0\.where: 'kind:ruter' matches nothing, did you mean 'kind:router'",
    ),
    topology(
        "override-no-time",
        HEAD + "overrides:\n  - {where: 'kind:ucie_conn', speed: 2}\n",
        r"m\.yaml:4: overrides\.0\.where: .*takes no time",
    ),
    topology(
        "override-speed",
        HEAD + "overrides:\n  - {where: tray, speed: -2}\n",
        r"m\.yaml:4: overrides\.0\.speed: is -2, expected",
    ),
    topology(
        "override-both",
        HEAD + "overrides:\n  - {where: tray, speed: 2, free: true}\n",
        r"m\.yaml:4: overrides\.0: has both speed and free, expected one",
    ),
    topology(
        "unknown-impl",
        HEAD + "cube:\n  router: {impl: my.router}\n",
        r"'my\.router' is not registered; add it to a components file",
        RUN + "--bench gemm-single-pe --topology {dir}/m.yaml",
    ),
    topology(
        "no-such-node",
        HEAD,
        r"sip9",
        "topology show {dir}/m.yaml --from sip9.cube0.pe0.pe_dma --to host.cpu",
        WRONG,
    ),
    kernel(
        "raises",
        "raise ValueError('my words')",
        r"kernel 'k' failed on sip0\.cube0\.pe0 at [\d.]+ ns.*my words",
    ),
    kernel("unknown-call", "tl.blend(x)", r"blend"),
    kernel("pending-data", "y = x + x\ny.data", r"pending.*--verify-data"),
    kernel("pending-truth", "y = tl.max(tl.max(x, axis=1), axis=0)\nif y: pass", r"pending.*--verify-data"),
    kernel(
        "truth-of-a-block", "if x: pass", r"\(8, 64\) is not one truth value; pick elements with tl.where"
    ),
    kernel("pending-number", "y = tl.exp(x)\nfloat(y)", r"pending.*--verify-data"),
    kernel("dot-shapes", "tl.dot(x, x)", r"tl\.dot: .*\(8, 64\)"),
    kernel("dot-not-a-handle", "tl.dot(x, 3)", r"tl\.dot: argument 'b': .*handle"),
    kernel("load-first", "tl.dot(a, x)", r"tl\.dot: argument 'a': .*tl\.load it first"),
    kernel("dtype", "tl.load(a, shape=(8, 64), dtype='f99')", r"tl\.load: argument 'dtype': .*f99.*f16"),
    kernel("past-the-end", "tl.load(a, shape=(9, 64))", r"tl\.load: "),
    kernel("negative-address", "tl.load(-4096, shape=(4,), dtype='f16')", r"tl\.load: "),
    kernel(
        "no-memory-there", "tl.load(1 << 50, shape=(4,), dtype='f16')", r"sip_id 8 is not in this topology"
    ),
    kernel("store-shape", "tl.store(out, tl.zeros((9, 64)))", r"tl\.store: "),
    kernel("broadcast", "x + tl.zeros((3, 5))", r"tl\.add: .*\(3, 5\) does not broadcast with \(8, 64\)"),
    kernel("axis", "tl.sum(x, 5)", r"tl\.sum: argument 'axis': .*5"),
    kernel(
        "composite-op",
        "tl.composite('conv', a, a, out)",
        r"tl\.composite: argument 'op': 'conv' is not known",
    ),
    kernel(
        "epilogue-op",
        "tl.composite('exp', a, out_ptr=out, epilogue=[{'op': 'tanhh'}])",
        r"tl\.composite: argument 'epilogue\[0\]",
    ),
    kernel(
        "epilogue-field",
        "tl.composite('exp', a, out_ptr=out, epilogue=[{'op': 'bias'}])",
        r"tl\.composite: argument 'epilogue\[0\]",
    ),
    kernel("scratch", "k = [tl.zeros((1024, 1024), 'f32') for _ in range(3)]", r"scratch.*1048576"),
    kernel(
        "tile-too-large",
        "tl.composite('exp', tl.ref(a, (8, 64), 'f16'), out_ptr=out, tile_shape=(0, 4))",
        r"tl\.composite: argument 'tile_shape'",
    ),
    kernel(
        "no-queues", "tl.send('E', x)", r"tl\.send: argument 'dir': .*set them up with torch.install_ipcq"
    ),
    kernel("program-axis", "tl.program_id(3)", r"tl\.program_id: argument 'axis': "),
    kernel("wait-for-what", "tl.wait(3)", r"tl\.wait: "),
    kernel("cycles", "tl.cycles(-1)", r"tl\.cycles: "),
    Case(
        "program-nothing",
        "run --bench {dir}/b.py --topology minimal --store {dir}/store",
        FAILED,
        r"NO_REQUESTS.*make a tensor or launch a kernel",
        {"b.py": BENCH.partition("    a = torch")[0].format(body="pass") + "    pass\n"},
    ),
    program("no-tensor", "    torch.launch('k', kernel, 1, 2)\n", r"launch 'k'.*tensor"),
    program("arguments", "    torch.launch('k', kernel, a)\n", r"kernel 'k\(a, out, tl\)': missing .*'out'"),
    program("not-a-kernel", "    torch.launch('k', 7, a)\n", r"launch 'k': 7 is not a kernel"),
    program("shape", "    torch.empty(0, 4)\n", r"shape|size|dimension"),
    program(
        "placement",
        "    from kernbench import DPPolicy as D\n    torch.empty(4, 5, dp=D(num_pes=3, pe='column_wise'))\n",
        r"num_pes|PEs",
    ),
    program("too-large", "    torch.empty(1 << 20, 1 << 14)\n", r"largest free block"),
    program("freed", "    a.free()\n    a.numpy()\n", r"tensor 'a'.*freed"),
    program(
        "collective",
        "    torch.distributed.all_reduce(a)\n",
        r"all_reduce.*has not been initialized; call init_process_group\('ahbm'\) first",
    ),
    argument("no-bench", "run", r"name a bench"),
    argument("unknown-bench", RUN + "--bench qkv-gem", r"no bench 'qkv-gem'.*qkv-gemm"),
    argument("bench-index", RUN + "--bench 99", r"99"),
    argument("unknown-parameter", RUN + "--bench qkv-gemm tokes=4", r"'tokes'.*tokens"),
    argument("parameter-type", RUN + "--bench qkv-gemm tokens=many", r"'tokens'.*many"),
    argument("parameter-form", RUN + "qkv-gemm tokens", r"tokens.*="),
    argument("parameter-choice", RUN + "--bench qkv-gemm dtype=f8", r"'dtype'.*f8.*f16"),
    argument("device", RUN + "--bench qkv-gemm --device sip:7", r"sip:7"),
    argument("device-form", RUN + "--bench qkv-gemm --device gpu", r"gpu.*sip:"),
    argument("fault", RUN + "gemm-single-pe --fault tray=2 --fault r0", r"error: --fault 'r0': ", FAILED),
    argument("fault-speed", RUN + "gemm-single-pe --fault tray=0", r"--fault 'tray=0': speed: ", FAILED),
    argument("option", RUN + "--bench qkv-gemm --verfy", r"--verfy"),
    argument("command", "rnu", r"rnu"),
    argument("format", "list --format xml", r"xml.*(table|json)"),
    argument("question", "query bottleneck/busy --store {dir}/kept", r"bottleneck/busy"),
    argument("question-parameter", "query busiest-links lim=3 --store {dir}/kept", r"lim"),
    argument("question-parameter-type", "query busiest-links limit=x --store {dir}/kept", r"limit.*x"),
    argument(
        "cypher-syntax",
        "query --cypher MATCH --store {dir}/kept",
        r"Cypher does not allow the end at column 6$",
    ),
    argument("cypher-writes", "query --cypher CREATE(n:Run) --store {dir}/kept", r"read"),
    argument(
        "what-if-nowhere",
        "what-if --store {dir}/kept --speed kind:ruter=2",
        r"--speed 'kind:ruter' matches nothing, did you mean 'kind:router'",
    ),
    argument("what-if-no-time", "what-if --store {dir}/kept --speed kind:ucie_conn=2", r"takes no time"),
    argument(
        "what-if-speed",
        "what-if --store {dir}/kept --speed tray=fast",
        r"--speed 'tray=fast': expected a number",
    ),
    argument("what-if-zero", "what-if --store {dir}/kept --speed tray=0", r"'tray=0': expected a number"),
    argument(
        "what-if-form", "what-if --store {dir}/kept --speed tray", r"--speed 'tray': write it as WHERE=FACTOR"
    ),
    argument("what-if-launch", "what-if --store {dir}/kept --launch 7", r"no launch 7; it has 1"),
    argument(
        "what-if-other-bench",
        "what-if --store {dir}/kept --speed tray=2 --bench qkv-gemm",
        r"cannot be re-run: bench .qkv-gemm. has no parameter",
    ),
    argument(
        "what-if-older-run", "what-if --store {dir}/older --speed tray=2", r"did not record how to re-run it"
    ),
    argument("what-if-no-run", "what-if --store {dir}/none", r"no run"),
    argument("no-such-run", "show 1999 --store {dir}/kept", r"1999"),
    argument("empty-store", "query busiest-links --store {dir}/none", r"no run"),
    argument("store-url", "runs list --store redis://x", r"redis"),
    argument(
        "neo4j-password", "runs list --store neo4j://me:pw@x", r"credentials in the URL; set KERNBENCH_"
    ),
    Case(
        "neo4j-no-credentials", "runs list --store bolt://127.0.0.1:9", FAILED, r"needs KERNBENCH_NEO4J_USER"
    ),
    Case(
        "neo4j-unreachable",
        "runs list --store bolt://127.0.0.1:9",
        FAILED,
        r"store 'bolt://127\.0\.0\.1:9': no Neo4j server answers there; start it",
        {"auth": "neo4j:a-password"},
    ),
    argument("damaged-archive", "query waits-by-resource --store {dir}/damaged", r"parquet.*", FAILED),
    argument("newer-archive", "show {run} --store {dir}/newer", r"schema version 999", FAILED),
    argument("not-a-store", "runs list --store {dir}/file", r"file"),
]


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with one run in it."""
    folder = tmp_path_factory.mktemp("kept") / "store"
    kb.run("gemm-single-pe", topology="minimal", store=str(folder), m=32, k=64, n=32)
    return folder


@pytest.fixture
def folder(tmp_path: Path, kept: Path, case: Case) -> Path:
    """The good and bad stores that the case's command names."""
    for name in re.findall(r"--store \{dir\}/(kept|damaged|newer|older)", case.command):
        shutil.copytree(kept, tmp_path / name)
        runs = tmp_path / name / "runs"
        if name == "damaged":
            for table in ("Hop", "Use", "WaitedFor", "Transaction"):
                (parquet,) = runs.glob(f"*/{table}.parquet")
                parquet.write_bytes(parquet.read_bytes()[:40])
            shutil.rmtree(tmp_path / name / "cache", ignore_errors=True)
        elif name != "kept":
            (manifest,) = runs.glob("*/manifest.json")
            content = json.loads(manifest.read_text(encoding="utf-8"))
            if name == "newer":
                content["schema_version"] = 999
            else:
                del content["extra"]["again"]
            manifest.write_bytes(encode(content, str(manifest)))
    (tmp_path / "file").write_text("not a folder", encoding="utf-8")
    return tmp_path


@pytest.fixture(autouse=True)
def no_hang() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"still running after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", CASES, ids=[c.name for c in CASES])
def test_bad_input(
    case: Case,
    folder: Path,
    kept: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("USER", "PASSWORD", "AUTH_FILE"):
        monkeypatch.delenv(f"KERNBENCH_NEO4J_{name}", raising=False)
    for name, text in case.files.items():
        (folder / name).write_text(text, encoding="utf-8")
        if name == "auth":
            monkeypatch.setenv("KERNBENCH_NEO4J_AUTH_FILE", str(folder / name))
    before = sorted(os.listdir(folder))
    (run,) = os.listdir(kept / "runs")
    status = main([word.format(dir=folder, run=run) for word in case.command.split(" ")])
    printed = capsys.readouterr()
    assert status == case.status, printed.err
    lines = printed.err.splitlines()
    if case.name == "argument-cypher-syntax":
        assert lines.pop() == "       ^"
        assert lines.pop() == "  MATCH"
    assert len(lines) == 1, printed.err
    assert lines[0].startswith("kernbench: error: ")
    assert "Traceback" not in lines[0]
    assert "unexpected" not in lines[0], "an error without a message of its own"
    assert re.search(case.pattern, lines[0]), lines[0]
    assert printed.out == ""
    assert not list((folder / "store").glob("runs/*")), "a run that failed was kept"
    assert set(before) <= set(os.listdir(folder))


def test_there_are_at_least_sixty() -> None:
    assert len(CASES) >= 60
    assert len({c.name for c in CASES}) == len(CASES)
