// SPDX-License-Identifier: Apache-2.0
#include "models/memory/card_memory.hpp"

#include "models/engine/error.hpp"

#include <algorithm>
#include <limits>

namespace podsim {

namespace {

constexpr std::uint8_t kFromAfar = 0x80;

/// Cores 128 apart look like one.
std::uint8_t local_requester(CoreId core) { return static_cast<std::uint8_t>(index(core) & 0x7fU); }
std::uint8_t remote_requester(CardId card, CoreId core) {
    // Cores of a card differ while it has fewer than 128, and so do most of neighbouring cards: 67 is odd.
    return static_cast<std::uint8_t>(kFromAfar | ((index(card) * 67 + index(core)) & 0x7fU));
}

}  // namespace

CardMemory::CardMemory(const sc_core::sc_module_name& name, CardId card, const MemoryParams& params, PayloadMode mode,
                       ObserverIf* observer)
    : sc_module(name), card_(card), params_(params), gm_(mode), observer_(observer) {
    cores.bind(*this);
    network.bind(*this);
}

void CardMemory::preset(std::uint64_t offset, const Slice& data, bool in_l2) {
    std::uint32_t done = 0;
    while (done < data.length) {
        const auto room = static_cast<std::uint32_t>(kBlockBytes - offset % kBlockBytes);
        const std::uint32_t count = std::min(room, data.length - done);
        Line& line = gm_.line(line_of(offset));
        gm_.write(line, static_cast<std::uint32_t>(offset % kBlockBytes), data.sub(done, count));
        if (in_l2) {
            make_resident(line_of(offset), line);
        }
        offset += count;
        done += count;
    }
}

void CardMemory::make_resident(std::uint64_t number, Line& line) {
    if (line.in_l2) {
        return;
    }
    line.in_l2 = 1;
    check(number <= std::numeric_limits<std::uint32_t>::max(), "a line number fits 32 bits");
    resident_.push_back(static_cast<std::uint32_t>(number));
    if (resident_.size() > params_.l2_bytes / kBlockBytes) {
        Line& oldest = gm_.line(resident_.front());
        oldest.in_l2 = 0;
        oldest.dirty = 0;
        resident_.pop_front();
    }
}

bool CardMemory::in_conflict(const Line& line, std::uint8_t requester, Picoseconds arrives) const {
    // A core's own pieces of a line follow each other freely.
    if (line.busy_until() == 0 || line.requester() == requester) {
        return false;
    }
    const Picoseconds behind = line.from_hbm ? params_.hbm_extra_latency.get() : Picoseconds{0};
    return line.busy_until() + params_.l2_read_latency + behind > arrives;
}

Picoseconds CardMemory::start_request(Line& line, std::uint8_t requester, std::uint32_t bytes, Picoseconds made,
                                      Picoseconds way) {
    // What the whole card shares is queued for when a request is made and its way comes after: a store still on its
    // way must not keep the others waiting until it arrives.
    // Poll loops take their share of the L2 all the time; at least a tenth is always left for others.
    const auto full = static_cast<std::int64_t>(params_.l2_bandwidth.get());
    const std::int64_t left = std::max(full - poll_load_, full / 10);
    const Picoseconds served = std::max(l2_free_, made);
    const Picoseconds carried = service_time(bytes, static_cast<std::uint64_t>(left));
    const Picoseconds previous = line.busy_until();
    Picoseconds start = served + way;
    if (in_conflict(line, requester, made + way)) {
        ++statistics_.same_line_waits;
        l2_free_ = served + std::max(carried, params_.conflict_service.get());
        start = l2_free_ + way;
    } else {
        l2_free_ = served + carried;
    }
    start = std::max(start, previous);
    line.set_busy_until(start);
    line.set_requester(requester);
    line.from_hbm = 0;
    return start;
}

Picoseconds CardMemory::hbm_slot(std::uint32_t bytes, Picoseconds from) {
    statistics_.hbm_bytes += bytes;
    hbm_free_ = std::max(hbm_free_, from) + service_time(bytes, params_.hbm_bandwidth);
    return hbm_free_;
}

ReadReply CardMemory::read(CoreId core, std::uint64_t offset, std::uint32_t bytes, CacheHint hint, Picoseconds now,
                           Content& out) {
    return serve_read(gm_.line(line_of(offset)), local_requester(core), core, offset, bytes, hint, now, out);
}

ReadReply CardMemory::serve_read(Line& line, std::uint8_t requester, CoreId core, std::uint64_t offset,
                                 std::uint32_t bytes, CacheHint hint, Picoseconds now, Content& out) {
    const std::uint64_t number = line_of(offset);
    check(bytes > 0 && line_of(offset + bytes - 1) == number, "a read stays inside one line");
    gm_.read(line, static_cast<std::uint32_t>(offset % kBlockBytes), bytes, out);
    statistics_.read_bytes += bytes;
    ReadReply reply;
    reply.started = start_request(line, requester, bytes, now, 0);
    Picoseconds served = reply.started + params_.l2_read_latency;
    const bool bypass = hint == CacheHint::bypass_l2;
    reply.l2_hit = line.in_l2 && !bypass;
    if (!reply.l2_hit) {
        // HBM is reached through the L2, so its latency comes on top; bandwidth counts whole lines.
        served = std::max(served + params_.hbm_extra_latency, hbm_slot(kBlockBytes, reply.started));
        line.from_hbm = 1;
        if (bypass && line.dirty) {
            // The line goes to HBM first, and is clean then.
            const Picoseconds write_back = params_.bypass_dirty_extra;
            served += write_back;
            // A switch that delays nothing is not asked for: it would count as used.
            reply.stall = write_back > 0 && params_.bypass_dirty_stall ? write_back : 0;
            line.dirty = 0;
        }
        if (!bypass) {
            make_resident(number, line);
        }
    }
    reply.ready = served + params_.noc_latency;
    reply.stored = line.landed_ns() > 0;
    line.read(now);
    if (observer_ != nullptr) {
        observer_->block_read({card_, core, {card_, offset}, bytes, false}, now);
    }
    return reply;
}

Picoseconds CardMemory::partial_extra(std::uint64_t offset, std::uint32_t bytes) const {
    const bool whole_sectors = offset % kUbGranule == 0 && bytes % kUbGranule == 0;
    return whole_sectors ? 0 : params_.partial_store_extra.get();
}

Picoseconds CardMemory::store(CoreId core, std::uint64_t offset, BlockData data, Picoseconds now) {
    Line& line = gm_.line(line_of(offset));
    statistics_.store_bytes += data.length();
    const Picoseconds extra = partial_extra(offset, data.length());
    const Picoseconds start = start_request(line, local_requester(core), data.length(), now, params_.noc_latency);
    line.set_busy_until(line.busy_until() + extra);
    const Picoseconds lands = start + extra + params_.l2_write_latency;
    Landing& landing = new_landing(lands);
    landing.line = &line;
    landing.offset = offset;
    landing.data = std::move(data);
    landing.core = core;
    landing.remote = false;
    return lands + params_.noc_latency;
}

void CardMemory::arrive(BlockPacket packet, Picoseconds now) {
    const std::uint8_t requester = remote_requester(packet.requester_card, packet.requester_core);
    Line& line = gm_.line(line_of(packet.address.offset));
    if (packet.kind == BlockPacket::Kind::read_request) {
        Content content;
        const ReadReply served = serve_read(line, requester, packet.requester_core, packet.address.offset, packet.bytes,
                                            CacheHint::normal, now, content);
        // The reply leaves from the card port, not from a core of this card: no NoC way back.
        fabric->reply(std::move(packet), block_of(content), served.ready - params_.noc_latency);
        return;
    }
    statistics_.remote_bytes += packet.bytes;
    const Picoseconds extra = partial_extra(packet.address.offset, packet.bytes);
    const Picoseconds start = start_request(line, requester, packet.bytes, now, 0);
    line.set_busy_until(line.busy_until() + extra);
    Landing& landing = new_landing(start + extra + params_.l2_write_latency);
    landing.line = &line;
    landing.offset = packet.address.offset;
    landing.data = std::move(packet.data);
    landing.core = packet.requester_core;
    landing.remote = true;
    landing.packet = std::move(packet);
}

CardMemory::Landing& CardMemory::new_landing(Picoseconds at) {
    if (free_landings_.empty()) {
        free_landings_.push_back(static_cast<std::uint32_t>(landings_.size()));
        landings_.emplace_back();
    }
    const std::uint32_t place = free_landings_.back();
    free_landings_.pop_back();
    engine->schedule(*this, at, Phase::land, place);
    return landings_[place];
}

void CardMemory::on_event(Picoseconds now, Phase /*phase*/, std::uint64_t tag) {
    Landing& landing = landings_[tag];
    land(landing, now);
    landing.data = {};
    free_landings_.push_back(static_cast<std::uint32_t>(tag));
}

void CardMemory::land(Landing& landing, Picoseconds now) {
    const std::uint64_t number = line_of(landing.offset);
    Line& line = *landing.line;
    gm_.write(line, static_cast<std::uint32_t>(landing.offset % kBlockBytes), landing.data);
    make_resident(number, line);
    line.dirty = 1;
    line.landed(now);
    if (observer_ != nullptr) {
        const CardId from = landing.remote ? landing.packet.requester_card : card_;
        observer_->block_landed({from, landing.core, {card_, landing.offset}, landing.data.length(), landing.remote},
                                now);
    }
    if (line.watched) {
        // A watcher may stop watching while it is told.
        const auto interested = watchers_[number];
        for (LineWatcherIf* watcher : interested) {
            watcher->line_changed(number, now);
        }
    }
    if (landing.remote) {
        fabric->acknowledge(landing.packet, now);
    }
}

void CardMemory::watch(std::uint64_t line, LineWatcherIf& watcher) {
    watchers_[line].push_back(&watcher);
    gm_.line(line).watched = 1;
}

void CardMemory::unwatch(std::uint64_t line, LineWatcherIf& watcher) {
    auto& list = watchers_[line];
    list.erase(std::remove(list.begin(), list.end(), &watcher), list.end());
    if (list.empty()) {
        watchers_.erase(line);
        gm_.line(line).watched = 0;
    }
}

std::uint32_t CardMemory::watchers(std::uint64_t line) const {
    const auto found = watchers_.find(line);
    return found == watchers_.end() ? 0 : static_cast<std::uint32_t>(found->second.size());
}

void CardMemory::peek(std::uint64_t offset, std::uint32_t bytes, Content& out) const { gm_.read(offset, bytes, out); }

Picoseconds CardMemory::hit_latency() const { return 2 * params_.noc_latency + params_.l2_read_latency; }

}  // namespace podsim
