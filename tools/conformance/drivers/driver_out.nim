# What the generated visitors print with.
import std/[math, strutils, tables]

type Out* = object
  json*: string

proc begin*(o: var Out, path: string) = o.json.add "{\"_type\":\"" & path & "\""
proc finish*(o: var Out) = o.json.add '}'
proc null*(o: var Out) = o.json.add "null"
proc integer*(o: var Out, value: int64) = o.json.add $value
proc natural*(o: var Out, value: uint64) = o.json.add $value
proc truth*(o: var Out, value: bool) = o.json.add $value

template field*(o: var Out, skip, name: string, put: untyped) =
  if skip != name:
    o.json.add ",\"" & name & "\":"
    let before = o.json.len
    try:
      put
    except: # an assertion of the runtime is no CatchableError
      o.json.setLen before
      o.json.add "{\"error\":true}"

template list*(o: var Out, items, put: untyped) =
  o.json.add '['
  for index, item {.inject.} in items:
    if index > 0: o.json.add ','
    put
  o.json.add ']'

proc member*(o: var Out, value: int64, members: Table[int64, string]) =
  if value in members: o.json.add '"' & members[value] & '"'
  else: o.integer value

proc real*(o: var Out, value: float64) =
  case value.classify
  of fcNan: o.json.add "\"NaN\""
  of fcInf: o.json.add "\"Infinity\""
  of fcNegInf: o.json.add "\"-Infinity\""
  else: o.json.add value.formatFloat(ffDefault, 17)

proc bytes*(o: var Out, value: seq[byte]) =
  o.json.add "{\"hex\":\""
  for one in value: o.json.add toHex(one).toLowerAscii
  o.json.add "\"}"

proc text*(o: var Out, value: string) =
  o.json.add '"'
  for one in value:
    case one
    of '"', '\\': o.json.add '\\' & one
    of '\0'..'\x1f': o.json.add "\\u00" & toHex(byte(one))
    else: o.json.add one
  o.json.add '"'
