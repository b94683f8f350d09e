// Parses logs with the grammar compiled to Java and prints their trees as JSON lines. Argument: the schema.
// The names of the logs come as lines.
import io.kaitai.struct.ByteBufferKaitaiStream;
import io.kaitai.struct.KaitaiStruct;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

public class Driver {
    record Field(String name, Method method, boolean isUnsigned, Map<Long, String> members) {}

    static final Map<Class<?>, String> PATHS = new HashMap<>();
    static final Map<Class<?>, List<Field>> FIELDS = new HashMap<>();

    public static void main(String[] arguments) throws Exception {
        readSchema(Path.of(arguments[0]));
        var out = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 20);
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String log; (log = in.readLine()) != null; ) {
            byte[] data = Files.readAllBytes(Path.of(log));
            long begin = System.nanoTime();
            MysqlBinlog root;
            try {
                root = new MysqlBinlog(new ByteBufferKaitaiStream(data));
            } catch (RuntimeException error) {
                out.write("{\"error\": true}\nend 0\n");
                out.flush();
                continue;
            }
            double taken = (System.nanoTime() - begin) / 1e9;
            var text = new StringBuilder();
            record(text, root, "entries");
            text.append('\n');
            for (var entry : root.entries()) {
                record(text, entry, "");
                text.append('\n');
                out.append(text);
                text.setLength(0);
            }
            out.append(text);
            out.write("end " + taken + "\n");
            out.flush();
        }
    }

    static void readSchema(Path path) throws Exception {
        var lines = Files.readAllLines(path);
        var enums = new HashMap<String, Map<Long, String>>();
        Map<Long, String> members = null;
        for (var line : lines) {
            var words = line.split("\t");
            if (words[0].equals("E")) enums.put(words[1], members = new HashMap<>());
            if (words[0].equals("M")) members.put(Long.parseLong(words[1]), words[2]);
        }
        Class<?> type = null;
        for (var line : lines) {
            var words = line.split("\t");
            if (words[0].equals("T")) {
                type = Class.forName(words[1].replace('.', '$'));
                PATHS.put(type, words[1]);
                FIELDS.put(type, new ArrayList<>());
            }
            if (words[0].equals("F")) {
                var method = type.getMethod(camel(words[1]));
                FIELDS.get(type).add(new Field(words[1], method, words[2].startsWith("u"), enums.get(words[3])));
            }
        }
    }

    static String camel(String name) {
        var text = new StringBuilder();
        for (var part : name.split("_")) {
            text.append(text.length() == 0 ? part : part.substring(0, 1).toUpperCase() + part.substring(1));
        }
        return text.toString();
    }

    static void record(StringBuilder text, KaitaiStruct object, String skip) throws IOException {
        text.append("{\"_type\":\"").append(PATHS.get(object.getClass())).append('"');
        for (var field : FIELDS.get(object.getClass())) {
            if (field.name.equals(skip)) continue;
            text.append(",\"").append(field.name).append("\":");
            Object value;
            try {
                value = field.method.invoke(object);
            } catch (ReflectiveOperationException error) {
                text.append("{\"error\":true}");
                continue;
            }
            value(text, value, field);
        }
        text.append('}');
    }

    static void value(StringBuilder text, Object value, Field field) throws IOException {
        if (value instanceof List<?> items) {
            text.append('[');
            for (int i = 0; i < items.size(); i++) {
                if (i > 0) text.append(',');
                value(text, items.get(i), field);
            }
            text.append(']');
        } else if (value instanceof KaitaiStruct inner) {
            record(text, inner, "");
        } else if (value instanceof byte[] bytes) {
            text.append("{\"hex\":\"");
            for (byte one : bytes) {
                text.append(Character.forDigit(one >> 4 & 15, 16)).append(Character.forDigit(one & 15, 16));
            }
            text.append("\"}");
        } else if (value instanceof Enum<?> member) {
            text.append('"').append(field.members.get(id(member))).append('"');
        } else if (value instanceof String string) {
            string(text, string);
        } else if (value instanceof Long number && field.isUnsigned) {
            text.append(Long.toUnsignedString(number));
        } else if (value instanceof Number number && !Double.isFinite(number.doubleValue())) {
            text.append('"').append(number.doubleValue()).append('"');
        } else if (value instanceof Float number) {
            text.append(number.doubleValue());
        } else {
            text.append(value);
        }
    }

    static long id(Enum<?> member) {
        try {
            return (Long) member.getClass().getMethod("id").invoke(member);
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    static void string(StringBuilder text, String string) {
        text.append('"');
        for (int i = 0; i < string.length(); i++) {
            char one = string.charAt(i);
            if (one == '"' || one == '\\') text.append('\\').append(one);
            else if (one < ' ') text.append(String.format("\\u%04x", (int) one));
            else text.append(one);
        }
        text.append('"');
    }
}
