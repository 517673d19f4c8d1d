"""Registration, parameters and how a name becomes a bench."""

from __future__ import annotations

import sys
import textwrap

import numpy as np
import pytest

from kernbench.errors import BenchError, UsageError
from kernbench.workloads.benches import registry
from kernbench.workloads.benches.params import Param, resolve_params
from kernbench.workloads.benches.registry import bench, list_all, load_package, registered_in, resolve


def write(path, text):
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


ONE = """
    from kernbench.workloads.benches import Param, bench

    @bench(name="{name}", description="Does one thing.", params=[Param("m", int, 4, "rows")])
    def run(torch):
        return "{name}"
"""


@pytest.mark.parametrize(
    "name", ["", "Upper", "under_score", "-dash", "dash-", "two--dashes", "1digit", "a b", None]
)
def test_a_name_is_kebab_case(name):
    with pytest.raises(BenchError, match="kebab-case"):
        bench(name=name, description="x")


@pytest.mark.parametrize("description", ["", "  ", None])
def test_a_description_says_something(description):
    with pytest.raises(BenchError, match="description"):
        bench(name="a", description=description)


def test_shipped_benches_are_listed_by_name_and_found_by_name_and_index():
    names = [spec.name for spec in list_all()]
    assert names == sorted(names)
    assert {
        "gemm-single-pe",
        "qkv-gemm",
        "qkv-gemm-multi-pe",
        "gpt3-qkv",
        "matmul-composite",
        "va-offset-verify",
    } <= (set(names))
    for index, name in enumerate(names, 1):
        assert resolve(name) is resolve(str(index))


@pytest.mark.parametrize(
    ("identifier", "words"),
    [
        ("gemm-singel-pe", ("did you mean 'gemm-single-pe'", "qkv-gemm")),
        ("0", ("indices go from 1",)),
        ("999", ("indices go from 1",)),
        ("  ", ("empty",)),
        ("nothing-like-it", ("available:",)),
        ("no/such/file.py", ("does not exist",)),
        ("no_such_module:bench", ("cannot be imported", "no_such_module")),
        ("kernbench.errors:bench", ("registers no bench",)),
    ],
)
def test_what_is_not_there_says_what_is(identifier, words):
    with pytest.raises(UsageError) as caught:
        resolve(identifier)
    for word in words:
        assert word in str(caught.value)


def test_a_users_file_is_a_bench(tmp_path):
    path = write(tmp_path / "mine.py", ONE.format(name="my-bench"))
    spec = resolve(str(path))
    assert (spec.name, spec.run(None)) == ("my-bench", "my-bench")
    assert resolve(f"{path}:my-bench").name == "my-bench"
    assert "my-bench" not in [s.name for s in list_all()]
    write(path, ONE.format(name="other"))
    assert resolve(str(path)).name == "other"  # loaded again, and the old one is gone
    with pytest.raises(UsageError, match="no bench 'my-bench'; it has other"):
        resolve(f"{path}:my-bench")


def test_a_file_with_several_benches_needs_a_name(tmp_path):
    path = write(tmp_path / "two.py", ONE.format(name="one") + ONE.format(name="two"))
    with pytest.raises(UsageError, match=":one, :two"):
        resolve(str(path))
    assert resolve(f"{path}:two").run(None) == "two"


def test_a_users_module_is_a_bench(tmp_path, monkeypatch):
    (tmp_path / "somebodys").mkdir()
    write(tmp_path / "somebodys" / "__init__.py", "")
    write(tmp_path / "somebodys" / "work.py", ONE.format(name="their-bench"))
    monkeypatch.chdir(tmp_path)
    path_before = list(sys.path)
    assert resolve("somebodys.work:their-bench").run(None) == "their-bench"
    assert sys.path == path_before
    for module in ("somebodys.work", "somebodys"):
        del sys.modules[module]


def test_a_broken_file_names_itself(tmp_path):
    path = write(tmp_path / "broken.py", "import nothing_of_the_kind")
    with pytest.raises(UsageError, match=r"broken\.py' cannot be imported: ModuleNotFoundError"):
        resolve(str(path))


def test_a_bench_may_import_triton_by_its_own_name(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "triton", raising=False)
    given = "\n    import triton.language as tl" + ONE.format(name="for-a-gpu")
    path = write(tmp_path / "gpu.py", given)
    assert resolve(str(path)).name == "for-a-gpu"
    assert "triton" not in sys.modules


def test_a_name_used_twice_is_refused(tmp_path):
    path = write(tmp_path / "twice.py", ONE.format(name="same") + ONE.format(name="same"))
    with pytest.raises(BenchError, match="'same' is used twice"):
        resolve(str(path))


def test_a_name_used_twice_in_the_package_is_refused(monkeypatch):
    def run(torch):
        return None

    run.__module__ = "kernbench.workloads.benches.zz_copy"
    with pytest.raises(BenchError, match="'qkv-gemm' is used twice"):
        bench(name="qkv-gemm", description="A second one.")(run)


