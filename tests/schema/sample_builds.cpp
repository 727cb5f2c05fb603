// The generated headers stand alone, one after the other and twice.
#include "tests/schema/sample.hpp"
#include "tests/schema/sample_descriptors.hpp"

static_assert(sample::game::Scalars{.flag = true}.flag);
static_assert(sample::game::Nested{}.targets[1].is_null());
