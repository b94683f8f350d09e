-- Parses logs with the grammar compiled to Lua and prints their trees as JSON lines. Arguments: the folder with the
-- compiled classes, the schema. The names of the logs come as lines.
local folder, schema = arg[1], arg[2]
package.path = folder .. "/?.lua;" .. package.path
require("mysql_binlog")

local paths, fields = {}, {}

local function class_of(path)
  local found = _G
  for name in path:gmatch("[^.]+") do
    found = found and found[name]
  end
  return found
end

local last
for line in io.lines(schema) do
  local tag, first, kind = line:match("^(%u)\t([^\t]*)\t?([^\t]*)")
  if tag == "T" then
    last = {}
    local class = class_of(first)
    if class then -- a file that mysql_binlog does not import is not loaded
      paths[class], fields[class] = first, last
    end
  elseif tag == "F" then
    last[#last + 1] = { first, kind }
  end
end

local escapes = { ['"'] = '\\"', ["\\"] = "\\\\" }

local function text(value)
  return '"' .. value:gsub('[%c"\\]', function(one)
    return escapes[one] or (one:byte() < 32 and string.format("\\u%04x", one:byte()) or one)
  end) .. '"'
end

local function number(value, kind)
  if math.type(value) == "integer" then
    if value < 0 and kind == "u" then
      local tens = (value >> 1) // 5
      return string.format("%d%d", tens, value - tens * 10)
    end
    return string.format("%d", value)
  end
  if value ~= value then return '"NaN"' end
  if value == math.huge then return '"Infinity"' end
  if value == -math.huge then return '"-Infinity"' end
  return string.format(kind == "f" and "%.17g" or "%.0f", value)
end

local record

local function tree(value, kind)
  local type_ = type(value)
  if type_ == "nil" then return "null" end
  if type_ == "boolean" then return tostring(value) end
  if type_ == "number" then return number(value, kind) end
  if type_ == "string" then
    if kind == "x" then
      return '{"hex":"' .. value:gsub(".", function(one) return string.format("%02x", one:byte()) end) .. '"}'
    end
    return text(value)
  end
  if paths[getmetatable(value)] then return record(value) end
  if kind:sub(-1) == "*" then
    local items = {}
    for place, item in ipairs(value) do
      items[place] = tree(item, kind:sub(1, -2))
    end
    return "[" .. table.concat(items, ",") .. "]"
  end
  return text(value.label)
end

function record(object, skip)
  local class = getmetatable(object)
  local parts = { '{"_type":' .. text(paths[class]) }
  for _, field in ipairs(fields[class]) do
    local name, kind = field[1], field[2]
    if name ~= skip then
      local is_fine, shown = pcall(function() return tree(object[name], kind) end)
      parts[#parts + 1] = text(name) .. ":" .. (is_fine and shown or '{"error":true}')
    end
  end
  return table.concat(parts, ",") .. "}"
end

for log in io.lines() do
  local file = assert(io.open(log, "rb"))
  local data = file:read("a")
  file:close()
  local start = os.clock()
  local is_fine, root = pcall(function() return MysqlBinlog:from_string(data) end)
  if is_fine then
    local taken = os.clock() - start
    print(record(root, "entries"))
    for _, entry in ipairs(root.entries) do
      print(record(entry))
    end
    print(string.format("end %.6f", taken))
  else
    if os.getenv("KAITAI_LUA_WHY") then io.stderr:write(tostring(root), "\n") end
    print('{"error":true}')
    print("end 0")
  end
  io.flush()
end
