// ld, st and isspacep.
#include <algorithm>
#include <cstring>
#include <type_traits>

#include "lane_operations.h"
#include "memory_spaces.h"
#include "ptx_text.h"
#include "translator.h"

namespace emulated {

namespace {

constexpr u64 SECTOR = 32;

// Counts an access of global memory, also one through a generic address: the distinct sectors that the active lanes
// touch are what the memory system moves for one instruction of a warp.
template <class SpaceOfAccess>
void measure(Warp& warp, const Instruction& instruction, u32 bytes, u64& requests, u64& sectors, u64& asked) {
    constexpr bool is_local = std::is_same_v<SpaceOfAccess, LocalSpace> || std::is_same_v<SpaceOfAccess, LocalOffset>;
    constexpr bool is_generic = std::is_same_v<SpaceOfAccess, GenericSpace>;
    if (is_local) ++counters.local_requests;
    if (!std::is_same_v<SpaceOfAccess, GlobalSpace> && !is_generic) return;
    u64 touched[2 * LANES];
    int count = 0;
    for_each_lane(warp, [&](int lane) {
        const u64 address = SpaceOfAccess::address(warp, instruction, lane);
        if (is_generic && !device_memory.accessible(address, bytes)) return;
        touched[count++] = address / SECTOR;
        touched[count++] = (address + bytes - 1) / SECTOR;
    });
    if (count == 0) return;
    ++requests;
    asked += u64(bytes) * static_cast<u64>(count / 2);
    std::sort(touched, touched + count);
    sectors += static_cast<u64>(std::unique(touched, touched + count) - touched);
}

// A register may be wider than the type in memory: loads extend, stores leave the high bits out.
template <class T>
void put(Warp& warp, Register at, u32 width, int lane, T value) {
    if (width == sizeof(T)) lanes_of<T>(warp, at)[lane] = value;
    else if (width == 2) lanes_of<u16>(warp, at)[lane] = static_cast<u16>(value);
    else if (width == 4) lanes_of<u32>(warp, at)[lane] = static_cast<u32>(value);
    else lanes_of<u64>(warp, at)[lane] = static_cast<u64>(value);
}

template <class T>
T get(Warp& warp, Register at, u32 width, int lane) {
    if (width == sizeof(T)) return lanes_of<T>(warp, at)[lane];
    if (width == 2) return static_cast<T>(lanes_of<u16>(warp, at)[lane]);
    if (width == 4) return static_cast<T>(lanes_of<u32>(warp, at)[lane]);
    return static_cast<T>(lanes_of<u64>(warp, at)[lane]);
}

template <class SpaceOfAccess, class T>
void load(Warp& warp, const Instruction& instruction) {
    const u32 count = static_cast<u32>(instruction.values.size()), bytes = count * sizeof(T);
    if (measuring)
        measure<SpaceOfAccess>(warp, instruction, bytes, counters.load_requests, counters.load_sectors,
                               counters.load_bytes);
    for_each_lane(warp, [&](int lane) {
        const u8* memory = memory_of<SpaceOfAccess>(warp, instruction, bytes, lane);
        if (!memory) return;
        T numbers[4];
        std::memcpy(numbers, memory, bytes);
        for (u32 k = 0; k < count; ++k) put<T>(warp, instruction.values[k], instruction.width, lane, numbers[k]);
    });
}

template <class SpaceOfAccess, class T>
void store(Warp& warp, const Instruction& instruction) {
    const u32 count = static_cast<u32>(instruction.values.size()), bytes = count * sizeof(T);
    if (measuring)
        measure<SpaceOfAccess>(warp, instruction, bytes, counters.store_requests, counters.store_sectors,
                               counters.store_bytes);
    for_each_lane(warp, [&](int lane) {
        u8* memory = memory_of<SpaceOfAccess>(warp, instruction, bytes, lane);
        if (!memory) return;
        T numbers[4];
        for (u32 k = 0; k < count; ++k) numbers[k] = get<T>(warp, instruction.values[k], instruction.width, lane);
        std::memcpy(memory, numbers, bytes);
    });
}

template <class SpaceOfAccess>
Execute access_of(const std::string& type, bool stores) {
    const auto choose = [=]<class T>() -> Execute { return stores ? store<SpaceOfAccess, T> : load<SpaceOfAccess, T>; };
    // Signed types extend with their sign; of all others the bits are moved.
    if (type == "s8") return choose.template operator()<s8>();
    if (type == "s16") return choose.template operator()<s16>();
    if (type == "s32") return choose.template operator()<s32>();
    return for_width(bytes_of_type(type), choose);
}

Execute access(const Statement& read, const Address& address, bool stores) {
    const std::string& type = read.type();
    if (address.place && address.place->kind == Place::local) return access_of<LocalOffset>(type, stores);
    if (address.place && address.place->kind == Place::parameter) return access_of<ParameterOffset>(type, stores);
    if (read.has("local")) return access_of<LocalSpace>(type, stores);
    if (read.has("shared") || read.has("shared::cta")) return access_of<SharedSpace>(type, stores);
    if (read.has("param")) return access_of<ParameterSpace>(type, stores);
    if (read.has("global") || read.has("const") || address.place) return access_of<GlobalSpace>(type, stores);
    return access_of<GenericSpace>(type, stores);
}

template <class SpaceAsked>
void is_in_space(Warp& warp, const Instruction& instruction) {
    LaneMask result = 0;
    const u64* addresses = lanes_of<u64>(warp, instruction.a);
    for_each_lane(warp, [&](int lane) {
        if (SpaceAsked::host(warp, addresses[lane], 1, lane)) result |= LaneMask(1) << lane;
    });
    set_predicate(warp, instruction.destination, result);
}

struct SharedWindow : Space {
    static u8* host(Warp& warp, u64 address, u32 bytes, int lane) {
        return SharedSpace::host(warp, address - reinterpret_cast<u64>(warp.block->shared), bytes, lane);
    }
};

bool translate_space_question(const Statement& read, Translator& translator, Instruction& made) {
    made.destination = translator.operand(read.operands[0], sizeof(LaneMask));
    made.a = translator.operand(read.operands[1], 8);
    if (read.has("global") || read.has("const")) made.execute = is_in_space<GlobalSpace>;
    if (read.has("local")) made.execute = is_in_space<LocalSpace>;
    if (read.has("shared")) made.execute = is_in_space<SharedWindow>;
    if (read.has("param")) made.execute = is_in_space<ParameterSpace>;
    return true;
}

}  // namespace

void use_address(const Address& address, Instruction& made) {
    made.offset = address.offset;
    if (address.place) made.offset += static_cast<s64>(address.place->at);
    if (!address.base) return;
    made.a = address.base->at;
    made.source_width = static_cast<u8>(address.base->bytes);
}

bool translate_memory(const Statement& read, Translator& translator, Instruction& made) {
    if (read.opcode == "atom" || read.opcode == "red") return translate_atomics(read, translator, made);
    if (read.opcode == "isspacep") return translate_space_question(read, translator, made);
    const bool stores = read.opcode == "st", loads = read.opcode == "ld" || read.opcode == "ldu";
    if (!stores && !loads) return false;
    const Address address = translator.address(read.operands[stores ? 0 : 1]);
    use_address(address, made);
    const std::string& operand = read.operands[stores ? 1 : 0];
    const bool is_vector = operand[0] == '{';
    const std::string listed = is_vector ? operand.substr(1, operand.size() - 2) : operand;
    const std::vector<std::string> names = split(listed, ',');
    made.width = static_cast<u8>(bytes_of_type(read.type()));
    for (const std::string& name : names)
        if (const auto found = translator.find_register(name)) made.width = static_cast<u8>(found->bytes);
    for (const std::string& name : names) made.values.push_back(translator.operand(name, made.width));
    if (names.size() > 4) return true;  // refused
    made.execute = access(read, address, stores);
    return true;
}

}  // namespace emulated
