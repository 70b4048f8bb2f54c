// SPDX-License-Identifier: Apache-2.0
#pragma once
/// The send side: a core's share of the card's copies, each loaded, quantized, packed and stored to its slot on
/// the card that has the expert. Nothing passes through the own card's GM.
#include "algorithms/dispatch/block_pack.hpp"
#include "algorithms/dispatch/row_quantizer.hpp"
#include "algorithms/dispatch/row_receiver.hpp"
#include "algorithms/dispatch/row_slots.hpp"

namespace podsim {

class RowSender {
public:
    /// `receiver` gets a turn after each row, if the options say so.
    RowSender(CoreState& core, RowSlots& slots, BlockPack& pack, RowReceiver& receiver)
        : c_(core), slots_(slots), pack_(pack), receiver_(receiver), aiv_(core.aiv), row_(core.row) {}

    Task<void> send_rows();
    /// Waits until the send buffers are free. Where the receive side needs their room, send_rows() has done so.
    void close();

private:
    struct Copy {
        std::uint32_t token, k, card, local, slot;
    };

    Task<void> send_share(std::uint32_t senders);
    Task<void> send_own_experts(std::uint32_t senders);
    Task<void> send_expert(std::uint32_t expert, LocalTensor<std::uint8_t> map, std::uint32_t member,
                           std::uint32_t members);
    Task<void> send_selection(std::uint32_t i, std::uint32_t ahead);
    Task<void> send_row(const Copy& copy);
    Task<void> quantize(const Copy& copy, LocalTensor<std::uint8_t> to, std::uint8_t b);
    void load(const Copy& copy, LocalTensor<std::uint8_t> to);
    Task<void> stage(const Copy& copy, std::uint8_t b);
    void await_rows_before();
    void set_triple(LocalTensor<std::uint8_t> at, const Copy& copy);
    void send_token_flag(GlobalTensor<std::uint8_t> slot);
    void open_buffers();

    CoreState& c_;
    RowSlots& slots_;
    BlockPack& pack_;
    RowReceiver& receiver_;
    Aiv& aiv_;
    const RowLayout& row_;
    std::optional<RowQuantizer> quantizer_;
    LocalTensor<bfloat16> in_[2];
    LocalTensor<std::uint8_t> plain_;
    LocalTensor<std::int32_t> flag_;
    bool open_ = false;
    std::uint8_t inputs_ = 0, next_input_ = 0, next_buffer_ = 0;
    std::uint32_t staged_token_ = ~std::uint32_t{0};  ///< whose row plain_ holds
    float staged_scale_ = 0;
};

}  // namespace podsim
