// go get github.com/kaitai-io/kaitai_struct_go_runtime/kaitai@v0.11.0; build/go is the folder mysql_binlog of the module
package main

import (
	"bytes"
	"fmt"
	"os"

	binlog "example/mysql_binlog"

	"github.com/kaitai-io/kaitai_struct_go_runtime/kaitai"
)

func main() {
	data, _ := os.ReadFile(os.Args[1])
	log := binlog.NewMysqlBinlog()
	if err := log.Read(kaitai.NewStream(bytes.NewReader(data)), nil, log); err != nil {
		panic(err)
	}
	for _, entry := range log.Entries {
		header := entry.Event.Header
		switch content := entry.Event.Body.Content.(type) {
		case *binlog.GtidEvent:
			if header.TypeCode == binlog.BinlogEnums_EventType__GtidLogEvent {
				id := content.Uuid
				fmt.Printf("%x-%x-%x-%x-%x:%d\n", id[:4], id[4:6], id[6:8], id[8:10], id[10:], content.Gno)
			}
		case *binlog.MariadbGtidEvent:
			fmt.Printf("%d-%d-%d\n", content.DomainId, header.ServerId, content.SequenceNumber)
		case *binlog.TableMapEvent:
			fmt.Printf("%s.%s\n", content.SchemaName, content.TableName)
		}
	}
}
