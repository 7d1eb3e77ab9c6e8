// From the text of a kernel to instructions. Functions that the kernel calls are inlined.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "instruction.h"
#include "module.h"
#include "ptx_text.h"

namespace emulated {

// Where a name that is no register lies.
struct Place {
    enum Kind { local, parameter, shared, global } kind;
    u64 at;  // an address for global memory, else an offset
};

struct RegisterOfText {
    Register at;
    u32 bytes;
};

// `[base + offset]` of a memory instruction.
struct Address {
    std::optional<RegisterOfText> base;
    std::optional<Place> place;
    s64 offset = 0;
};

class Translator {
public:
    explicit Translator(const Module& module) : module_(module) {}

    Kernel kernel;
    void translate_kernel(const PtxFunction& function);

    // What the groups of instructions ask for.
    Register operand(const std::string& text, u32 bytes);         // a register, a literal or a special register
    Register literal(u64 bits, u32 bytes);                        // a register that holds this constant
    Register new_register(u32 bytes);
    std::optional<RegisterOfText> find_register(const std::string& text);
    RegisterOfText named_register(const std::string& text);       // throws PtxError if there is none
    std::optional<Place> find_place(const std::string& name);
    Address address(const std::string& text);                     // of "[...]"
    void emit(Instruction instruction);

private:
    struct Scope {
        std::unordered_map<std::string, RegisterOfText> registers;
        std::unordered_map<std::string, u32> ranges;  // %f of .reg .f32 %f<928> -> bytes
        std::unordered_map<std::string, Place> places;
    };
    struct Inlined {  // a function's body at one call
        const PtxFunction* function;
        std::unordered_map<std::string, u32> labels;
        std::vector<std::pair<u32, std::string>> jumps;
        std::vector<u32> returns;
    };

    void body(const PtxFunction& function);
    void declare(const std::string& text);
    void statement(const std::string& text);
    bool control(const Statement& read, Instruction& made);
    void call(const Statement& read, const Instruction& guard);
    u32 local_memory(u64 bytes, u32 align);

    const Module& module_;
    std::vector<std::vector<Scope>> frames_;  // of the functions that are being inlined, each with nested scopes
    std::vector<Inlined> inlined_;
    std::map<std::pair<u64, u32>, Register> literals_;
    std::map<std::pair<const PtxFunction*, std::string>, u32> shared_;  // memory of a function, the same at each call
};

// A group of instructions: fills `made` and returns true if the statement belongs to it.
using TranslateGroup = bool (*)(const Statement& read, Translator& translator, Instruction& made);
bool translate_moves(const Statement& read, Translator& translator, Instruction& made);
bool translate_conversion(const Statement& read, Translator& translator, Instruction& made);
bool translate_comparison(const Statement& read, Translator& translator, Instruction& made);
bool translate_memory(const Statement& read, Translator& translator, Instruction& made);
bool translate_atomics(const Statement& read, Translator& translator, Instruction& made);
bool translate_lanes(const Statement& read, Translator& translator, Instruction& made);
bool translate_bits(const Statement& read, Translator& translator, Instruction& made);
bool translate_carries(const Statement& read, Translator& translator, Instruction& made);
bool translate_integers(const Statement& read, Translator& translator, Instruction& made);
bool translate_floats(const Statement& read, Translator& translator, Instruction& made);

// An instruction's address is this one.
void use_address(const Address& address, Instruction& made);

// Reads a special register such as %tid.x; false if there is none of this name.
bool read_special_register(const std::string& name, Register destination, u32 bytes, Instruction& made);

Kernel translate(const Module& module, const std::string& name);

}  // namespace emulated
