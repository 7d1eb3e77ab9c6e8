#include "scheduler.h"

#include <cfenv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "counters.h"

namespace emulated {

namespace {

// A warp that runs longer waits for something that will not happen.
constexpr u64 MOST_INSTRUCTIONS = u64(1) << 31;

// Which warp of a block runs first, up to the next barrier. Without a barrier that it needs, a kernel computes different
// numbers in one of the two orders.
bool last_warp_first = [] {
    const char* setting = std::getenv("EMULATED_CUDA_LAST_WARP_FIRST");
    return setting && *setting && std::strcmp(setting, "0") != 0;
}();

// Lanes that go on at `at`. Groups are kept by falling address, and lanes at one address are one group.
void add_runnable(Warp& warp, u32 at, LaneMask lanes) {
    auto place = warp.runnable.end();
    while (place != warp.runnable.begin() && std::prev(place)->at < at) --place;
    if (place != warp.runnable.begin() && std::prev(place)->at == at)
        std::prev(place)->lanes |= lanes;
    else
        warp.runnable.insert(place, {at, lanes});
}

LaneMask first_lanes(Warp& warp, Register masks, LaneMask lanes) {
    return lanes_of<u32>(warp, masks)[__builtin_ctz(lanes)];
}

// One warp until it has ended or all its lanes wait at a barrier of the block.
class WarpRun {
public:
    WarpRun(const Kernel& kernel, Warp& warp) : kernel_(kernel), warp_(warp) {}

    Failure go_on() {
        while (!warp_.runnable.empty() || resume_meetings()) {
            group_ = warp_.runnable.back();
            warp_.runnable.pop_back();
            while (group_.lanes) {
                if (!warp_.runnable.empty() && warp_.runnable.back().at <= group_.at) {
                    add_runnable(warp_, group_.at, group_.lanes);
                    break;
                }
                step();
                if (failure_.error != Error::none) return failure_;
            }
        }
        if (!warp_.meeting.empty() && warp_.at_barrier.empty())
            return {Error::launch_timeout, "lanes of a warp wait for each other for ever"};
        return {};
    }

private:
    void step() {
        const Instruction& instruction = kernel_.code[group_.at];
        LaneMask lanes = group_.lanes;
        if (instruction.guard != NO_REGISTER) {
            const LaneMask holds = predicate(warp_, instruction.guard);
            lanes &= instruction.guard_negated ? ~holds : holds;
        }
        if (measuring) {
            ++counters.instructions;
            counters.lane_instructions += static_cast<u64>(__builtin_popcount(lanes));
        }
        if (++done_ > MOST_INSTRUCTIONS) failure_ = {Error::launch_timeout, "a warp does not end"};
        if (!lanes) {
            ++group_.at;
            return;
        }
        switch (instruction.control) {
            case Control::ordinary:
                carry_out(instruction, lanes);
                ++group_.at;
                break;
            case Control::branch: branch(instruction, lanes); break;
            case Control::exit:
                warp_.live &= ~lanes;
                group_.lanes &= ~lanes;
                ++group_.at;
                break;
            case Control::trap:
                failure_ = {Error::launch_failure, kernel_.messages[instruction.message]};
                break;
            case Control::block_barrier: wait_at_barrier(instruction, lanes); break;
            case Control::warp_barrier: meet_anywhere(instruction, lanes); break;
            case Control::warp_exchange: meet_here(instruction, lanes); break;
        }
    }

    void carry_out(const Instruction& instruction, LaneMask lanes) {
        warp_.active = lanes;
        if (instruction.rounding) {
            std::fesetround(instruction.rounding);
            instruction.execute(warp_, instruction);
            std::fesetround(FE_TONEAREST);
        } else {
            instruction.execute(warp_, instruction);
        }
        if (warp_.error == Error::none) return;
        char where[200];
        std::snprintf(where, sizeof where, "address %#llx, thread %u of block %u",
                      static_cast<unsigned long long>(warp_.error_address), warp_.thread[0][warp_.error_lane],
                      warp_.block->index[0]);
        failure_ = {warp_.error, where};
    }

    void branch(const Instruction& instruction, LaneMask lanes) {
        if (lanes == group_.lanes) {
            group_.at = instruction.target;
            return;
        }
        if (measuring) ++counters.divergent_branches;
        group_.lanes &= ~lanes;
        ++group_.at;
        add_runnable(warp_, instruction.target, lanes);
    }

