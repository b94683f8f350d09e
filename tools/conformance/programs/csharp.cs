// mcs -out:program.exe program.cs build/csharp/*.cs $KAITAI_CSHARP_RUNTIME/*.cs; mono program.exe LOG
using System;
using Kaitai;

class Program
{
    static string UuidText(byte[] uuid)
    {
        string digits = BitConverter.ToString(uuid).Replace("-", "").ToLower();
        return digits.Insert(20, "-").Insert(16, "-").Insert(12, "-").Insert(8, "-");
    }

    static void Main(string[] arguments)
    {
        foreach (var entry in MysqlBinlog.FromFile(arguments[0]).Entries)
        {
            var header = entry.Event.Header;
            var content = entry.Event.Body.Content;
            if (header.TypeCode == BinlogEnums.EventType.GtidLogEvent)
                Console.WriteLine(UuidText(((GtidEvent)content).Uuid) + ":" + ((GtidEvent)content).Gno);
            else if (content is MariadbGtidEvent gtid)
                Console.WriteLine(gtid.DomainId + "-" + header.ServerId + "-" + gtid.SequenceNumber);
            else if (content is TableMapEvent table)
                Console.WriteLine(table.SchemaName + "." + table.TableName);
        }
    }
}
