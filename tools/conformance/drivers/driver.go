// Parses logs with the grammar compiled to Go and prints their trees as JSON lines. Argument: the schema.
// The names of the logs come as lines.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"reflect"
	"strconv"
	"strings"
	"time"

	"conformance/mysql_binlog"

	"github.com/kaitai-io/kaitai_struct_go_runtime/kaitai"
)

type field struct {
	name, goName string
	isList       bool
	members      map[int64]string
}

var fields = map[string][]field{}

func main() {
	readSchema(os.Args[1])
	in, out := bufio.NewScanner(os.Stdin), bufio.NewWriterSize(os.Stdout, 1<<20)
	for in.Scan() {
		data, err := os.ReadFile(in.Text())
		if err != nil {
			panic(err)
		}
		begin := time.Now()
		root := mysql_binlog.NewMysqlBinlog()
		err = read(root, data)
		taken := time.Since(begin).Seconds()
		if err != nil {
			fmt.Fprintln(out, `{"error":true}`)
			fmt.Fprintln(out, "end 0")
			out.Flush()
			continue
		}
		text := &bytes.Buffer{}
		record(text, reflect.ValueOf(root), "Entries")
		fmt.Fprintln(out, text)
		for _, entry := range root.Entries {
			text.Reset()
			record(text, reflect.ValueOf(entry), "")
			fmt.Fprintln(out, text)
		}
		fmt.Fprintf(out, "end %f\n", taken)
		out.Flush()
	}
}

// The runtime panics where it should return an error, such as at an index out of range.
func read(root *mysql_binlog.MysqlBinlog, data []byte) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("%v", problem)
		}
	}()
	return root.Read(kaitai.NewStream(bytes.NewReader(data)), nil, root)
}

func readSchema(name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		panic(err)
	}
	lines, enums := strings.Split(string(data), "\n"), map[string]map[int64]string{}
	last := ""
	for _, line := range lines {
		words := strings.Split(line, "\t")
		if words[0] == "E" {
			last = words[1]
			enums[last] = map[int64]string{}
		} else if words[0] == "M" {
			number, _ := strconv.ParseInt(words[1], 10, 64)
			enums[last][number] = words[2]
		}
	}
	for _, line := range lines {
		words := strings.Split(line, "\t")
		if words[0] == "T" {
			last = words[1]
			fields[last] = nil
		} else if words[0] == "F" {
			fields[last] = append(fields[last], field{words[1], camel(words[1]), strings.HasSuffix(words[2], "*"), enums[words[3]]})
		}
	}
}

func camel(name string) string {
	text := ""
	for _, part := range strings.Split(name, "_") {
		text += strings.ToUpper(part[:1]) + part[1:]
	}
	return text
}

func record(text *bytes.Buffer, object reflect.Value, skip string) {
	path := strings.ReplaceAll(object.Type().Elem().Name(), "_", ".")
	text.WriteString(`{"_type":"` + path + `"`)
	for _, one := range fields[path] {
		if one.goName == skip {
			continue
		}
		text.WriteString(`,"` + one.name + `":`)
		if found, ok := get(object, one.goName); ok {
			value(text, found, one)
		} else {
			text.WriteString(`{"error":true}`)
		}
	}
	text.WriteString("}")
}

// A field of seq is one of the struct, an instance is a method that may fail.
func get(object reflect.Value, name string) (found reflect.Value, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	if method := object.MethodByName(name); method.IsValid() {
		results := method.Call(nil)
		return results[0], results[1].IsNil()
	}
	return object.Elem().FieldByName(name), true
}

func value(text *bytes.Buffer, found reflect.Value, one field) {
	if found.Kind() == reflect.Interface {
		found = found.Elem()
	}
	switch found.Kind() {
	case reflect.Invalid:
		text.WriteString("null")
	case reflect.Pointer:
		if found.IsNil() {
			text.WriteString("null")
		} else {
			record(text, found, "")
		}
	case reflect.Slice:
		items(text, found, one)
	case reflect.String:
		string_(text, found.String())
	case reflect.Float32, reflect.Float64:
		float(text, found.Float())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if member, ok := one.members[found.Int()]; ok {
			text.WriteString(`"` + member + `"`)
		} else {
			text.WriteString(strconv.FormatInt(found.Int(), 10))
		}
	default:
		fmt.Fprint(text, found)
	}
}

func items(text *bytes.Buffer, found reflect.Value, one field) {
	// A list of numbers of one byte has the type that bytes have.
	if found.Type().Elem().Kind() == reflect.Uint8 && !one.isList {
		text.WriteString(`{"hex":"` + hex.EncodeToString(found.Bytes()) + `"}`)
		return
	}
	text.WriteString("[")
	for i := range found.Len() {
		if i > 0 {
			text.WriteString(",")
		}
		value(text, found.Index(i), one)
	}
	text.WriteString("]")
}

func string_(text *bytes.Buffer, found string) {
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	encoder.Encode(found)
	text.Truncate(text.Len() - 1)
}

func float(text *bytes.Buffer, found float64) {
	if math.IsNaN(found) {
		text.WriteString(`"NaN"`)
	} else if math.IsInf(found, 0) {
		text.WriteString(map[bool]string{true: `"Infinity"`, false: `"-Infinity"`}[found > 0])
	} else {
		text.WriteString(strconv.FormatFloat(found, 'g', -1, 64))
	}
}
