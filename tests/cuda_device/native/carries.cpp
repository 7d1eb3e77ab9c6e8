// Arithmetic on more than one word: add.cc, addc, sub.cc, subc, mad.cc, madc. Each lane has a carry.
#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

constexpr u8 READS = 1, WRITES = 2, HIGH = 4;  // bits of Instruction::option: the carry, and of a product the high half

template <class T>
void put(Warp& warp, const Instruction& i, int lane, u128 sum) {
    lanes_of<T>(warp, i.destination)[lane] = static_cast<T>(sum);
    if (!(i.option & WRITES)) return;
    const LaneMask bit = static_cast<LaneMask>(sum >> (8 * sizeof(T)) & 1);
    warp.carry = (warp.carry & ~(LaneMask(1) << lane)) | bit << lane;
}

u32 carry_in(const Warp& warp, const Instruction& i, int lane) {
    return i.option & READS ? warp.carry >> lane & 1 : 0;
}

template <class T>
void add(Warp& warp, const Instruction& i) {
    const T *a = lanes_of<T>(warp, i.a), *b = lanes_of<T>(warp, i.b);
    for_each_lane(warp, [&](int lane) { put<T>(warp, i, lane, u128(a[lane]) + b[lane] + carry_in(warp, i, lane)); });
}

template <class T>
void subtract(Warp& warp, const Instruction& i) {  // the carry is a borrow
    const T *a = lanes_of<T>(warp, i.a), *b = lanes_of<T>(warp, i.b);
    for_each_lane(warp, [&](int lane) { put<T>(warp, i, lane, u128(a[lane]) - b[lane] - carry_in(warp, i, lane)); });
}

template <class T>
void multiply_add(Warp& warp, const Instruction& i) {
    const T *a = lanes_of<T>(warp, i.a), *b = lanes_of<T>(warp, i.b), *c = lanes_of<T>(warp, i.c);
    for_each_lane(warp, [&](int lane) {
        const u128 product = u128(a[lane]) * b[lane];
        const T half = static_cast<T>(i.option & HIGH ? product >> (8 * sizeof(T)) : product);
        put<T>(warp, i, lane, u128(half) + c[lane] + carry_in(warp, i, lane));
    });
}

}  // namespace

bool translate_carries(const Statement& read, Translator& translator, Instruction& made) {
    const std::string& name = read.opcode;
    const bool reads = name == "addc" || name == "subc" || name == "madc";
    const bool writes = read.has("cc");
    if (!reads && !writes) return false;
    // With a sign the high half of a product differs: refused.
    const u32 bytes = bytes_of_type(read.type());
    if (bytes < 4 || (read.has("hi") && read.type()[0] == 's')) return true;
    made.option = (reads ? READS : 0) | (writes ? WRITES : 0) | (read.has("hi") ? HIGH : 0);
    made.destination = translator.operand(read.operands[0], bytes);
    made.a = translator.operand(read.operands[1], bytes);
    made.b = translator.operand(read.operands[2], bytes);
    if (read.operands.size() > 3) made.c = translator.operand(read.operands[3], bytes);
    if (name == "add" || name == "addc") made.execute = bytes == 8 ? add<u64> : add<u32>;
    if (name == "sub" || name == "subc") made.execute = bytes == 8 ? subtract<u64> : subtract<u32>;
    if (name == "mad" || name == "madc") made.execute = bytes == 8 ? multiply_add<u64> : multiply_add<u32>;
    return true;
}

}  // namespace emulated
