"""One Baum-Welch iteration in GHMM, through the program built from ghmm_em.c."""
import os
import subprocess

from common import main, row

PROGRAM = os.environ.get("HQMM_BENCH_GHMM", "")


def run(work, program=PROGRAM):
    import numpy

    n, s = work.emission.shape
    numbers = [n, s, *work.transition.flat, *work.emission.flat, *work.initial, len(work.sequences)]
    for sequence in work.sequences:
        numbers += [len(sequence), *sequence]
    text = " ".join(repr(x) for x in map(numpy.ndarray.item, map(numpy.asarray, numbers)))
    out = subprocess.run([program], input=text, capture_output=True, text=True, check=True).stdout
    values = numpy.array(out.split(), dtype=float)
    seconds, transition, emission, initial = numpy.split(values, numpy.cumsum([1, n * n, n * s]))
    return seconds[0], (transition.reshape(n, n), emission.reshape(n, s), initial)


def rows(folder):
    from em_work import SIZES, Work

    if not os.path.exists(PROGRAM):
        yield {"peer": "GHMM", "missing": "not installed"}
        return
    for n, s in SIZES:
        work = Work(folder, n, s)
        seconds, found = run(work)
        yield row("GHMM", work.case, work.error(*found), lambda: seconds)


if __name__ == "__main__":
    main("GHMM", ["numpy"], rows)
