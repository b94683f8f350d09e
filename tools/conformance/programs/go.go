// go get github.com/kaitai-io/kaitai_struct_go_runtime/kaitai@v0.11.0; build/go is the folder mysql_binlog of the module
package main

import (
	"bytes"
	"fmt"
	"os"

	"example/mysql_binlog"

	"github.com/kaitai-io/kaitai_struct_go_runtime/kaitai"
)

func main() {
	data, _ := os.ReadFile(os.Args[1])
	log := mysql_binlog.NewMysqlBinlog()
	if err := log.Read(kaitai.NewStream(bytes.NewReader(data)), nil, log); err != nil {
		panic(err)
	}
	for _, entry := range log.Entries {
		fmt.Println(entry.Event.Header.Timestamp, entry.Event.Header.TypeCode)
	}
}
