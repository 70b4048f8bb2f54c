#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the routing_*.npy files beside this script with numpy, in every variety that numpy writes.

The files are committed, so the tests need no numpy. Every file holds the same numbers unless its name says otherwise:
2 cards x 3 tokens x 2 experts a token, id = (5 * card + 2 * token + 7 * k) % 16, except that card 1's last token lost
its second selection (-1; 8 in files of unsigned type).
"""
import io
import os

import numpy as np
from numpy.lib import format as npy

HERE = os.path.dirname(os.path.abspath(__file__))


def table(signed=True):
    ids = np.fromfunction(lambda c, t, k: (5 * c + 2 * t + 7 * k) % 16, (2, 3, 2), dtype=np.int64)
    ids[1, 2, 1] = -1 if signed else 8
    return ids


def write(name, array, version=None):
    with open(os.path.join(HERE, name), "wb") as f:
        npy.write_array(f, np.asarray(array), version=version, allow_pickle=False)


def main():
    for kind in ("i1", "i2", "i4", "i8"):
        write(f"routing_{kind}.npy", table().astype("<" + kind))
    for kind in ("u1", "u2", "u4", "u8"):
        write(f"routing_{kind}.npy", table(signed=False).astype("<" + kind))
    write("routing_big_i4.npy", table().astype(">i4"))
    write("routing_big_u2.npy", table(signed=False).astype(">u2"))
    write("routing_fortran.npy", np.asfortranarray(table().astype("<i4")))
    write("routing_big_fortran_i8.npy", np.asfortranarray(table().astype(">i8")))
    write("routing_v2.npy", table().astype("<i4"), version=(2, 0))
    write("routing_v3.npy", table().astype("<i4"), version=(3, 0))
    write("routing_tokens_k.npy", table().reshape(6, 2).astype("<i4"))
    write("routing_tokens_k_fortran.npy", np.asfortranarray(table().reshape(6, 2).astype("<i8")))
    write("routing_float.npy", table().astype("<f4"))
    write("routing_bool.npy", np.zeros((3, 2), dtype=bool))
    write("routing_structured.npy", np.zeros((3, 2), dtype=[("id", "<i4"), ("weight", "<f4")]))
    write("routing_1d.npy", np.arange(6, dtype="<i4"))
    write("routing_no_token.npy", np.zeros((0, 2), dtype="<i4"))


if __name__ == "__main__":
    main()
