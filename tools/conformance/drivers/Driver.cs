// Parses logs with the grammar compiled to C# and prints their trees as JSON lines. Argument: the schema.
// The names of the logs come as lines.
using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Globalization;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Text;
using Kaitai;

public static class Driver
{
    sealed class Field
    {
        public string Name;
        public PropertyInfo Property;
        public Dictionary<long, string> Members;
    }

    static readonly Dictionary<Type, string> Paths = new Dictionary<Type, string>();
    static readonly Dictionary<Type, List<Field>> Fields = new Dictionary<Type, List<Field>>();

    public static void Main(string[] arguments)
    {
        ReadSchema(File.ReadAllLines(arguments[0]));
        var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false), 1 << 16);
        for (string log; (log = Console.In.ReadLine()) != null;)
        {
            var data = File.ReadAllBytes(log);
            var watch = Stopwatch.StartNew();
            MysqlBinlog root;
            try
            {
                root = new MysqlBinlog(new KaitaiStream(data));
            }
            catch (Exception)
            {
                output.Write("{\"error\": true}\nend 0\n");
                output.Flush();
                continue;
            }
            var taken = watch.Elapsed.TotalSeconds;
            var text = new StringBuilder();
            Record(text, root, "entries");
            output.Write(text.Append('\n'));
            foreach (var entry in root.Entries)
            {
                text.Clear();
                Record(text, entry, null);
                output.Write(text.Append('\n'));
            }
            output.Write("end " + taken.ToString(CultureInfo.InvariantCulture) + "\n");
            output.Flush();
        }
    }

    static void ReadSchema(string[] lines)
    {
        var enums = new Dictionary<string, Dictionary<long, string>> { { "-", null } };
        Dictionary<long, string> members = null;
        foreach (var words in lines.Select(line => line.Split('\t')))
        {
            if (words[0] == "E") enums[words[1]] = members = new Dictionary<long, string>();
            if (words[0] == "M") members[long.Parse(words[1])] = words[2];
        }
        Type type = null;
        foreach (var words in lines.Select(line => line.Split('\t')))
        {
            if (words[0] == "T")
            {
                type = typeof(MysqlBinlog).Assembly.GetType("Kaitai." + words[1].Replace('.', '+'), true);
                Paths[type] = words[1];
                Fields[type] = new List<Field>();
            }
            if (words[0] == "F")
            {
                var name = string.Concat(words[1].Split('_').Select(part => char.ToUpper(part[0]) + part.Substring(1)));
                var property = type.GetProperty(name);
                Fields[type].Add(new Field { Name = words[1], Property = property, Members = enums[words[3]] });
            }
        }
    }

    static void Record(StringBuilder text, object value, string skip)
    {
        text.Append("{\"_type\":\"").Append(Paths[value.GetType()]).Append('"');
        foreach (var field in Fields[value.GetType()])
        {
            if (field.Name == skip) continue;
            text.Append(",\"").Append(field.Name).Append("\":");
            object found;
            try
            {
                found = field.Property.GetValue(value, null);
            }
            catch (Exception)
            {
                text.Append("{\"error\":true}");
                continue;
            }
            Value(text, found, field);
        }
        text.Append('}');
    }

    static void Value(StringBuilder text, object value, Field field)
    {
        if (value == null) text.Append("null");
        else if (value is bool) text.Append((bool)value ? "true" : "false");
        else if (value is string) Text(text, (string)value);
        else if (value is byte[] && !field.Property.PropertyType.Name.StartsWith("List"))
            text.Append("{\"hex\":\"").Append(BitConverter.ToString((byte[])value).Replace("-", "").ToLower()).Append("\"}");
        else if (value is Enum)
        {
            string name;
            var number = Convert.ToInt64(value);
            text.Append(field.Members.TryGetValue(number, out name) ? "\"" + name + "\"" : number.ToString());
        }
        else if (value is float || value is double) Real(text, Convert.ToDouble(value));
        else if (value is IList)
        {
            text.Append('[');
            var first = true;
            foreach (var item in (IList)value)
            {
                if (!first) text.Append(',');
                first = false;
                Value(text, item, field);
            }
            text.Append(']');
        }
        else if (value is KaitaiStruct) Record(text, value, null);
        else text.Append(value);
    }

    static void Real(StringBuilder text, double value)
    {
        if (double.IsNaN(value)) text.Append("\"NaN\"");
        else if (double.IsInfinity(value)) text.Append(value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
        else text.Append(value.ToString("R", CultureInfo.InvariantCulture));
    }

    static void Text(StringBuilder text, string value)
    {
        text.Append('"');
        foreach (var one in value)
        {
            if (one == '"' || one == '\\') text.Append('\\').Append(one);
            else if (one < ' ') text.Append("\\u").Append(((int)one).ToString("x4"));
            else text.Append(one);
        }
        text.Append('"');
    }
}
