# Parses logs with the grammar compiled to Ruby and prints their trees as JSON lines. Arguments: the folder with the
# compiled classes, the schema. The names of the logs come as lines.
require 'json'

folder, schema = ARGV
$LOAD_PATH.unshift(File.expand_path(folder))
Dir[File.join(folder, '*.rb')].sort.each { |file| require File.expand_path(file) }

FIELDS = {}
ENUMS = {}
last = nil
File.foreach(schema, chomp: true) do |line|
  tag, first, kind, enum = line.split("\t")
  case tag
  when 'T' then last = FIELDS[first] = []
  when 'F' then last << [first, kind, enum == '-' ? nil : "#{enum.split('.').last.gsub(/(?<!^)([A-Z])/, '_\1').downcase}_"]
  end
end

def tree(value, kind, prefix)
  case value
  when nil, true, false then value
  # Where integers have 64 bits, what the grammar says to be signed is negative from 2^63 on.
  when Integer then kind == 'i' && value >= 2**63 ? value - 2**64 : value
  when Array then value.map { |item| tree(item, kind.chomp('*'), prefix) }
  when Symbol then value.to_s.delete_prefix(prefix)
  when Float then value.finite? ? value : (value.nan? ? 'NaN' : (value.positive? ? 'Infinity' : '-Infinity'))
  when String then kind == 'x' ? { 'hex' => value.unpack1('H*') } : value.dup.force_encoding('UTF-8').scrub
  else record(value)
  end
end

def record(object, skip = nil)
  path = object.class.name.gsub('::', '.')
  found = { '_type' => path }
  FIELDS.fetch(path).each do |name, kind, prefix|
    next if name == skip

    found[name] =
      begin
        tree(object.public_send(name), kind, prefix)
      rescue StandardError
        { 'error' => true }
      end
  end
  found
end

$stdin.each_line(chomp: true) do |log|
  data = File.binread(log)
  start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  begin
    root = MysqlBinlog.new(Kaitai::Struct::Stream.new(data))
    taken = Process.clock_gettime(Process::CLOCK_MONOTONIC) - start
  rescue StandardError
    puts JSON.generate({ 'error' => true }), 'end 0'
  else
    puts JSON.generate(record(root, 'entries'))
    root.entries.each { |entry| puts JSON.generate(record(entry)) }
    puts "end #{taken}"
  end
  $stdout.flush
end
