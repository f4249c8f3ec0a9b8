// The gradient of a convolution for its weight: images in parts, each summed on its own, then the parts' sums.
#include <bit>

#include "../ops/conv.h"
#include "backend.h"
#include "conv_image.h"
#include "dispatch.h"

namespace slipstream::cpu {

namespace {

template <class T>
class ConvolveWeight final : public Kernel {
  static constexpr int64_t kDepth = 600;  // weights of a filter at a time
  static constexpr int64_t kImages = (3 << 16) / static_cast<int64_t>(sizeof(T));  // elements of images at a time
  static constexpr int64_t kPlaces = 256;  // of gradients at a time
  static constexpr int64_t kTurned = 64;  // places whose gradients are turned at a time: they stay in the first cache
  static constexpr int64_t kDeep = 512;  // multiply-adds of a weight in a part, for which its sum is worth storing
  static constexpr int64_t kSums = 1 << 22;  // elements of all parts' sums
  static constexpr double kWork = (4 << 20) / static_cast<double>(sizeof(T) / 4);  // multiply-adds of a chunk

 public:
  explicit ConvolveWeight(const Record& call)
      : params_(call.as<ConvParams>()),
        gradient_(reinterpret_cast<const T*>(call.inputs[0].data())),
        data_(reinterpret_cast<const T*>(call.inputs[1].data())),
        out_(reinterpret_cast<T*>(call.outputs[0].data())),
        images_(call.inputs[1].shape[0]),
        groups_(params_.groups),
        channels_(call.inputs[1].shape[1] / groups_),
        filters_(call.inputs[0].shape[1] / groups_) {
    for (size_t i = 0; i < 3; i++) {
      int axis = static_cast<int>(i) + 2;
      result_[i] = call.inputs[0].shape[axis];
      image_.size[i] = call.inputs[1].shape[axis];
      kernel_[i] = call.outputs[0].shape[axis];
    }
    taps_ = volume(kernel_);
    one_ = filters_ == 1;
    int64_t all = chunks_of(filters_, loops_.lanes);
    panels_ = chunks_of(all, loops_.across);
    vectors_ = static_cast<int>(chunks_of(all, panels_));
    lanes_ = one_ ? 1 : vectors_ * loops_.lanes;
    empty_ = call.outputs[0].size() == 0;
    if (empty_) return;
    cut();
    sums_.reset(new T[static_cast<size_t>(parts_ * all_sums())]);
  }

  int phases() const override { return 2; }
  int64_t chunks(int phase) const override {
    if (empty_) return 1;
    return phase == 0 ? parts_ * cells() : chunks_of(groups_ * panels_, panels_per_chunk()) * cuts();
  }

  void run(int phase, int64_t chunk) override {
    if (empty_) return;
    if (phase == 0) return sum_part(chunk / cells(), chunk % cells());
    int64_t n = weights_per_chunk(), first = chunk % cuts() * n, end = std::min(first + n, channels_ * taps_);
    int64_t panel = chunk / cuts() * panels_per_chunk(), last = std::min(panel + panels_per_chunk(), groups_ * panels_);
    for (; panel < last; panel++) add_parts(panel / panels_, panel % panels_, first, end);
  }

 private:
  // ---- the cut, by shape alone

  void cut() {
    image_.split = params_.stride;
    image_.before = params_.pad;
    for (int64_t a = 0; a < kernel_[0]; a++)
      for (int64_t b = 0; b < kernel_[1]; b++)
        for (int64_t c = 0; c < kernel_[2]; c++)
          places_.push_back({a * params_.dilate[0], b * params_.dilate[1], c * params_.dilate[2]});
    block_ = std::clamp<int64_t>(kDepth / taps_, 1, channels_);
    cut_bands();
    double work = 1;
    for (int64_t n : {images_, volume(result_), groups_ * filters_, channels_, taps_}) work *= static_cast<double>(n);
    int64_t units = images_ * bands_;
    parts_ = std::clamp<int64_t>(static_cast<int64_t>(work / kWork), 1, 16);
    parts_ = std::min(parts_, images_ * volume(result_) / kDeep);
    parts_ = std::max<int64_t>(1, std::min({parts_, units, kSums / std::max<int64_t>(1, all_sums())}));
    int64_t wanted = static_cast<int64_t>(std::min(16.0, work / kWork)) / parts_;
    group_cells_ = std::clamp<int64_t>(wanted, 1, groups_);
    int64_t most = std::max<int64_t>(1, wanted / group_cells_);
    block_ = std::min(block_, std::max<int64_t>(1, (channels_ + most - 1) / most));
    blocks_ = chunks_of(channels_, block_);
    cut_bands();
    for (int64_t c = 0; c < block_; c++)
      for (const Axes3& at : places_) offsets_.push_back(c * image_.plane + image_.offset(at));
  }

