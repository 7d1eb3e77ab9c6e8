// cvt: between integers, between floats, and between both, with rounding and saturation.
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

enum Rounding : u8 { to_type, to_nearest_integer, to_zero, down, up };  // to an integer; to_type: none of them
constexpr u8 ROUNDING = 7, SATURATED = 8;                               // bits of Instruction::option

template <class T>
T rounded(T x, u8 how) {
    switch (how) {
        case to_nearest_integer: return std::nearbyint(x);
        case to_zero: return std::trunc(x);
        case down: return std::floor(x);
        case up: return std::ceil(x);
        default: return x;
    }
}

// Numbers beyond the integer's range become its ends, NaN becomes 0.
template <class To, class From>
To to_integer(From x) {
    using Limits = std::numeric_limits<To>;
    if (x != x) return 0;
    const From beyond = std::ldexp(From(1), Limits::digits);  // the first number that is too large
    if (x >= beyond) return Limits::max();
    if (x < static_cast<From>(Limits::min())) return Limits::min();
    return static_cast<To>(x);
}

template <class To, class From>
To saturated(From x) {
    using Limits = std::numeric_limits<To>;
    if constexpr (std::is_integral_v<To>) {
        if (static_cast<s128>(x) < static_cast<s128>(Limits::min())) return Limits::min();
        if (static_cast<s128>(x) > static_cast<s128>(Limits::max())) return Limits::max();
        return static_cast<To>(x);
    } else {
        return x > 0 ? static_cast<To>(x < 1 ? x : From(1)) : To(0);  // and NaN becomes 0
    }
}

template <class To, class From>
To converted(From x, u8 option) {
    if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>)
        return to_integer<To>(rounded(x, option & ROUNDING));
    else if constexpr (std::is_floating_point_v<From>)
        return option & SATURATED ? saturated<To>(rounded(x, option & ROUNDING))
                                  : static_cast<To>(rounded(x, option & ROUNDING));
    else if constexpr (std::is_integral_v<To>)
        return option & SATURATED ? saturated<To>(x) : static_cast<To>(x);
    else
        return static_cast<To>(x);
}

// A register may be wider than the type: it is read from its low bits, and written with the sign or with zeros.
template <class T>
T read_low(Warp& warp, Register at, u32 bytes, int lane) {
    if (bytes == sizeof(T)) return lanes_of<T>(warp, at)[lane];
    if constexpr (std::is_integral_v<T>) {
        if (bytes == 2) return static_cast<T>(lanes_of<u16>(warp, at)[lane]);
        if (bytes == 4) return static_cast<T>(lanes_of<u32>(warp, at)[lane]);
        return static_cast<T>(lanes_of<u64>(warp, at)[lane]);
    }
    return lanes_of<T>(warp, at)[lane];
}

template <class T>
void write_wide(Warp& warp, Register at, u32 bytes, int lane, T value) {
    if constexpr (std::is_integral_v<T>) {
        const s64 extended = static_cast<s64>(value);
        if (bytes == 2) lanes_of<u16>(warp, at)[lane] = static_cast<u16>(extended);
        if (bytes == 4) lanes_of<u32>(warp, at)[lane] = static_cast<u32>(extended);
        if (bytes == 8) lanes_of<u64>(warp, at)[lane] = static_cast<u64>(extended);
    } else {
        lanes_of<T>(warp, at)[lane] = value;
    }
}

template <class To, class From>
void convert(Warp& warp, const Instruction& instruction) {
    const u32 bytes_to = instruction.width, bytes_from = instruction.source_width;
    for_each_lane(warp, [&](int lane) {
        const From from = read_low<From>(warp, instruction.a, bytes_from, lane);
        write_wide<To>(warp, instruction.destination, bytes_to, lane, converted<To, From>(from, instruction.option));
    });
}

template <class To>
Execute conversion_from(const std::string& type) {
    if (type == "u8" || type == "b8") return convert<To, u8>;
    if (type == "s8") return convert<To, s8>;
    Execute found = for_integer_type(type, []<class From>() -> Execute { return convert<To, From>; });
    if (!found) found = for_float_type(type, []<class From>() -> Execute { return convert<To, From>; });
    return found;
}

Execute conversion(const std::string& to, const std::string& from) {
    if (to == "u8" || to == "b8") return conversion_from<u8>(from);
    if (to == "s8") return conversion_from<s8>(from);
    Execute found = for_integer_type(to, [&]<class To>() -> Execute { return conversion_from<To>(from); });
    if (!found) found = for_float_type(to, [&]<class To>() -> Execute { return conversion_from<To>(from); });
    return found;
}

}  // namespace

bool translate_conversion(const Statement& read, Translator& translator, Instruction& made) {
    if (read.opcode != "cvt") return false;
    if (read.modifiers.size() < 2 || read.has("ftz") || read.has("pack")) return true;  // refused
    const std::string &to = read.modifiers[read.modifiers.size() - 2], &from = read.type();
    const RegisterOfText destination = translator.named_register(read.operands[0]);
    made.destination = destination.at;
    made.width = static_cast<u8>(destination.bytes);
    const auto source = translator.find_register(read.operands[1]);
    made.source_width = static_cast<u8>(source ? source->bytes : bytes_of_type(from));
    made.a = source ? source->at : translator.operand(read.operands[1], made.source_width);
    made.option = read.has("rni") ? to_nearest_integer : read.has("rmi") ? down : read.has("rpi") ? up : to_type;
    if (read.has("rzi") || (from[0] == 'f' && to[0] != 'f' && made.option == to_type)) made.option = to_zero;
    if (read.has("sat")) made.option |= SATURATED;
    made.rounding = read.has("rz") ? FE_TOWARDZERO : read.has("rm") ? FE_DOWNWARD : read.has("rp") ? FE_UPWARD : 0;
    made.execute = conversion(to, from);
    return true;
}

}  // namespace emulated
