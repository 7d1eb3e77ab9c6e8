#include "translator.h"

#include <algorithm>
#include <cctype>
#include <cstring>

namespace emulated {

namespace {

constexpr TranslateGroup GROUPS[] = {translate_moves,  translate_conversion, translate_lanes,
                                     translate_memory, translate_comparison, translate_carries,
                                     translate_bits,   translate_floats,     translate_integers};

constexpr std::size_t DEEPEST_CALL = 16;
constexpr u32 MOST_STATIC_SHARED = 48 * 1024;  // ptxas refuses more

u32 aligned(u32 offset, u32 align) { return (offset + align - 1) / align * align; }

bool is_one_of(const std::string& word, std::initializer_list<const char*> words) {
    return std::any_of(words.begin(), words.end(), [&](const char* other) { return word == other; });
}

}  // namespace

// ---------------------------------------------------------------- registers

Register Translator::new_register(u32 bytes) {
    const Register at = aligned(kernel.register_bytes, 64);  // a vector of the processor
    kernel.register_bytes = at + LANES * bytes;
    return at;
}

Register Translator::literal(u64 bits, u32 bytes) {
    if (bytes < 8) bits &= (u64(1) << (8 * bytes)) - 1;
    const auto known = literals_.find({bits, bytes});
    if (known != literals_.end()) return known->second;
    const Register at = new_register(bytes);
    std::vector<u8> everywhere(LANES * bytes);
    for (int lane = 0; lane < LANES; ++lane) std::memcpy(&everywhere[lane * bytes], &bits, bytes);
    kernel.constants.emplace_back(at, std::move(everywhere));
    literals_[{bits, bytes}] = at;
    return at;
}

std::optional<RegisterOfText> Translator::find_register(const std::string& text) {
    std::size_t prefix = text.size();
    while (prefix && std::isdigit(static_cast<unsigned char>(text[prefix - 1]))) --prefix;
    std::vector<Scope>& scopes = frames_.back();
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope) {
        const auto known = scope->registers.find(text);
        if (known != scope->registers.end()) return known->second;
        const auto range = scope->ranges.find(text.substr(0, prefix));
        if (range == scope->ranges.end()) continue;
        const RegisterOfText made{new_register(range->second), range->second};
        return scope->registers[text] = made;
    }
    return std::nullopt;
}

RegisterOfText Translator::named_register(const std::string& text) {
    if (text == "_") return {new_register(8), 8};  // a result that nobody reads
    const auto found = find_register(text);
    if (!found) throw PtxError{"no register " + text};
    return *found;
}

Register Translator::operand(const std::string& text, u32 bytes) {
    u64 bits = 0;
    if (read_literal(text, bits)) return literal(bits, bytes);
    if (text == "_") return new_register(bytes);
    if (const auto found = find_register(text)) {
        if (found->bytes < bytes) throw PtxError{"register " + text + " is too narrow"};
        if (found->bytes > bytes) throw PtxError{"register " + text + " is too wide"};
        return found->at;
    }
    Instruction read;
    const Register at = new_register(bytes);
    if (!read_special_register(text, at, bytes, read)) throw PtxError{"operand not understood: " + text};
    emit(std::move(read));
    return at;
}

// ---------------------------------------------------------------- names in memory

u32 Translator::local_memory(u64 bytes, u32 align) {
    kernel.local_bytes = aligned(kernel.local_bytes, std::max(align, 8u));
    const u32 at = kernel.local_bytes;
    kernel.local_bytes += static_cast<u32>(bytes);
    return at;
}

std::optional<Place> Translator::find_place(const std::string& name) {
    std::vector<Scope>& scopes = frames_.back();
    for (auto scope = scopes.rbegin(); scope != scopes.rend(); ++scope)
        if (const auto found = scope->places.find(name); found != scope->places.end()) return found->second;
    const auto shared = module_.shared_variables().find(name);
    if (shared != module_.shared_variables().end()) return Place{Place::shared, shared->second};
    if (const u64 address = module_.variable(name)) return Place{Place::global, address};
    return std::nullopt;
}