  void cut_bands() {
    image_.cut = result_[0] > 1 ? 0 : 1;
    auto cut = static_cast<size_t>(image_.cut);
    int64_t all = result_[cut], per_row = volume(result_) / all;
    if (band_ == 0) {
      band_ = all;
      Axes3 steps = result_;
      for (;;) {
        steps[cut] = band_;
        image_.fit(steps, places_);
        if (band_ == 1 || (block_ * image_.plane <= kImages && band_ * per_row <= 2 * kPlaces)) break;
        band_ = (band_ + 1) / 2;
      }
      bands_ = chunks_of(all, band_);
      band_ = (all + bands_ - 1) / bands_;
      bands_ = chunks_of(all, band_);
    }
    Axes3 steps = result_;
    steps[cut] = band_;
    image_.fit(steps, places_);
  }

  // Cells: blocks of groups, and for each, blocks of channels.
  int64_t cells() const { return group_cells_ * blocks_; }
  int64_t group_sums() const { return panels_ * lanes_ * channels_ * taps_; }
  int64_t all_sums() const { return groups_ * group_sums(); }
  // To add up the parts: cuts of the weights of a panel of filters, or several panels at a time.
  int64_t weights_per_chunk() const { return std::max<int64_t>(1, (1 << 16) / (lanes_ * parts_)); }
  int64_t cuts() const { return chunks_of(channels_ * taps_, weights_per_chunk()); }
  int64_t panels_per_chunk() const { return std::max<int64_t>(1, weights_per_chunk() / (channels_ * taps_)); }

  // Where the sums of a panel of filters begin: for each weight, one for each filter.
  T* sums(int64_t part, int64_t group, int64_t panel) const {
    return sums_.get() + part * all_sums() + group * group_sums() + panel * lanes_ * channels_ * taps_;
  }

  // ---- one part of the images, one cell

  void sum_part(int64_t part, int64_t cell) {
    int64_t block = cell % blocks_, groups = cell / blocks_;
    int64_t first = block * block_, n = std::min(block_, channels_ - first);
    int64_t units = images_ * bands_;
    for (int64_t group = groups * groups_ / group_cells_; group < (groups + 1) * groups_ / group_cells_; group++) {
      for (int64_t panel = 0; panel < panels_; panel++)
        std::fill_n(sums(part, group, panel) + first * taps_ * lanes_, n * taps_ * lanes_, T(0));
      for (int64_t unit = part * units / parts_; unit < (part + 1) * units / parts_; unit++)
        add_unit(part, group, first, n, unit / bands_, unit % bands_ * band_);
    }
  }

  // A band of one image.
  void add_unit(int64_t part, int64_t group, int64_t first, int64_t n, int64_t image, int64_t band) {
    auto cut = static_cast<size_t>(image_.cut);
    int64_t in_plane = volume(image_.size), out_plane = volume(result_);
    engine::ThreadRoom<T> images(block_ * image_.plane + 2 * loops_.lanes),
        panel_room(one_ ? 0 : band_ * volume(result_) / result_[cut] * lanes_);
    T* planes = images.data();
    const T* data = data_ + ((image * groups_ + group) * channels_ + first) * in_plane;
    image_.fill(planes, data, n, band);

    Axes3 size = result_;
    size[cut] = std::min(band_, result_[cut] - band);
    int64_t per_row = out_plane / result_[cut];
    const T* gradient = gradient_ + (image * groups_ + group) * filters_ * out_plane + band * per_row;
    for (int64_t panel = 0; panel < panels_; panel++) {
      const T* g = turned(gradient + panel * lanes_ * out_plane, volume(size), panel, panel_room.data());
      T* to = sums(part, group, panel) + first * taps_ * lanes_;
      add_panel(planes, g, size, n * taps_, to);
    }
  }

