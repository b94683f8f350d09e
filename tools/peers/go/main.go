// peer LOG decodes every value of a log with go-mysql, checks each CRC, drops the values, and prints counts.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/go-mysql-org/go-mysql/replication"
)

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		panic(err)
	}
	if _, err := file.Seek(4, 0); err != nil {
		panic(err)
	}
	var rows, nulls int
	var count func(event *replication.BinlogEvent) error
	count = func(event *replication.BinlogEvent) error {
		switch body := event.Event.(type) {
		case *replication.RowsEvent:
			rows += len(body.Rows)
			for _, row := range body.Rows {
				for _, value := range row {
					if value == nil {
						nulls++
					}
				}
			}
		case *replication.TransactionPayloadEvent:
			for _, inner := range body.Events {
				if err := count(inner); err != nil {
					return err
				}
			}
		}
		return nil
	}
	parser := replication.NewBinlogParser()
	parser.SetVerifyChecksum(true)
	// Its own ParseFile reads without a buffer.
	if err := parser.ParseReader(bufio.NewReaderSize(file, 1<<20), count); err != nil {
		panic(err)
	}
	fmt.Printf("{\"rows\": %d, \"nulls\": %d}\n", rows, nulls)
}
