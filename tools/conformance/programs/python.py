# pip install kaitaistruct==0.11; PYTHONPATH=generated python program.py LOG
import sys

from binlog_grammar.mysql_binlog import MysqlBinlog

for entry in MysqlBinlog.from_file(sys.argv[1]).entries:
    header = entry.event.header
    print(header.timestamp, header.type_code)
