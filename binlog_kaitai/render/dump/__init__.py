"""What the servers' own clients, `mysqlbinlog` and `mariadb-binlog`, print of a log.

Strategy
--------
1. What is printed is an interface that scripts read: it is the clients' text, byte for byte. Facts are from
   running them (MySQL 9.7, MariaDB 10.5 to 11.8); tests hold this package to their output.
2. A :class:`~binlog_kaitai.render.dump.printer.Printer` prints each event by a function of its type, by what
   the events before it left. `mysql` and `mariadb` are its two dresses. `blocks` prints many events: it calls
   the same functions once for all events that print alike.
3. Text is bytes: statements and names stand in it as the log has them, in any character set.
"""

from binlog_kaitai.render.dump.options import Base64Output, DumpOptions
from binlog_kaitai.render.dump.run import dump

__all__ = ["Base64Output", "DumpOptions", "dump"]
