// javac -cp kaitai-struct-runtime-0.11.jar -d out build/java/*.java Program.java
// java -cp kaitai-struct-runtime-0.11.jar:out Program LOG
public class Program {
    public static void main(String[] arguments) throws java.io.IOException {
        for (var entry : MysqlBinlog.fromFile(arguments[0]).entries()) {
            var header = entry.event().header();
            System.out.println(header.timestamp() + " " + header.typeCode());
        }
    }
}
