// mcs -out:program.exe program.cs build/csharp/*.cs $KAITAI_CSHARP_RUNTIME/*.cs; mono program.exe LOG
using System;
using Kaitai;

class Program
{
    static void Main(string[] arguments)
    {
        foreach (var entry in MysqlBinlog.FromFile(arguments[0]).Entries)
        {
            var header = entry.Event.Header;
            Console.WriteLine(header.Timestamp + " " + header.TypeCode);
        }
    }
}
