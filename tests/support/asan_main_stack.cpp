// SPDX-License-Identifier: Apache-2.0
// Only in sanitizer builds. SystemC tells AddressSanitizer of every switch between process stacks, but it does
// not know the program's own stack and names an empty one. From then on ASan cannot clean its shadow when an
// exception unwinds the main stack, and reports overflows that are not there. This stands before ASan's function
// and names the real stack.
#include <dlfcn.h>
#include <pthread.h>

#include <cstddef>

namespace {

struct Stack {
    void* bottom = nullptr;
    std::size_t size = 0;
};

/// Of the main thread, the only one there is.
Stack own_stack() {
    Stack stack;
    pthread_attr_t attributes;
    if (::pthread_getattr_np(::pthread_self(), &attributes) == 0) {
        ::pthread_attr_getstack(&attributes, &stack.bottom, &stack.size);
        ::pthread_attr_destroy(&attributes);
    }
    return stack;
}

}  // namespace

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the name is the sanitizer's.
extern "C" void __sanitizer_start_switch_fiber(void** fake_stack_save, const void* bottom, std::size_t size) {
    using Function = void (*)(void**, const void*, std::size_t);
    const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "__sanitizer_start_switch_fiber"));
    if (bottom == nullptr) {
        const Stack stack = own_stack();
        next(fake_stack_save, stack.bottom, stack.size);
    } else {
        next(fake_stack_save, bottom, size);
    }
}
