// Text of a PTX module, taken apart: variables, functions, and the statements of a function's body.
#pragma once
#include <string>
#include <vector>

#include "numbers.h"

namespace emulated {

struct PtxError {
    std::string text;
};

// `.space .align n .type name[count] = initial`
struct Declaration {
    std::string space, type, name, initial;
    u64 count = 1;
    u32 align = 1;
    bool is_unsized = false;  // name[]: dynamic shared memory
    u64 bytes() const;
};

struct PtxFunction {
    std::string name;
    bool is_kernel = false;
    std::vector<Declaration> parameters, results;
    std::string body;
};

struct PtxText {
    std::vector<Declaration> variables;
    std::vector<PtxFunction> functions;
};

// An instruction: `@guard opcode.modifier.modifier operand, operand;`
struct Statement {
    std::string text;
    std::string guard;
    bool guard_negated = false;
    std::string opcode;
    std::vector<std::string> modifiers;
    std::vector<std::string> operands;

    bool has(const char* modifier) const;
    const std::string& type() const { return modifiers.back(); }
};

struct BodyItem {
    enum Kind { open_scope, close_scope, label, declaration, statement } kind;
    std::string text;
};

PtxText read_module(const std::string& text);
std::vector<BodyItem> read_body(const std::string& body);
Declaration read_declaration(const std::string& text);
Statement read_statement(const std::string& text);

// Bytes of a type such as "u32"; 4 for "pred", which is a LaneMask.
u32 bytes_of_type(const std::string& type);

// Whether the operand is a literal, and its bits.
bool read_literal(const std::string& operand, u64& bits);

std::string stripped(const std::string& text);
// Parts between commas (or another separator), but not inside brackets.
std::vector<std::string> split(const std::string& text, char separator);

}  // namespace emulated
