"""FLOAT and DOUBLE as decimal text: numbers with few digits, the shortest text, and C's `%.20g` format.

The shortest digits that round-trip are computed with Schubfach by R. Giulietti: it finds the multiples of a
power of ten that round to the number with a table of 128-bit powers, and without a loop over digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from binlog_kaitai.kernels.arrays import Bytes, Ints, OutBytes
from binlog_kaitai.kernels.compile import kernel
from binlog_kaitai.text.text_kernels import put_number, put_padded

#: Results instead of an end offset: the output is full; the value is left to other code.
NO_ROOM, LEFT = -1, -2

#: Maximum length of a number in bytes.
NUMBER_ROOM = 40


_LEAST_POWER, _MOST_POWER = -292, 324

_LOW, _HALF, _ALL = np.uint64(0xFFFFFFFF), np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF)
_ONE, _TWO, _FOUR, _TEN, _FORTY = (np.uint64(number) for number in (1, 2, 4, 10, 40))

#: Mantissa bits of a DOUBLE.
_BITS = 52
_MANTISSA = np.int64((1 << _BITS) - 1)
_HIDDEN = np.int64(1 << _BITS)

_NO_SIGN = np.int64((1 << 63) - 1)

#: Digits after the point of numbers that are tried first, and a bound for numbers of fifteen digits.
_DECIMALS, _SCALE, _SURE = 4, 1e4, 1e15

#: Range of decimal exponents in which `repr` writes no exponent.
REPR_LEAST, REPR_MOST = -4, 16

#: Eight digits identify any FLOAT; values in this range have exact products with 10^12.
_SINGLE_LEAST, _SINGLE_MOST, _SINGLE_DIGITS = 1e-4, 1e7, 1e8


def _power(exponent: int) -> tuple[int, int]:
    """The upper 128 bits of a power of ten, rounded up, as two numbers."""
    if exponent >= 0:
        number = 10**exponent
        shift = number.bit_length() - 128
        rounded = number << -shift if shift <= 0 else -(-number >> shift)
    else:
        divisor = 10**-exponent
        rounded = -(-(1 << (127 + divisor.bit_length())) // divisor)
    return rounded >> 64, rounded & 0xFFFFFFFFFFFFFFFF


_POWERS = np.array([_power(exponent) for exponent in range(_LEAST_POWER, _MOST_POWER + 1)], dtype=np.uint64)


def product(factor: Any, other: Any) -> Any:
    """The upper and the lower 64 bits of a product."""
    high, low = factor >> _HALF, factor & _LOW
    upper, lower = other >> _HALF, other & _LOW
    lows, mixed, crossed = low * lower, high * lower, low * upper
    middle = (lows >> _HALF) + (mixed & _LOW) + (crossed & _LOW)
    above = high * upper + (mixed >> _HALF) + (crossed >> _HALF) + (middle >> _HALF)
    return above, (middle << _HALF) | (lows & _LOW)


def round_to_odd(high: Any, low: Any, factor: Any) -> Any:
    """The upper 64 bits of a 128-bit number times a factor, made odd if any bit below them is set."""
    carried, _ = product(low, factor)
    above, middle = product(high, factor)
    if middle > _ALL - carried:
        above += _ONE
        middle -= _ALL - carried + _ONE
    else:
        middle += carried
    return above | (_ONE if middle > _ONE else np.uint64(0))


def shortest(bits: Any) -> Any:
    """Digits and decimal exponent of a finite DOUBLE, given as its bits; the sign is ignored."""
    mantissa = bits & _MANTISSA
    exponent = (bits >> _BITS) & 0x7FF
    is_closer = mantissa == 0 and exponent > 1
    if exponent:
        mantissa |= _HIDDEN
    else:
        exponent = 1
    exponent -= 1023 + _BITS
    if mantissa == 0:
        return np.int64(0), np.int64(0)
    if -_BITS <= exponent <= 0 and (mantissa >> -exponent) << -exponent == mantissa:
        return mantissa >> -exponent, np.int64(0)
    # Decimals of up to fifteen digits are all different, so one that rounds to the number is the shortest.
    if exponent <= 0:
        value = np.int64(bits & _NO_SIGN).view(np.float64)
        scaled = np.rint(value * _SCALE)
        if scaled < _SURE and scaled / _SCALE == value:
            return np.int64(scaled), np.int64(-_DECIMALS)
    tens = (exponent * 1262611 - (524031 if is_closer else 0)) >> 22
    shift = np.uint64(exponent + ((-tens * 1741647) >> 19) + 1)
    high, low = _POWERS[-tens - _LEAST_POWER, 0], _POWERS[-tens - _LEAST_POWER, 1]
    quarter = np.uint64(mantissa) << _TWO
    below = round_to_odd(high, low, (quarter - (_ONE if is_closer else _TWO)) << shift)
    here = round_to_odd(high, low, quarter << shift)
    above = round_to_odd(high, low, (quarter + _TWO) << shift)
    if mantissa & 1:
        below += _ONE
        above -= _ONE
    digits = here // _FOUR
    if digits >= _TEN:
        fewer = digits // _TEN
        is_lower = below <= _FORTY * fewer
        is_upper = _FORTY * fewer + _FORTY <= above
        if is_lower != is_upper:
            return np.int64(fewer) + (1 if is_upper else 0), np.int64(tens + 1)
    is_lower = below <= _FOUR * digits
    is_upper = _FOUR * digits + _FOUR <= above
    if is_lower != is_upper:
        return np.int64(digits) + (1 if is_upper else 0), np.int64(tens)
    middle = _FOUR * digits + _TWO
    is_up = here > middle or (here == middle and digits & _ONE == _ONE)
    return np.int64(digits) + (1 if is_up else 0), np.int64(tens)


@kernel
def put_shortest(bits: int, least: int, most: int, out: OutBytes, offset: int) -> Any:
    """Write a DOUBLE, given as its bits, as `repr` does; LEFT for NaN and infinities. Needs up to 40 bytes.

    No exponent is written if the decimal exponent of the first digit is above `least` and at most `most`.
    """
    if (bits >> _BITS) & 0x7FF == 0x7FF:
        return LEFT
    if bits < 0:
        out[offset] = 45
        offset += 1
    digits, tens = shortest(bits)
    if digits == 0:
        out[offset], out[offset + 1], out[offset + 2] = 48, 46, 48
        return offset + 3
    # Usually there are many trailing zeros or none. Divisions by constants are cheap.
    if digits % 100_000_000 == 0:
        digits //= 100_000_000
        tens += 8
    if digits % 10_000 == 0:
        digits //= 10_000
        tens += 4
    if digits % 100 == 0:
        digits //= 100
        tens += 2
    while digits % 10 == 0:
        digits //= 10
        tens += 1
    begin = offset
    offset = put_number(digits, out, offset)
    count = offset - begin
    point = count + tens
    if least < point <= most:
        if point <= 0:
            for step in range(count):
                out[offset - 1 - step + 2 - point] = out[offset - 1 - step]
            out[begin] = 48
            out[begin + 1] = 46
            for step in range(-point):
                out[begin + 2 + step] = 48
            return offset + 2 - point
        if point < count:
            for step in range(count - point):
                out[offset - step] = out[offset - step - 1]
            out[begin + point] = 46
            return offset + 1
        for step in range(point - count):
            out[offset + step] = 48
        offset += point - count
        out[offset], out[offset + 1] = 46, 48
        return offset + 2
    if count > 1:
        for step in range(count - 1):
            out[offset - step] = out[offset - step - 1]
        out[begin + 1] = 46
        offset += 1
    point -= 1
    out[offset] = 101
    out[offset + 1] = 45 if point < 0 else 43
    return put_padded(abs(point), 2 if abs(point) < 100 else 3, out, offset + 2)


@kernel
def put_single(value: float, out: OutBytes, offset: int) -> Any:
    """Write a FLOAT as `repr` writes the `shortest_float` of it; LEFT if it is very large or small.

    `out` must have room for 40 bytes.
    """
    size = abs(value)
    if not _SINGLE_LEAST <= size < _SINGLE_MOST:
        if size == 0.0:
            return put_shortest(np.float64(value).view(np.int64), REPR_LEAST, REPR_MOST, out, offset)
        return LEFT
    scale = 1.0
    for digits in range(13):
        scaled = np.rint(size * scale)
        if scaled >= _SINGLE_DIGITS:
            break
        if np.float32(scaled / scale) == np.float32(size):
            if value < 0:
                out[offset] = 45
                offset += 1
            whole, power = np.int64(scaled), np.int64(scale)
            offset = put_number(whole // power, out, offset)
            out[offset] = 46
            return put_padded(whole % power, max(digits, 1), out, offset + 1)
        scale *= 10.0
    return put_shortest(np.float64(value).view(np.int64), REPR_LEAST, REPR_MOST, out, offset)


#: Limbs of nine digits: of the largest number before the point, and of the smallest number after it.
SCRATCH = 170
_UNITS = 40
_LIMB = 1_000_000_000


def put_general(mantissa: int, exponent: int, precision: int, big: Ints, out: Bytes, end: int) -> int:
    """Write `mantissa` times 2 to the `exponent`, with `precision` significant digits, as `%g` does.

    `mantissa`: greater than 0 and less than 2^53.
    `precision`: at most 20; the last digit is rounded from the exact value, ties to even.
    `big` (int64 array of SCRATCH numbers): scratch memory.
    `out`, `end`: output, with room for 32 bytes.
    Returns the offset after the text.
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
        out[end] = 48 + big[digits]
        end += 1
        if count > 1:
            out[end] = 46
            end += 1
            for step in range(1, count):
                out[end] = 48 + big[digits + step]
                end += 1
        out[end] = 101
        out[end + 1] = 45 if scale < 0 else 43
        end += 2
        scale = abs(scale)
        if scale >= 100:
            out[end] = 48 + scale // 100
            end += 1
        out[end] = 48 + scale // 10 % 10
        out[end + 1] = 48 + scale % 10
        return end + 2
    if scale < 0:
        out[end] = 48
        out[end + 1] = 46
        end += 2
        for _ in range(-scale - 1):
            out[end] = 48
            end += 1
        for step in range(count):
            out[end] = 48 + big[digits + step]
            end += 1
        return end
    for step in range(max(count, scale + 1)):
        if step == scale + 1:
            out[end] = 46
            end += 1
        out[end] = 48 + (big[digits + step] if step < count else 0)
        end += 1
    return end
