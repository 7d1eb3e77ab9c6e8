// Bits: and, or, xor, not, shifts, fields, counts, permuted bytes.
#include <type_traits>

#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

template <class T>
constexpr u32 BITS = 8 * sizeof(T);

struct And { template <class T> static T of(T a, T b) { return a & b; } };
struct Or { template <class T> static T of(T a, T b) { return a | b; } };
struct Xor { template <class T> static T of(T a, T b) { return a ^ b; } };
struct Not { template <class T> static T of(T a) { return static_cast<T>(~a); } };
struct IsZero { template <class T> static T of(T a) { return a == 0; } };

// Shifts by more than the width give zero, or the sign.
template <class T>
void shift_left(Warp& warp, const Instruction& i) {
    T* result = lanes_of<T>(warp, i.destination);
    const T* a = lanes_of<T>(warp, i.a);
    const u32* count = lanes_of<u32>(warp, i.b);
    for_lanes_at_once(warp, [=](int lane) {
        result[lane] = count[lane] >= BITS<T> ? T(0) : static_cast<T>(a[lane] << count[lane]);
    });
}

template <class T>
void shift_right(Warp& warp, const Instruction& i) {
    T* result = lanes_of<T>(warp, i.destination);
    const T* a = lanes_of<T>(warp, i.a);
    const u32* count = lanes_of<u32>(warp, i.b);
    for_lanes_at_once(warp, [=](int lane) {
        const T beyond = a[lane] < 0 ? static_cast<T>(-1) : T(0);
        result[lane] = count[lane] >= BITS<T> ? beyond : static_cast<T>(a[lane] >> count[lane]);
    });
}

// 32 bits out of {b, a} shifted together; the count wraps around or is at most 32.
constexpr u8 LEFT = 1, WRAPS = 2;

void funnel_shift(Warp& warp, const Instruction& i) {
    u32* result = lanes_of<u32>(warp, i.destination);
    const u32 *low = lanes_of<u32>(warp, i.a), *high = lanes_of<u32>(warp, i.b), *count = lanes_of<u32>(warp, i.c);
    const u8 option = i.option;
    for_lanes_at_once(warp, [=](int lane) {
        const u32 by = option & WRAPS ? count[lane] & 31 : count[lane] < 32 ? count[lane] : 32;
        const u128 both = u128(u64(high[lane]) << 32 | low[lane]);
        result[lane] = option & LEFT ? static_cast<u32>((both << by) >> 32) : static_cast<u32>(both >> by);
    });
}

// dst = b, where `length` bits from `position` on are those of a
template <class T>
void insert_field(Warp& warp, const Instruction& i) {
    T* result = lanes_of<T>(warp, i.destination);
    const T *a = lanes_of<T>(warp, i.a), *b = lanes_of<T>(warp, i.b);
    const u32 *positions = lanes_of<u32>(warp, i.c), *lengths = lanes_of<u32>(warp, i.d);
    for_lanes_at_once(warp, [=](int lane) {
        const u32 position = positions[lane] & 255, length = lengths[lane] & 255;
        const u128 field = ((u128(1) << (length < BITS<T> ? length : BITS<T>)) - 1);
        const T mask = position < BITS<T> ? static_cast<T>(field << position) : T(0);
        const T value = position < BITS<T> ? static_cast<T>(a[lane] << position) : T(0);
        result[lane] = static_cast<T>((b[lane] & ~mask) | (value & mask));
    });
}

// `length` bits of a from `position` on; with the sign that is their highest bit, or a's where they leave the number
template <class T>
void extract_field(Warp& warp, const Instruction& i) {
    using U = std::make_unsigned_t<T>;
    T* result = lanes_of<T>(warp, i.destination);
    const T* a = lanes_of<T>(warp, i.a);
    const u32 *positions = lanes_of<u32>(warp, i.b), *lengths = lanes_of<u32>(warp, i.c);
    for_lanes_at_once(warp, [=](int lane) {
        const u32 position = positions[lane] & 255, length = lengths[lane] & 255;
        const U number = static_cast<U>(a[lane]);
        const u32 highest = position + length - 1 < BITS<T> - 1 ? position + length - 1 : BITS<T> - 1;
        const bool is_negative = std::is_signed_v<T> && length && (number >> highest & 1);
        const U field = position < BITS<T> ? static_cast<U>(number >> position) : U(0);
        const u32 kept = length == 0 ? 0 : highest < position ? 0 : highest - position + 1;
        const U mask = static_cast<U>((u128(1) << kept) - 1);
        result[lane] = static_cast<T>(is_negative ? field | static_cast<U>(~mask) : field & mask);
    });
}

struct LeadingZeros {
    static u32 of(u32 a) { return a ? static_cast<u32>(__builtin_clz(a)) : 32; }
    static u32 of(u64 a) { return a ? static_cast<u32>(__builtin_clzll(a)) : 64; }
};
struct OneBits { template <class T> static u32 of(T a) { return static_cast<u32>(__builtin_popcountll(a)); } };
struct Reversed {
    template <class T>
    static T of(T a) {
        T result = 0;
        for (u32 bit = 0; bit < BITS<T>; ++bit) result = static_cast<T>(result << 1 | (a >> bit & 1));
        return result;
    }
};

