#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Independent computation of the cells that routing_determinism.cpp and routing_input.cpp pin.

Philox 4x32-10 after Salmon et al., SC'11, and the definitions in the headers of algorithms/routing; no code is shared
with podsim. Prints the expected values; rerun it when a definition changes on purpose.
"""
import struct

MASK32 = 0xFFFFFFFF
MASK64 = 0xFFFFFFFFFFFFFFFF
TOKEN_VALUES, ROUTING = 1, 2
EVERY_CALL, EVERY_CARD, WHOLE_CARD = 0xFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF


def philox(counter, key):
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & MASK32, (p0 >> 32) ^ c[3] ^ k[1], p0 & MASK32]
        k = [(k[0] + 0x9E3779B9) & MASK32, (k[1] + 0xBB67AE85) & MASK32]
    return c


def draw(seed, stream, a, b):
    r = philox([b & MASK32, b >> 32, a & MASK32, stream ^ ((a >> 32) << 8) & MASK32], [seed & MASK32, seed >> 32])
    return r[0] | r[1] << 32, r[2] | r[3] << 32


class Draws:
    def __init__(self, seed, call, card, token):
        self.seed, self.a, self.b = seed, call << 32 | card, token << 32

    def below(self, bound):
        value = draw(self.seed, ROUTING, self.a, self.b)[0] * bound >> 64
        self.b += 1
        return value

    def shuffle(self, values):
        for n in range(len(values), 1, -1):
            i = self.below(n)
            values[n - 1], values[i] = values[i], values[n - 1]


def uniform_first_token(seed, call, card, experts, k):
    pool, draws = list(range(experts)), Draws(seed, call, card, 0)
    for i in range(k):
        j = i + draws.below(len(pool) - i)
        pool[i], pool[j] = pool[j], pool[i]
    return pool[:k]


def balanced_exact(seed, call, card, experts):
    """A card whose selections use every expert once: one shuffled cycle."""
    cycle = list(range(experts))
    Draws(seed, call, card, WHOLE_CARD).shuffle(cycle)
    return cycle


def zipf_first_token(seed, call, card, experts, k):
    """Exponent 1."""
    expert = list(range(experts))
    Draws(seed, EVERY_CALL, EVERY_CARD, WHOLE_CARD).shuffle(expert)
    weight = [(2 * 2**32 + r) // (2 * r) for r in range(1, experts + 1)]
    draws, out = Draws(seed, call, card, 0), []
    for _ in range(k):
        x, r = draws.below(sum(weight)), 0
        while x >= weight[r]:
            x, r = x - weight[r], r + 1
        out.append(expert[r])
        weight[r] = 0
    return out


def bf16(x):
    bits = struct.unpack("<I", struct.pack("<f", x))[0]
    low, high = bits & 0xFFFF, bits >> 16
    return high + (1 if low > 0x8000 or (low == 0x8000 and high & 1) else 0)


def token(seed, call, card, index, hidden):
    a, b = call << 32 | card, index << 32
    traits, places = draw(seed, TOKEN_VALUES, a, b | 0xFFFFFFFF)
    unit = 2.0 ** -(13 + (traits & 3))
    values = []
    for chunk in range((hidden + 31) // 32):
        low, high = draw(seed, TOKEN_VALUES, a, b | chunk)
        for word in range(8):
            z = (low + word * (high | 1)) & MASK64
            z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK64
            z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK64
            z ^= z >> 31
            values += [bf16(unit * v) for v in struct.unpack("<4h", struct.pack("<Q", z))]
    values = values[:hidden]
    values[0] = values[0] or bf16(unit)
    outliers = set()
    if traits >> 2 & 7 == 0:
        outliers = {(places >> 16 * i & 0xFFFF) * hidden >> 16 for i in range(1 + (traits >> 5 & 3))}
    for at in outliers:
        values[at] += 6 << 7 if values[at] & 0x7FFF else 0
    return values, sorted(outliers)


def main():
    print("uniform seed 1 call 0 card 0:", uniform_first_token(1, 0, 0, 256, 8))
    print("uniform seed 7 call 3 card 63:", uniform_first_token(7, 3, 63, 256, 8))
    print("balanced seed 1 call 0 card 0, first 8:", balanced_exact(1, 0, 0, 256)[:8])
    print("balanced seed 1 call 0 card 5, first 8:", balanced_exact(1, 0, 5, 256)[:8])
    print("balanced seed 1 call 1 card 5, last 8:", balanced_exact(1, 1, 5, 256)[-8:])
    print("zipf seed 1 call 0 card 2:", zipf_first_token(1, 0, 2, 64, 8))
    big = 2**40 + 5
    print("zipf seed 2^40+5 call 9 card 0:", zipf_first_token(big, 9, 0, 64, 8))
    values, _ = token(1, 0, 0, 0, 64)
    print("token 1/0/0/0:", ", ".join(f"0x{v:04X}" for v in values[:4] + values[-2:]))
    values, _ = token(big, 5, 287, 127, 40)
    print("token big/5/287/127:", ", ".join(f"0x{v:04X}" for v in values[:2] + values[31:34]))
    for t in range(100):
        values, outliers = token(1, 0, 0, t, 64)
        if len(outliers) > 1:
            print(f"token 1/0/0/{t}, hidden 64, outliers", outliers, [f"0x{values[i]:04X}" for i in outliers])
            break


if __name__ == "__main__":
    main()
