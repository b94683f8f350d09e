// Parses logs with the grammar compiled to C++ and prints their trees as JSON lines. The names of the logs come as
// lines.
#include "driver.h"

#include <chrono>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "mysql_binlog.h"

std::unordered_map<std::type_index, Visitor> visitors;

int main() {
    register_visitors();
    for (std::string log; std::getline(std::cin, log);) {
        std::ifstream file(log.c_str(), std::ios::binary);
        std::string data((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
        auto begin = std::chrono::steady_clock::now();
        kaitai::kstream stream(data);
        std::unique_ptr<mysql_binlog_t> root;
        try {
            root.reset(new mysql_binlog_t(&stream));
        } catch (const std::exception&) {
            std::cout << "{\"error\": true}\nend 0" << std::endl;
            continue;
        }
        std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
        Out out;
        out.record(root.get(), "entries");
        out.json += '\n';
        for (size_t i = 0; i < root->entries()->size(); i++) {
            out.record(root->entries()->at(i));
            out.json += '\n';
            std::cout << out.json;
            out.json.clear();
        }
        std::cout << out.json << "end " << taken.count() << std::endl;
    }
}
