"""Predict a stream: one symbol in, the distribution of the next one out."""

import numpy as np

import hqmm

source = np.resize([0, 0, 1, 2], 400)
model = hqmm.HQMM(n_states=4, epochs=20, random_state=1).fit(source.reshape(8, 50))

stream = model.stream()
surprise = 0.0
for symbol in [0, 0, 1, 2, 0, None, 1, 2]:  # None: nobody saw it
    expected = stream.next_proba()
    surprise -= stream.push(symbol)
    print(f"expected {np.round(expected, 2)}, got {symbol}")
print(f"surprise: {surprise:.2f} nats; three steps ahead: {np.round(stream.next_proba(steps=3), 2)}")

# The same for a sequence that is there already.
assert np.allclose(model.predict_next_proba([0, 0, 1]), model.predict_proba([0, 0, 1])[-1])
