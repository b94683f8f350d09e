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
            var gtid = content as GtidEvent;
            var mariadbGtid = content as MariadbGtidEvent;
            var table = content as TableMapEvent;
            if (gtid != null && header.TypeCode == BinlogEnums.EventType.GtidLogEvent)
                Console.WriteLine(UuidText(gtid.Uuid) + ":" + gtid.Gno);
            if (mariadbGtid != null)
                Console.WriteLine(mariadbGtid.DomainId + "-" + header.ServerId + "-" + mariadbGtid.SequenceNumber);
            if (table != null)
                Console.WriteLine(table.SchemaName + "." + table.TableName);
        }
    }
}
