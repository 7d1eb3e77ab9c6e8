// What lanes of a warp ask each other: shfl, vote, match, redux, activemask. And who a lane is: special registers.
#include <algorithm>

#include "lane_operations.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

enum Shuffle : u8 { from_above, from_below, across, from_index };  // down, up, bfly, idx

void shuffle(Warp& warp, const Instruction& instruction) {
    const u32* numbers = lanes_of<u32>(warp, instruction.a);
    const u32 *distances = lanes_of<u32>(warp, instruction.b), *clamps = lanes_of<u32>(warp, instruction.c);
    u32 given[LANES];
    LaneMask in_range = 0;
    for_each_lane(warp, [&](int lane) {
        const int segment = static_cast<int>(clamps[lane] >> 8 & 31), clamp = static_cast<int>(clamps[lane] & 31);
        const int distance = static_cast<int>(distances[lane] & 31);
        const int first = lane & segment, last = first | (clamp & ~segment);
        int source = first | (distance & ~segment);
        if (instruction.option == from_above) source = lane + distance;
        if (instruction.option == from_below) source = lane - distance;
        if (instruction.option == across) source = lane ^ distance;
        // For shfl.up the clamp is the lowest lane.
        const bool is_there = instruction.option == from_below ? source >= last : source <= last;
        given[lane] = numbers[is_there ? source : lane];
        if (is_there) in_range |= LaneMask(1) << lane;
    });
    u32* result = lanes_of<u32>(warp, instruction.destination);
    for_each_lane(warp, [&](int lane) { result[lane] = given[lane]; });
    if (!instruction.values.empty()) set_predicate(warp, instruction.values[0], in_range);
}

enum Vote : u8 { all, any, uniform, ballot };
constexpr u8 VOTE = 3, NEGATED = 4;  // bits of Instruction::option

void vote(Warp& warp, const Instruction& instruction) {
    LaneMask yes = predicate(warp, instruction.a);
    if (instruction.option & NEGATED) yes = ~yes;
    yes &= warp.active;
    const u8 kind = instruction.option & VOTE;
    if (kind == ballot) {
        u32* result = lanes_of<u32>(warp, instruction.destination);
        for_each_lane(warp, [=](int lane) { result[lane] = yes; });
        return;
    }
    const bool result = kind == all ? yes == warp.active : kind == any ? yes != 0 : yes == 0 || yes == warp.active;
    set_predicate(warp, instruction.destination, result ? ALL_LANES : 0);
}

// Mask of the lanes with the same number; match.all: of all lanes if all have it, else 0.
template <class T>
void match(Warp& warp, const Instruction& instruction) {
    const T* numbers = lanes_of<T>(warp, instruction.a);
    LaneMask same[LANES];
    bool all_same = true;
    for_each_lane(warp, [&](int lane) {
        same[lane] = 0;
        for_each_lane(warp, [&](int other) {
            if (numbers[other] == numbers[lane]) same[lane] |= LaneMask(1) << other;
        });
        all_same = all_same && same[lane] == warp.active;
    });
    u32* result = lanes_of<u32>(warp, instruction.destination);
    const bool wants_all = instruction.option;
    for_each_lane(warp, [&](int lane) { result[lane] = !wants_all || all_same ? same[lane] : 0; });
    if (!instruction.values.empty()) set_predicate(warp, instruction.values[0], all_same ? ALL_LANES : 0);
}

struct Add { template <class T> static T of(T a, T b) { return static_cast<T>(u32(a) + u32(b)); } };
struct Minimum { template <class T> static T of(T a, T b) { return std::min(a, b); } };
struct Maximum { template <class T> static T of(T a, T b) { return std::max(a, b); } };
struct And { template <class T> static T of(T a, T b) { return a & b; } };
struct Or { template <class T> static T of(T a, T b) { return a | b; } };
struct Xor { template <class T> static T of(T a, T b) { return a ^ b; } };

template <class T, class Operation>
void reduce(Warp& warp, const Instruction& instruction) {
    const T* numbers = lanes_of<T>(warp, instruction.a);
    T total = numbers[__builtin_ctz(warp.active)];
    const LaneMask others = warp.active & (warp.active - 1);
    for (LaneMask rest = others; rest; rest &= rest - 1) total = Operation::of(total, numbers[__builtin_ctz(rest)]);
    T* result = lanes_of<T>(warp, instruction.destination);
    for_each_lane(warp, [=](int lane) { result[lane] = total; });
}

template <class T>
Execute reduction_named(const Statement& read) {
    if (read.has("add")) return reduce<T, Add>;
    if (read.has("min")) return reduce<T, Minimum>;
    if (read.has("max")) return reduce<T, Maximum>;
    if (read.has("and")) return reduce<T, And>;
    if (read.has("or")) return reduce<T, Or>;
    if (read.has("xor")) return reduce<T, Xor>;
    return nullptr;
}

