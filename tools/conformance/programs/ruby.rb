# ruby -I $KAITAI_RUBY_RUNTIME/lib -I build/ruby program.rb LOG
require 'mysql_binlog'

MysqlBinlog.from_file(ARGV[0]).entries.each do |entry|
  header = entry.event.header
  puts "#{header.timestamp} #{header.type_code}"
end
