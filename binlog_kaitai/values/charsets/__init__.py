"""Character sets of MySQL and MariaDB: which one a collation belongs to, and text out of its bytes.

`charsets.json` holds what servers say: the collations of each character set, and where a character set
differs from the Python codec nearest to it. It is written by `python -m tools.charsets`.
"""

from binlog_kaitai.values.charsets.codec import decode, decoder_of, encoder_of
from binlog_kaitai.values.charsets.tables import BINARY, charset_of, codec_table

__all__ = ["BINARY", "charset_of", "codec_table", "decode", "decoder_of", "encoder_of"]
