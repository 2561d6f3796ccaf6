"""Options that commands share which a cluster can carry out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from webwinnow.errors import MissingExtra

if TYPE_CHECKING:
    from webwinnow.engines import ClusterEngine

__all__ = ["Address", "EngineName", "chosen_engine"]

EngineName = Annotated[str, typer.Option(help="Who does the work: local (this machine), ray or spark.")]
Address = Annotated[
    str | None, typer.Option(help="ray, spark: the address of a running cluster; without, one is started here.")
]


def chosen_engine(name: str, address: str | None, jobs: int) -> ClusterEngine | None:
    """The cluster that a user asked for, None for the workers of this machine; pyarrow is needed only for a cluster."""
    if name == "local" and address is None:
        return None
    try:
        from webwinnow.engines import engine_named  # noqa: PLC0415 (an optional extra)
    except ImportError as error:
        raise MissingExtra(f"the engine {name}", name) from error
    return engine_named(name, address=address, jobs=jobs)
