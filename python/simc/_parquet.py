"""Results as Parquet files, one per shard."""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ._manifest import Field
from ._run import spellings
from ._tables import pyarrow
from .errors import RunError

if TYPE_CHECKING:
    from ._model import Model

WORLDS = "_worlds"
"""The folder of the outputs of worlds. Readers of data sets skip names with an underscore."""

RUN = "_run.json"
"""The file that says how a complete run was done."""


@dataclass(frozen=True)
class Files:
    """A directory with a file per shard, in the order of agents."""

    directory: str
    digits: int
    """Digits of the number in a file's name."""
    names: tuple[str, ...]
    """The outputs that are written."""

    def path(self, number: int, of_world: bool = False) -> str:
        """The file of a shard."""
        folder = os.path.join(self.directory, WORLDS) if of_world else self.directory
        return os.path.join(folder, f"part-{number:0{self.digits}}.parquet")

    def prepare(self) -> None:
        """Makes the directory, which must be new or empty: files of another run would be read as
        parts of this one."""
        pyarrow()
        path = Path(self.directory)
        try:
            path.mkdir(parents=True, exist_ok=True)
            found = next(path.iterdir(), None)
        except OSError as error:
            raise RunError(
                "file", f"cannot write to {path}: {error.strerror}", "give another directory"
            ) from error
        if found is not None:
            raise RunError(
                "file",
                f"{path} has files already, such as {found.name}",
                "give a new directory, or remove what is in it",
            )

    def write(self, model: Model, number: int, first: int, values: Mapping[str, Any]) -> str:
        """Writes a shard. A file appears when it is complete, in the place of an earlier one."""
        for of_world in (False, True):
            own = [model.outputs[name] for name in self.names]
            own = [each for each in own if each.of_world == of_world]
            if not own:
                continue
            rows = len(values[own[0].name])
            start = first // (values_per_world(model, values) if of_world else 1)
            index = np.arange(start, start + rows, dtype=np.uint32)
            columns = {"world" if of_world else "agent": index}
            table = _table(columns, own, values)
            _replace(table, self.path(number, of_world))
        return self.path(number, all(model.outputs[name].of_world for name in self.names))

    def read(self, field: Field, number: int) -> NDArray[Any]:
        """The values of an output of a shard."""
        import pyarrow.parquet as pq

        names = spellings(field.name, field.shape, field.is_vector)
        table = pq.read_table(self.path(number, field.of_world), columns=names)
        columns = []
        for name in names:
            column: Any = table[name].combine_chunks()
            if field.variants:
                column = column.indices
            columns.append(column.to_numpy(zero_copy_only=False).astype(field.dtype, copy=False))
        return np.stack(columns, axis=1).reshape(len(table), *field.shape)

    def finish(self, about: Mapping[str, Any]) -> None:
        """Says that all shards are there, and how they were computed."""
        text = json.dumps(about, indent=2) + "\n"
        _write_text(os.path.join(self.directory, RUN), text)


def values_per_world(model: Model, values: Any) -> int:
    """The number of agents in a world of a run."""
    report = values.report
    return int(report.agents // report.worlds)


def _table(index: dict[str, Any], fields: list[Field], values: Mapping[str, Any]) -> Any:
    pa = pyarrow()
    columns: dict[str, Any] = {name: pa.array(array) for name, array in index.items()}
    for field in fields:
        names = spellings(field.name, field.shape, field.is_vector)
        table = values[field.name].reshape(-1, len(names))
        for at, name in enumerate(names):
            column = pa.array(np.ascontiguousarray(table[:, at]))
            if field.variants:
                codes = column.cast(pa.int32())
                column = pa.DictionaryArray.from_arrays(codes, pa.array(list(field.variants)))
            columns[name] = column
    return pa.table(columns)


def _replace(table: Any, path: str) -> None:
    import pyarrow.parquet as pq

    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Readers skip names with a dot in front.
    draft = os.path.join(os.path.dirname(path), f".{os.path.basename(path)}.{uuid.uuid4().hex}")
    try:
        pq.write_table(table, draft)
        os.replace(draft, path)
    finally:
        if os.path.exists(draft):
            os.remove(draft)


def _write_text(path: str, text: str) -> None:
    draft = f"{path}.{uuid.uuid4().hex}"
    with open(draft, "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(draft, path)
