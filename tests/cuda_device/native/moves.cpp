// mov, selp, cvta, packing and unpacking, special registers.
#include <cstring>

#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

struct Same {
    template <class T>
    static T of(T a) { return a; }
};

// dst = {low, high}: numbers of `width` bytes side by side
template <class Whole, class Part>
void pack(Warp& warp, const Instruction& instruction) {
    Whole* result = lanes_of<Whole>(warp, instruction.destination);
    for_each_lane(warp, [&](int lane) {
        Whole whole = 0;
        for (std::size_t k = 0; k < instruction.values.size(); ++k)
            whole |= static_cast<Whole>(lanes_of<Part>(warp, instruction.values[k])[lane]) << (8 * sizeof(Part) * k);
        result[lane] = whole;
    });
}

template <class Whole, class Part>
void unpack(Warp& warp, const Instruction& instruction) {
    const Whole* whole = lanes_of<Whole>(warp, instruction.a);
    for_each_lane(warp, [&](int lane) {
        const Whole from = whole[lane];
        for (std::size_t k = 0; k < instruction.values.size(); ++k)
            lanes_of<Part>(warp, instruction.values[k])[lane] = static_cast<Part>(from >> (8 * sizeof(Part) * k));
    });
}

template <class T>
void select(Warp& warp, const Instruction& instruction) {
    T* result = lanes_of<T>(warp, instruction.destination);
    const T* a = lanes_of<T>(warp, instruction.a);
    const T* b = lanes_of<T>(warp, instruction.b);
    const LaneMask chosen = predicate(warp, instruction.c);
    for_lanes_at_once(warp, [=](int lane) { result[lane] = (chosen >> lane & 1) ? a[lane] : b[lane]; });
}

void move_predicate(Warp& warp, const Instruction& instruction) {
    set_predicate(warp, instruction.destination, predicate(warp, instruction.a));
}

void address_of_local(Warp& warp, const Instruction& instruction) {
    u64* result = lanes_of<u64>(warp, instruction.destination);
    const u64 first = reinterpret_cast<u64>(warp.local) + static_cast<u64>(instruction.offset);
    const u64 size = warp.local_bytes;
    for_lanes_at_once(warp, [=](int lane) { result[lane] = first + size * static_cast<u64>(lane); });
}

void address_of_parameter(Warp& warp, const Instruction& instruction) {
    u64* result = lanes_of<u64>(warp, instruction.destination);
    const u64 address = reinterpret_cast<u64>(warp.block->parameters) + static_cast<u64>(instruction.offset);
    for_lanes_at_once(warp, [=](int lane) { result[lane] = address; });
}

// An offset in shared memory becomes an address, or (option 1) an address becomes an offset.
void convert_shared_address(Warp& warp, const Instruction& instruction) {
    u64* result = lanes_of<u64>(warp, instruction.destination);
    const u64* from = lanes_of<u64>(warp, instruction.a);
    const u64 start = reinterpret_cast<u64>(warp.block->shared);
    const u64 add = instruction.option ? ~start + 1 : start;
    for_lanes_at_once(warp, [=](int lane) { result[lane] = from[lane] + add; });
}

std::vector<std::string> parts_of_vector(const std::string& operand) {
    return split(operand.substr(1, operand.size() - 2), ',');
}

// `mov.b64 %rd1, {%r1, %r2}`, or the other way round
bool translate_packing(const Statement& read, Translator& translator, Instruction& made) {
    const bool packs = read.operands[1][0] == '{';
    const std::vector<std::string> parts = parts_of_vector(read.operands[packs ? 1 : 0]);
    const u32 whole = bytes_of_type(read.type()), part = whole / static_cast<u32>(parts.size());
    for (const std::string& name : parts) made.values.push_back(translator.operand(name, part));
    if (packs) {
        made.destination = translator.operand(read.operands[0], whole);
        made.execute = whole == 4 ? pack<u32, u16> : part == 4 ? pack<u64, u32> : pack<u64, u16>;
    } else {
        made.a = translator.operand(read.operands[1], whole);
        made.execute = whole == 4 ? unpack<u32, u16> : part == 4 ? unpack<u64, u32> : unpack<u64, u16>;
    }
    return part >= 2;
}

