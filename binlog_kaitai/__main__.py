"""`python -m binlog_kaitai`."""

from binlog_kaitai.cli import main

main()
