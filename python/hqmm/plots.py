"""Pictures of models with matplotlib: training history, density matrices, the Bloch sphere.

Every function draws into `ax`, or into a new figure, and returns the axes.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np

PAULI = np.array([[[0, 1], [1, 0]], [[0, -1j], [1j, 0]], [[1, 0], [0, -1]]])


def plot_history(model: Any, ax: Optional[Any] = None) -> Any:
    """Description accuracy by epoch, training and validation, a line for each restart.

    Of a classifier the objective per sequence, a line for each training: of a member or, when each
    class is learned separately, of a class.
    """
    records = model.history_
    if not records:
        raise ValueError("there is no history: the model was loaded, not fitted")
    ax = _axes(ax)
    if "objective" in records[0]:
        return _plot_objective(records, ax)
    for restart in sorted({record["restart"] for record in records}):
        rows = [record for record in records if record["restart"] == restart]
        suffix = f" {restart + 1}" if restart or len(rows) < len(records) else ""
        ax.plot([row["epoch"] for row in rows], [_da(row["validation"]) for row in rows],
                label=f"validation{suffix}")
        seen = [row for row in rows if row["train"]]
        ax.plot([row["epoch"] for row in seen], [_da(row["train"]) for row in seen],
                linestyle=":", label=f"training{suffix}")
    ax.set_xlabel("epoch")
    ax.set_ylabel("description accuracy")
    ax.legend()
    return ax


def _plot_objective(records: list, ax: Any) -> Any:
    trainings: list = []
    for record in records:
        if not trainings or record["epoch"] <= trainings[-1][-1]["epoch"]:
            trainings.append([])
        trainings[-1].append(record)
    for number, rows in enumerate(trainings, start=1):
        ax.plot([row["epoch"] for row in rows], [row["objective"] for row in rows],
                label=f"training {number}")
    ax.set_xlabel("epoch")
    ax.set_ylabel("objective per sequence")
    if len(trainings) > 1:
        ax.legend()
    return ax


def plot_density_matrix(rho: Any, ax: Optional[Any] = None) -> Any:
    """|ρ| as a heat map; the phase of an entry is written into it where it is not zero."""
    rho = np.asarray(rho)
    if rho.ndim != 2 or rho.shape[0] != rho.shape[1]:
        raise ValueError(f"a density matrix is square, found shape {rho.shape}")
    ax = _axes(ax)
    image = ax.imshow(np.abs(rho), vmin=0.0, cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label="|ρ|")
    for (i, j), entry in np.ndenumerate(rho):
        if abs(entry) > 1e-3 and abs(np.angle(entry)) > 1e-3:
            ax.text(j, i, f"{np.angle(entry):.1f}", ha="center", va="center", color="white")
    ax.set_xticks(range(len(rho)))
    ax.set_yticks(range(len(rho)))
    return ax


def bloch_vectors(states: Any) -> np.ndarray:
    """(…, 2, 2) density matrices as points (…, 3) of the Bloch ball."""
    states = np.asarray(states)
    if states.shape[-2:] != (2, 2):
        raise ValueError(f"the Bloch sphere is for n = 2, found states of shape {states.shape[-2:]}")
    return np.einsum("kij,...ji->...k", PAULI, states).real


def plot_bloch(states: Any, ax: Optional[Any] = None) -> Any:
    """States of a model with n = 2, such as HQMM.filter returns, as a path through the Bloch ball."""
    points = np.atleast_2d(bloch_vectors(states))
    ax = _axes(ax, projection="3d")
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    ax.plot_wireframe(np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v), color="0.85",
                      linewidth=0.5)
    ax.plot(*points.T, color="0.6", linewidth=0.5)
    ax.scatter(*points.T, c=np.arange(len(points)), cmap="viridis", s=12)
    for axis, name in zip("xyz", "xyz"):
        getattr(ax, f"set_{axis}label")(name)
    ax.set_box_aspect((1, 1, 1))
    return ax


def _axes(ax: Optional[Any], **kwargs: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.figure().add_subplot(**kwargs)


def _da(figures: dict) -> float:
    return np.nan if figures["da"] is None else figures["da"]
