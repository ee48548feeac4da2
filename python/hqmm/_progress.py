"""What people see while something is learned: one line on stderr, or a line per epoch."""

from __future__ import annotations

import sys
import time
from typing import Any, Callable, Optional, Union

from . import _core

Callback = Callable[[dict], Any]


def duration(seconds: float) -> str:
    """0:05, 12:40, 1:02:03: as the command line writes it."""
    whole = round(seconds)
    if whole >= 3600:
        return f"{whole // 3600}:{whole // 60 % 60:02}:{whole % 60:02}"
    return f"{whole // 60}:{whole % 60:02}"


class Progress:
    """One line that is written over; a line per epoch when `verbose` is 2 or more."""

    def __init__(self, verbose: Union[int, bool]):
        self._end = "\n" if int(verbose) >= 2 else "\r"
        self.on = bool(verbose)
        self._width = 0
        self._clock = time.monotonic
        self._began = self._clock()

    def show(self, record: dict) -> None:
        if not self.on:
            return
        text = self._describe(record)
        self._width = max(self._width, len(text))
        print(text.ljust(self._width), end=self._end, file=sys.stderr, flush=True)

    def close(self) -> None:
        if self.on and self._width and self._end == "\r":
            print(file=sys.stderr, flush=True)

    def _describe(self, record: dict) -> str:
        raise NotImplementedError

    def _time_left(self, share: float, limit: float = 0.0) -> str:
        """From the share of the work that is done, and the seconds it took."""
        seconds = self._clock() - self._began
        if share <= 0.0 or seconds <= 0.0:
            return "?"
        left = seconds / share * max(1.0 - share, 0.0)
        return duration(min(left, max(limit - seconds, 0.0)) if limit > 0.0 else left)


class TrainProgress(Progress):
    """The line of `hqmm train`: epoch 12/60  validation DA 0.1234  best 0.1301  0:05 left."""

    def __init__(self, verbose: Union[int, bool], recipe: dict):
        super().__init__(verbose)
        self._recipe = recipe
        self._best: Optional[float] = None

    def _describe(self, record: dict) -> str:
        da = record["validation"]["da"]
        if record["best"]:
            self._best = da
        restarts = self._recipe["restarts"]
        restart = f"restart {record['restart'] + 1}/{restarts} " if restarts > 1 else ""
        epoch = record["epoch"]
        left = self._time_left(_core.share_of_work(self._recipe, epoch), self._recipe["time_limit"])
        return (f"{restart}epoch {epoch}/{self._recipe['epochs']}  validation DA {_figure(da)}  "
                f"best {_figure(self._best)}  {left} left")


class ClassifierProgress(Progress):
    """member 1/5  epoch 12/20  objective -0.1234  best -0.1102  0:05 left."""

    def __init__(self, verbose: Union[int, bool], plan: dict, classes: int):
        super().__init__(verbose)
        alone = plan["objective"] == "generative" and plan["positions"] == "stationary"
        self._members = plan["members"]
        self._parts = self._members * (classes if alone else 1)
        self._epochs = plan["epochs"] + (plan["generative_epochs"] if plan["objective"] == "hybrid" else 0)
        self._turn = plan["generative_epochs"] + 1 if plan["objective"] == "hybrid" else 0
        self._part = 0
        self._last = 0
        self._best: Optional[float] = None

    def _describe(self, record: dict) -> str:
        epoch, objective = record["epoch"], record["objective"]
        if epoch <= self._last:  # the next member, or the next class
            self._part += 1
        if epoch <= self._last or epoch == self._turn:
            self._best = None
        self._last = epoch
        self._best = objective if self._best is None else max(self._best, objective)
        share = (self._part + epoch / max(self._epochs, epoch)) / self._parts
        return (f"member {record['member'] + 1}/{self._members}  epoch {epoch}/{self._epochs}  "
                f"objective {objective:.4f}  best {self._best:.4f}  {self._time_left(share)} left")


def _figure(da: Optional[float]) -> str:
    return "–" if da is None else f"{da:.4f}"


def observer(progress: Progress, callback: Optional[Callback]) -> Optional[Callback]:
    """Shows the progress, then calls the user's callback: a true value stops the training."""
    if callback is None and not progress.on:
        return None

    def on_epoch(record: dict) -> bool:
        progress.show(record)
        answer = callback(record) if callback is not None else None
        return bool(answer)

    return on_epoch
