// setp, and logic of predicates.
#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

struct Equal { template <class T> static bool of(T a, T b) { return a == b; } };
struct Less { template <class T> static bool of(T a, T b) { return a < b; } };
struct LessEqual { template <class T> static bool of(T a, T b) { return a <= b; } };
struct Greater { template <class T> static bool of(T a, T b) { return a > b; } };
struct GreaterEqual { template <class T> static bool of(T a, T b) { return a >= b; } };
// With a NaN this is false, as all of the above.
struct NotEqual { template <class T> static bool of(T a, T b) { return a < b || a > b; } };
struct BothNumbers { template <class T> static bool of(T a, T b) { return a == a && b == b; } };
// The comparison, or one of both is NaN.
template <class Comparison>
struct OrUnordered { template <class T> static bool of(T a, T b) { return Comparison::of(a, b) || a != a || b != b; } };
struct AnyNaN { template <class T> static bool of(T a, T b) { return a != a || b != b; } };

enum Combination : u8 { alone, with_and, with_or, with_xor };
constexpr u8 COMBINATION = 3, NEGATED = 4;  // bits of Instruction::option

LaneMask combined(LaneMask result, LaneMask other, u8 option) {
    switch (option & COMBINATION) {
        case with_and: return result & other;
        case with_or: return result | other;
        case with_xor: return result ^ other;
        default: return result;
    }
}

template <class T, class Comparison>
void compare(Warp& warp, const Instruction& instruction) {
    const T* a = lanes_of<T>(warp, instruction.a);
    const T* b = lanes_of<T>(warp, instruction.b);
    LaneMask result = 0;
    for (int lane = 0; lane < LANES; ++lane) result |= static_cast<LaneMask>(Comparison::of(a[lane], b[lane])) << lane;
    LaneMask other = 0;
    if (instruction.c != NO_REGISTER)
        other = instruction.option & NEGATED ? ~predicate(warp, instruction.c) : predicate(warp, instruction.c);
    set_predicate(warp, instruction.destination, combined(result, other, instruction.option));
    if (!instruction.values.empty())  // setp.lt p|q: q has the opposite
        set_predicate(warp, instruction.values[0], combined(~result, other, instruction.option));
}

template <class T>
Execute comparison_named(const std::string& name) {
    if (name == "eq") return compare<T, Equal>;
    if (name == "ne") return compare<T, NotEqual>;
    if (name == "lt" || name == "lo") return compare<T, Less>;
    if (name == "le" || name == "ls") return compare<T, LessEqual>;
    if (name == "gt" || name == "hi") return compare<T, Greater>;
    if (name == "ge" || name == "hs") return compare<T, GreaterEqual>;
    if (name == "equ") return compare<T, OrUnordered<Equal>>;
    if (name == "neu") return compare<T, OrUnordered<NotEqual>>;
    if (name == "ltu") return compare<T, OrUnordered<Less>>;
    if (name == "leu") return compare<T, OrUnordered<LessEqual>>;
    if (name == "gtu") return compare<T, OrUnordered<Greater>>;
    if (name == "geu") return compare<T, OrUnordered<GreaterEqual>>;
    if (name == "num") return compare<T, BothNumbers>;
    if (name == "nan") return compare<T, AnyNaN>;
    return nullptr;
}

void and_predicates(Warp& warp, const Instruction& i) {
    set_predicate(warp, i.destination, predicate(warp, i.a) & predicate(warp, i.b));
}

void or_predicates(Warp& warp, const Instruction& i) {
    set_predicate(warp, i.destination, predicate(warp, i.a) | predicate(warp, i.b));
}

void xor_predicates(Warp& warp, const Instruction& i) {
    set_predicate(warp, i.destination, predicate(warp, i.a) ^ predicate(warp, i.b));
}

void not_predicate(Warp& warp, const Instruction& i) { set_predicate(warp, i.destination, ~predicate(warp, i.a)); }

bool translate_logic(const Statement& read, Translator& translator, Instruction& made) {
    made.destination = translator.operand(read.operands[0], sizeof(LaneMask));
    made.a = translator.operand(read.operands[1], sizeof(LaneMask));
    if (read.operands.size() > 2) made.b = translator.operand(read.operands[2], sizeof(LaneMask));
    if (read.opcode == "and") made.execute = and_predicates;
    if (read.opcode == "or") made.execute = or_predicates;
    if (read.opcode == "xor") made.execute = xor_predicates;
    if (read.opcode == "not") made.execute = not_predicate;
    return true;
}

}  // namespace

bool translate_comparison(const Statement& read, Translator& translator, Instruction& made) {
    if (read.opcode != "setp") return read.type() == "pred" && translate_logic(read, translator, made);
    const u32 bytes = bytes_of_type(read.type());
    const std::string& results = read.operands[0];
    const std::size_t bar = results.find('|');
    made.destination = translator.operand(stripped(results.substr(0, bar)), sizeof(LaneMask));
    if (bar != std::string::npos)
        made.values.push_back(translator.operand(stripped(results.substr(bar + 1)), sizeof(LaneMask)));
    made.a = translator.operand(read.operands[1], bytes);
    made.b = translator.operand(read.operands[2], bytes);
    made.option = read.has("and") ? with_and : read.has("or") ? with_or : read.has("xor") ? with_xor : alone;
    if (made.option != alone) {
        const std::string& other = read.operands[3];
        if (other[0] == '!') made.option |= NEGATED;
        made.c = translator.operand(other[0] == '!' ? other.substr(1) : other, sizeof(LaneMask));
    }
    const std::string& name = read.modifiers[0];
    made.execute = for_integer_type(read.type(), [&]<class T>() -> Execute { return comparison_named<T>(name); });
    if (!made.execute)
        made.execute = for_float_type(read.type(), [&]<class T>() -> Execute { return comparison_named<T>(name); });
    return true;
}

}  // namespace emulated
