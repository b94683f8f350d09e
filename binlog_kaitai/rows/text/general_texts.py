"""Kernels that write floating-point numbers in C's `%.20g` format."""

from __future__ import annotations

from binlog_kaitai.kernels.arrays import Bytes, Ints
from binlog_kaitai.kernels.compile import kernel

#: Limbs of nine digits: of the largest number before the point, and of the smallest number after it.
SCRATCH = 170
_UNITS = 40
_LIMB = 1_000_000_000


@kernel
def put_general(mantissa: int, exponent: int, precision: int, big: Ints, out: Bytes, at: int) -> int:
    """Write `mantissa` times 2 to the `exponent`, with `precision` significant digits, as `%g` does.

    Parameters
    ----------
    mantissa
        Greater than 0 and less than 2^53.
    precision
        At most 20; the last digit is rounded from the exact value, ties to even.
    big : int64 array of SCRATCH numbers
        Scratch memory.
    out, at
        Output, with room for 32 bytes.

    Returns
    -------
    The offset after the text.
    """
    while exponent < 0 and mantissa & 1 == 0:
        mantissa >>= 1
        exponent += 1
    big[_UNITS] = mantissa % _LIMB
    big[_UNITS - 1] = mantissa // _LIMB
    first = _UNITS - 1 if mantissa >= _LIMB else _UNITS
    last = _UNITS + 1
    while exponent > 0:
        shift = min(29, exponent)
        carry = 0
        for limb in range(last - 1, first - 1, -1):
            value = (big[limb] << shift) + carry
            big[limb] = value % _LIMB
            carry = value // _LIMB
        if carry:
            first -= 1
            big[first] = carry
        exponent -= shift
    while exponent < 0:
        shift = min(9, -exponent)
        mask = (1 << shift) - 1
        unit = _LIMB >> shift
        carry = 0
        for limb in range(first, last):
            rest = big[limb] & mask
            big[limb] = (big[limb] >> shift) + carry
            carry = unit * rest
        if big[first] == 0 and first < last:
            first += 1
        if carry:
            big[last] = carry
            last += 1
        exponent += shift
    # The digits, one more than needed, at the end of the scratch memory; then whether nonzero digits follow.
    digits = SCRATCH - 24
    count = 0
    is_rest = False
    power = 1
    while power * 10 <= big[first]:
        power *= 10
    scale = 9 * (_UNITS - first)
    offset = power
    while offset >= 10:
        scale += 1
        offset //= 10
    for limb in range(first, last):
        value = big[limb]
        while power:
            if count <= precision:
                big[digits + count] = value // power
                count += 1
            elif value:
                is_rest = True
            value %= power
            power //= 10
        power = 100_000_000
        if count > precision and value:
            is_rest = True
    while count <= precision:
        big[digits + count] = 0
        count += 1
    following = big[digits + precision]
    step = precision - 1
    if following > 5 or (following == 5 and (is_rest or big[digits + step] & 1)):
        while step >= 0 and big[digits + step] == 9:
            big[digits + step] = 0
            step -= 1
        if step >= 0:
            big[digits + step] += 1
        else:
            big[digits] = 1
            scale += 1
    count = precision
    while count > 1 and big[digits + count - 1] == 0:
        count -= 1
    if scale < -4 or scale >= precision:
        out[at] = 48 + big[digits]
        at += 1
        if count > 1:
            out[at] = 46
            at += 1
            for step in range(1, count):
                out[at] = 48 + big[digits + step]
                at += 1
        out[at] = 101
        out[at + 1] = 45 if scale < 0 else 43
        at += 2
        scale = abs(scale)
        if scale >= 100:
            out[at] = 48 + scale // 100
            at += 1
        out[at] = 48 + scale // 10 % 10
        out[at + 1] = 48 + scale % 10
        return at + 2
    if scale < 0:
        out[at] = 48
        out[at + 1] = 46
        at += 2
        for _ in range(-scale - 1):
            out[at] = 48
            at += 1
        for step in range(count):
            out[at] = 48 + big[digits + step]
            at += 1
        return at
    for step in range(max(count, scale + 1)):
        if step == scale + 1:
            out[at] = 46
            at += 1
        out[at] = 48 + (big[digits + step] if step < count else 0)
        at += 1
    return at
