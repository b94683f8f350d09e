# ruby -I $KAITAI_RUBY_RUNTIME/lib -I build/ruby program.rb LOG
require 'mysql_binlog'

MysqlBinlog.from_file(ARGV[0]).entries.each do |entry|
  header = entry.event.header
  content = entry.event.body.content
  case header.type_code
  when :event_type_gtid_log_event
    puts "#{content.uuid.unpack('H8H4H4H4H12').join('-')}:#{content.gno}"
  when :event_type_gtid_event
    puts "#{content.domain_id}-#{header.server_id}-#{content.sequence_number}"
  when :event_type_table_map_event
    puts "#{content.schema_name}.#{content.table_name}"
  end
end
