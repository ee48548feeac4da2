"""One Baum-Welch iteration in pomegranate 0.14: summarize() is its expectation, from_summaries() its maximisation."""
import time

from common import main, row


def model_of(work):
    import pomegranate

    states = [pomegranate.DiscreteDistribution(dict(enumerate(r))) for r in work.emission.tolist()]
    names = [f"{i:03}" for i in range(len(states))]  # it sorts states by name
    return pomegranate.HiddenMarkovModel.from_matrix(work.transition, states, work.initial, state_names=names)


def iterate(work, sequences):
    model = model_of(work)
    start = time.process_time()
    model.summarize(sequences, algorithm="baum-welch")
    model.from_summaries()
    return time.process_time() - start, model


def rows(folder):
    import numpy
    import pomegranate
    from em_work import SIZES, Work

    def parameters(work, model):
        n, s = work.emission.shape
        dense = model.dense_transition_matrix()
        emission = [[state.distribution.parameters[0][y] for y in range(s)] for state in model.states[:n]]
        return dense[:n, :n], emission, dense[model.start_index, :n]

    for n, s in SIZES:
        work = Work(folder, n, s)
        sequences = [numpy.array(sequence) for sequence in work.sequences]
        seconds, model = iterate(work, sequences)
        repeats = 1 if seconds > 2.0 else 3
        yield row(
            "pomegranate " + pomegranate.__version__,
            work.case,
            work.error(*parameters(work, model)),
            lambda: min([seconds] + [iterate(work, sequences)[0] for _ in range(repeats)]),
        )


if __name__ == "__main__":
    main("pomegranate", ["numpy", "pomegranate"], rows)
