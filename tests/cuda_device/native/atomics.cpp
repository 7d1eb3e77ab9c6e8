// atom and red. One thread of the host runs all lanes, so each is a plain read and write, lane after lane.
#include <type_traits>

#include "lane_operations.h"
#include "memory_spaces.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

struct Add {
    template <class T>
    static T of(T old, T b) {
        if constexpr (std::is_integral_v<T>) {
            using Wrapping = std::make_unsigned_t<T>;
            return static_cast<T>(static_cast<Wrapping>(old) + static_cast<Wrapping>(b));
        } else {
            return old + b;
        }
    }
};
struct Minimum { template <class T> static T of(T old, T b) { return b < old ? b : old; } };
struct Maximum { template <class T> static T of(T old, T b) { return b > old ? b : old; } };
struct Exchange { template <class T> static T of(T, T b) { return b; } };
struct And { template <class T> static T of(T old, T b) { return old & b; } };
struct Or { template <class T> static T of(T old, T b) { return old | b; } };
struct Xor { template <class T> static T of(T old, T b) { return old ^ b; } };
struct Increment { template <class T> static T of(T old, T b) { return old >= b ? T(0) : static_cast<T>(old + 1); } };
struct Decrement {
    template <class T>
    static T of(T old, T b) { return old == 0 || old > b ? b : static_cast<T>(old - 1); }
};

template <class T>
void give_back(Warp& warp, const Instruction& instruction, int lane, T old) {
    if (instruction.destination != NO_REGISTER) lanes_of<T>(warp, instruction.destination)[lane] = old;
}

template <class SpaceOfAccess, class T, class Operation>
void update(Warp& warp, const Instruction& instruction) {
    const T* operand = lanes_of<T>(warp, instruction.b);
    for_each_lane(warp, [&](int lane) {
        T* memory = reinterpret_cast<T*>(memory_of<SpaceOfAccess>(warp, instruction, sizeof(T), lane));
        if (!memory) return;
        const T old = *memory;
        *memory = Operation::of(old, operand[lane]);
        give_back(warp, instruction, lane, old);
    });
}

template <class SpaceOfAccess, class T>
void compare_and_swap(Warp& warp, const Instruction& instruction) {
    const T *expected = lanes_of<T>(warp, instruction.b), *replacement = lanes_of<T>(warp, instruction.c);
    for_each_lane(warp, [&](int lane) {
        T* memory = reinterpret_cast<T*>(memory_of<SpaceOfAccess>(warp, instruction, sizeof(T), lane));
        if (!memory) return;
        const T old = *memory;
        if (old == expected[lane]) *memory = replacement[lane];
        give_back(warp, instruction, lane, old);
    });
}

template <class SpaceOfAccess, class T>
Execute update_named(const Statement& read) {
    if (read.has("add")) return update<SpaceOfAccess, T, Add>;
    if (read.has("min")) return update<SpaceOfAccess, T, Minimum>;
    if (read.has("max")) return update<SpaceOfAccess, T, Maximum>;
    if (read.has("exch")) return update<SpaceOfAccess, T, Exchange>;
    if constexpr (std::is_integral_v<T>) {
        if (read.has("and")) return update<SpaceOfAccess, T, And>;
        if (read.has("or")) return update<SpaceOfAccess, T, Or>;
        if (read.has("xor")) return update<SpaceOfAccess, T, Xor>;
        if (read.has("inc")) return update<SpaceOfAccess, T, Increment>;
        if (read.has("dec")) return update<SpaceOfAccess, T, Decrement>;
        if (read.has("cas")) return compare_and_swap<SpaceOfAccess, T>;
    }
    return nullptr;
}

template <class SpaceOfAccess>
Execute update_in(const Statement& read) {
    const auto choose = [&]<class T>() -> Execute { return update_named<SpaceOfAccess, T>(read); };
    if (bytes_of_type(read.type()) < 4) return nullptr;
    const Execute found = for_integer_type(read.type(), choose);
    return found ? found : for_float_type(read.type(), choose);
}

}  // namespace

bool translate_atomics(const Statement& read, Translator& translator, Instruction& made) {
    const bool returns = read.opcode == "atom";
    const u32 bytes = bytes_of_type(read.type());
    const std::size_t first = returns ? 1 : 0;
    if (returns && read.operands[0] != "_") made.destination = translator.operand(read.operands[0], bytes);
    use_address(translator.address(read.operands[first]), made);
    if (read.operands[first + 1][0] == '{') return true;  // vectors are refused
    made.b = translator.operand(read.operands[first + 1], bytes);
    if (read.has("cas")) made.c = translator.operand(read.operands[first + 2], bytes);
    if (read.has("shared") || read.has("shared::cta")) made.execute = update_in<SharedSpace>(read);
    else if (read.has("global")) made.execute = update_in<GlobalSpace>(read);
    else made.execute = update_in<GenericSpace>(read);
    return true;
}

}  // namespace emulated
