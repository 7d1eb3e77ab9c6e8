#include "ptx_text.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>

namespace emulated {

namespace {

constexpr const char* SPACES = " \t\r\n";

bool starts_with(const std::string& text, const char* beginning) {
    return text.compare(0, std::strlen(beginning), beginning) == 0;
}

std::vector<std::string> words(const std::string& text) {
    std::vector<std::string> found;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(SPACES, at)) != std::string::npos) {
        const std::size_t end = std::min(text.find_first_of(SPACES, at), text.size());
        found.push_back(text.substr(at, end - at));
        at = end;
    }
    return found;
}

// Without comments, and without directives that end with their line.
std::string without_comments(const std::string& text) {
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string line = text.substr(at, end - at);
        at = end + 1;
        if (const std::size_t comment = line.find("//"); comment != std::string::npos) line.resize(comment);
        line.erase(std::remove(line.begin(), line.end(), '\0'), line.end());
        const std::size_t first = line.find_first_not_of(SPACES);
        if (first == std::string::npos) continue;
        const std::string word = line.substr(first, line.find_first_of(SPACES, first) - first);
        if (word == ".version" || word == ".target" || word == ".address_size" || word == ".file" || word == ".loc")
            continue;
        plain += line;
        plain += '\n';
    }
    for (std::size_t start; (start = plain.find("/*")) != std::string::npos;)
        plain.erase(start, plain.find("*/", start) + 2 - start);
    return plain;
}

std::size_t closing_brace(const std::string& text, std::size_t open) {
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == '{') ++depth;
        if (text[at] == '}' && --depth == 0) return at;
    }
    throw PtxError{"a brace is not closed"};
}

std::vector<Declaration> parameter_list(const std::string& head, std::size_t& at) {
    const std::size_t open = head.find('(', at), close = head.find(')', open);
    at = close + 1;
    std::vector<Declaration> parameters;
    for (const std::string& part : split(head.substr(open + 1, close - open - 1), ','))
        if (!part.empty()) parameters.push_back(read_declaration(part));
    return parameters;
}

// `.visible .entry name (parameters)` or `.func (results) name (parameters)`
PtxFunction read_head(const std::string& head) {
    PtxFunction function;
    std::size_t at = head.find(".entry");
    function.is_kernel = at != std::string::npos;
    at = function.is_kernel ? at + 6 : head.find(".func") + 5;
    at = head.find_first_not_of(SPACES, at);
    if (head[at] == '(') {
        function.results = parameter_list(head, at);
        at = head.find_first_not_of(SPACES, at);
    }
    const std::size_t end = std::min(head.find_first_of(" \t\r\n(", at), head.size());
    function.name = head.substr(at, end - at);
    if (head.find('(', end) != std::string::npos) {
        at = end;
        function.parameters = parameter_list(head, at);
    }
    return function;
}

bool is_label(const std::string& text) {
    return text.find_first_of(" \t\r\n,.[") == std::string::npos || text[0] == '$';
}

}  // namespace

std::string stripped(const std::string& text) {
    const std::size_t first = text.find_first_not_of(SPACES);
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(SPACES) - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> parts;
    int depth = 0;
    std::size_t start = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char letter = text[at];
        if (letter == '{' || letter == '(' || letter == '[') ++depth;
        if (letter == '}' || letter == ')' || letter == ']') --depth;
        if (letter != separator || depth) continue;
        parts.push_back(stripped(text.substr(start, at - start)));
        start = at + 1;
    }
    std::string last = stripped(text.substr(start));
    if (!last.empty() || !parts.empty()) parts.push_back(std::move(last));
    return parts;
}

u32 bytes_of_type(const std::string& type) {
    if (type == "pred") return sizeof(LaneMask);
    const int bits = std::atoi(type.c_str() + 1);
    if (bits != 8 && bits != 16 && bits != 32 && bits != 64) throw PtxError{"unknown type ." + type};
    return static_cast<u32>(bits) / 8;
}

bool read_literal(const std::string& operand, u64& bits) {
    const bool is_float = operand.size() == 10 && starts_with(operand, "0f");
    const bool is_double = operand.size() == 18 && starts_with(operand, "0d");
    if (is_float || is_double || starts_with(operand, "0F") || starts_with(operand, "0D")) {
        bits = std::strtoull(operand.c_str() + 2, nullptr, 16);
        return true;
    }
    const char* digits = operand.c_str();
    const bool is_negative = *digits == '-';
    if (is_negative || *digits == '+') ++digits;
    if (!std::isdigit(static_cast<unsigned char>(*digits))) return false;
    char* end = nullptr;
    bits = std::strtoull(digits, &end, 0);
    while (*end == 'U') ++end;
    if (*end) return false;
    if (is_negative) bits = ~bits + 1;
    return true;
}

