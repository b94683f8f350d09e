// npm install kaitai-struct@0.11; NODE_PATH=build/javascript:node_modules node program.js LOG
const { readFileSync } = require("fs");
const { KaitaiStream } = require("kaitai-struct");
const { BinlogEnums } = require("BinlogEnums");
const { MysqlBinlog } = require("MysqlBinlog");

const log = new MysqlBinlog(new KaitaiStream(readFileSync(process.argv[2])));
for (const { event } of log.entries) {
  console.log(event.header.timestamp, BinlogEnums.EventType[event.header.typeCode]);
}
