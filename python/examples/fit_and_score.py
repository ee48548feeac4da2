"""Fit a model, compare it with a hidden Markov model, save it, use it again."""

import pathlib
import tempfile

import numpy as np
from sklearn.model_selection import GridSearchCV

import hqmm

# Sequences of a process with memory: 0 and 1 alternate, and now and then a 2 turns it around.
rng = np.random.default_rng(1)
sequences = []
for _ in range(60):
    symbol, row = 0, []
    for _ in range(80):
        symbol = 2 if rng.random() < 0.1 else (1 if symbol != 1 else 0)
        row.append(symbol)
    sequences.append(row)
train, test = sequences[:45], sequences[45:]

model = hqmm.HQMM(n_states=3, n_kraus=2, epochs=15, random_state=1).fit(train)
classical = hqmm.HMM(n_states=3, restarts=2, random_state=1).fit(train)
for name, one in ("HQMM", model), ("HMM", classical):
    figures = one.evaluate(test)
    print(f"{name}: log-likelihood {figures['log_likelihood']:.1f}, DA {figures['da_mean']:.3f}")

search = GridSearchCV(hqmm.HQMM(epochs=5, random_state=1), {"n_states": [2, 3]}, cv=3).fit(train)
print("best by cross-validation:", search.best_params_)

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "model.h5"
    model.save(path)  # hqmm score model.h5 … reads the same file
    again = hqmm.load(path)
    assert again.score(test) == model.score(test)
print("after 0 1 0:", np.round(model.predict_next_proba([0, 1, 0]), 3))
