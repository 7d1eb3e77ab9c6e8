// Where an access of a lane lies, and whether it may be there.
#pragma once
#include "counters.h"
#include "device_memory.h"
#include "instruction.h"

namespace emulated {

inline bool lies_within(u64 address, u32 bytes, u64 start, u64 size) {
    return address - start < size && address - start + bytes <= size;
}

inline bool in_local(const Warp& warp, u64 address, u32 bytes, int lane) {
    const u64 start = reinterpret_cast<u64>(warp.local) + u64(warp.local_bytes) * static_cast<u64>(lane);
    return lies_within(address, bytes, start, warp.local_bytes);
}

inline bool in_shared(const Block& block, u64 offset, u32 bytes) {
    return lies_within(offset, bytes, 0, block.shared_bytes) ||
           lies_within(offset, bytes, DYNAMIC_SHARED, block.dynamic_shared_bytes);
}

inline bool in_parameters(const Block& block, u64 address, u32 bytes) {
    return lies_within(address, bytes, reinterpret_cast<u64>(block.parameters), block.parameter_bytes);
}

// Each space has `address`, the operand of a lane, and `host`, the memory of the host behind it, or nullptr.
struct Space {
    // A register of 64 bits and the offset, or the offset alone.
    static u64 address(Warp& warp, const Instruction& instruction, int lane) {
        const u64 base = instruction.a == NO_REGISTER ? 0 : lanes_of<u64>(warp, instruction.a)[lane];
        return base + static_cast<u64>(instruction.offset);
    }
};

struct GlobalSpace : Space {
    static u8* host(Warp&, u64 address, u32 bytes, int) {
        return device_memory.accessible(address, bytes) ? reinterpret_cast<u8*>(address) : nullptr;
    }
};

struct LocalSpace : Space {
    static u8* host(Warp& warp, u64 address, u32 bytes, int lane) {
        return in_local(warp, address, bytes, lane) ? reinterpret_cast<u8*>(address) : nullptr;
    }
};

// Local memory whose offset is known: variables, and parameters of functions.
struct LocalOffset : Space {
    static u64 address(Warp& warp, const Instruction& instruction, int lane) {
        const u64 start = reinterpret_cast<u64>(warp.local) + u64(warp.local_bytes) * static_cast<u64>(lane);
        return start + static_cast<u64>(instruction.offset);
    }
    static u8* host(Warp& warp, u64 address, u32 bytes, int lane) {
        return LocalSpace::host(warp, address, bytes, lane);
    }
};

struct SharedSpace : Space {
    // The offset's register may have 32 bits.
    static u64 address(Warp& warp, const Instruction& instruction, int lane) {
        if (instruction.a == NO_REGISTER || instruction.source_width == 8)
            return Space::address(warp, instruction, lane);
        return static_cast<u32>(lanes_of<u32>(warp, instruction.a)[lane] + static_cast<u64>(instruction.offset));
    }
    static u8* host(Warp& warp, u64 offset, u32 bytes, int) {
        return in_shared(*warp.block, offset, bytes) ? warp.block->shared + offset : nullptr;
    }
};

struct ParameterSpace : Space {
    static u8* host(Warp& warp, u64 address, u32 bytes, int) {
        return in_parameters(*warp.block, address, bytes) ? reinterpret_cast<u8*>(address) : nullptr;
    }
};

struct ParameterOffset : Space {
    static u64 address(Warp& warp, const Instruction& instruction, int) {
        return reinterpret_cast<u64>(warp.block->parameters) + static_cast<u64>(instruction.offset);
    }
    static u8* host(Warp& warp, u64 address, u32 bytes, int lane) {
        return ParameterSpace::host(warp, address, bytes, lane);
    }
};

struct GenericSpace : Space {
    static u8* host(Warp& warp, u64 address, u32 bytes, int lane) {
        const bool is_there = device_memory.accessible(address, bytes) || in_local(warp, address, bytes, lane) ||
                              in_shared(*warp.block, address - reinterpret_cast<u64>(warp.block->shared), bytes) ||
                              in_parameters(*warp.block, address, bytes);
        return is_there ? reinterpret_cast<u8*>(address) : nullptr;
    }
};

// Memory of the host for a lane's access, or nullptr after the warp has been told what is wrong.
template <class SpaceOfAccess>
inline u8* memory_of(Warp& warp, const Instruction& instruction, u32 bytes, int lane) {
    const u64 address = SpaceOfAccess::address(warp, instruction, lane);
    if (address % bytes) {
        warp.refuse(Error::misaligned_address, address, lane);
        return nullptr;
    }
    u8* host = SpaceOfAccess::host(warp, address, bytes, lane);
    if (!host) warp.refuse(Error::illegal_address, address, lane);
    return host;
}

}  // namespace emulated
