"""hqmm.read(): what the command line reads, ready for fit()."""

import doctest
import gzip

import numpy as np
import pytest

import hqmm

from conftest import write_text

FASTA = ">one first\nACGTACGTNACG\n>two\nggtacc\n>three\nTTACGTAACGT\n"


def test_fasta(tmp_path, cli):
    path = tmp_path / "x.fa"
    path.write_text(FASTA)
    found = hqmm.read(path)
    assert found.sequences == ["ACGTACGT?ACG", "GGTACC", "TTACGTAACGT"]
    assert found.names == ["one", "two", "three"] and found.labels is None and found.alphabet == "dna"
    cli("train", path, "-n", 2, "--epochs", 2, "-o", tmp_path / "m.h5")
    model = hqmm.HQMM(2, epochs=2, alphabet=found.alphabet, random_state=1).fit(found.sequences)
    assert model.model_.to_bytes() == (tmp_path / "m.h5").read_bytes()
    packed = tmp_path / "x.fa.gz"
    packed.write_bytes(gzip.compress(FASTA.encode()))
    assert hqmm.read(packed) == found
    assert hqmm.read(str(path), ambiguous="drop").names == ["two", "three"]
    assert hqmm.read([path, packed]).names == found.names * 2


def test_classes(tmp_path):
    path = tmp_path / "x.data"
    path.write_text("EI, a, ACGTAC\nN, b, GGTTAA\nEI, c, ACGNAC\n")
    found = hqmm.read(path)
    assert (found.labels, found.names, found.sequences[2]) == (["EI", "N", "EI"], ["a", "b", "c"], "ACG?AC")
    classifier = hqmm.HQMMClassifier(2, epochs=1, alphabet=found.alphabet, random_state=1)
    assert classifier.fit(found.sequences, found.labels).classes_.tolist() == ["EI", "N"]


def test_integers_and_tokens(tmp_path, rows):
    found = hqmm.read(write_text(tmp_path / "x.txt", rows))
    assert np.array_equal(found.sequences, rows) and found.alphabet == 3 and found.names is None
    (tmp_path / "gaps.txt").write_text("0 1 ? 2\n2 0\n")
    gaps = hqmm.read(tmp_path / "gaps.txt").sequences
    assert gaps[0].mask.tolist() == [False, False, True, False] and gaps[1].tolist() == [2, 0]
    (tmp_path / "t.txt").write_text("up down ?\ndown\n")
    found = hqmm.read(tmp_path / "t.txt", alphabet=["down", "up"])
    assert found.sequences == [["up", "down", "?"], ["down"]] and found.alphabet == ["down", "up"]
    model = hqmm.HQMM(2, epochs=0, alphabet=found.alphabet).fit(found.sequences)
    assert model.alphabet_ == ["down", "up"]


def test_what_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError):
        hqmm.read(tmp_path / "none.fa")
    (tmp_path / "x.fa").write_text(FASTA)
    with pytest.raises(ValueError, match="one file"):
        hqmm.read([])
    with pytest.raises(ValueError, match="ambiguous: expected missing"):
        hqmm.read(tmp_path / "x.fa", ambiguous="maybe")
    with pytest.raises(ValueError, match="x.fa:.*N"):
        hqmm.read(tmp_path / "x.fa", ambiguous="error")
    (tmp_path / "empty.fa").write_text(">a\n>b\nACGT\n")
    with pytest.warns(UserWarning, match="empty.fa"):
        assert hqmm.read(tmp_path / "empty.fa").names == ["b"]


def test_the_example_of_the_docstring():
    assert doctest.testmod(hqmm._read).failed == 0


def test_codes_as_sets(tmp_path, cli):
    path = tmp_path / "codes.fa"
    path.write_text(">one\nACGRTACGTN\n>two\nGGTACC\n")
    found = hqmm.read(path, ambiguous="set")
    assert found.sequences == [["A", "C", "G", "[AG]", "T", "A", "C", "G", "T", "?"], "GGTACC"]
    cli("train", path, "-n", 2, "--epochs", 2, "--ambiguous", "set", "-o", tmp_path / "m.h5")
    model = hqmm.HQMM(2, epochs=2, alphabet=found.alphabet, random_state=1).fit(found.sequences)
    assert model.model_.to_bytes() == (tmp_path / "m.h5").read_bytes()

    def probability(text):
        return np.exp(model.score([text]))

    both = probability("ACGATACGT?") + probability("ACGGTACGT?")
    assert np.exp(model.score_sequences(found.sequences)[0]) == pytest.approx(both, rel=1e-11)
    stream = model.stream()
    worth = sum(stream.push(None if token == "?" else token) for token in found.sequences[0])
    assert np.exp(worth) == pytest.approx(both, rel=1e-11)
    with pytest.raises(ValueError, match="beyond the alphabet"):
        model.score([[0, 4]])
    with pytest.raises(ValueError, match="beyond the alphabet"):
        stream.push(4)
    hmm = hqmm.HMM(2, epochs=3, restarts=1, alphabet="dna", random_state=1).fit(found.sequences)
    assert len(hmm.decode(found.sequences[0])[1]) == 10
