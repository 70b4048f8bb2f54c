// SPDX-License-Identifier: Apache-2.0
#pragma once
/// How the program uses the host's memory. Changes speed, never results.

namespace podsim {

/// Lets the heap use huge pages where the system has them on request: a run touches hundreds of MB in no
/// order, and a quarter of its time would go into address translation. Call first in main().
void prefer_huge_pages();

}  // namespace podsim
