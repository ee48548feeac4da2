"""The parameters of the estimators: those of the library's option tables, and those of Python.

Each estimator inherits from a class made here, whose __init__ has all of them in its signature and
keeps them as attributes, as scikit-learn wants it. The build writes what a type checker sees of
these classes, _parameters.pyi, with stub().
"""

from __future__ import annotations

import inspect
import textwrap
from typing import Any, Iterable, List, NamedTuple

from . import _core


class Parameter(NamedTuple):
    name: str
    type: str  # as people read it
    default: Any
    meaning: str
    annotation: str  # as mypy reads it
    option: str = ""  # the id of the library's option, if it is one


def _sentence(text: str) -> str:
    return text[0].upper() + text[1:] + ("" if text.endswith(".") else ".")


ANNOTATIONS = {"int": "int", "float": "float", "bool": "bool", "str": "str",
               "int or 'auto'": "Union[int, str]", "int or str": "Union[int, str]"}


def _recipes(row: dict, learners: Iterable[str]) -> dict:
    return {name: value for name, value in row.get("recipes", {}).items() if name in learners}


def _usual(row: dict, learners: Iterable[str]) -> Any:
    return next(iter(_recipes(row, learners).values()), row["default"])


def _default(row: dict, learners: Iterable[str]) -> str:
    """What stands for None: "60 (givens 15)"."""
    if row["by_data"]:
        return "what suits the data"
    recipes = _recipes(row, learners)
    usual = _usual(row, learners)
    others = ", ".join(f"{name} {value!r}" for name, value in recipes.items() if value != usual)
    return f"{usual!r} ({others})" if others else repr(usual)


def _of_option(row: dict, set_by_default: bool, learners: Iterable[str]) -> Parameter:
    """A parameter that is None unless given, or has the default of the first learner."""
    words = row["words"]
    kind = "{" + ", ".join(map(repr, words)) + "}" if words else row["type"]
    annotation = ANNOTATIONS[row["type"]]
    meaning = _sentence(row["help"])
    if row["type"] in ("int", "float", "int or 'auto'", "int or str"):
        meaning += f" Takes {row['expected']}."
    if set_by_default:
        return Parameter(row["name"], kind, _usual(row, learners), meaning, annotation, row["id"])
    meaning += f" None is {_default(row, learners)}."
    return Parameter(row["name"], f"{kind} or None", None, meaning, f"Optional[{annotation}]", row["id"])


def _options(rows: Iterable[dict], learners: Iterable[str], set_by_default: Iterable[str] = (),
             without: Iterable[str] = ()) -> List[Parameter]:
    """Those that are about one of the learners."""
    return [_of_option(row, row["name"] in set_by_default, learners) for row in rows
            if row["name"] not in without and set(row["learners"]) & set(learners)]


RANDOM_STATE = Parameter(
    "random_state", "int, RandomState, Generator or None", None,
    "Seed of every random choice. An integer is the `--seed` of the command line and gives the same "
    "bytes; anything else draws one.", "Any")
SHARED = [
    Parameter("alphabet", "int, str, list of str or None", None,
              "The symbols: their number, 'dna', 'rna', 'protein', or the tokens in order. None takes "
              "them from the data.", "Any"),
    Parameter("n_jobs", "int or None", None,
              "Threads, -1 for all cores. They change the time and never the result. None is one.",
              "Optional[int]"),
    Parameter("verbose", "int or bool", 0, "How much to show: 1 is a progress line, 2 a line per epoch.",
              "Union[int, bool]"),
]
CALLBACK = Parameter("callback", "callable or None", None,
                     "Called with a dictionary after every epoch; something true as its answer stops.",
                     "Optional[Callable[[dict], Any]]")
TRAINING = [
    Parameter("preset", "{'default', 'paper'}", "default",
              "The recipe that the parameters are on top of; 'paper' is the protocol of the paper.", "str"),
    Parameter("validation_share", "float", 0.2,
              "Share of X to hold out, to select the best epoch by, when fit gets no validation data.",
              "float"),
]
WARM_START = Parameter("warm_start", "{'em'}, HQMM, HMM or None", None,
                       "A fitted model to start from, or 'em': an HMM that is learned first, with "
                       "n_kraus = n_states. None starts at random.", "Any")
