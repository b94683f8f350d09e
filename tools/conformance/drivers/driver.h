// What the generated visitors print with.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <typeindex>
#include <unordered_map>
#include <vector>

#include "kaitai/kaitaistruct.h"

typedef std::map<int64_t, const char*> Members;
class Out;
typedef void (*Visitor)(Out&, kaitai::kstruct*, const std::string&);
extern std::unordered_map<std::type_index, Visitor> visitors;
void register_visitors();

class Out {
public:
    std::string json;

    void begin(const char* path) {
        json += std::string("{\"_type\":\"") + path + '"';
        failed.push_back(false);
    }
    void end() {
        json += '}';
        failed.pop_back();
    }

    template <typename Put>
    void field(const std::string& skip, const char* name, Put put) {
        if (skip == name) return;
        json += std::string(",\"") + name + "\":";
        size_t before = json.size(), depth = failed.size();
        try {
            // An instance that failed is a null pointer from then on, also for those that are made from it.
            if (failed.back()) throw std::runtime_error("failed before");
            put();
        } catch (const std::exception&) {
            json.resize(before);
            failed.resize(depth);
            failed.back() = true;
            json += "{\"error\":true}";
        }
    }

    template <typename Items, typename Put>
    void list(Items* items, Put put) {
        if (items == nullptr) return null();
        json += '[';
        for (size_t i = 0; i < items->size(); i++) {
            if (i > 0) json += ',';
            put(items->at(i));
        }
        json += ']';
    }

    void null() { json += "null"; }
    void integer(int64_t value) { json += std::to_string(value); }
    void natural(uint64_t value) { json += std::to_string(value); }
    void truth(bool value) { json += value ? "true" : "false"; }

    void member(int64_t value, const Members& members) {
        Members::const_iterator found = members.find(value);
        if (found == members.end()) return integer(value);
        json += '"' + std::string(found->second) + '"';
    }

    void real(double value) {
        if (std::isnan(value)) json += "\"NaN\"";
        else if (std::isinf(value)) json += value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
        else {
            char text[40];
            snprintf(text, sizeof text, "%.17g", value);
            json += text;
        }
    }

    void bytes(const std::string& value) {
        static const char digits[] = "0123456789abcdef";
        json += "{\"hex\":\"";
        for (unsigned char one : value) {
            json += digits[one >> 4];
            json += digits[one & 15];
        }
        json += "\"}";
    }

    void text(const std::string& value) {
        json += '"';
        for (unsigned char one : value) {
            if (one == '"' || one == '\\') json += '\\';
            if (one >= ' ') json += static_cast<char>(one);
            else {
                char code[8];
                snprintf(code, sizeof code, "\\u%04x", one);
                json += code;
            }
        }
        json += '"';
    }

    void record(kaitai::kstruct* value, const std::string& skip = "") {
        if (value == nullptr) return null();
        visitors.at(typeid(*value))(*this, value, skip);
    }

private:
    std::vector<bool> failed;
};
