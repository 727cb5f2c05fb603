// The tag of an entity that stays in this process: it is neither replicated nor saved.
#pragma once

namespace shoal {

struct Local {};

}  // namespace shoal