    // The lanes stay behind until the block lets them go on.
    void wait_at_barrier(const Instruction& instruction, LaneMask lanes) {
        const u32 barrier = first_lanes(warp_, instruction.a, lanes);
        const u32 threads = instruction.b == NO_REGISTER ? 0 : first_lanes(warp_, instruction.b, lanes);
        warp_.at_barrier.push_back({{group_.at + 1, lanes}, barrier, threads});
        group_.lanes &= ~lanes;
        ++group_.at;
    }

    LaneMask missing(const Instruction& instruction, LaneMask lanes, LaneMask present) {
        return first_lanes(warp_, instruction.members, lanes) & warp_.live & ~present;
    }

    // shfl and others: lanes that come later to the same instruction are waited for.
    void meet_here(const Instruction& instruction, LaneMask lanes) {
        LaneMask present = lanes;
        for (const LaneGroup& waiting : warp_.meeting)
            if (waiting.at == group_.at) present |= waiting.lanes;
        if (missing(instruction, lanes, present)) return stay_to_meet(lanes);
        std::erase_if(warp_.meeting, [&](const LaneGroup& waiting) { return waiting.at == group_.at; });
        group_.lanes |= present;
        carry_out(instruction, present);
        ++group_.at;
    }

    // bar.warp.sync: the lanes may be at different instructions, if each is a bar.warp.sync.
    void meet_anywhere(const Instruction& instruction, LaneMask lanes) {
        LaneMask present = lanes;
        const auto is_barrier = [&](const LaneGroup& waiting) {
            return kernel_.code[waiting.at].control == Control::warp_barrier;
        };
        for (const LaneGroup& waiting : warp_.meeting)
            if (is_barrier(waiting)) present |= waiting.lanes;
        if (missing(instruction, lanes, present)) return stay_to_meet(lanes);
        for (const LaneGroup& waiting : warp_.meeting)
            if (is_barrier(waiting)) add_runnable(warp_, waiting.at + 1, waiting.lanes);
        std::erase_if(warp_.meeting, is_barrier);
        ++group_.at;
    }

    void stay_to_meet(LaneMask lanes) {
        for (LaneGroup& waiting : warp_.meeting)
            if (waiting.at == group_.at) {
                waiting.lanes |= lanes;
                lanes = 0;
            }
        if (lanes) warp_.meeting.push_back({group_.at, lanes});
        group_.lanes = 0;
    }

    // Lanes that wait for others which have ended in the meantime go on. False if there are none.
    bool resume_meetings() {
        LaneMask at_warp_barriers = 0;
        for (const LaneGroup& waiting : warp_.meeting)
            if (kernel_.code[waiting.at].control == Control::warp_barrier) at_warp_barriers |= waiting.lanes;
        const auto is_complete = [&](const LaneGroup& waiting) {
            const Instruction& instruction = kernel_.code[waiting.at];
            const bool anywhere = instruction.control == Control::warp_barrier;
            return !missing(instruction, waiting.lanes, anywhere ? at_warp_barriers : waiting.lanes);
        };
        for (const LaneGroup& waiting : warp_.meeting)
            if (is_complete(waiting)) add_runnable(warp_, waiting.at, waiting.lanes);
        std::erase_if(warp_.meeting, is_complete);
        return !warp_.runnable.empty();
    }

    const Kernel& kernel_;
    Warp& warp_;
    LaneGroup group_{};
    Failure failure_;
    u64 done_ = 0;
};

struct FreeMemory {
    void operator()(u8* memory) const { std::free(memory); }
};
using HostMemory = std::unique_ptr<u8, FreeMemory>;

HostMemory new_memory(std::size_t bytes, int filling) {
    const std::size_t size = (bytes + 63) / 64 * 64 + 64;
    u8* memory = static_cast<u8*>(std::aligned_alloc(64, size));
    std::memset(memory, filling, size);
    return HostMemory(memory);
}

// Runs the blocks of a launch one after the other, in the same memory.
class LaunchRun {
public:
    explicit LaunchRun(const Launch& launch) : launch_(launch), kernel_(*launch.kernel) {
        const u32* block = launch.block;
        threads_ = block[0] * block[1] * block[2];
        const u32 warps = (threads_ + LANES - 1) / LANES;
        // Without barriers one warp is run to its end before the next begins, in the memory of the first.
        warps_.resize(kernel_.has_barrier ? warps : 1);
        const u32 local_bytes = (kernel_.local_bytes + 15) / 16 * 16;
        for (Warp& warp : warps_) {
            warp.registers = keep(new_memory(kernel_.register_bytes, 0));
            warp.local = keep(new_memory(std::size_t(local_bytes) * LANES, 0xff));
            warp.local_bytes = local_bytes;
            warp.block = &block_;
            for (const auto& [at, bytes] : kernel_.constants)
                std::memcpy(warp.registers + at, bytes.data(), bytes.size());
        }
        const u32 dynamic = launch.dynamic_shared_bytes;
        block_.shared = keep(new_memory(dynamic ? DYNAMIC_SHARED + dynamic : kernel_.shared_bytes, 0xff));
        block_.shared_bytes = kernel_.shared_bytes;
        block_.dynamic_shared_bytes = launch.dynamic_shared_bytes;
        block_.parameters = keep(new_memory(launch.parameters.size(), 0));
        block_.parameter_bytes = kernel_.parameter_bytes;
        std::memcpy(block_.parameters, launch.parameters.data(), launch.parameters.size());
        std::copy(launch.block, launch.block + 3, block_.size);
        std::copy(launch.grid, launch.grid + 3, block_.grid);
    }

