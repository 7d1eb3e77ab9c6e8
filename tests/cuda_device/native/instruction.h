// A kernel as the interpreter runs it: instructions on a file of registers that hold a number for each lane.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "errors.h"
#include "numbers.h"

namespace emulated {

struct Warp;
struct Instruction;

// Carry out an instruction for the lanes in `warp.active`.
using Execute = void (*)(Warp& warp, const Instruction& instruction);

// Place of a register in the register file, in bytes. A register has 32 numbers side by side, a predicate one
// LaneMask. Constants are registers too, which are filled before the kernel starts.
using Register = u32;
constexpr Register NO_REGISTER = ~0u;

enum class Control : u8 {
    ordinary,
    branch,
    exit,
    block_barrier,  // all threads of the block meet
    warp_barrier,   // lanes of a mask meet, wherever they are in the code
    warp_exchange,  // lanes of a mask meet here and carry out the instruction together
    trap,
};

struct Instruction {
    Execute execute = nullptr;
    Control control = Control::ordinary;
    Register guard = NO_REGISTER;  // predicate: lanes without it skip the instruction
    bool guard_negated = false;
    Register destination = NO_REGISTER;
    Register a = NO_REGISTER, b = NO_REGISTER, c = NO_REGISTER, d = NO_REGISTER;  // operands
    std::vector<Register> values;  // of a vector load or store, of packed numbers
    s64 offset = 0;                // of an address
    u32 target = 0;                // of a branch: index of an instruction
    Register members = NO_REGISTER;  // mask of the lanes that meet
    int rounding = 0;              // of <cfenv>, where it is not to nearest
    u8 option = 0;                 // what the group of the instruction likes to keep
    u8 width = 0;                  // of the registers that are written (cvt) or in `values`, in bytes
    u8 source_width = 0;           // of the register that cvt reads, in bytes
    u32 message = 0;               // of a trap: index in Kernel::messages
};

struct Kernel {
    struct Parameter {
        u32 offset, size;
    };
    std::string name;
    std::vector<Instruction> code;
    u32 register_bytes = 0;
    std::vector<std::pair<Register, std::vector<u8>>> constants;
    u32 local_bytes = 0;   // of one lane
    u32 shared_bytes = 0;  // without dynamic ones
    std::vector<Parameter> parameters;
    u32 parameter_bytes = 0;
    bool has_barrier = false;
    std::vector<std::string> messages;
};

// Dynamic shared memory begins here; static shared memory is below.
constexpr u32 DYNAMIC_SHARED = 1u << 16;

// What the threads of a block share.
struct Block {
    u8* shared = nullptr;
    u32 shared_bytes = 0, dynamic_shared_bytes = 0;
    u8* parameters = nullptr;
    u32 parameter_bytes = 0;
    u32 index[3] = {}, size[3] = {}, grid[3] = {};
};

// Lanes that will go on at the same instruction.
struct LaneGroup {
    u32 at;
    LaneMask lanes;
};

struct Warp {
    u8* registers = nullptr;
    u8* local = nullptr;  // lane after lane
    u32 local_bytes = 0;  // of one lane
    Block* block = nullptr;
    u32 number = 0;  // in the block
    u32 thread[3][LANES] = {};
    LaneMask active = 0;  // lanes that carry out the instruction
    LaneMask carry = 0;   // PTX's condition code
    LaneMask live = 0;    // lanes that have not ended
    std::vector<LaneGroup> runnable;  // by falling address
    std::vector<LaneGroup> meeting;   // wait for other lanes of the warp
    struct AtBarrier {
        LaneGroup group;
        u32 barrier, threads;  // threads: how many meet; 0: all of the block
    };
    std::vector<AtBarrier> at_barrier;
    Error error = Error::none;  // of the instruction that was carried out last
    u64 error_address = 0;
    int error_lane = 0;

    void refuse(Error kind, u64 address, int lane) {
        if (error != Error::none) return;
        error = kind;
        error_address = address;
        error_lane = lane;
    }
};

template <class T>
inline T* lanes_of(Warp& warp, Register at) {
    return reinterpret_cast<T*>(warp.registers + at);
}

inline LaneMask& predicate(Warp& warp, Register at) { return *lanes_of<LaneMask>(warp, at); }

inline void set_predicate(Warp& warp, Register at, LaneMask value) {
    LaneMask& old = predicate(warp, at);
    old = (old & ~warp.active) | (value & warp.active);
}

// Call `body(lane)` for each active lane, one after the other.
template <class Body>
[[gnu::always_inline]] inline void for_each_lane(const Warp& warp, Body body) {
    for (LaneMask rest = warp.active; rest; rest &= rest - 1) body(__builtin_ctz(rest));
}

// The same where lanes do not touch each other's numbers: with all lanes active the compiler makes vectors of them.
template <class Body>
[[gnu::always_inline]] inline void for_lanes_at_once(const Warp& warp, Body body) {
    if (warp.active != ALL_LANES) return for_each_lane(warp, body);
#pragma GCC ivdep
    for (int lane = 0; lane < LANES; ++lane) body(lane);
}

}  // namespace emulated