Address Translator::address(const std::string& text) {
    const std::string inside = stripped(text.substr(1, text.size() - 2));
    const std::size_t plus = inside.find('+');
    const std::string base = stripped(inside.substr(0, plus));
    Address made;
    if (plus != std::string::npos) made.offset = std::strtoll(inside.c_str() + plus + 1, nullptr, 0);
    u64 bits = 0;
    made.base = find_register(base);
    if (made.base) return made;
    if (read_literal(base, bits)) {
        made.offset += static_cast<s64>(bits);
        return made;
    }
    made.place = find_place(base);
    if (!made.place) throw PtxError{"address not understood: " + text};
    return made;
}

void Translator::declare(const std::string& text) {
    if (!text.compare(0, 7, ".pragma")) return;
    Scope& scope = frames_.back().back();
    if (!text.compare(0, 4, ".reg")) {
        const std::size_t dot = text.find('.', 4), end = text.find_first_of(" \t", dot);
        const u32 bytes = bytes_of_type(text.substr(dot + 1, end - dot - 1));
        for (const std::string& name : split(text.substr(end), ',')) {
            const std::size_t range = name.find('<');
            if (range != std::string::npos)
                scope.ranges[stripped(name.substr(0, range))] = bytes;
            else
                scope.registers[name] = {new_register(bytes), bytes};
        }
        return;
    }
    const Declaration declared = read_declaration(text);
    if (declared.space == "local" || declared.space == "param") {
        scope.places[declared.name] = {Place::local, local_memory(declared.bytes(), declared.align)};
    } else if (declared.space == "shared" && !declared.is_unsized) {
        const auto [found, is_new] = shared_.try_emplace({inlined_.back().function, declared.name}, 0);
        if (is_new) {
            found->second = aligned(kernel.shared_bytes, declared.align);
            kernel.shared_bytes = found->second + static_cast<u32>(declared.bytes());
        }
        scope.places[declared.name] = {Place::shared, found->second};
    } else {
        throw PtxError{"declaration not understood: " + text};
    }
}

// ---------------------------------------------------------------- statements

void Translator::emit(Instruction instruction) { kernel.code.push_back(std::move(instruction)); }

void Translator::statement(const std::string& text) {
    const Statement read = read_statement(text);
    Instruction made;
    if (!read.guard.empty()) {
        made.guard = operand(read.guard, sizeof(LaneMask));
        made.guard_negated = read.guard_negated;
    }
    if (read.opcode == "call") return call(read, made);
    try {
        bool is_known = control(read, made);
        for (std::size_t k = 0; k < std::size(GROUPS) && !is_known; ++k) is_known = GROUPS[k](read, *this, made);
        if (!is_known || (made.control == Control::ordinary && !made.execute))
            throw PtxError{"the emulated device does not know this instruction"};
    } catch (const PtxError& error) {
        throw PtxError{error.text + ": " + text};
    }
    emit(std::move(made));
}

bool Translator::control(const Statement& read, Instruction& made) {
    Inlined& function = inlined_.back();
    const u32 here = static_cast<u32>(kernel.code.size());
    if (read.opcode == "bra") {
        made.control = Control::branch;
        function.jumps.emplace_back(here, read.operands[0]);
    } else if (read.opcode == "ret" && inlined_.size() > 1) {
        made.control = Control::branch;
        function.returns.push_back(here);
    } else if (read.opcode == "ret" || read.opcode == "exit") {
        made.control = Control::exit;
    } else if (read.opcode == "trap" || read.opcode == "brkpt") {
        made.control = Control::trap;
        made.message = static_cast<u32>(kernel.messages.size());
        kernel.messages.push_back(read.opcode);
    } else if ((read.opcode == "bar" || read.opcode == "barrier") && read.has("warp")) {
        made.control = Control::warp_barrier;
        made.members = operand(read.operands[0], 4);
    } else if ((read.opcode == "bar" || read.opcode == "barrier") && read.has("sync") && !read.has("cluster")) {
        made.control = Control::block_barrier;
        made.a = operand(read.operands[0], 4);
        if (read.operands.size() > 1) made.b = operand(read.operands[1], 4);
        kernel.has_barrier = true;
    } else if (is_one_of(read.opcode, {"membar", "fence", "prefetch", "prefetchu", "discard", "nanosleep"})) {
        // One thread of the host runs everything: memory is in order.
        made.execute = [](Warp&, const Instruction&) {};
    } else {
        return false;
    }
    return true;
}