  // The gradients of a panel of filters, those of one place side by side: where they lie, or turned to `to`.
  const T* turned(const T* from, int64_t places, int64_t panel, T* to) {
    if (one_) return from;
    int64_t out_plane = volume(result_), width = std::min(lanes_, filters_ - panel * lanes_);
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    if (width < lanes_) std::fill_n(to, places * lanes_, T(0));
    for (int64_t i = 0; i < places; i += kTurned)
      loops().transpose[std::countr_zero(sizeof(T))](to + i * lanes_, lanes_, reinterpret_cast<const char*>(from + i),
                                                     std::min(kTurned, places - i), width, item, out_plane * item);
    return to;
  }

  void add_panel(const T* planes, const T* gradients, const Axes3& size, int64_t weights, T* to) {
    int64_t most = one_ ? kConvHeight : loops_.height(vectors_), blocks = chunks_of(weights, most);
    for (int64_t d = 0; d < size[0]; d++) {
      const T* image = planes + d * image_.rows[1] * image_.rows[2];
      const T* g = gradients + d * size[1] * size[2] * lanes_;
      bool dense = image_.rows[2] == size[2];
      for (int64_t b = 0; b < blocks; b++) {
        int64_t begin = b * weights / blocks, height = (b + 1) * weights / blocks - begin;
        ConvWeightBlock<T> w{
            image,          offsets_.data() + begin, g,     dense ? 1 : size[1], dense ? size[1] * size[2] : size[2],
            image_.rows[2], to + begin * lanes_,     lanes_};
        if (one_)
          loops_.one_filter[height - 1](w);
        else
          loops_.weights[height - 1][vectors_ - 1](w);
      }
    }
  }

  // The parts' sums of some weights of a panel of filters, added up in their order and turned: now one filter's weights
  // lie side by side.
  void add_parts(int64_t group, int64_t panel, int64_t first, int64_t end) {
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    int64_t n = (end - first) * lanes_, weights = channels_ * taps_;
    T* all = sums(0, group, panel) + first * lanes_;
    for (int64_t part = 1; part < parts_; part++) {
      const T* from = sums(part, group, panel) + first * lanes_;
      for (int64_t i = 0; i < n; i++) all[i] += from[i];
    }
    int64_t width = std::min(lanes_, filters_ - panel * lanes_);
    T* to = out_ + (group * filters_ + panel * lanes_) * weights + first;
    loops().transpose[std::countr_zero(sizeof(T))](to, weights, reinterpret_cast<const char*>(all), width, end - first,
                                                   item, lanes_ * item);
  }

  const ConvLoops<T>& loops_ = conv_loops<T>();
  const ConvParams& params_;
  const T *gradient_, *data_;
  T* out_;
  int64_t images_, groups_, channels_, filters_;  // channels and filters of a group
  Axes3 result_, kernel_;
  int64_t taps_ = 1;
  bool one_ = false, empty_ = false;  // one: a single filter in each group
  int vectors_ = 1;
  int64_t lanes_ = 1, panels_ = 1;  // filters side by side
  std::vector<Axes3> places_;
  std::vector<int64_t> offsets_;
  ConvImage image_;
  int64_t block_ = 1, blocks_ = 1;  // channels at a time
  int64_t band_ = 0, bands_ = 1;  // rows at a time
  int64_t parts_ = 1, group_cells_ = 1;
  std::unique_ptr<T[]> sums_;
};

std::unique_ptr<Kernel> make_weight_gradient(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<ConvolveWeight<float>>(call);
  return std::make_unique<ConvolveWeight<double>>(call);
}

}  // namespace

void register_conv_weight(engine::Backend& backend) { backend.provide(kConvolutionWeight, make_weight_gradient); }

}  // namespace slipstream::cpu