def test_a_package_module_without_a_bench_is_refused(tmp_path, monkeypatch):
    package = tmp_path / "benchroom"
    package.mkdir()
    write(package / "__init__.py", "")
    write(package / "_helper.py", "raise RuntimeError('helpers are not imported')")
    write(package / "good.py", ONE.format(name="good"))
    monkeypatch.syspath_prepend(str(tmp_path))
    load_package([str(package)], "benchroom")
    assert list(registered_in("benchroom.good")) == ["good"]
    write(package / "silent.py", "x = 1")
    with pytest.raises(BenchError, match=r"no @bench in benchroom\.silent"):
        load_package([str(package)], "benchroom")
    registry.forget("benchroom.good")


PARAMS = (
    Param("m", int, 64, "rows", env="T_M", minimum=1),
    Param("scale", float, 1.0, "factor"),
    Param("variant", str, "a", "which", choices=("a", "b")),
    Param("deep", bool, False, "or not"),
)


def test_set_wins_over_the_environment_and_that_over_the_default():
    assert resolve_params("b", PARAMS, {}, {})["m"] == 64
    assert resolve_params("b", PARAMS, {}, {"T_M": "32"})["m"] == 32
    assert resolve_params("b", PARAMS, {"m": "0x10"}, {"T_M": "32"})["m"] == 16


def test_values_have_their_types():
    got = resolve_params("b", PARAMS, {"scale": "2", "variant": "b", "deep": "yes"}, {})
    assert got == {"m": 64, "scale": 2.0, "variant": "b", "deep": True}
    assert isinstance(got["scale"], float)
    assert resolve_params("b", PARAMS, {"scale": 3, "deep": True}, {})["scale"] == 3.0


@pytest.mark.parametrize(
    ("values", "environ", "words"),
    [
        ({"m": "x"}, {}, ("bench 'b'", "parameter 'm'", "not a whole number")),
        ({"m": "0"}, {}, ("parameter 'm'", "minimum of 1")),
        ({"m": 1.5}, {}, ("parameter 'm'", "not of type int")),
        ({"m": True}, {}, ("not of type int",)),
        ({}, {"T_M": "many"}, ("parameter 'm'", "T_M")),
        ({"scale": "big"}, {}, ("'scale'", "not a number")),
        ({"variant": "c"}, {}, ("'variant'", "a, b")),
        ({"deep": "maybe"}, {}, ("'deep'", "true or false")),
        ({"varient": "a"}, {}, ("no parameter 'varient'", "did you mean 'variant'", "bench 'b'")),
    ],
)
def test_a_wrong_value_names_parameter_and_bench(values, environ, words):
    with pytest.raises(UsageError) as caught:
        resolve_params("b", PARAMS, values, environ)
    for word in words:
        assert word in str(caught.value)


def test_numbers_are_taken_as_people_and_programs_write_them():
    params = [Param("m", int, "64", "rows"), Param("f", float, 1, "factor"), Param("on", bool, "yes", "flag")]
    resolved = resolve_params("b", params, {}, {})
    assert resolved == {"m": 64, "f": 1.0, "on": True}
    assert [type(value) for value in resolved.values()] == [int, float, bool]
    texts = {"064": 64, "0x40": 64, "-0_7": -7, " +8 ": 8, "0": 0, "0b11": 3}
    assert {text: params[0].accept(text) for text in texts} == texts
    taken = resolve_params("b", params, {"m": np.int64(5), "f": np.float32(0.5), "on": np.bool_(False)}, {})
    assert taken == {"m": 5, "f": 0.5, "on": False}
    assert [type(value) for value in taken.values()] == [int, float, bool]


def test_a_bench_without_parameters_says_so():
    with pytest.raises(UsageError, match="has no parameters"):
        resolve_params("b", (), {"m": "1"}, {})


@pytest.mark.parametrize(
    "fields",
    [
        ("M", int, 1, "x"),
        ("m", list, 1, "x"),
        ("m", int, "one", "x"),
        ("m", int, 1, " "),
    ],
)
def test_a_declaration_is_checked(fields):
    with pytest.raises(BenchError):
        Param(*fields)


def test_a_parameter_is_declared_once():
    with pytest.raises(BenchError, match="'m' is declared twice"):
        bench(name="a", description="x", params=[PARAMS[0], PARAMS[0]])


@pytest.mark.parametrize("text", ["import sys; sys.exit(0)", "raise SystemExit('done')"])
def test_a_file_that_exits_does_not_end_the_program(tmp_path, monkeypatch, text):
    path = write(tmp_path / "leaves.py", text)
    with pytest.raises(UsageError, match=r"leaves\.py' exits while it is imported"):
        resolve(str(path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="'leaves' exits while it is imported"):
        resolve("leaves:any")


def test_a_bench_takes_torch_alone():
    with pytest.raises(BenchError, match=r"'two-of-them' must be a function of torch alone.*'extra'"):
        bench(name="two-of-them", description="x")(lambda torch, extra: None)
    with pytest.raises(BenchError, match="with names"):
        bench("my-bench", name="a", description="x")


def test_a_digit_that_is_no_number_is_no_index():
    with pytest.raises(UsageError, match="no bench '"):
        resolve("\u00b2")
