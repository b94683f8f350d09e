-- LUA_PATH="$KAITAI_LUA_RUNTIME/?.lua;build/lua/?.lua;;" lua program.lua LOG
require("mysql_binlog")

for _, entry in ipairs(MysqlBinlog:from_file(arg[1]).entries) do
  local header = entry.event.header
  print(header.timestamp .. " " .. (header.type_code and header.type_code.label or "unknown"))
end
