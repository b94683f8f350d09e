# Parses logs with the grammar compiled to Nim and prints their trees as JSON lines. The names of the logs come as lines.
import std/[monotimes, times]
import kaitai_struct_nim_runtime
import driver_out, mysql_binlog, visitors

proc parsed(data: string): MysqlBinlog =
  MysqlBinlog.read(newKaitaiStream(cast[seq[byte]](data)), nil, nil)

for log in stdin.lines:
  let data = readFile(log)
  var root: MysqlBinlog
  let start = getMonoTime()
  try:
    root = parsed(data)
  except: # an assertion of the runtime is no CatchableError
    echo "{\"error\": true}\nend 0"
    continue
  let taken = (getMonoTime() - start).inNanoseconds.float / 1e9
  var o: Out
  o.record(root, "entries")
  for entry in root.entries:
    o.json.add '\n'
    o.record(entry)
    stdout.write o.json
    o.json.setLen 0
  stdout.write o.json & "\nend " & $taken & "\n"
  stdout.flushFile
