import com.github.shyiko.mysql.binlog.BinaryLogFileReader;
import com.github.shyiko.mysql.binlog.event.DeleteRowsEventData;
import com.github.shyiko.mysql.binlog.event.Event;
import com.github.shyiko.mysql.binlog.event.EventData;
import com.github.shyiko.mysql.binlog.event.TableMapEventData;
import com.github.shyiko.mysql.binlog.event.TransactionPayloadEventData;
import com.github.shyiko.mysql.binlog.event.UpdateRowsEventData;
import com.github.shyiko.mysql.binlog.event.WriteRowsEventData;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer;
import com.github.shyiko.mysql.binlog.event.deserialization.EventDeserializer.CompatibilityMode;
import com.github.shyiko.mysql.binlog.event.deserialization.json.JsonBinary;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.Serializable;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Map;

/**
 * Peer LOG PASSES: decodes every value of a log and drops it; the last pass runs in a warm JVM.
 *
 * Each pass prints its counts, its seconds and its processor seconds, those of the compiler and the collector
 * included. The connector has no check of checksums.
 */
public final class Peer {
    private static final int JSON = 245;

    private long rows, nulls, sum;
    private final Map<Long, boolean[]> documents = new HashMap<>();

    public static void main(String[] arguments) throws IOException {
        OperatingSystemMXBean process = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        for (int pass = 0; pass < Integer.parseInt(arguments[1]); pass++) {
            long begun = System.nanoTime(), used = process.getProcessCpuTime();
            Peer peer = new Peer();
            peer.read(arguments[0]);
            System.out.println("{\"rows\": " + peer.rows + ", \"nulls\": " + peer.nulls + ", \"sum\": " + peer.sum
                + ", \"seconds\": " + (System.nanoTime() - begun) / 1e9
                + ", \"cpu\": " + (process.getProcessCpuTime() - used) / 1e9 + "}");
        }
    }

    private void read(String path) throws IOException {
        EventDeserializer deserializer = new EventDeserializer();
        // The cheapest forms: times as numbers, strings as bytes.
        deserializer.setCompatibilityMode(
            CompatibilityMode.DATE_AND_TIME_AS_LONG_MICRO, CompatibilityMode.CHAR_AND_BINARY_AS_BYTE_ARRAY);
        BufferedInputStream stream = new BufferedInputStream(new FileInputStream(path), 1 << 20);
        try (BinaryLogFileReader reader = new BinaryLogFileReader(stream, deserializer)) {
            for (Event event; (event = reader.readEvent()) != null;) {
                take(event.getData());
            }
        }
    }

    private void take(EventData data) throws IOException {
        if (data instanceof EventDeserializer.EventDataWrapper) {
            data = ((EventDeserializer.EventDataWrapper) data).getInternal();
        }
        if (data instanceof TableMapEventData) {
            TableMapEventData map = (TableMapEventData) data;
            byte[] types = map.getColumnTypes();
            boolean[] found = new boolean[types.length];
            for (int column = 0; column < types.length; column++) {
                found[column] = (types[column] & 0xff) == JSON;
            }
            documents.put(map.getTableId(), found);
        } else if (data instanceof WriteRowsEventData) {
            WriteRowsEventData written = (WriteRowsEventData) data;
            for (Serializable[] row : written.getRows()) {
                image(row, written.getTableId());
            }
        } else if (data instanceof UpdateRowsEventData) {
            UpdateRowsEventData updated = (UpdateRowsEventData) data;
            for (Map.Entry<Serializable[], Serializable[]> row : updated.getRows()) {
                image(row.getKey(), updated.getTableId());
                image(row.getValue(), updated.getTableId());
            }
        } else if (data instanceof DeleteRowsEventData) {
            DeleteRowsEventData deleted = (DeleteRowsEventData) data;
            for (Serializable[] row : deleted.getRows()) {
                image(row, deleted.getTableId());
            }
        } else if (data instanceof TransactionPayloadEventData) {
            for (Event inner : ((TransactionPayloadEventData) data).getUncompressedEvents()) {
                take(inner.getData());
            }
        }
    }

    private void image(Serializable[] row, long table) throws IOException {
        boolean[] isDocument = documents.get(table);
        rows++;
        for (int column = 0; column < row.length; column++) {
            Serializable value = row[column];
            if (value == null) {
                nulls++;
            } else if (isDocument[column]) {
                sum += JsonBinary.parseAsString((byte[]) value).length(); // it comes as the server's bytes
            } else if (value instanceof byte[]) {
                sum += ((byte[]) value).length;
            } else {
                sum += value.hashCode();
            }
        }
    }
}
