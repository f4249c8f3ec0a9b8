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
void register_take(engine::Backend& backend);
void register_random(engine::Backend& backend);
void register_host(engine::Backend& backend);
void register_fft(engine::Backend& backend);
void register_lu(engine::Backend& backend);
void register_qr(engine::Backend& backend);
void register_spectral(engine::Backend& backend);

}  // namespace slipstream::cpu
