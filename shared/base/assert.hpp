// Assertions for programmers' mistakes. They stay on in release builds: a server that goes on after a broken
// invariant sends wrong state to everyone. Bytes from the wire never reach an assertion; their readers check.
#pragma once

namespace shoal {

/// Prints the broken rule to standard error and aborts. `message` says which rule was broken and, where it
/// can, what to do instead.
[[noreturn]] void assertion_failed(const char* condition, const char* message, const char* file, int line);

}  // namespace shoal

#define SHOAL_ASSERT(condition, message)                                    \
  do {                                                                      \
    if (!(condition)) [[unlikely]]                                          \
      ::shoal::assertion_failed(#condition, (message), __FILE__, __LINE__); \
  } while (false)

// The costly kind: on in debug builds, in the sanitizers' builds and in the simulation.
#if !defined(NDEBUG) || defined(SHOAL_ENABLE_FAULTS)
#define SHOAL_DEBUG_ASSERTS 1
#define SHOAL_DEBUG_ASSERT(condition, message) SHOAL_ASSERT(condition, message)
#else
#define SHOAL_DEBUG_ASSERTS 0
// Not evaluated, yet compiled: what only the assertion uses is no unused variable.
#define SHOAL_DEBUG_ASSERT(condition, message) static_cast<void>(sizeof((condition) ? 1 : 0))
#endif
