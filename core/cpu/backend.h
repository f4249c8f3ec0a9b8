// The CPU backend: what each file of this folder registers.
#pragma once

#include "../engine/device.h"

namespace slipstream::cpu {

// Memory of the machine, with every kernel below provided.
std::unique_ptr<engine::Backend> make_cpu_backend();

// Structural operations.
void register_create(engine::Backend& backend);
void register_copy(engine::Backend& backend);
void register_join(engine::Backend& backend);
void register_matmul(engine::Backend& backend);
void register_scan(engine::Backend& backend);
void register_argreduce(engine::Backend& backend);
void register_sort(engine::Backend& backend);
void register_select(engine::Backend& backend);
void register_search(engine::Backend& backend);
void register_count(engine::Backend& backend);
void register_convolve(engine::Backend& backend);
void register_gather(engine::Backend& backend);
void register_scatter(engine::Backend& backend);
void register_masks(engine::Backend& backend);
void register_random(engine::Backend& backend);
void register_sample(engine::Backend& backend);
void register_host(engine::Backend& backend);
void register_conv(engine::Backend& backend);
void register_conv_weight(engine::Backend& backend);
void register_pool(engine::Backend& backend);
void register_recurrent(engine::Backend& backend);
void register_lu(engine::Backend& backend);
void register_qr(engine::Backend& backend);
void register_spectral(engine::Backend& backend);

}  // namespace slipstream::cpu
