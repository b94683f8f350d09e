"""Character sets of MySQL and MariaDB: collation numbers, and decoding.

`charsets.json` records server facts: the collations of each character set, and where a character set differs
from the closest Python codec. `python -m tools.charsets` writes it.
"""

from binlog_kaitai.values.charsets.codec import decode, decode_member, decoder_of, encoder_of
from binlog_kaitai.values.charsets.tables import BINARY, charset_of, codec_table

__all__ = ["BINARY", "charset_of", "codec_table", "decode", "decode_member", "decoder_of", "encoder_of"]
