# nim c -d:release --path:build/nim --path:$KAITAI_NIM_RUNTIME program.nim; ./program LOG
import std/[os, strutils]
import binlog_enums, binlog_event, event_body, event_header, gtid_event, mariadb_gtid_event, mysql_binlog, table_map_event

proc uuidText(uuid: seq[byte]): string =
  for index, value in uuid:
    if index in [4, 6, 8, 10]: result.add '-'
    result.add value.toHex.toLowerAscii

for entry in MysqlBinlog.fromFile(paramStr(1)).entries:
  let header = entry.event.header
  let content = entry.event.body.content
  case header.typeCode
  of event_type_gtid_log_event: echo GtidEvent(content).uuid.uuidText, ":", GtidEvent(content).gno
  of event_type_gtid_event:
    echo MariadbGtidEvent(content).domainId, "-", header.serverId, "-", MariadbGtidEvent(content).sequenceNumber
  of event_type_table_map_event: echo TableMapEvent(content).schemaName, ".", TableMapEvent(content).tableName
  else: discard