// `mov.u64 %rd1, variable+8`
bool translate_address(const Statement& read, Translator& translator, Instruction& made) {
    const std::string& operand = read.operands[1];
    const std::size_t plus = operand.find('+');
    const auto place = translator.find_place(stripped(operand.substr(0, plus)));
    if (!place) return false;
    const u32 bytes = bytes_of_type(read.type());
    const s64 extra = plus == std::string::npos ? 0 : std::strtoll(operand.c_str() + plus + 1, nullptr, 0);
    made.destination = translator.operand(read.operands[0], bytes);
    made.offset = static_cast<s64>(place->at) + extra;
    switch (place->kind) {
        case Place::local: made.execute = address_of_local; break;
        case Place::parameter: made.execute = address_of_parameter; break;
        case Place::shared:
        case Place::global:
            made.a = translator.literal(static_cast<u64>(made.offset), bytes);
            made.execute = bytes == 8 ? unary<u64, u64, Same> : unary<u32, u32, Same>;
    }
    return true;
}

bool translate_move(const Statement& read, Translator& translator, Instruction& made) {
    const std::string& source = read.operands[1];
    if (source[0] == '{' || read.operands[0][0] == '{') return translate_packing(read, translator, made);
    if (read.type() == "pred") {
        made.destination = translator.operand(read.operands[0], sizeof(LaneMask));
        u64 bits = 0;
        made.a = read_literal(source, bits) ? translator.literal(bits ? ALL_LANES : 0, sizeof(LaneMask))
                                            : translator.operand(source, sizeof(LaneMask));
        made.execute = move_predicate;
        return true;
    }
    const u32 bytes = bytes_of_type(read.type());
    if (source[0] == '%') {
        const auto known = translator.find_register(source);
        const Register to = translator.operand(read.operands[0], bytes);
        if (!known) return read_special_register(source, to, bytes, made);
    } else if (translate_address(read, translator, made)) {
        return true;
    }
    made.destination = translator.operand(read.operands[0], bytes);
    made.a = translator.operand(source, bytes);
    made.execute = for_width(bytes, []<class T>() -> Execute { return unary<T, T, Same>; });
    return true;
}

// Addresses of global, constant, local and parameter memory are generic addresses already.
bool translate_address_space(const Statement& read, Translator& translator, Instruction& made) {
    made.destination = translator.operand(read.operands[0], 8);
    const auto place = translator.find_place(read.operands[1]);
    if (place && place->kind == Place::local) {
        made.offset = static_cast<s64>(place->at);
        made.execute = address_of_local;
        return true;
    }
    made.a = place ? translator.literal(place->at, 8) : translator.operand(read.operands[1], 8);
    if (read.has("shared")) {
        made.option = read.has("to");
        made.execute = convert_shared_address;
    } else {
        made.execute = unary<u64, u64, Same>;
    }
    return true;
}

}  // namespace

bool translate_moves(const Statement& read, Translator& translator, Instruction& made) {
    if (read.opcode == "mov") return translate_move(read, translator, made);
    if (read.opcode == "cvta") return translate_address_space(read, translator, made);
    if (read.opcode != "selp") return false;
    const u32 bytes = bytes_of_type(read.type());
    made.destination = translator.operand(read.operands[0], bytes);
    made.a = translator.operand(read.operands[1], bytes);
    made.b = translator.operand(read.operands[2], bytes);
    made.c = translator.operand(read.operands[3], sizeof(LaneMask));
    made.execute = for_width(bytes, []<class T>() -> Execute { return select<T>; });
    return true;
}

}  // namespace emulated
