// Templates of which the instructions of a group are made: an operation on numbers, applied lane by lane.
#pragma once
#include <string>

#include "instruction.h"

namespace emulated {

template <class Result, class T, class Operation>
void unary(Warp& warp, const Instruction& instruction) {
    Result* result = lanes_of<Result>(warp, instruction.destination);
    const T* a = lanes_of<T>(warp, instruction.a);
    for_lanes_at_once(warp, [=](int lane) { result[lane] = static_cast<Result>(Operation::of(a[lane])); });
}

template <class Result, class T, class Operation>
void binary(Warp& warp, const Instruction& instruction) {
    Result* result = lanes_of<Result>(warp, instruction.destination);
    const T* a = lanes_of<T>(warp, instruction.a);
    const T* b = lanes_of<T>(warp, instruction.b);
    for_lanes_at_once(warp, [=](int lane) { result[lane] = static_cast<Result>(Operation::of(a[lane], b[lane])); });
}

// The third operand may be of another type: the count of a shift, the wide addend of mad.wide.
template <class Result, class T, class Third, class Operation>
void ternary(Warp& warp, const Instruction& instruction) {
    Result* result = lanes_of<Result>(warp, instruction.destination);
    const T* a = lanes_of<T>(warp, instruction.a);
    const T* b = lanes_of<T>(warp, instruction.b);
    const Third* c = lanes_of<Third>(warp, instruction.c);
    for_lanes_at_once(warp, [=](int lane) {
        result[lane] = static_cast<Result>(Operation::of(a[lane], b[lane], c[lane]));
    });
}

// `choose.operator()<T>()` for the type that the text names; nullptr for other types.
template <class Choose>
Execute for_integer_type(const std::string& type, Choose choose) {
    if (type == "u32" || type == "b32") return choose.template operator()<u32>();
    if (type == "s32") return choose.template operator()<s32>();
    if (type == "u64" || type == "b64") return choose.template operator()<u64>();
    if (type == "s64") return choose.template operator()<s64>();
    if (type == "u16" || type == "b16") return choose.template operator()<u16>();
    if (type == "s16") return choose.template operator()<s16>();
    return nullptr;
}

template <class Choose>
Execute for_float_type(const std::string& type, Choose choose) {
    if (type == "f32") return choose.template operator()<f32>();
    if (type == "f64") return choose.template operator()<f64>();
    return nullptr;
}

// The type as bits: what moves, selects and shuffles ask for.
template <class Choose>
Execute for_width(u32 bytes, Choose choose) {
    if (bytes == 1) return choose.template operator()<u8>();
    if (bytes == 2) return choose.template operator()<u16>();
    if (bytes == 4) return choose.template operator()<u32>();
    return choose.template operator()<u64>();
}

}  // namespace emulated
