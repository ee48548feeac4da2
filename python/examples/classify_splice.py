"""Classify splice junctions: python classify_splice.py [splice.data]

Without the UCI file, sequences that look a little like it are made up.
"""

import sys

import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

import hqmm


def read(path):
    with open(path) as lines:
        rows = [line.strip().split(",") for line in lines if line.strip()]
    return [row[2].strip() for row in rows], [row[0].strip() for row in rows]


def made_up(count=240, length=20, seed=1):
    """EI has GT in the middle, IE has AG there, N has neither."""
    rng = np.random.default_rng(seed)
    X, y = [], []
    for i in range(count):
        label = ("EI", "IE", "N")[i % 3]
        letters = rng.choice(list("ACGT"), size=length)
        if label != "N":
            letters[length // 2:length // 2 + 2] = list("GT" if label == "EI" else "AG")
        X.append("".join(letters))
        y.append(label)
    return X, y


X, y = read(sys.argv[1]) if len(sys.argv) > 1 else made_up()
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=1)
classifier = hqmm.HQMMClassifier(n_states=2, alphabet="dna", epochs=8, random_state=1)
classifier.fit(X_train, y_train)
print("classes:", classifier.classes_.tolist())
print("accuracy:", round(classifier.score(X_test, y_test), 3))
print(confusion_matrix(y_test, classifier.predict(X_test)))
print("first row:", np.round(classifier.predict_proba(X_test[:1]), 3))
