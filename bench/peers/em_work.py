"""Baum-Welch work, and what one iteration must give.

Peers start a sequence with a distribution of the first state; ours is one transition earlier, so our transition
counts hold one more transition per sequence. `Work` repeats the iteration in numpy both ways: the one must be our
answer, and the other is what a peer must answer. Everything else is the same work.
"""
import numpy

from common import load

SIZES = ((6, 6), (32, 20))


class Work:
    def __init__(self, folder, n, s):
        content = load(folder, f"em_n{n}_s{s}")
        self.case = f"em/n={n}/s={s}"
        start = content["start"]
        # Rows are the state before, as peers have it: transition[j, i] = P(i | j), emission[i, y].
        self.transition = numpy.array(start["transition"]).T.copy()
        self.emission = numpy.array(start["emission"]).T.copy()
        self.before = numpy.array(start["initial"])
        self.initial = self.before @ self.transition
        self.sequences = numpy.array(content["sequences"])
        self._iterate()
        self.our_error = self._distance_of_ours(content)

    def _iterate(self):
        symbols, a, b = self.sequences, self.transition, self.emission
        count, length = symbols.shape
        alphas, weights = [], []
        alpha = None
        for t in range(length):
            alpha = (self.initial if t == 0 else alpha @ a) * b[:, symbols[:, t]].T
            weights.append(alpha.sum(axis=1))
            alpha = alpha / weights[t][:, None]
            alphas.append(alpha)
        beta = numpy.ones((count, len(a)))
        transitions = numpy.zeros_like(a)
        emissions = numpy.zeros_like(b)
        for t in range(length - 1, -1, -1):
            occupied = alphas[t] * beta
            numpy.add.at(emissions.T, symbols[:, t], occupied)
            if t > 0:
                carried = b[:, symbols[:, t]].T * beta / weights[t][:, None]
                transitions += alphas[t - 1].T @ carried
                beta = carried @ a.T
        first = occupied.sum(axis=0)
        self.log_likelihood = float(numpy.log(weights).sum())
        self.counts = transitions * a, emissions, first
        normalised = [c / c.sum(axis=1, keepdims=True) for c in self.counts[:2]]
        self.expected = (*normalised, first / first.sum())

    def _distance_of_ours(self, content):
        """With the transition from `before` to the first state counted too."""
        transitions, emissions, first = self.counts
        earlier = self.before[:, None] * self.transition * (first / self.initial)[None, :]
        ours = transitions + earlier
        after = content["after"]
        pairs = (
            (numpy.array(after["transition"]).T, ours / ours.sum(axis=1, keepdims=True)),
            (numpy.array(after["emission"]).T, self.expected[1]),
            (numpy.array(after["initial"]), earlier.sum(axis=1) / earlier.sum()),
            (content["log_likelihood"] / self.log_likelihood, 1.0),
        )
        return max(float(numpy.abs(x - y).max()) for x, y in pairs)

    def error(self, transition, emission, initial):
        """The largest difference of a re-estimated probability, of the peer's or of ours."""
        found = (transition, emission, initial)
        distances = [float(numpy.abs(numpy.asarray(x) - y).max()) for x, y in zip(found, self.expected)]
        return max(self.our_error, *distances)
