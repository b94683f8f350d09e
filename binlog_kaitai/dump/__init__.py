"""Prints logs like the servers' own clients, `mysqlbinlog` and `mariadb-binlog`.

Strategy
--------
1. Scripts parse this output, so it matches the clients' text byte for byte. Facts come from running the
   clients (MySQL 9.7, MariaDB 10.5 to 11.8); tests compare this package with their output.
2. A :class:`~binlog_kaitai.dump.printer.Printer` prints each event with a function for its type,
   depending on the state left by earlier events. `mysqlbinlog` and `mariadb_binlog` are its two variants.
   `block_printer` prints many events: it calls the same functions once for all events that print alike.
3. Text is bytes: statements and names appear as they are in the log, in any character set.
"""
