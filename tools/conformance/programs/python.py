# pip install kaitaistruct==0.11; PYTHONPATH=generated python program.py LOG
import sys
from uuid import UUID

from binlog_grammar.binlog_enums import BinlogEnums
from binlog_grammar.gtid_event import GtidEvent
from binlog_grammar.mariadb_gtid_event import MariadbGtidEvent
from binlog_grammar.mysql_binlog import MysqlBinlog
from binlog_grammar.table_map_event import TableMapEvent

for entry in MysqlBinlog.from_file(sys.argv[1]).entries:
    header, content = entry.event.header, entry.event.body.content
    if header.type_code == BinlogEnums.EventType.gtid_log_event and isinstance(content, GtidEvent):
        print(f"{UUID(bytes=content.uuid)}:{content.gno}")
    elif isinstance(content, MariadbGtidEvent):
        print(f"{content.domain_id}-{header.server_id}-{content.sequence_number}")
    elif isinstance(content, TableMapEvent):
        print(f"{content.schema_name}.{content.table_name}")
