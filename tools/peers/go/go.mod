module peer

go 1.23

require github.com/go-mysql-org/go-mysql v1.13.0
