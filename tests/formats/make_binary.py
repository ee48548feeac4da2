#!/usr/bin/env python3
"""Writes the binary files of this corpus again; the text ones were written by hand.

usage: /usr/bin/python3 make_binary.py   (needs numpy, scipy and h5py)
"""
import bz2
import ctypes
import gzip
import lzma
import os
import struct

import h5py
import numpy as np
import scipy.io

os.chdir(os.path.dirname(os.path.abspath(__file__)))
ROWS = np.array([[0, 1, 2, 1], [2, 2, 0, 1]])


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def gz(text):
    return gzip.compress(text, mtime=0)


def zst(text):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    packed = ctypes.create_string_buffer(len(text) + 1000)
    size = library.ZSTD_compress(packed, ctypes.c_size_t(len(packed)), text, ctypes.c_size_t(len(text)), 19)
    return packed.raw[:size]


def npy(header, data=b"", version=1):
    text = header.encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


# gzip
write("good/two_members.txt.gz", gz(b"0 1 2 1\n") + gz(b"2 2 0 1\n"))
write("odd/zero_padded.txt.gz", gz(b"0 1 2 1\n2 2 0 1\n") + bytes(16))
write("bad/truncated.txt.gz", gz(b"0 1 2 1\n2 2 0 1\n" * 20)[:-9])
write("bad/flipped.txt.gz", gz(b"0 1 2 1\n2 2 0 1\n")[:-8] + bytes(8))
write("bad/junk_after.txt.gz", gz(b"0 1 2 1\n2 2 0 1\n") + b"junk")

# xz, bzip2, zstd
FIRST, SECOND, LONG = b"0 1 2 1\n", b"2 2 0 1\n", b"0 1 2 1\n2 2 0 1\n" * 20
SKIPPED = struct.pack("<II", 0x184D2A53, 4) + b"note"
write("good/two_members.txt.xz", lzma.compress(FIRST) + lzma.compress(SECOND))
write("good/two_members.txt.bz2", bz2.compress(FIRST) + bz2.compress(SECOND))
write("good/two_members.txt.zst", zst(FIRST) + SKIPPED + zst(SECOND))
write("odd/zero_padded.txt.xz", lzma.compress(FIRST + SECOND) + bytes(16))
write("odd/no_bzip2.txt", b"BZh9 1AY BZh9\n1AY\n")
for name, pack, first in (("xz", lzma.compress, 30), ("bz2", bz2.compress, 30), ("zst", zst, 8)):
    write(f"bad/truncated.txt.{name}", pack(LONG)[:-3])
    broken = bytearray(pack(LONG))
    broken[first] ^= 0xFF
    write(f"bad/flipped.txt.{name}", bytes(broken))
    write(f"bad/junk_after.txt.{name}", pack(LONG) + b"junk")
# A dictionary of 1.5 GiB, a window of 2 GiB.
write("bad/large_window.txt.xz", lzma.compress(FIRST, filters=[{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 3 << 29}]))
write("bad/large_window.txt.zst", b"\x28\xB5\x2F\xFD\x00" + bytes([21 << 3]) + bytes([0x41, 0, 0]) + FIRST)

# NumPy
np.save("good/int64.npy", ROWS.astype("<i8"))
np.save("good/uint8.npy", ROWS.astype("u1"))
np.save("good/big_endian.npy", ROWS.astype(">i2"))
np.save("good/fortran.npy", np.asfortranarray(ROWS.astype("<i4")))
np.save("good/float.npy", ROWS.astype("<f8"))
np.save("odd/vector.npy", np.array([0, 1, 2, 1], dtype="<u2"))
np.save("odd/bool.npy", np.array([[True, False], [False, False]]))
np.save("odd/nan.npy", np.array([[0, np.nan, 2], [1, 1, 0]], dtype="<f4"))
write("odd/version2.npy", npy("{'descr': '|u1', 'fortran_order': False, 'shape': (2L, 4L), }",
                              ROWS.astype("u1").tobytes(), version=2))
