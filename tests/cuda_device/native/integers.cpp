// Integer arithmetic: add, sub, mul, mad, div, rem, min, max, abs, neg.
#include <type_traits>

#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

template <class T>
struct Twice;  // the type of twice the width
template <> struct Twice<u16> { using type = u32; };
template <> struct Twice<s16> { using type = s32; };
template <> struct Twice<u32> { using type = u64; };
template <> struct Twice<s32> { using type = s64; };
template <> struct Twice<u64> { using type = u128; };
template <> struct Twice<s64> { using type = s128; };

// Sums and products wrap around: they are computed without a sign.
template <class T>
using Unsigned = std::make_unsigned_t<std::conditional_t<(sizeof(T) < 4), u32, T>>;

template <class T>
T product(T a, T b) { return static_cast<T>(Unsigned<T>(a) * Unsigned<T>(b)); }

template <class T>
T high_product(T a, T b) {
    using Wide = typename Twice<T>::type;
    return static_cast<T>((static_cast<Wide>(a) * static_cast<Wide>(b)) >> (8 * sizeof(T)));
}

template <class T>
auto wide_product(T a, T b) {
    using Wide = typename Twice<T>::type;
    return static_cast<Wide>(static_cast<Wide>(a) * static_cast<Wide>(b));
}

struct Add { template <class T> static T of(T a, T b) { return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b)); } };
struct Subtract {
    template <class T>
    static T of(T a, T b) { return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b)); }
};
struct Multiply { template <class T> static T of(T a, T b) { return product(a, b); } };
struct MultiplyHigh { template <class T> static T of(T a, T b) { return high_product(a, b); } };
struct MultiplyWide { template <class T> static auto of(T a, T b) { return wide_product(a, b); } };
struct Minimum { template <class T> static T of(T a, T b) { return a < b ? a : b; } };
struct Maximum { template <class T> static T of(T a, T b) { return a > b ? a : b; } };

// Division by zero is not defined in PTX; NVIDIA's devices give all ones. The host would stop.
struct Divide {
    template <class T>
    static T of(T a, T b) {
        if (b == 0) return static_cast<T>(~T(0));
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a));
        return static_cast<T>(a / b);
    }
};

struct Remainder {
    template <class T>
    static T of(T a, T b) {
        if (b == 0) return a;
        if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
        return static_cast<T>(a % b);
    }
};

struct MultiplyAdd { template <class T> static T of(T a, T b, T c) { return Add::of(product(a, b), c); } };
struct MultiplyHighAdd { template <class T> static T of(T a, T b, T c) { return Add::of(high_product(a, b), c); } };
struct MultiplyWideAdd {
    template <class T, class Wide>
    static Wide of(T a, T b, Wide c) { return Add::of(static_cast<Wide>(wide_product(a, b)), c); }
};

struct Negate { template <class T> static T of(T a) { return static_cast<T>(Unsigned<T>(0) - Unsigned<T>(a)); } };
struct Absolute { template <class T> static T of(T a) { return a < 0 ? Negate::of(a) : a; } };

template <class Operation>
Execute binary_of(const std::string& type) {
    return for_integer_type(type, []<class T>() -> Execute { return binary<T, T, Operation>; });
}

template <class Operation>
Execute unary_of(const std::string& type) {
    return for_integer_type(type, []<class T>() -> Execute { return unary<T, T, Operation>; });
}

template <class Operation>
Execute ternary_of(const std::string& type) {
    return for_integer_type(type, []<class T>() -> Execute { return ternary<T, T, T, Operation>; });
}

template <class T>
Execute wide_multiplication(bool adds) {
    using Wide = typename Twice<T>::type;
    return adds ? ternary<Wide, T, Wide, MultiplyWideAdd> : binary<Wide, T, MultiplyWide>;
}

Execute wide(const std::string& type, bool adds) {
    if (type == "u16") return wide_multiplication<u16>(adds);
    if (type == "s16") return wide_multiplication<s16>(adds);
    if (type == "u32") return wide_multiplication<u32>(adds);
    if (type == "s32") return wide_multiplication<s32>(adds);
    return nullptr;
}

Execute named(const Statement& read) {
    const std::string &name = read.opcode, &type = read.type();
    if (name == "add") return binary_of<Add>(type);
    if (name == "sub") return binary_of<Subtract>(type);
    if (name == "mul") return read.has("hi") ? binary_of<MultiplyHigh>(type) : binary_of<Multiply>(type);
    if (name == "mad") return read.has("hi") ? ternary_of<MultiplyHighAdd>(type) : ternary_of<MultiplyAdd>(type);
    if (name == "div") return binary_of<Divide>(type);
    if (name == "rem") return binary_of<Remainder>(type);
    if (name == "min") return binary_of<Minimum>(type);
    if (name == "max") return binary_of<Maximum>(type);
    if (name == "neg") return unary_of<Negate>(type);
    if (name == "abs") return unary_of<Absolute>(type);
    return nullptr;
}

}  // namespace

bool translate_integers(const Statement& read, Translator& translator, Instruction& made) {
    const bool is_wide = read.has("wide");
    made.execute = is_wide ? wide(read.type(), read.opcode == "mad") : named(read);
    if (!made.execute || read.has("sat")) return false;
    const u32 bytes = bytes_of_type(read.type()), wide_bytes = is_wide ? 2 * bytes : bytes;
    made.destination = translator.operand(read.operands[0], wide_bytes);
    made.a = translator.operand(read.operands[1], bytes);
    if (read.operands.size() > 2) made.b = translator.operand(read.operands[2], bytes);
    if (read.operands.size() > 3) made.c = translator.operand(read.operands[3], wide_bytes);
    return true;
}

}  // namespace emulated
