"""Character sets: collations of all servers, and characters where Python's codecs differ."""

from __future__ import annotations

import pytest

from binlog_kaitai.values.charsets import charset_names, charset_of, codec_table, decode, decode_member


@pytest.mark.parametrize(
    ("collation_id", "charset"),
    [
        (8, "latin1"),
        (33, "utf8mb3"),
        (45, "utf8mb4"),
        (63, "binary"),
        (255, "utf8mb4"),
        (320, "utf8mb4"),
        (1057, "utf8mb3"),
        (2048, "utf8mb3"),
        (2304, "utf8mb4"),
        (2560, "ucs2"),
        (3271, "utf32"),
        (9999, None),
    ],
)
def test_collations(collation_id: int, charset: str | None) -> None:
    assert charset_of(collation_id) == charset


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("armscii8", "b2b3", "Աա"),
        ("ascii", "6162", "ab"),
        ("big5", "a4a4a4e5f9d6", "中文碁"),
        ("cp1251", "cfe6", "Пж"),
        ("cp866", "8ffcfd", "Пⁿ²"),
        ("cp932", "8abf8740", "漢①"),
        ("dec8", "d7e9", "Œé"),
        ("eucjpms", "b4c1ada18ff4aef5a1", "漢①炻\ue000"),
        ("euckr", "c7d1", "한"),
        ("gb18030", "8135f437a8bcd6d09439da33", "\ue7c7ḿ中💩"),
        ("gb2312", "d6d0", "中"),
        ("gbk", "d6d0814080", None),
        ("geostd8", "80c0e0", "€აჭ"),
        ("greek", "a1e1", "ʽα"),
        ("hebrew", "afe0", "‾א"),
        ("hp8", "c5", "é"),
        ("keybcs2", "8087", "Čč"),
        ("koi8r", "f0d6", "Пж"),
        ("koi8u", "95a4", "•є"),
        ("latin1", "80819fe9", "€\x81Ÿé"),
        ("latin7", "e0", "ą"),
        ("macce", "8b", "č"),
        ("macroman", "8e", "é"),
        ("sjis", "8abf815f", "漢\\"),
        ("swe7", "5b5c5d407b", "ÄÖÅÉä"),
        ("tis620", "a1fb", "ก๛"),
        ("ucs2", "004100e9", "Aé"),
        ("ujis", "b4c1a1c08eb1", "漢\\ｱ"),
        ("utf16", "d83dde000041", "😀A"),
        ("utf16le", "3dd800de", "😀"),
        ("utf32", "0001f600", "😀"),
        ("utf8", "c3a9", "é"),
        ("utf8mb3", "c3a9", "é"),
        ("utf8mb4", "f09f9880", "😀"),
        (None, "c3a9", "é"),
    ],
)
def test_text(charset: str | None, data: str, text: str | None) -> None:
    raw = bytes.fromhex(data)
    assert decode(raw, charset) == (raw if text is None else text)


@pytest.mark.parametrize(
    ("charset", "data"),
    [("binary", b"a"), ("utf8mb4", b"\xff"), (None, b"\xe9"), ("no such", b"a"), ("cp1256", b"\x8a")],
)
def test_what_is_no_text_stays_bytes(charset: str | None, data: bytes) -> None:
    assert decode(data, charset) == data


def test_every_character_set_but_binary_has_a_codec() -> None:
    assert [name for name in charset_names() if codec_table(name) is None] == ["binary"]
    assert len(charset_names()) > 40


@pytest.mark.parametrize("charset", [name for name in charset_names() if name not in ("binary", "swe7")])
def test_ascii_is_ascii(charset: str) -> None:
    table = codec_table(charset)
    assert table is not None
    text = "".join(map(chr, range(32, 127)))
    assert decode(text.encode(table.codec), charset) == text


@pytest.mark.parametrize(
    ("charset", "data", "text"),
    [
        ("latin1", "e9", "é"),
        ("gbk", "c3a9", "茅"),
        ("gbk", "e4b8ad", "\udce4\udcb8\udcad"),  # valid in UTF-8, but not what it says there
        ("utf8mb4", "e9", "\udce9"),
        ("binary", "c3a9", "é"),
        (None, "c3a9", "é"),
    ],
)
def test_members_of_enum_and_set_keep_invalid_bytes(charset: str | None, data: str, text: str) -> None:
    assert decode_member(bytes.fromhex(data), charset) == text
