"""One Baum-Welch iteration in hmmlearn, by scaling and in logarithms."""
from common import best_time, main, row


def rows(folder):
    import hmmlearn
    import numpy
    from em_work import SIZES, Work
    from hmmlearn.hmm import CategoricalHMM

    def iterate(work, implementation):
        n, s = work.emission.shape
        model = CategoricalHMM(
            n, n_iter=1, tol=0.0, init_params="", params="ste", n_features=s, implementation=implementation
        )
        model.startprob_, model.transmat_, model.emissionprob_ = work.initial, work.transition, work.emission
        lengths = [len(sequence) for sequence in work.sequences]
        model.fit(work.sequences.reshape(-1, 1), lengths)
        return model.transmat_, model.emissionprob_, model.startprob_

    for n, s in SIZES:
        work = Work(folder, n, s)
        for implementation in ("scaling", "log"):
            found = iterate(work, implementation)
            yield row(
                f"hmmlearn {hmmlearn.__version__}, {implementation}",
                work.case,
                work.error(*(numpy.array(x) for x in found)),
                lambda: best_time(lambda: iterate(work, implementation)),
            )


if __name__ == "__main__":
    main("hmmlearn", ["numpy", "hmmlearn"], rows)
