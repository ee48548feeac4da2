"""device=: who may ask for a GPU, and what is said where there is none."""

import pathlib

import numpy as np
import pytest

import hqmm

WITHOUT_GPU = not any(pathlib.Path("/dev").glob("nvidia[0-9]*"))
without_gpu = pytest.mark.skipif(not WITHOUT_GPU, reason="this machine has a GPU")

X = [[0, 1, 0, 1, 1, 0, 1, 0]] * 12


def fitted(**parameters):
    return hqmm.HQMM(n_states=2, n_kraus=1, epochs=1, random_state=1, **parameters).fit(X)


@without_gpu
def test_without_a_gpu_it_is_an_error():
    with pytest.raises(ValueError, match="GPU|NVIDIA"):
        fitted(device="cuda")
    with pytest.raises(ValueError, match="GPU|NVIDIA"):
        fitted().set_params(device="cuda").score(X)
    labels = np.array(["a", "b"] * 6)
    with pytest.raises(ValueError, match="GPU|NVIDIA"):
        hqmm.HQMMClassifier(device="cuda", epochs=1).fit(X, labels)
    classifier = hqmm.HQMMClassifier(n_states=2, epochs=1, random_state=1).fit(X, labels)
    with pytest.raises(ValueError, match="GPU|NVIDIA"):
        classifier.set_params(device="cuda").predict(X)


def test_other_words_are_refused():
    with pytest.raises(ValueError, match="device: expected cpu or cuda, found 'gpu'"):
        fitted(device="gpu")


def test_the_cpu_is_the_default():
    named, default = fitted(device="cpu"), fitted()
    assert named.model_.to_bytes() == default.model_.to_bytes()
    assert named.provenance_["options"]["device"] == "cpu" and "device" not in named.provenance_
    assert named.score(X) == default.score(X)


def test_hmms_have_no_device():
    assert "device" not in hqmm.HMM().get_params()
    model = hqmm.HMM(n_states=2, restarts=1, epochs=2, random_state=1).fit(X)
    assert np.isfinite(model.score(X))


def test_where_a_model_was_learned_is_not_where_it_is_used(tmp_path):
    fitted(device="cpu").save(tmp_path / "model.h5")
    assert hqmm.HQMM.load(tmp_path / "model.h5").device is None
