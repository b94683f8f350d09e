// npm install kaitai-struct@0.11; NODE_PATH=build/javascript:node_modules node program.js LOG
const { readFileSync } = require("fs");
const { KaitaiStream } = require("kaitai-struct");
const { EventType } = require("BinlogEnums").BinlogEnums;
const { MysqlBinlog } = require("MysqlBinlog");

const uuidText = (uuid) =>
  Buffer.from(uuid).toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");

for (const { event } of new MysqlBinlog(new KaitaiStream(readFileSync(process.argv[2]))).entries) {
  const { header, body: { content } } = event;
  switch (header.typeCode) {
    case EventType.GTID_LOG_EVENT: console.log(`${uuidText(content.uuid)}:${content.gno}`); break;
    case EventType.GTID_EVENT: console.log(`${content.domainId}-${header.serverId}-${content.sequenceNumber}`); break;
    case EventType.TABLE_MAP_EVENT: console.log(`${content.schemaName}.${content.tableName}`); break;
  }
}
