"""Walks over structures that no record layout reaches, generated from formats/.

A walk decodes one structure in each of many ranges of `data` (uint8), and sets `follows` (bool) if the
structure fills the range to the last byte and has no value that the grammar forbids. Some walks also record
values in the columns of `out` (int64), one row per event; `SLOTS` has the number of columns. Every read is
checked against the end. Numbers of more than 63 bits are rejected. All functions are plain Python that Numba
can compile.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Bytes, Ints = NDArray[np.uint8], NDArray[np.int64]
OutTable, OutBools = Annotated[Ints, 2, "written"], Annotated[NDArray[np.bool_], "written"]


def _little(data: Any, at: Any, width: Any) -> Any:
    """A little-endian number of `width` bytes, within bounds."""
    value = np.int64(data[at])
    for step in range(1, width):
        value |= np.int64(data[at + step]) << np.int64(8 * step)
    return value


def _big(data: Any, at: Any, width: Any) -> Any:
    """A big-endian number of `width` bytes, within bounds."""
    value = np.int64(0)
    for step in range(width):
        value = value << np.int64(8) | np.int64(data[at + step])
    return value


def _sql_mode(data: Any, at: Any, end: Any) -> Any:
    if at + 4 > end:
        return -1
    at += 4
    if at + 4 > end:
        return -1
    at += 4
    return at


def _varlen_integer(data: Any, at: Any, end: Any) -> Any:
    if at + 1 > end:
        return -1, 0, 0
    first = _little(data, at, 1)
    at += 1
    num_more = (0 if ((first & 1) == 0) else (1 if ((first & 3) == 1) else (2 if ((first & 7) == 3) else (3 if ((first & 15) == 7) else (4 if ((first & 31) == 15) else (5 if ((first & 63) == 31) else (6 if ((first & 127) == 63) else (7 if (first == 127) else 8))))))))
    next_1 = 0
    if (num_more == 1):
        if at + 1 > end:
            return -1, 0, 0
        next_1 = _little(data, at, 1)
        at += 1
    next_2 = 0
    if (num_more == 2):
        if at + 2 > end:
            return -1, 0, 0
        next_2 = _little(data, at, 2)
        at += 2
    next_3 = 0
    if (num_more == 3):
        if at + 3 > end:
            return -1, 0, 0
        next_3 = _little(data, at, 3)
        at += 3
    next_4 = 0
    if (num_more >= 4):
        if at + 4 > end:
            return -1, 0, 0
        next_4 = _little(data, at, 4)
        at += 4
    last_1 = 0
    if (num_more == 5):
        if at + 1 > end:
            return -1, 0, 0
        last_1 = _little(data, at, 1)
        at += 1
    last_2 = 0
    if (num_more == 6):
        if at + 2 > end:
            return -1, 0, 0
        last_2 = _little(data, at, 2)
        at += 2
    last_3 = 0
    if (num_more == 7):
        if at + 3 > end:
            return -1, 0, 0
        last_3 = _little(data, at, 3)
        at += 3
    last_4 = 0
    if (num_more == 8):
        if at + 4 > end:
            return -1, 0, 0
        last_4 = _little(data, at, 4)
        at += 4
    num_bytes = (num_more + 1)
    is_negative = ((((first >> num_bytes) if (num_more < 7) else (next_4 & 1)) & 1) == 1)
    more_high = (last_1 if (num_more == 5) else (last_2 if (num_more == 6) else (last_3 if (num_more == 7) else (last_4 if (num_more == 8) else 0))))
    if more_high >= 2147483648:
        return -1, 0, 0
    more_low = (0 if (num_more == 0) else (next_1 if (num_more == 1) else (next_2 if (num_more == 2) else (next_3 if (num_more == 3) else next_4))))
    more = (more_low + (more_high * 4294967296))
    magnitude = ((((first >> num_bytes) >> 1) + (more * (1 << (6 - num_more)))) if (num_more < 7) else ((more_low >> 1) + (more_high * 2147483648)))
    signed_value = ((-1 - magnitude) if is_negative else magnitude)
    value = (more if (num_more == 8) else ((first >> num_bytes) + (more * (1 << (7 - num_more)))))
    return at, signed_value, value


def _query_status_vars(data: Any, at: Any, end: Any, out: Any) -> Any:
    while at < end:
        if at + 1 > end:
            return -1
        variables__key = _little(data, at, 1)
        at += 1
        if variables__key == 0:
            if at + 4 > end:
                return -1
            variables__value__flags = _little(data, at, 4)
            at += 4
        elif variables__key == 1:
            at = _sql_mode(data, at, end)
            if at < 0:
                return -1
        elif variables__key == 2:
            if at + 1 > end:
                return -1
            variables__value__len_name = _little(data, at, 1)
            at += 1
            if variables__value__len_name < 0 or variables__value__len_name > end - at:
                return -1
            at += variables__value__len_name
            if at + 1 > end:
                return -1
            at += 1
        elif variables__key == 3:
            if at + 2 > end:
                return -1
            at += 2
            if at + 2 > end:
                return -1
            at += 2
        elif variables__key == 4:
            if at + 2 > end:
                return -1
            at += 2
            if at + 2 > end:
                return -1
            at += 2
            if at + 2 > end:
                return -1
            at += 2
        elif variables__key == 5:
            if at + 1 > end:
                return -1
            variables__value__len_name = _little(data, at, 1)
            at += 1
            if variables__value__len_name < 0 or variables__value__len_name > end - at:
                return -1
            at += variables__value__len_name
        elif variables__key == 6:
            if at + 1 > end:
                return -1
            variables__value__len_name = _little(data, at, 1)
            at += 1
            if variables__value__len_name < 0 or variables__value__len_name > end - at:
                return -1
            at += variables__value__len_name
        elif variables__key == 7:
            if at + 2 > end:
                return -1
            at += 2
        elif variables__key == 8:
            if at + 2 > end:
                return -1
            at += 2
        elif variables__key == 9:
            if at + 8 > end:
                return -1
            at += 8
        elif variables__key == 10:
            if at + 4 > end:
                return -1
            at += 4
        elif variables__key == 11:
            if at + 1 > end:
                return -1
            variables__value__len_user = _little(data, at, 1)
            at += 1
            if variables__value__len_user < 0 or variables__value__len_user > end - at:
                return -1
            at += variables__value__len_user
            if at + 1 > end:
                return -1
            variables__value__len_host = _little(data, at, 1)
            at += 1
            if variables__value__len_host < 0 or variables__value__len_host > end - at:
                return -1
            at += variables__value__len_host
        elif variables__key == 12:
            if at + 1 > end:
                return -1
            variables__value__num_names = _little(data, at, 1)
            at += 1
            variables__value__has_too_many = (variables__value__num_names == 254)
            for index in range((0 if variables__value__has_too_many else variables__value__num_names)):
                if at >= end:
                    return -1
                while data[at] != 0:
                    at += 1
                    if at >= end:
                        return -1
                at += 1
        elif variables__key == 13:
            if at + 3 > end:
                return -1
            at += 3
        elif variables__key == 14:
            if at + 8 > end:
                return -1
            at += 8
        elif variables__key == 15:
            if at + 8 > end:
                return -1
            at += 8
            if at + 8 > end:
                return -1
            at += 8
        elif variables__key == 16:
            if at + 1 > end:
                return -1
            at += 1
        elif variables__key == 17:
            if at + 8 > end:
                return -1
            at += 8
        elif variables__key == 18:
            if at + 2 > end:
                return -1
            at += 2
        elif variables__key == 19:
            if at + 1 > end:
                return -1
            at += 1
        elif variables__key == 20:
            if at + 1 > end:
                return -1
            at += 1
        elif variables__key == 21:
            if at + 1 > end:
                return -1
            at += 1
        elif variables__key == 128:
            if at + 3 > end:
                return -1
            at += 3
        elif variables__key == 129:
            if at + 8 > end:
                return -1
            at += 8
        elif variables__key == 130:
            if at + 1 > end:
                return -1
            variables__value__flags = _little(data, at, 1)
            at += 1
            variables__value__is_commit_alter = ((variables__value__flags & 4) != 0)
            variables__value__is_rollback_alter = ((variables__value__flags & 8) != 0)
            if (variables__value__is_commit_alter or variables__value__is_rollback_alter):
                if at + 8 > end:
                    return -1
                at += 8
        elif variables__key == 131:
            if at + 1 > end:
                return -1
            variables__value__num_collations = _little(data, at, 1)
            at += 1
            for index in range(variables__value__num_collations):
                if at + 2 > end:
                    return -1
                at += 2
                if at + 2 > end:
                    return -1
                at += 2
        elif variables__key == 255:
            pass
        else:
            at = end
    return at


def query_status_vars(data: Bytes, starts: Ints, ends: Ints, out: OutTable, follows: OutBools) -> None:
    """See the module docstring."""
    for index in range(starts.shape[0]):
        at, end = starts[index], ends[index]
        is_inside = 0 <= at <= end <= data.shape[0]
        follows[index] = is_inside and _query_status_vars(data, at, end, out[index]) == end


def _gtid_tagged_event_field_list(data: Any, at: Any, end: Any, out: Any) -> Any:
    begin = at
    if at + 1 > end:
        return -1
    flags__id = _little(data, at, 1)
    at += 1
    if flags__id != 0:
        return -1
    at, flags__number__signed_value, flags__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    if at + 1 > end:
        return -1
    uuid__id = _little(data, at, 1)
    at += 1
    if uuid__id != 2:
        return -1
    for index in range(16):
        at, uuid__bytes__signed_value, uuid__bytes__value = _varlen_integer(data, at, end)
        if at < 0:
            return -1
        out[0 + index] = uuid__bytes__value
    if at + 1 > end:
        return -1
    gno__id = _little(data, at, 1)
    at += 1
    if gno__id != 4:
        return -1
    at, gno__number__signed_value, gno__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    if at + 1 > end:
        return -1
    tag__id = _little(data, at, 1)
    at += 1
    if tag__id != 6:
        return -1
    at, tag__len_text__signed_value, tag__len_text__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    if tag__len_text__value < 0 or tag__len_text__value > end - at:
        return -1
    tag__text____at = at
    tag__text____length = tag__len_text__value
    at += tag__len_text__value
    if at + 1 > end:
        return -1
    last_committed__id = _little(data, at, 1)
    at += 1
    if last_committed__id != 8:
        return -1
    at, last_committed__number__signed_value, last_committed__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    if at + 1 > end:
        return -1
    sequence_number__id = _little(data, at, 1)
    at += 1
    if sequence_number__id != 10:
        return -1
    at, sequence_number__number__signed_value, sequence_number__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    if at + 1 > end:
        return -1
    immediate_commit_timestamp__id = _little(data, at, 1)
    at += 1
    if immediate_commit_timestamp__id != 12:
        return -1
    at, immediate_commit_timestamp__number__signed_value, immediate_commit_timestamp__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    id_after_immediate_commit_timestamp____at = begin + (at - begin)
    if id_after_immediate_commit_timestamp____at < begin or id_after_immediate_commit_timestamp____at + 1 > end:
        return -1
    id_after_immediate_commit_timestamp = _little(data, id_after_immediate_commit_timestamp____at, 1)
    has_original_commit_timestamp = (id_after_immediate_commit_timestamp == 14)
    original_commit_timestamp__id = 0
    original_commit_timestamp__number__signed_value = 0
    original_commit_timestamp__number__value = 0
    if has_original_commit_timestamp:
        if at + 1 > end:
            return -1
        original_commit_timestamp__id = _little(data, at, 1)
        at += 1
        if original_commit_timestamp__id != 14:
            return -1
        at, original_commit_timestamp__number__signed_value, original_commit_timestamp__number__value = _varlen_integer(data, at, end)
        if at < 0:
            return -1
    if at + 1 > end:
        return -1
    len_transaction__id = _little(data, at, 1)
    at += 1
    if len_transaction__id != 16:
        return -1
    at, len_transaction__number__signed_value, len_transaction__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    if at + 1 > end:
        return -1
    immediate_server_version__id = _little(data, at, 1)
    at += 1
    if immediate_server_version__id != 18:
        return -1
    at, immediate_server_version__number__signed_value, immediate_server_version__number__value = _varlen_integer(data, at, end)
    if at < 0:
        return -1
    id_after_immediate_server_version____at = 0
    id_after_immediate_server_version = 0
    if (not (at >= end)):
        id_after_immediate_server_version____at = begin + (at - begin)
        if id_after_immediate_server_version____at < begin or id_after_immediate_server_version____at + 1 > end:
            return -1
        id_after_immediate_server_version = _little(data, id_after_immediate_server_version____at, 1)
    has_original_server_version = ((not (at >= end)) and (id_after_immediate_server_version == 20))
    original_server_version__id = 0
    original_server_version__number__signed_value = 0
    original_server_version__number__value = 0
    if has_original_server_version:
        if at + 1 > end:
            return -1
        original_server_version__id = _little(data, at, 1)
        at += 1
        if original_server_version__id != 20:
            return -1
        at, original_server_version__number__signed_value, original_server_version__number__value = _varlen_integer(data, at, end)
        if at < 0:
            return -1
    id_after_original_server_version____at = 0
    id_after_original_server_version = 0
    if (not (at >= end)):
        id_after_original_server_version____at = begin + (at - begin)
        if id_after_original_server_version____at < begin or id_after_original_server_version____at + 1 > end:
            return -1
        id_after_original_server_version = _little(data, id_after_original_server_version____at, 1)
    has_commit_group_ticket = ((not (at >= end)) and (id_after_original_server_version == 22))
    commit_group_ticket__id = 0
    commit_group_ticket__number__signed_value = 0
    commit_group_ticket__number__value = 0
    if has_commit_group_ticket:
        if at + 1 > end:
            return -1
        commit_group_ticket__id = _little(data, at, 1)
        at += 1
        if commit_group_ticket__id != 22:
            return -1
        at, commit_group_ticket__number__signed_value, commit_group_ticket__number__value = _varlen_integer(data, at, end)
        if at < 0:
            return -1
    if (not (at >= end)):
        at = end
    out[16], out[17] = tag__text____at, tag__text____length
    out[18] = flags__number__value
    out[19] = gno__number__signed_value
    out[20] = last_committed__number__signed_value
    out[21] = sequence_number__number__signed_value
    out[22] = immediate_commit_timestamp__number__value
    out[23] = has_original_commit_timestamp
    out[24] = original_commit_timestamp__number__value
    out[25] = len_transaction__number__value
    out[26] = immediate_server_version__number__value
    out[27] = has_original_server_version
    out[28] = original_server_version__number__value
    out[29] = has_commit_group_ticket
    out[30] = commit_group_ticket__number__value
    return at


def gtid_tagged_event_field_list(data: Bytes, starts: Ints, ends: Ints, out: OutTable, follows: OutBools) -> None:
    """See the module docstring."""
    for index in range(starts.shape[0]):
        at, end = starts[index], ends[index]
        is_inside = 0 <= at <= end <= data.shape[0]
        follows[index] = is_inside and _gtid_tagged_event_field_list(data, at, end, out[index]) == end


SLOTS = {
    'query_status_vars': 0,
    'gtid_tagged_event_field_list': 31,
}
