// SPDX-License-Identifier: Apache-2.0
/// What the program asks of jemalloc, which looks for this variable.
///
/// A large run touches gigabytes in no order: with pages of 4 KB most of its time would go into looking up
/// addresses (288 cards, batch 128: three times as long). Where the system grants no huge pages nothing changes
/// but speed. Freed memory is kept: the next packet wants it.
extern "C" {
extern const char* malloc_conf;
const char* malloc_conf = "thp:always,metadata_thp:auto,dirty_decay_ms:-1,muzzy_decay_ms:-1";
}
