// A loaded module: its variables in device memory, and its kernels, translated when they are first asked for.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "instruction.h"
#include "ptx_text.h"

namespace emulated {

class Module {
public:
    explicit Module(const std::string& text);  // throws PtxError
    ~Module();
    Module(const Module&) = delete;
    Module& operator=(const Module&) = delete;

    Kernel& kernel(const std::string& name);  // throws PtxError

    const PtxFunction* function(const std::string& name) const;
    // Address of a variable in device memory; 0 if there is none of this name.
    u64 variable(const std::string& name) const;
    // Offsets of shared variables of the module, and the bytes that they take.
    const std::map<std::string, u32>& shared_variables() const { return shared_; }
    u32 shared_bytes() const { return shared_bytes_; }

private:
    void place(const Declaration& declared);
    void fill(const Declaration& declared, u8* memory) const;

    std::map<std::string, PtxFunction> functions_;
    std::map<std::string, u8*> variables_;
    std::map<std::string, u32> shared_;
    u32 shared_bytes_ = 0;
    std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace emulated