// Position of the highest bit that differs from the sign; all ones if there is none. With an option, its distance
// from the top.
template <class T>
void find_highest(Warp& warp, const Instruction& i) {
    using U = std::make_unsigned_t<T>;
    u32* result = lanes_of<u32>(warp, i.destination);
    const T* a = lanes_of<T>(warp, i.a);
    const bool from_top = i.option;
    for_lanes_at_once(warp, [=](int lane) {
        const u64 number = static_cast<U>(a[lane] < 0 ? ~a[lane] : a[lane]);
        const u32 position = 63 - static_cast<u32>(number ? __builtin_clzll(number) : 0);
        result[lane] = !number ? ~0u : from_top ? BITS<T> - 1 - position : position;
    });
}

// Four bytes out of the eight of {b, a}, each by a digit of c
void permute_bytes(Warp& warp, const Instruction& i) {
    u32* result = lanes_of<u32>(warp, i.destination);
    const u32 *a = lanes_of<u32>(warp, i.a), *b = lanes_of<u32>(warp, i.b), *c = lanes_of<u32>(warp, i.c);
    for_lanes_at_once(warp, [=](int lane) {
        const u64 both = u64(b[lane]) << 32 | a[lane];
        u32 made = 0;
        for (int k = 0; k < 4; ++k) {
            const u32 digit = c[lane] >> (4 * k) & 15;
            u32 byte = both >> (8 * (digit & 7)) & 255;
            if (digit & 8) byte = byte & 128 ? 255 : 0;  // its sign
            made |= byte << (8 * k);
        }
        result[lane] = made;
    });
}

// Any function of three bits, as a table of eight
void logic_of_three(Warp& warp, const Instruction& i) {
    u32* result = lanes_of<u32>(warp, i.destination);
    const u32 *a = lanes_of<u32>(warp, i.a), *b = lanes_of<u32>(warp, i.b), *c = lanes_of<u32>(warp, i.c);
    const u32 table = i.option;
    for_lanes_at_once(warp, [=](int lane) {
        u32 made = 0;
        for (u32 k = 0; k < 8; ++k)
            if (table >> k & 1)
                made |= (k & 4 ? a[lane] : ~a[lane]) & (k & 2 ? b[lane] : ~b[lane]) & (k & 1 ? c[lane] : ~c[lane]);
        result[lane] = made;
    });
}

Execute named(const Statement& read) {
    const std::string &name = read.opcode, &type = read.type();
    if (name == "and") return for_integer_type(type, []<class T>() -> Execute { return binary<T, T, And>; });
    if (name == "or") return for_integer_type(type, []<class T>() -> Execute { return binary<T, T, Or>; });
    if (name == "xor") return for_integer_type(type, []<class T>() -> Execute { return binary<T, T, Xor>; });
    if (name == "not") return for_integer_type(type, []<class T>() -> Execute { return unary<T, T, Not>; });
    if (name == "cnot") return for_integer_type(type, []<class T>() -> Execute { return unary<T, T, IsZero>; });
    if (name == "shl") return for_integer_type(type, []<class T>() -> Execute { return shift_left<T>; });
    if (name == "shr") return for_integer_type(type, []<class T>() -> Execute { return shift_right<T>; });
    const bool is_long = bytes_of_type(type) == 8;
    if (name == "clz") return is_long ? unary<u32, u64, LeadingZeros> : unary<u32, u32, LeadingZeros>;
    if (name == "popc") return is_long ? unary<u32, u64, OneBits> : unary<u32, u32, OneBits>;
    if (name == "brev") return is_long ? unary<u64, u64, Reversed> : unary<u32, u32, Reversed>;
    if (name == "bfi") return is_long ? insert_field<u64> : insert_field<u32>;
    if (name == "bfe") return for_integer_type(type, []<class T>() -> Execute { return extract_field<T>; });
    if (name == "bfind") return for_integer_type(type, []<class T>() -> Execute { return find_highest<T>; });
    if (name == "shf") return funnel_shift;
    if (name == "prmt") return permute_bytes;
    if (name == "lop3") return logic_of_three;
    return nullptr;
}

}  // namespace

bool translate_bits(const Statement& read, Translator& translator, Instruction& made) {
    const std::string& name = read.opcode;
    if (read.type() == "pred" || !(made.execute = named(read))) return false;
    const bool counts = name == "clz" || name == "popc" || name == "bfind";
    const bool shifts = name == "shl" || name == "shr" || name == "bfe";
    const u32 bytes = bytes_of_type(read.type());
    const std::vector<std::string>& operands = read.operands;
    made.destination = translator.operand(operands[0], counts ? 4 : bytes);
    made.a = translator.operand(operands[1], bytes);
    if (operands.size() > 2) made.b = translator.operand(operands[2], shifts ? 4 : bytes);
    if (operands.size() > 3) made.c = translator.operand(operands[3], 4);
    if (name == "bfi") made.d = translator.operand(operands[4], 4);
    if (name == "shf") made.option = (read.has("l") ? LEFT : 0) | (read.has("wrap") ? WRAPS : 0);
    if (name == "bfind") made.option = read.has("shiftamt");
    u64 table = 0;
    if (name == "lop3" && read_literal(operands[4], table)) made.option = static_cast<u8>(table);
    if (name == "prmt" && read.modifiers.size() > 1) return false;  // .f4e and other modes
    return true;
}

}  // namespace emulated