CLASSES = [
    Parameter("prior", "{'uniform', 'empirical'} or dict", "uniform",
              "Class probabilities before anything is seen; a dictionary has one for each class.", "Any"),
    Parameter("grid", "str or None", None,
              "Settings to choose from inside the data first, 'step-size=0.01,0.02;dropout=0.3,0.5', or "
              "'auto'. None learns with the parameters as they are.", "Optional[str]"),
    Parameter("inner_folds", "int", 3, "Folds that the settings of a grid are compared on; 1 holds a "
              "fifth out once.", "int"),
]
END_OF_PART = Parameter(
    *CALLBACK[:3],
    "Called with a dictionary after every epoch; something true as its answer ends the training under "
    "way and keeps what it has learned. A training is that of one member; when each class is learned "
    "separately (generative and stationary), that of one class.", CALLBACK.annotation)
POSITION_ARRAY = (" An array has the number of the Kraus set of each position, the last one for all "
                  "later positions.")


class Parameters:
    """What the classes made below share: parameters become attributes."""

    _parameters: List[Parameter] = []

    @classmethod
    def _described(cls, summary: str, attributes: str) -> str:
        """A docstring in numpydoc's form."""
        lines = [summary, "", "Parameters", "----------"]
        for one in cls._parameters:
            lines.append(f"{one.name} : {one.type}, default={one.default!r}")
            lines += textwrap.wrap(one.meaning, 92, initial_indent="    ", subsequent_indent="    ",
                                   break_on_hyphens=False)
        return "\n".join([*lines, "", "Attributes", "----------", textwrap.dedent(attributes).strip(), ""])


def _made(name: str, positional: Iterable[str], parameters: List[Parameter]) -> type:
    """A class whose __init__ takes these parameters, the first ones by position, too."""
    by_name = {one.name: one for one in parameters}
    first = [by_name.pop(one) for one in positional]
    ordered = [*first, *by_name.values()]
    kinds = [inspect.Parameter.POSITIONAL_OR_KEYWORD] * len(first) + \
        [inspect.Parameter.KEYWORD_ONLY] * len(by_name)
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
        + [inspect.Parameter(one.name, kind, default=one.default) for one, kind in zip(ordered, kinds)])

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for one in ordered:
            setattr(self, one.name, bound.arguments[one.name])

    __init__.__signature__ = signature  # type: ignore[attr-defined]
    __init__.__qualname__ = f"{name}.__init__"
    options = {one.name: one.option for one in ordered if one.option}
    return type(name, (Parameters,), {"__init__": __init__, "__module__": __name__, "_parameters": ordered,
                                      "_option_names": options, "_positional": len(first)})


def _hqmm() -> type:
    options = _options(_core.train_options(), ("ns-ris", "cosm", "givens"),
                       set_by_default=("n_states", "n_kraus", "learner"))
    own = [one._replace(type="{'ns-ris', 'cosm', 'givens'}",
                        meaning="How the model is learned; HMM has the learner 'em'.")
           if one.name == "learner" else one for one in options]
    return _made("HQMMParameters", ("n_states", "n_kraus", "learner", "random_state"),
                 [*own, RANDOM_STATE, WARM_START, *TRAINING, *SHARED, CALLBACK])


def _hmm() -> type:
    options = _options(_core.train_options(), ("em",), set_by_default=("n_states", "emission"),
                       without=("learner",))
    return _made("HMMParameters", ("n_states", "random_state"),
                 [*options, RANDOM_STATE, *TRAINING, *SHARED, CALLBACK])


def _classifier() -> type:
    options = _options(_core.classifier_options(), ("ns-ris", "cosm", "givens", "em"))
    own = [one._replace(type="str, array of int or None", annotation="Any",
                        meaning=one.meaning + POSITION_ARRAY)
           if one.name == "positions" else one for one in options]
    return _made("HQMMClassifierParameters", ("n_states", "n_kraus", "learner", "random_state"),
                 [*own, RANDOM_STATE, *CLASSES, *SHARED, END_OF_PART])


HQMMParameters: Any = _hqmm()
HMMParameters: Any = _hmm()
HQMMClassifierParameters: Any = _classifier()


def stub() -> str:
    """What a type checker is to know of this module."""
    out = ["# Written by the build from the tables of options: see _parameters.py.",
           "from typing import Any, Callable, Optional, Union", "",
           "class Parameters:",
           "    _option_names: dict",
           "    @classmethod",
           "    def _described(cls, summary: str, attributes: str) -> str: ..."]
    for made in (HQMMParameters, HMMParameters, HQMMClassifierParameters):
        arguments = [f"{one.name}: {one.annotation} = ..." for one in made._parameters]
        arguments.insert(made._positional, "*")
        out += ["", f"class {made.__name__}(Parameters):"]
        out += [f"    {one.name}: {one.annotation}" for one in made._parameters]
        out.append(f"    def __init__(self, {', '.join(arguments)}) -> None: ...")
    return "\n".join(out) + "\n"