u64 Declaration::bytes() const { return bytes_of_type(type) * count; }

Declaration read_declaration(const std::string& text) {
    Declaration made;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos) made.initial = stripped(text.substr(equals + 1));
    const std::vector<std::string> parts = words(text.substr(0, equals));
    for (std::size_t k = 0; k < parts.size(); ++k) {
        const std::string& word = parts[k];
        if (word == ".align") {
            made.align = static_cast<u32>(std::atoi(parts[++k].c_str()));
        } else if (word[0] != '.') {
            made.name = word.substr(0, word.find('['));
            for (std::size_t at = word.find('['); at != std::string::npos; at = word.find('[', at + 1)) {
                made.is_unsized = word[at + 1] == ']';
                made.count *= made.is_unsized ? 0 : std::strtoull(word.c_str() + at + 1, nullptr, 10);
            }
        } else if (word == ".global" || word == ".const" || word == ".shared" || word == ".local" || word == ".param") {
            if (made.space.empty()) made.space = word.substr(1);
        } else if (std::isdigit(static_cast<unsigned char>(word.back())) || word == ".pred") {
            made.type = word.substr(1);
        }
    }
    if (made.name.empty() || made.type.empty()) throw PtxError{"declaration not understood: " + text};
    made.align = std::max(made.align, bytes_of_type(made.type));
    return made;
}

PtxText read_module(const std::string& original) {
    const std::string text = without_comments(original);
    PtxText module;
    std::size_t at = 0;
    while ((at = text.find_first_not_of(" \t\r\n;", at)) != std::string::npos) {
        const std::size_t semicolon = text.find(';', at), brace = text.find('{', at), equals = text.find('=', at);
        if (!text.compare(at, 8, ".section")) {
            at = closing_brace(text, brace) + 1;
        } else if (brace < semicolon && equals > brace) {
            const std::size_t end = closing_brace(text, brace);
            PtxFunction function = read_head(text.substr(at, brace - at));
            function.body = text.substr(brace + 1, end - brace - 1);
            module.functions.push_back(std::move(function));
            at = end + 1;
        } else if (semicolon == std::string::npos) {
            throw PtxError{"the end of the module is not understood: " + text.substr(at, 80)};
        } else {
            const std::string declared = stripped(text.substr(at, semicolon - at));
            // Functions that are declared here are defined below or in the driver.
            if (declared.find(".func") == std::string::npos && !starts_with(declared, ".alias"))
                module.variables.push_back(read_declaration(declared));
            at = semicolon + 1;
        }
    }
    return module;
}

std::vector<BodyItem> read_body(const std::string& body) {
    std::vector<BodyItem> items;
    std::string current;
    int braces_in_statement = 0;  // of a vector operand: {%f1, %f2}
    for (const char letter : body) {
        const bool begins = current.empty();
        if (letter == '{' && begins) {
            items.push_back({BodyItem::open_scope, ""});
        } else if (letter == '}' && !braces_in_statement) {
            items.push_back({BodyItem::close_scope, ""});
            current.clear();
        } else if (letter == ';' && !braces_in_statement) {
            const bool declares = current[0] == '.';
            if (!begins) items.push_back({declares ? BodyItem::declaration : BodyItem::statement, stripped(current)});
            current.clear();
        } else if (letter == ':' && !braces_in_statement && is_label(stripped(current))) {
            items.push_back({BodyItem::label, stripped(current)});
            current.clear();
        } else if (!begins || !std::isspace(static_cast<unsigned char>(letter))) {
            braces_in_statement += (letter == '{') - (letter == '}');
            current += letter;
        }
    }
    return items;
}

bool Statement::has(const char* modifier) const {
    return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}

Statement read_statement(const std::string& text) {
    Statement made;
    made.text = text;
    std::string rest = text;
    if (rest[0] == '@') {
        const std::size_t end = rest.find_first_of(SPACES);
        made.guard_negated = rest[1] == '!';
        made.guard = rest.substr(made.guard_negated ? 2 : 1, end - (made.guard_negated ? 2 : 1));
        rest = stripped(rest.substr(end));
    }
    const std::size_t end = std::min(rest.find_first_of(SPACES), rest.size());
    made.modifiers = split(rest.substr(0, end), '.');
    made.opcode = made.modifiers.front();
    if (made.modifiers.size() > 1) made.modifiers.erase(made.modifiers.begin());
    made.operands = split(rest.substr(end), ',');
    return made;
}

}  // namespace emulated
