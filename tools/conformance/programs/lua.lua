-- LUA_PATH="$KAITAI_LUA_RUNTIME/?.lua;build/lua/?.lua;;" lua program.lua LOG
require("mysql_binlog")

local function uuid_text(uuid)
  local digits = uuid:gsub(".", function(byte) return string.format("%02x", byte:byte()) end)
  return table.concat({digits:sub(1, 8), digits:sub(9, 12), digits:sub(13, 16), digits:sub(17, 20), digits:sub(21)}, "-")
end

for _, entry in ipairs(MysqlBinlog:from_file(arg[1]).entries) do
  local header, content = entry.event.header, entry.event.body.content
  local event_type = header.type_code and header.type_code.label
  if event_type == "gtid_log_event" then
    print(uuid_text(content.uuid) .. ":" .. content.gno)
  elseif event_type == "gtid_event" then
    print(content.domain_id .. "-" .. header.server_id .. "-" .. content.sequence_number)
  elseif event_type == "table_map_event" then
    print(content.schema_name .. "." .. content.table_name)
  end
end
