#include "module.h"

#include <cstring>

#include "counters.h"
#include "device_memory.h"
#include "translator.h"

namespace emulated {

Module::Module(const std::string& text) {
    PtxText parts = read_module(text);
    const Counters before = counters;  // a module's variables are no allocations of the host
    for (const Declaration& declared : parts.variables) place(declared);
    counters = before;
    for (PtxFunction& function : parts.functions) {
        const std::string name = function.name;
        functions_[name] = std::move(function);
    }
}

Module::~Module() {
    const Counters before = counters;
    for (const auto& [name, memory] : variables_) device_memory.release(memory);
    counters = before;
}

void Module::place(const Declaration& declared) {
    if (declared.space == "shared") {
        if (declared.is_unsized) {
            shared_[declared.name] = DYNAMIC_SHARED;
            return;
        }
        shared_bytes_ = (shared_bytes_ + declared.align - 1) / declared.align * declared.align;
        shared_[declared.name] = shared_bytes_;
        shared_bytes_ += static_cast<u32>(declared.bytes());
        return;
    }
    u8* memory = static_cast<u8*>(device_memory.allocate(declared.bytes()));
    if (!memory) throw PtxError{"no memory for " + declared.name};
    std::memset(memory, 0, declared.bytes());
    fill(declared, memory);
    variables_[declared.name] = memory;
}

void Module::fill(const Declaration& declared, u8* memory) const {
    if (declared.initial.empty()) return;
    const bool is_list = declared.initial[0] == '{';
    const std::string list = is_list ? declared.initial.substr(1, declared.initial.rfind('}') - 1) : declared.initial;
    const u32 size = bytes_of_type(declared.type);
    u64 at = 0;
    for (const std::string& entry : split(list, ',')) {
        u64 bits = 0;
        if (!read_literal(entry, bits)) {
            const std::size_t plus = entry.find('+');
            bits = variable(stripped(entry.substr(0, plus)));
            if (!bits) throw PtxError{"initial value not understood: " + declared.name + " = " + entry};
            if (plus != std::string::npos) bits += std::strtoull(entry.c_str() + plus + 1, nullptr, 0);
        }
        std::memcpy(memory + at, &bits, size);
        at += size;
    }
}

const PtxFunction* Module::function(const std::string& name) const {
    const auto found = functions_.find(name);
    return found == functions_.end() ? nullptr : &found->second;
}

u64 Module::variable(const std::string& name) const {
    const auto found = variables_.find(name);
    return found == variables_.end() ? 0 : reinterpret_cast<u64>(found->second);
}

Kernel& Module::kernel(const std::string& name) {
    std::unique_ptr<Kernel>& known = kernels_[name];
    if (!known) known = std::make_unique<Kernel>(translate(*this, name));
    return *known;
}

}  // namespace emulated
