"""Fit a model, compare it with hidden Markov models, save it, use it again.

When to expect a quantum model (HQMM) to win, at the same number of parameters:

- the hidden state turns: phases, rotations, interference, any quantum process. A density matrix of
  two rows does what a hidden Markov model (HMM) needs many states for: the first data set below.
- there is much data with structure: DNA, English text (README, "What to use when").

And when not: where a few states and jumps between them are the whole truth, as in the second data
set, or where the data are nearly noise. There an HMM is as good or better, and EM learns it faster.
"""

import pathlib
import tempfile

import numpy as np
from sklearn.model_selection import GridSearchCV

import hqmm


def turning(count, length, seed):
    """A qubit that turns by an angle at every step and is looked at, gently: 0 or 1."""
    turn, gentle = 0.7, 0.9
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    looks = [np.diag([np.sqrt(gentle), np.sqrt(1 - gentle)]), np.diag([np.sqrt(1 - gentle), np.sqrt(gentle)])]
    process = hqmm.HQMM.from_kraus(np.array([[look @ rotation] for look in looks]))
    return process, process.sample(count, length, random_state=seed)


def jumping(count, length, seed):
    """0 and 1 in turns, and now and then a 2: three states that jump."""
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        symbol, row = 0, []
        for _ in range(length):
            symbol = 2 if rng.random() < 0.1 else (1 if symbol != 1 else 0)
            row.append(symbol)
        rows.append(row)
    return np.array(rows)


def bits(model, X):
    return model.evaluate(X, burn_in=10)["bits_per_symbol"]


def compare(name, X, models):
    """Fits on three quarters, scores on the rest: fewer bits are better."""
    train, test = X[:len(X) * 3 // 4], X[len(X) * 3 // 4:]
    print(f"{name}: bits per symbol of {test.size} new symbols (guessing: {np.log2(X.max() + 1):.3f})")
    for label, model in models.items():
        model.fit(train)
        print(f"  {label:22} {bits(model, test):.4f}   {model.n_parameters_:3d} parameters")
    return train, test


process, X = turning(120, 200, seed=1)
hqmm_model = hqmm.HQMM(n_states=2, n_kraus=1, epochs=30, random_state=1)
hmm = {f"HMM, {n} states": hqmm.HMM(n_states=n, restarts=4, random_state=1) for n in (2, 3, 4)}
train, test = compare("a turning qubit", X, {"HQMM, 2 states": hqmm_model, **hmm})
print(f"  {'the process itself':22} {bits(process, test):.4f}")
best = min(bits(model, test) for model in hmm.values())
print(f"The HQMM is {best - bits(hqmm_model, test):.4f} bits ahead of the best HMM: expect that of states that turn.")

classical = hqmm.HMM(n_states=3, restarts=4, random_state=1)
quantum = hqmm.HQMM(n_states=3, n_kraus=2, epochs=15, random_state=1)
_, jumps = compare("three states that jump", jumping(60, 80, seed=1),
                   {"HQMM, 3 states": quantum, "HMM, 3 states": classical})
print(f"The HMM is {bits(quantum, jumps) - bits(classical, jumps):.4f} bits ahead with "
      f"{classical.n_parameters_} parameters, not {quantum.n_parameters_}: it is the whole truth here.")

search = GridSearchCV(hqmm.HQMM(n_kraus=1, epochs=5, random_state=1), {"n_states": [1, 2]}, cv=3).fit(train)
print("best by cross-validation:", search.best_params_)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.h5"
    hqmm_model.save(path)  # hqmm score model.h5 … reads the same file
    again = hqmm.load(path)
    assert again.score(test) == hqmm_model.score(test)
print("after 0 1 0:", np.round(hqmm_model.predict_next_proba([0, 1, 0]), 3))