// `call (result), name, (parameters)`. Lanes that the guard leaves out jump over the function.
void Translator::call(const Statement& read, const Instruction& guard) {
    std::vector<std::string> results, parameters;
    const auto inside = [](const std::string& list) { return split(list.substr(1, list.size() - 2), ','); };
    std::size_t at = 0;
    if (read.operands[0][0] == '(') results = inside(read.operands[at++]);
    const std::string& name = read.operands[at++];
    if (at < read.operands.size() && read.operands[at][0] == '(') parameters = inside(read.operands[at]);

    const u32 jump = static_cast<u32>(kernel.code.size());
    if (guard.guard != NO_REGISTER) {
        Instruction over = guard;
        over.guard_negated = !over.guard_negated;
        over.control = Control::branch;
        emit(over);
    }
    if (name == "__assertfail") {
        Instruction made;
        made.control = Control::trap;
        made.message = static_cast<u32>(kernel.messages.size());
        kernel.messages.push_back("an assertion of the kernel failed");
        emit(made);
    } else if (name != "vprintf") {  // what kernels print is left out
        const PtxFunction* function = module_.function(name);
        if (!function) throw PtxError{"call of an unknown function: " + read.text};
        if (inlined_.size() > DEEPEST_CALL) throw PtxError{"functions call each other too deep: " + read.text};
        Scope scope;
        for (std::size_t k = 0; k < function->parameters.size(); ++k)
            scope.places[function->parameters[k].name] = find_place(parameters.at(k)).value();
        for (std::size_t k = 0; k < function->results.size(); ++k)
            scope.places[function->results[k].name] = find_place(results.at(k)).value();
        frames_.push_back({std::move(scope)});
        body(*function);
        frames_.pop_back();
    }
    if (guard.guard != NO_REGISTER) kernel.code[jump].target = static_cast<u32>(kernel.code.size());
}

void Translator::body(const PtxFunction& function) {
    inlined_.push_back({&function, {}, {}, {}});
    for (const BodyItem& item : read_body(function.body)) {
        switch (item.kind) {
            case BodyItem::open_scope: frames_.back().emplace_back(); break;
            case BodyItem::close_scope: frames_.back().pop_back(); break;
            case BodyItem::label: inlined_.back().labels[item.text] = static_cast<u32>(kernel.code.size()); break;
            case BodyItem::declaration: declare(item.text); break;
            case BodyItem::statement: statement(item.text); break;
        }
    }
    const Inlined& done = inlined_.back();
    const u32 end = static_cast<u32>(kernel.code.size());
    for (const auto& [jump, label] : done.jumps) {
        const auto target = done.labels.find(label);
        if (target == done.labels.end()) throw PtxError{"no label " + label};
        kernel.code[jump].target = target->second;
    }
    for (const u32 jump : done.returns) kernel.code[jump].target = end;
    inlined_.pop_back();
}

void Translator::translate_kernel(const PtxFunction& function) {
    kernel.name = function.name;
    kernel.shared_bytes = aligned(module_.shared_bytes(), 16);
    Scope scope;
    for (const Declaration& parameter : function.parameters) {
        kernel.parameter_bytes = aligned(kernel.parameter_bytes, parameter.align);
        scope.places[parameter.name] = {Place::parameter, kernel.parameter_bytes};
        kernel.parameters.push_back({kernel.parameter_bytes, static_cast<u32>(parameter.bytes())});
        kernel.parameter_bytes += static_cast<u32>(parameter.bytes());
    }
    frames_.push_back({std::move(scope)});
    body(function);
    frames_.pop_back();
    Instruction end;
    end.control = Control::exit;
    emit(end);
    if (kernel.shared_bytes > MOST_STATIC_SHARED) throw PtxError{"more than 48 KiB of static shared memory"};
}

Kernel translate(const Module& module, const std::string& name) {
    const PtxFunction* function = module.function(name);
    if (!function || !function->is_kernel) throw PtxError{"no kernel " + name};
    Translator translator(module);
    translator.translate_kernel(*function);
    return std::move(translator.kernel);
}

}  // namespace emulated
