// g++ -std=c++11 -DKS_ZLIB -DKS_STR_ENCODING_NONE -Ibuild/cpp_stl -I$KAITAI_CPP_RUNTIME program.cpp build/cpp_stl/*.cpp
//     $KAITAI_CPP_RUNTIME/kaitai/kaitaistream.cpp -lz
#include <cstdio>
#include <fstream>
#include <iostream>
#include "mysql_binlog.h"

static std::string uuid_text(const std::string& uuid) {
    std::string text;
    for (size_t index = 0; index < uuid.size(); index++) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(uuid[index]));
        text += (index == 4 || index == 6 || index == 8 || index == 10 ? "-" : "") + std::string(digits);
    }
    return text;
}

int main(int, char** arguments) {
    std::ifstream file(arguments[1], std::ios::binary);
    kaitai::kstream stream(&file);
    mysql_binlog_t log(&stream);
    for (mysql_binlog_t::log_entry_t* entry : *log.entries()) {
        event_header_t* header = entry->event()->header();
        kaitai::kstruct* content = entry->event()->body()->content();
        if (header->type_code() == binlog_enums_t::EVENT_TYPE_GTID_LOG_EVENT) {
            gtid_event_t* gtid = static_cast<gtid_event_t*>(content);
            std::cout << uuid_text(gtid->uuid()) << ":" << gtid->gno() << "\n";
        } else if (mariadb_gtid_event_t* gtid = dynamic_cast<mariadb_gtid_event_t*>(content)) {
            std::cout << gtid->domain_id() << "-" << header->server_id() << "-" << gtid->sequence_number() << "\n";
        } else if (table_map_event_t* table = dynamic_cast<table_map_event_t*>(content)) {
            std::cout << table->schema_name() << "." << table->table_name() << "\n";
        }
    }
}