    Failure run_all() {
        u32* index = block_.index;
        for (index[2] = 0; index[2] < launch_.grid[2]; ++index[2])
            for (index[1] = 0; index[1] < launch_.grid[1]; ++index[1])
                for (index[0] = 0; index[0] < launch_.grid[0]; ++index[0]) {
                    Failure failure = kernel_.has_barrier ? run_together() : run_in_turn();
                    if (failure.error != Error::none) return failure;
                }
        return {};
    }

private:
    u8* keep(HostMemory memory) {
        memory_.push_back(std::move(memory));
        return memory_.back().get();
    }

    void start(Warp& warp, u32 number) {
        warp.number = number;
        warp.live = 0;
        warp.runnable.clear();
        warp.meeting.clear();
        warp.at_barrier.clear();
        const u32* size = launch_.block;
        for (u32 lane = 0; lane < LANES; ++lane) {
            const u32 thread = number * LANES + lane;
            if (thread < threads_) warp.live |= LaneMask(1) << lane;
            warp.thread[0][lane] = thread % size[0];
            warp.thread[1][lane] = thread / size[0] % size[1];
            warp.thread[2][lane] = thread / (size[0] * size[1]);
        }
        warp.runnable.push_back({0, warp.live});
        if (measuring) ++counters.warps;
    }

    Failure run_in_turn() {
        for (u32 number = 0; number * LANES < threads_; ++number) {
            start(warps_[0], number);
            const Failure failure = WarpRun(kernel_, warps_[0]).go_on();
            if (failure.error != Error::none) return failure;
        }
        return {};
    }

    Failure run_together() {
        for (u32 number = 0; number < warps_.size(); ++number) start(warps_[number], number);
        do {
            for (std::size_t k = 0; k < warps_.size(); ++k) {
                Warp& warp = warps_[last_warp_first ? warps_.size() - 1 - k : k];
                const Failure failure = WarpRun(kernel_, warp).go_on();
                if (failure.error != Error::none) return failure;
            }
        } while (open_barriers());
        for (const Warp& warp : warps_)
            if (warp.live) return {Error::launch_timeout, "threads of a block wait at a barrier for ever"};
        return {};
    }

    // Let those go on whose barrier is complete. False if there are none.
    bool open_barriers() {
        u32 live = 0, arrived[16] = {}, needed[16] = {};
        for (const Warp& warp : warps_) live += static_cast<u32>(__builtin_popcount(warp.live));
        for (const Warp& warp : warps_)
            for (const Warp::AtBarrier& waiting : warp.at_barrier) {
                arrived[waiting.barrier & 15] += static_cast<u32>(__builtin_popcount(waiting.group.lanes));
                needed[waiting.barrier & 15] = waiting.threads ? waiting.threads : live;
            }
        bool any = false;
        for (Warp& warp : warps_) {
            const auto is_open = [&](const Warp::AtBarrier& waiting) {
                return arrived[waiting.barrier & 15] >= needed[waiting.barrier & 15];
            };
            for (const Warp::AtBarrier& waiting : warp.at_barrier)
                if (is_open(waiting)) {
                    add_runnable(warp, waiting.group.at, waiting.group.lanes);
                    any = true;
                }
            std::erase_if(warp.at_barrier, is_open);
        }
        return any;
    }

    const Launch& launch_;
    const Kernel& kernel_;
    u32 threads_ = 0;
    Block block_;
    std::vector<Warp> warps_;
    std::vector<HostMemory> memory_;
};

}  // namespace

void set_last_warp_first(bool is_so) { last_warp_first = is_so; }

Failure run(const Launch& launch) {
    if (measuring) ++counters.kernels_run;
    Failure failure = LaunchRun(launch).run_all();
    if (failure.error != Error::none) failure.text = "kernel " + launch.kernel->name + ": " + failure.text;
    return failure;
}

}  // namespace emulated
