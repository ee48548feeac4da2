"""The adjoint pass in numpy: a loop over one sequence, and matmul over a batch of 20."""
from common import best_time, main, row


def loop(work):
    """One sequence, one n x n (or w x n x n) product at a time."""
    import numpy

    operators, adjoints = work.operators, work.operators.conj().swapaxes(-1, -2)
    symbols = work.sequences[0]
    states, weights, loss = [work.initial], [], 0.0
    for y in symbols:
        state = (operators[y] @ states[-1] @ adjoints[y]).sum(axis=0)
        weight = state.trace().real
        loss -= numpy.log(weight)
        weights.append(weight)
        states.append(state / weight)
    gradient = numpy.zeros_like(operators)
    identity = numpy.eye(len(work.initial))
    s = numpy.zeros_like(work.initial)
    for t in range(len(symbols) - 1, -1, -1):
        y = symbols[t]
        shift = 1.0 - numpy.vdot(s, states[t + 1]).real
        left = ((s + shift * identity) / weights[t]) @ operators[y]
        gradient[y] -= 2.0 * (left @ states[t])
        s = (adjoints[y] @ left).sum(axis=0)
    return loss, gradient


def batched(work):
    """All sequences of the batch at once, one step of time after the other."""
    import numpy

    operators, adjoints = work.operators, work.operators.conj().swapaxes(-1, -2)
    symbols = work.sequences
    count, length = symbols.shape
    n = len(work.initial)
    states = numpy.empty((length + 1, count, n, n), dtype=complex)
    weights = numpy.empty((length, count))
    states[0] = work.initial
    for t in range(length):
        y = symbols[:, t]
        state = (operators[y] @ states[t][:, None] @ adjoints[y]).sum(axis=1)
        weights[t] = numpy.einsum("bii->b", state).real
        states[t + 1] = state / weights[t][:, None, None]
    steps = numpy.empty((length,) + (count,) + work.shape[1:], dtype=complex)
    identity = numpy.eye(n)
    s = numpy.zeros((count, n, n), dtype=complex)
    for t in range(length - 1, -1, -1):
        y = symbols[:, t]
        shift = 1.0 - numpy.einsum("bij,bij->b", s.conj(), states[t + 1]).real
        a = (s + shift[:, None, None] * identity) / weights[t][:, None, None]
        left = a[:, None] @ operators[y]
        numpy.matmul(left, states[t][:, None], out=steps[t])
        s = (adjoints[y] @ left).sum(axis=1)
    by_time = symbols.T
    gradient = numpy.stack([-2.0 * steps[by_time == y].sum(axis=0) for y in range(len(operators))])
    return -numpy.log(weights).sum(), gradient


def rows(folder):
    import numpy
    from hqmm_work import SHAPES, Work

    version = "numpy " + numpy.__version__
    for n, w in SHAPES:
        for batch, function, how in ((1, loop, "loop"), (20, batched, "batched matmul")):
            work = Work(folder, n, w, batch)
            error = work.error(*function(work))
            yield row(f"{version}, {how}", work.case, error, lambda: best_time(lambda: function(work)))


if __name__ == "__main__":
    main("numpy", ["numpy"], rows)
