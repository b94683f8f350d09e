// javac -cp kaitai-struct-runtime-0.11.jar -d out build/java/*.java Program.java
// java -cp kaitai-struct-runtime-0.11.jar:out Program LOG
import java.nio.ByteBuffer;
import java.util.UUID;

public class Program {
    public static void main(String[] arguments) throws java.io.IOException {
        for (var entry : MysqlBinlog.fromFile(arguments[0]).entries()) {
            var header = entry.event().header();
            var content = entry.event().body().content();
            if (header.typeCode() == BinlogEnums.EventType.GTID_LOG_EVENT) {
                var gtid = (GtidEvent) content;
                var uuid = ByteBuffer.wrap(gtid.uuid());
                System.out.println(new UUID(uuid.getLong(), uuid.getLong()) + ":" + gtid.gno());
            } else if (content instanceof MariadbGtidEvent gtid) {
                System.out.println(gtid.domainId() + "-" + header.serverId() + "-" + gtid.sequenceNumber());
            } else if (content instanceof TableMapEvent table) {
                System.out.println(table.schemaName() + "." + table.tableName());
            }
        }
    }
}
