# nim c -d:release --path:build/nim --path:$KAITAI_NIM_RUNTIME program.nim; ./program LOG
import std/os
import binlog_enums, binlog_event, event_header, mysql_binlog

for entry in MysqlBinlog.fromFile(paramStr(1)).entries:
  let header = entry.event.header
  echo header.timestamp, " ", header.typeCode