np.save("bad/negative.npy", np.array([[0, 1], [2, -3]], dtype="<i4"))
np.save("bad/half.npy", np.array([[0.0, 1.5]]))
np.save("bad/object.npy", np.array([[0, 1]], dtype=object))
np.save("bad/three_axes.npy", np.zeros((2, 2, 2), dtype="u1"))
np.save("bad/complex.npy", np.zeros((2, 2), dtype="c16"))
np.save("bad/records.npy", np.zeros(3, dtype=[("a", "i4"), ("b", "i4")]))
np.save("bad/empty_array.npy", np.zeros((0, 5), dtype="u1"))
np.save("bad/too_large.npy", np.array([[0, 70000]], dtype="<i4"))
write("bad/truncated.npy", read("good/int64.npy")[:-5])
write("bad/header_only.npy", read("good/int64.npy")[:40])
write("bad/bytes_after.npy", read("good/int64.npy") + b"123")
write("bad/overflow.npy", npy("{'descr': '<i8', 'fortran_order': False, "
                              "'shape': (9223372036854775807, 9223372036854775807), }"))
write("bad/no_shape.npy", npy("{'descr': '<i8', 'fortran_order': False, }"))
write("bad/bad_shape.npy", npy("{'descr': '<i8', 'fortran_order': False, 'shape': (3, x), }"))

# MATLAB
ONE_BASED = (ROWS + 1).astype("u1")
scipy.io.savemat("good/one.mat", {"trn": ONE_BASED})
scipy.io.savemat("good/packed.mat", {"trn": ONE_BASED}, do_compression=True)
scipy.io.savemat("good/struct.mat", {"data": {"trn_data": ONE_BASED, "val_data": ONE_BASED[:1],
                                              "note": "text"}})
scipy.io.savemat("good/classes.mat", {"ei": ONE_BASED, "ie": ONE_BASED[:1].astype(float)})
scipy.io.savemat("odd/zero_based.mat", {"trn": ROWS.astype(float)})
scipy.io.savemat("odd/nan.mat", {"trn": np.array([[1, np.nan, 3], [2, 2, 1]])})
scipy.io.savemat("bad/version4.mat", {"trn": ROWS.astype(float)}, format="4")
scipy.io.savemat("bad/half.mat", {"trn": np.array([[1.0, 1.5]])})
scipy.io.savemat("bad/negative.mat", {"trn": np.array([[1, -2]], dtype="i2")})
scipy.io.savemat("bad/text_only.mat", {"note": "text"})
scipy.io.savemat("bad/complex.mat", {"trn": np.array([[1 + 2j]])})
write("bad/truncated.mat", read("good/one.mat")[:-6])
write("bad/header_only.mat", read("good/one.mat")[:130])

# HDF5
with h5py.File("good/one.h5", "w") as file:
    file["sequences"] = ROWS.astype("i4")
with h5py.File("good/groups.h5", "w") as file:
    file["train/a"] = ROWS.astype("u1")
    file["train/b"] = ROWS[:1].astype("u1")
    file["note"] = "text"
with h5py.File("odd/packed.h5", "w") as file:
    file.create_dataset("sequences", data=ROWS.astype(">u2"), chunks=(1, 4), compression="gzip")
with h5py.File("odd/vector.h5", "w") as file:
    file["sequences"] = np.array([0.0, np.nan, 2.0])
with h5py.File("odd/version73.mat", "w", userblock_size=512) as file:
    file["trn"] = np.asfortranarray(ONE_BASED).T  # MATLAB's axes as HDF5 sees them
    file["trn"].attrs["MATLAB_class"] = np.bytes_("uint8")
    file["note"] = np.array([[116], [120]], dtype="u2")
    file["note"].attrs["MATLAB_class"] = np.bytes_("char")
head = b"MATLAB 7.3 MAT-file, Platform: test".ljust(116) + bytes(8) + b"\x00\x02IM"
write("odd/version73.mat", head + read("odd/version73.mat")[len(head):])
with h5py.File("bad/model.h5", "w") as file:
    file.attrs["format"] = "hqmm-model"
    file["kraus"] = np.zeros((2, 1, 2, 2))
with h5py.File("bad/strings.h5", "w") as file:
    file["names"] = ["a", "b"]
with h5py.File("bad/negative.h5", "w") as file:
    file["sequences"] = np.array([[0, 1], [-1, 2]])
with h5py.File("bad/unwritten.h5", "w") as file:
    file.create_dataset("sequences", shape=(1 << 40, 1 << 20), dtype="i4", chunks=(16, 16))
write("bad/truncated.h5", read("good/one.h5")[:-9])
write("bad/short.h5", read("good/one.h5")[:60])

# text that is none
write("bad/nul.txt", b"0 1 2\n0 \x00 1\n")
write("bad/junk.bin", bytes((i * 37 + 11) % 256 for i in range(200)))
write("bad/escape.txt", b"0 1 2\n0 1 \x1b[31m\n")
write("bad/utf16.txt", "0 1 2\n".encode("utf-16"))