void active_lanes(Warp& warp, const Instruction& instruction) {
    u32* result = lanes_of<u32>(warp, instruction.destination);
    const LaneMask active = warp.active;
    for_each_lane(warp, [=](int lane) { result[lane] = active; });
}

// `result|predicate`
void translate_results(const std::string& text, Translator& translator, Instruction& made) {
    const std::size_t bar = text.find('|');
    made.destination = translator.operand(stripped(text.substr(0, bar)), 4);
    if (bar != std::string::npos)
        made.values.push_back(translator.operand(stripped(text.substr(bar + 1)), sizeof(LaneMask)));
}

// ---------------------------------------------------------------- special registers

constexpr const char* LANE_MASKS[] = {"%lanemask_eq", "%lanemask_lt", "%lanemask_le", "%lanemask_gt", "%lanemask_ge"};

u32 lane_mask(int kind, int lane) {
    const u32 bit = 1u << lane, below = bit - 1;
    const u32 masks[] = {bit, below, below | bit, ~(below | bit), ~below};
    return masks[kind];
}

enum Special : u8 { thread_index, block_index, block_size, grid_size, lane_index, warp_index, mask_of_lanes };

u32 special_number(const Warp& warp, const Instruction& instruction, int lane) {
    const s64 axis = instruction.offset;
    switch (instruction.option) {
        case thread_index: return warp.thread[axis][lane];
        case block_index: return warp.block->index[axis];
        case block_size: return warp.block->size[axis];
        case grid_size: return warp.block->grid[axis];
        case lane_index: return static_cast<u32>(lane);
        case warp_index: return warp.number;
        default: return lane_mask(static_cast<int>(axis), lane);
    }
}

template <class T>
void read_special(Warp& warp, const Instruction& instruction) {
    T* result = lanes_of<T>(warp, instruction.destination);
    for_each_lane(warp, [&](int lane) { result[lane] = static_cast<T>(special_number(warp, instruction, lane)); });
}

}  // namespace

bool read_special_register(const std::string& name, Register destination, u32 bytes, Instruction& made) {
    const std::size_t dot = name.find('.');
    const std::string head = name.substr(0, dot);
    made.offset = dot == std::string::npos ? 0 : name[dot + 1] - 'x';
    if (head == "%tid") made.option = thread_index;
    else if (head == "%ctaid") made.option = block_index;
    else if (head == "%ntid") made.option = block_size;
    else if (head == "%nctaid") made.option = grid_size;
    else if (head == "%laneid") made.option = lane_index;
    else if (head == "%warpid") made.option = warp_index;
    else {
        const auto found = std::find(std::begin(LANE_MASKS), std::end(LANE_MASKS), head);
        if (found == std::end(LANE_MASKS)) return false;
        made.option = mask_of_lanes;
        made.offset = found - std::begin(LANE_MASKS);
    }
    made.destination = destination;
    made.execute = for_width(bytes, []<class T>() -> Execute { return read_special<T>; });
    return true;
}

bool translate_lanes(const Statement& read, Translator& translator, Instruction& made) {
    const std::string& name = read.opcode;
    if (name == "activemask") {
        made.destination = translator.operand(read.operands[0], 4);
        made.execute = active_lanes;
        return true;
    }
    if ((name != "shfl" && name != "vote" && name != "match" && name != "redux") || !read.has("sync")) return false;
    made.control = Control::warp_exchange;
    made.members = translator.operand(read.operands.back(), 4);
    if (name == "vote") {
        const bool negated = read.operands[1][0] == '!';
        made.option = read.has("all") ? all : read.has("any") ? any : read.has("uni") ? uniform : ballot;
        if (negated) made.option |= NEGATED;
        made.destination = translator.operand(read.operands[0], 4);
        made.a = translator.operand(negated ? read.operands[1].substr(1) : read.operands[1], sizeof(LaneMask));
        made.execute = vote;
        return true;
    }
    translate_results(read.operands[0], translator, made);
    made.a = translator.operand(read.operands[1], bytes_of_type(read.type()));
    if (name == "shfl") {
        made.b = translator.operand(read.operands[2], 4);
        made.c = translator.operand(read.operands[3], 4);
        made.option = read.has("down")   ? from_above
                      : read.has("up")   ? from_below
                      : read.has("bfly") ? across
                                         : from_index;
        made.execute = shuffle;
    } else if (name == "match") {
        made.option = read.has("all");
        made.execute = bytes_of_type(read.type()) == 8 ? match<u64> : match<u32>;
    } else {
        made.execute = for_integer_type(read.type(), [&]<class T>() -> Execute { return reduction_named<T>(read); });
    }
    return true;
}

}  // namespace emulated
