// g++ -std=c++11 -DKS_ZLIB -DKS_STR_ENCODING_NONE -Ibuild/cpp_stl -I$KAITAI_CPP_RUNTIME program.cpp build/cpp_stl/*.cpp
//     $KAITAI_CPP_RUNTIME/kaitai/kaitaistream.cpp -lz
#include <fstream>
#include <iostream>
#include "mysql_binlog.h"

int main(int, char** arguments) {
    std::ifstream file(arguments[1], std::ios::binary);
    kaitai::kstream stream(&file);
    mysql_binlog_t log(&stream);
    for (mysql_binlog_t::log_entry_t* entry : *log.entries()) {
        event_header_t* header = entry->event()->header();
        std::cout << header->timestamp() << " " << header->type_code() << "\n";
    }
}
