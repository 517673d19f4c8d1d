"""``ccl.yaml``: which algorithm implements which collective, and how queues are set up for them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from kernbench.errors import ConfigError
from kernbench.hardware.topology.fields import Size
from kernbench.hardware.topology.marked_yaml import load_mapping
from kernbench.host.collectives.algorithm import COLLECTIVES
from kernbench.support.data_files import data_dir
from kernbench.support.hints import did_you_mean
from kernbench.support.input_files import input_text

ENVIRONMENT = "KERNBENCH_CCL"


class Settings(BaseModel):
    """Settings of queues and ranks, for all algorithms or for one; None: the topology's."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    world_size: int | None = Field(default=None, ge=1)
    buffer_kind: Literal["tcm", "sram", "hbm"] | None = None
    slots: int | None = Field(default=None, ge=1)
    slot_bytes: int | None = Field(default=None, ge=1)


class AlgorithmSettings(Settings):
    """Settings of one algorithm, with options that it alone knows."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    @property
    def options(self) -> dict[str, Any]:
        """The options of its own."""
        return dict(self.model_extra or {})


class AlgorithmChoice(BaseModel):
    """An algorithm of a collective, and up to how many bytes on a PE it is taken; any number by default."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    name: str
    up_to: Annotated[Size, Field(ge=0)] | None = None


class CollectivesConfig(BaseModel):
    """The contents of ``ccl.yaml``."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    collectives: dict[str, tuple[AlgorithmChoice, ...]]
    defaults: Settings = Field(default_factory=Settings)
    algorithms: dict[str, AlgorithmSettings] = {}

    @field_validator("collectives", mode="before")
    @classmethod
    def _lists(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        for name in value:
            if name not in COLLECTIVES:
                raise ValueError(f"'{name}' is not a collective; {did_you_mean(str(name), COLLECTIVES)}")
        return {name: _choices(one) for name, one in value.items()}

    def setting(self, name: str, algorithm: str) -> Any:
        """A setting as it holds for ``algorithm``: its own, else the default, else None (the topology's)."""
        own = getattr(self.algorithms.get(algorithm, self.defaults), name)
        return own if own is not None else getattr(self.defaults, name)


def _choices(value: object) -> object:
    """One name or entry, or a list of them, as entries."""
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple({"name": one} if isinstance(one, str) else one for one in listed)


def read_config(extra: str | Path | Mapping[str, Any] | None = None) -> CollectivesConfig:
    """The shipped ``ccl.yaml`` with the keys of ``extra`` in place of its own.

    Args:
        extra: A file, or its content; by default the file that ``$KERNBENCH_CCL`` names, if it is set.

    Raises:
        ConfigError: A file cannot be read, or a key is unknown or wrong; names file, key and remedy.
    """
    shipped = data_dir("configs") / "ccl.yaml"
    content = _load(shipped)
    place = str(shipped)
    if extra is None:
        extra = os.environ.get(ENVIRONMENT) or None
    if extra is not None:
        place = "config=" if isinstance(extra, Mapping) else str(extra)
        given = extra if isinstance(extra, Mapping) else _load(Path(extra))
        content = {
            key: {**(content.get(key) or {}), **value} if isinstance(value, Mapping) else value
            for key, value in [*content.items(), *given.items()]
        }
    try:
        return CollectivesConfig.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"]))
        raise ConfigError(f"{place}: {key}: {first['msg'].removeprefix('Value error, ')}") from None


def _load(path: Path) -> dict[str, Any]:
    text = input_text(path, "a file such as the shipped ccl.yaml")
    return load_mapping(text, str(path), "the keys collectives, defaults and algorithms")[0]
