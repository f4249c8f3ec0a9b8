// Convolutions and their gradients for data: padded images in the cache, blocks of filters and places in registers.
#include "../ops/conv.h"

#include <bit>
#include <set>

#include "backend.h"
#include "conv_image.h"
#include "dispatch.h"

namespace slipstream::cpu {

namespace {

Axes3 sizes_of(const Operand& x) { return {x.shape[2], x.shape[3], x.shape[4]}; }

// Results that lie side by side, from a lane of a block on.
struct Run {
  int32_t lane, n;
  int64_t out, step;
};

// Vectors of places, of one image or of several: where they begin in the images and in the results.
struct Tile {
  static constexpr int64_t kInRuns = -1;
  int32_t vectors;
  int32_t runs, last;  // where results go that do not fill their vector
  int64_t image[kConvVectors];
  int64_t out[kConvVectors];  // of those that do, else kInRuns
};

struct Tiling {
  std::vector<Tile> tiles;
  std::vector<Run> runs;

  // One more vector in the last tile, or in a new one.
  void add_vector(int most, int64_t image, int64_t out) {
    auto last = static_cast<int32_t>(runs.size());
    if (tiles.empty() || tiles.back().vectors == most) tiles.push_back({0, last, last, {}, {}});
    Tile& tile = tiles.back();
    tile.image[tile.vectors] = image;
    tile.out[tile.vectors++] = out;
  }

  // Goes on with the run before it where it can. `lane`: of the tile.
  void add_run(int64_t lane, int64_t n, int64_t out, int64_t step) {
    Tile& tile = tiles.back();
    if (tile.last > tile.runs) {
      Run& before = runs.back();
      if (before.lane + before.n == lane && before.out + before.n * before.step == out && before.step == step) {
        before.n += static_cast<int32_t>(n);
        return;
      }
    }
    runs.push_back({static_cast<int32_t>(lane), static_cast<int32_t>(n), out, step});
    tile.last++;
  }
};

struct Tap {
  int64_t weight;  // its place in the kernel
  Axes3 at;        // where it reads for the first result
};

// Results origin + step * t for t in the grid, each a sum over the same taps, moved by t.
struct Pass {
  Axes3 origin{0, 0, 0}, step{1, 1, 1}, grid;
  std::vector<Tap> taps;
  std::vector<int64_t> offsets;  // in the images of a block of channels
  int64_t packed = 0;            // where its weights begin
  Tiling tilings[2][2];          // of a band of some images; [1]: of the last band, of the last images
  int64_t band_step = 0;         // from row to row along the axis of bands, in the result
};

template <class F>
void each_tap(const Axes3& kernel, F f) {
  int64_t number = 0;
  for (int64_t a = 0; a < kernel[0]; a++)
    for (int64_t b = 0; b < kernel[1]; b++)
      for (int64_t c = 0; c < kernel[2]; c++) f(Axes3{a, b, c}, number++);
}

std::vector<Pass> forward_passes(const ConvParams& p, const Axes3& kernel, const Axes3& result) {
  Pass pass;
  pass.grid = result;
  each_tap(kernel, [&](const Axes3& k, int64_t number) {
    pass.taps.push_back({number, {k[0] * p.dilate[0], k[1] * p.dilate[1], k[2] * p.dilate[2]}});
  });
  return {pass};
}

// Data at y takes part in the result r with r * stride = y + pad - k * dilate: for each remainder of y by the stride
// the k that fit are others. Places may be negative here.
std::vector<Pass> data_passes(const ConvParams& p, const Axes3& kernel, const Axes3& data) {
  std::vector<Pass> passes;
  each_tap(p.stride, [&](const Axes3& remainder, int64_t) {
    Pass pass;
    pass.origin = remainder;
    pass.step = p.stride;
    for (size_t i = 0; i < 3; i++) {
      if (remainder[i] >= data[i]) return;
      pass.grid[i] = (data[i] - remainder[i] + p.stride[i] - 1) / p.stride[i];
    }
    each_tap(kernel, [&](const Axes3& k, int64_t number) {
      Tap tap{number, {}};
      for (size_t i = 0; i < 3; i++) {
        int64_t far = remainder[i] + p.pad[i] - k[i] * p.dilate[i];
        if (far % p.stride[i] != 0) return;
        tap.at[i] = far / p.stride[i];
      }
      pass.taps.push_back(tap);
    });
    passes.push_back(std::move(pass));
  });
  return passes;
}

// An axis of places: so many, and how far apart they lie in the image and in the result.
struct Line {
  int64_t n, image, out;
};

// At most three lines, outermost first, joined where one continues the other.
struct Grid {
  std::vector<Line> lines;
  explicit Grid(const std::array<Line, 3>& axes) {
    for (int i = 2; i >= 0; i--) {
      const Line& axis = axes[static_cast<size_t>(i)];
      if (axis.n == 1) continue;
      if (!lines.empty()) {
        Line& inner = lines.front();
        if (axis.image == inner.n * inner.image && axis.out == inner.n * inner.out) {
          inner.n *= axis.n;
          continue;
        }
      }
      lines.insert(lines.begin(), axis);
    }
    if (lines.empty() || lines.back().image != 1) lines.push_back({1, 1, 1});
  }

  // From the first place to the last, gaps included.
  int64_t span() const {
    int64_t n = 1;
    for (const Line& line : lines) n += (line.n - 1) * line.image;
    return n;
  }
  int64_t outer() const {
    int64_t n = 1;
    for (size_t i = 0; i + 1 < lines.size(); i++) n *= lines[i].n;
    return n;
  }

  // Where each innermost line begins, in the image and in the result.
  template <class F>
  void each_row(F f) const {
    Line far{1, 0, 0}, near{1, 0, 0};
    if (lines.size() > 1) near = lines[lines.size() - 2];
    if (lines.size() > 2) far = lines[0];
    for (int64_t a = 0; a < far.n; a++)
      for (int64_t b = 0; b < near.n; b++) f(a * far.image + b * near.image, a * far.out + b * near.out);
  }
};

template <class T>
class Convolve final : public Kernel {
  static constexpr int64_t kMostLanes = 64 / static_cast<int64_t>(sizeof(T));
  static constexpr int64_t kDepth = 600;  // weights of a filter at a time
  static constexpr int64_t kRows = 288;  // rows of images that a block reads
  static constexpr int64_t kImages = (3 << 16) / static_cast<int64_t>(sizeof(T));  // elements of images at a time
  static constexpr int64_t kUnits = 16;  // enough for the cores
  static constexpr double kWork = (4 << 20) / static_cast<double>(sizeof(T) / 4);  // multiply-adds of a chunk

 public:
  Convolve(const Record& call, bool backwards)
      : params_(call.as<ConvParams>()),
        in_(reinterpret_cast<const T*>(call.inputs[0].data())),
        weight_(reinterpret_cast<const T*>(call.inputs[1].data())),
        bias_(call.inputs.size() > 2 ? reinterpret_cast<const T*>(call.inputs[2].data()) : nullptr),
        out_(reinterpret_cast<T*>(call.outputs[0].data())),
        backwards_(backwards),
        images_(call.outputs[0].shape[0]),
        groups_(params_.groups),
        channels_(call.inputs[0].shape[1] / groups_),
        filters_(call.outputs[0].shape[1] / groups_),
        out_size_(sizes_of(call.outputs[0])),
        kernel_(sizes_of(call.inputs[1])) {
    passes_ = backwards ? data_passes(params_, kernel_, out_size_) : forward_passes(params_, kernel_, out_size_);
    image_.size = sizes_of(call.inputs[0]);
    image_.split = backwards ? Axes3{1, 1, 1} : params_.stride;
    empty_ = images_ == 0 || filters_ == 0;
    alone_ = channels_ == 1 && filters_ == 1 && passes_.size() == 1;
    if (empty_) return;
    place_taps();
    cut_channels();
    cut_bands();
    cut_filters();
    offsets();
    if (!alone_) find_tiles();
    packed_.reset(new T[static_cast<size_t>(std::max<int64_t>(1, weights_))]);
  }

  int phases() const override { return 2; }
  int64_t chunks(int phase) const override {
    if (empty_) return 1;
    if (phase == 0) return weights_ < (1 << 15) ? 1 : pack_items();
    return chunks_of(items(), per_chunk_);
  }

  void run(int phase, int64_t chunk) override {
    if (empty_) return;
    if (phase == 0) {
      bool all = chunks(0) == 1;
      for (int64_t i = all ? 0 : chunk; i < (all ? pack_items() : chunk + 1); i++) pack(i);
    } else {
      for (int64_t i = chunk * per_chunk_; i < std::min(items(), (chunk + 1) * per_chunk_); i++) run_item(i);
    }
  }

 private:
  // ---- the cut, by shape alone

  void place_taps() {
    if (!backwards_) image_.before = params_.pad;
    for (Pass& pass : passes_)
      for (const Tap& tap : pass.taps)
        for (size_t i = 0; i < 3; i++) image_.before[i] = std::max(image_.before[i], -tap.at[i]);
    for (Pass& pass : passes_) {
      pass.packed = weights_;
      weights_ += groups_ * channels_ * filters_ * static_cast<int64_t>(pass.taps.size());
      most_taps_ = std::max(most_taps_, static_cast<int64_t>(pass.taps.size()));
      if (backwards_)
        for (Tap& tap : pass.taps)
          for (size_t i = 0; i < 3; i++) tap.at[i] += image_.before[i];
      for (const Tap& tap : pass.taps) places_.push_back(tap.at);
      for (size_t i = 0; i < 3; i++) steps_[i] = std::max(steps_[i], pass.grid[i]);
    }
  }

  // As many as keep what a block reads of their images in the first cache.
  void cut_channels() {
    int64_t rows = 1;
    for (const Pass& pass : passes_) {
      std::set<Axes3> some;
      for (const Tap& tap : pass.taps) some.insert({tap.at[0], tap.at[1], tap.at[2] % image_.split[2]});
      rows = std::max(rows, static_cast<int64_t>(some.size()));
    }
    int64_t most = std::max<int64_t>(1, std::min(kDepth / std::max<int64_t>(most_taps_, 1), kRows / rows));
    blocks_ = chunks_of(channels_, most);
    block_ = std::max<int64_t>(1, (channels_ + blocks_ - 1) / blocks_);
    blocks_ = chunks_of(channels_, block_);
  }

  // As many rows at a time as keep the images of a block of channels in the cache, and both cores at work.
  void cut_bands() {
    image_.cut = steps_[0] > 1 ? 0 : 1;
    auto cut = static_cast<size_t>(image_.cut);
    int64_t all = steps_[cut];
    bands_ = 1;
    for (;;) {
      band_ = (all + bands_ - 1) / bands_;
      Axes3 steps = steps_;
      steps[cut] = band_;
      image_.fit(steps, places_);
      bool few = images_ * groups_ * bands_ < kUnits && work() > kWork && band_ * steps_[2] >= 16 * lanes_;
      if (band_ == 1 || (block_ * image_.plane <= kImages && !few)) break;
      bands_ *= 2;
    }
    bands_ = chunks_of(all, band_);
  }

  // Images go together where they are small: then more than one takes part in what is read of the weights.
  void cut_filters() {
    vectors_ = filters_ * kConvVectors <= loops_.sums ? kConvVectors : loops_.vectors;
    panels_ = chunks_of(filters_, loops_.height(vectors_));
    low_panel_ = filters_ / panels_;
    high_panels_ = filters_ % panels_;
    heavy_ = channels_ * most_taps_ * filters_ > volume(steps_) * (channels_ + filters_);
    if (bands_ == 1) {
      together_ = std::min(images_, kImages / (block_ * image_.plane));
      if (!heavy_) together_ = std::min(together_, static_cast<int64_t>(kWork / (work() + 1)));
      together_ = std::max<int64_t>(1, std::min<int64_t>(together_, 64));
    }
    sets_ = chunks_of(images_, together_);
    int64_t units = sets_ * groups_ * bands_;
    double each = work() * static_cast<double>(together_);
    if (units < kUnits && each > kWork) parts_ = std::min((panels_ + 3) / 4, (kUnits + units - 1) / units);
    per_chunk_ = std::clamp<int64_t>(static_cast<int64_t>(kWork / (each / static_cast<double>(parts_) + 1)), 1, 256);
  }

  // The same for all items but the last band and the last images.
  void find_tiles() {
    auto cut = static_cast<size_t>(image_.cut);
    for (Pass& pass : passes_) {
      pass.band_step = pass.step[cut] * (cut == 0 ? out_size_[1] * out_size_[2] : out_size_[2]);
      for (bool last_band : {false, true})
        for (bool last_set : {false, true}) {
          int64_t rows = last_band ? pass.grid[cut] - (bands_ - 1) * band_ : bands_ > 1 ? band_ : 0;
          int64_t images = last_set ? images_ - (sets_ - 1) * together_ : sets_ > 1 ? together_ : 0;
          for (int64_t i = 0; rows > 0 && i < images; i++) add_image(pass, rows, i, pass.tilings[last_band][last_set]);
        }
    }
  }

  void add_image(const Pass& pass, int64_t band_rows, int64_t number, Tiling& to) const {
    Axes3 n = pass.grid, out_step{out_size_[1] * out_size_[2], out_size_[2], 1};
    n[static_cast<size_t>(image_.cut)] = band_rows;
    int64_t image = number * block_ * image_.plane, out = number * groups_ * filters_ * volume(out_size_);
    for (size_t i = 0; i < 3; i++) out += pass.origin[i] * out_step[i], out_step[i] *= pass.step[i];
    Grid grid({Line{n[0], image_.rows[1] * image_.rows[2], out_step[0]}, Line{n[1], image_.rows[2], out_step[1]},
               Line{n[2], 1, out_step[2]}});
    int64_t in_rows = grid.outer() * ((grid.lines.back().n + lanes_ - 1) / lanes_ * lanes_);
    if (grid.span() + grid.span() / 8 < in_rows)
      cut_flat(grid, image, out, to);
    else
      cut_rows(grid, image, out, to);
  }

  // Vectors along the innermost line.
  void cut_rows(const Grid& grid, int64_t first_image, int64_t first_out, Tiling& to) const {
    const Line row = grid.lines.back();
    grid.each_row([&](int64_t image, int64_t out) {
      for (int64_t x = 0; x < row.n; x += lanes_) {
        int64_t n = std::min(lanes_, row.n - x), at = first_out + out + x * row.out;
        bool filled = n == lanes_ && row.out == 1;
        to.add_vector(vectors_, first_image + image + x, filled ? at : Tile::kInRuns);
        if (!filled) to.add_run((to.tiles.back().vectors - 1) * lanes_, n, at, row.out);
      }
    });
  }

  // Vectors over all of the image, gaps between the lines included: for lines shorter than a vector.
  void cut_flat(const Grid& grid, int64_t first_image, int64_t first_out, Tiling& to) const {
    const Line row = grid.lines.back();
    int64_t end = 0;  // of the last vector
    grid.each_row([&](int64_t image, int64_t out) {
      for (int64_t x = 0; x < row.n;) {
        if (image + x >= end) {
          to.add_vector(vectors_, first_image + image + x, Tile::kInRuns);
          end = image + x + lanes_;
        }
        int64_t left = end - image - x, n = std::min(row.n - x, left);
        to.add_run(to.tiles.back().vectors * lanes_ - left, n, first_out + out + x * row.out, row.out);
        x += n;
      }
    });
  }

  // Multiply-adds of a band of one image of one group.
  double work() const {
    double n = static_cast<double>(volume(steps_)) / static_cast<double>(bands_);
    return n * static_cast<double>(channels_) * static_cast<double>(filters_) * static_cast<double>(places_.size());
  }

  void offsets() {
    for (Pass& pass : passes_)
      for (int64_t c = 0; c < block_; c++)
        for (const Tap& tap : pass.taps) pass.offsets.push_back(c * image_.plane + image_.offset(tap.at));
  }

  int64_t items() const { return sets_ * groups_ * bands_ * parts_; }
  int64_t pack_items() const { return groups_ * static_cast<int64_t>(passes_.size()) * blocks_; }
  int64_t panel_begin(int64_t panel) const { return panel * low_panel_ + std::min(panel, high_panels_); }
  int64_t block_channels(int64_t block) const { return std::min(block_, channels_ - block * block_); }

  // ---- weights, in the order in which blocks read them

  T* packed(const Pass& pass, int64_t group, int64_t block, int64_t filter) const {
    auto taps = static_cast<int64_t>(pass.taps.size());
    return packed_.get() + pass.packed + group * channels_ * filters_ * taps + block * block_ * taps * filters_ +
           filter * block_channels(block) * taps;
  }

  void pack(int64_t item) {
    int64_t block = item % blocks_, group = item / blocks_ / static_cast<int64_t>(passes_.size());
    const Pass& pass = passes_[static_cast<size_t>(item / blocks_ % static_cast<int64_t>(passes_.size()))];
    int64_t taps = volume(kernel_), per_filter = (backwards_ ? filters_ : channels_) * taps;
    int64_t filter_step = backwards_ ? taps : per_filter, channel_step = backwards_ ? per_filter : taps;
    const T* from = weight_ + group * channels_ * filters_ * taps + block * block_ * channel_step;
    bool all = static_cast<int64_t>(pass.taps.size()) == taps;
    int64_t channels = block_channels(block), rows = backwards_ ? taps : channels * taps;
    for (int64_t panel = 0; panel < panels_; panel++) {
      int64_t first = panel_begin(panel), height = panel_begin(panel + 1) - first;
      T* to = packed(pass, group, block, first);
      if (all) {
        for (int64_t k = 0; k < channels * taps; k += rows)
          turn(to + k * height, height, from + first * filter_step + k / taps * channel_step, rows, filter_step);
        continue;
      }
      for (int64_t c = 0; c < channels; c++)
        for (const Tap& tap : pass.taps)
          for (int64_t m = first; m < first + height; m++)
            *to++ = from[m * filter_step + c * channel_step + tap.weight];
    }
  }

  // to[k * height + i] = from[k + i * step].
  static void turn(T* to, int64_t height, const T* from, int64_t rows, int64_t step) {
    constexpr auto item = static_cast<int64_t>(sizeof(T));
    loops().transpose[std::countr_zero(sizeof(T))](to, height, reinterpret_cast<const char*>(from), rows, height, item,
                                                   step * item);
  }

  // ---- one band of one group of some images, for some of the filters

  struct Item {
    int64_t first_panel, last_panel, band, group;
    const T* planes;
    T* out;  // of the first image and of the group
  };

  void run_item(int64_t number) {
    Item item;
    int64_t part = number % parts_, rest = number / parts_;
    item.first_panel = part * panels_ / parts_;
    item.last_panel = (part + 1) * panels_ / parts_;
    item.band = rest % bands_ * band_;
    item.group = rest / bands_ % groups_;
    int64_t first = rest / bands_ / groups_ * together_, n = std::min(together_, images_ - first);
    int64_t in_plane = volume(image_.size), out_plane = volume(out_size_), per_image = block_ * image_.plane;
    engine::ThreadRoom<T> room(together_ * per_image + 2 * widest_);
    T* planes = room.data();
    item.out = out_ + (first * groups_ + item.group) * filters_ * out_plane;
    item.planes = planes;
    bool last_band = item.band + band_ >= bands_ * band_, last_set = first + n == images_;
    for (int64_t block = 0; block < blocks_; block++) {
      for (int64_t i = 0; i < n; i++) {
        const T* in = in_ + (((first + i) * groups_ + item.group) * channels_ + block * block_) * in_plane;
        image_.fill(planes + i * per_image, in, block_channels(block), item.band);
      }
      if (alone_) {
        for (int64_t i = 0; i < n; i++) run_alone(item, planes + i * per_image, item.out + i * groups_ * out_plane);
        continue;
      }
      for (const Pass& pass : passes_) {
        if (pass.taps.empty() && block > 0) continue;
        run_tiles(pass, pass.tilings[last_band][last_set], item, block);
      }
    }
  }

  // One filter of one channel.
  void run_alone(const Item& item, const T* plane, T* out) const {
    const Pass& pass = passes_[0];
    auto cut = static_cast<size_t>(image_.cut);
    Axes3 n = pass.grid;
    n[cut] = std::min(band_, n[cut] - item.band);
    int64_t out_slice = out_size_[1] * out_size_[2];
    out += item.band * (cut == 0 ? out_slice : out_size_[2]);
    for (int64_t d = 0; d < n[0]; d++)
      loops_.rows({packed(pass, item.group, 0, 0), plane + d * image_.rows[1] * image_.rows[2], pass.offsets.data(),
                   static_cast<int64_t>(pass.taps.size()), n[1], n[2], image_.rows[2], out_size_[2],
                   out + d * out_slice, bias_ ? bias_[item.group] : T(0)});
  }

  void run_tiles(const Pass& pass, const Tiling& tiling, const Item& item, int64_t block) const {
    if (heavy_) {
      for (int64_t panel = item.first_panel; panel < item.last_panel; panel++)
        for (const Tile& tile : tiling.tiles) run_block(tile, tiling.runs, panel, pass, item, block);
    } else {
      for (const Tile& tile : tiling.tiles)
        for (int64_t panel = item.first_panel; panel < item.last_panel; panel++)
          run_block(tile, tiling.runs, panel, pass, item, block);
    }
  }

  void run_block(const Tile& tile, const std::vector<Run>& runs, int64_t panel, const Pass& pass, const Item& item,
                 int64_t block) const {
    alignas(64) T sums[kConvSums * kMostLanes];
    int64_t plane = volume(out_size_), first = panel_begin(panel), height = panel_begin(panel + 1) - first;
    T* out = item.out + item.band * pass.band_step + first * plane;
    ConvBlock<T> b{packed(pass, item.group, block, first),
                   pass.offsets.data(),
                   block_channels(block) * static_cast<int64_t>(pass.taps.size()),
                   bias_ && block == 0 ? bias_ + item.group * filters_ + first : nullptr,
                   {}};
    int64_t wide = tile.vectors * lanes_;
    for (int32_t j = 0; j < tile.vectors; j++)
      if (tile.out[j] == Tile::kInRuns)
        b.places[j] = {item.planes + tile.image[j], sums + j * lanes_, wide, false};
      else
        b.places[j] = {item.planes + tile.image[j], out + tile.out[j], plane, block > 0};
    loops_.blocks[height - 1][tile.vectors - 1](b);
    for (int32_t r = tile.runs; r < tile.last; r++) {
      const Run& run = runs[static_cast<size_t>(r)];
      for (int64_t i = 0; i < height; i++)
        store(out + i * plane + run.out, sums + i * wide + run.lane, run.n, run.step, block > 0);
    }
  }

  static void store(T* to, const T* from, int64_t n, int64_t step, bool add) {
    if (step == 1 && !add)
      ConvImage::copy(to, from, n);
    else if (add)
      for (int64_t j = 0; j < n; j++) to[j * step] += from[j];
    else
      for (int64_t j = 0; j < n; j++) to[j * step] = from[j];
  }

  const ConvLoops<T>& loops_ = conv_loops<T>();
  const int64_t lanes_ = loops_.lanes, widest_ = lanes_ * kConvVectors;
  const ConvParams& params_;
  const T *in_, *weight_, *bias_;
  T* out_;
  bool backwards_, empty_ = false;
  int64_t images_, groups_, channels_, filters_;  // channels and filters of a group
  Axes3 out_size_, kernel_;
  std::vector<Pass> passes_;
  std::vector<Axes3> places_;  // of all taps
  Axes3 steps_{1, 1, 1};  // the largest grid
  ConvImage image_;
  int64_t weights_ = 0, most_taps_ = 0;
  int64_t block_ = 1, blocks_ = 1;  // channels at a time
  int64_t band_ = 1, bands_ = 1;  // rows at a time
  int64_t together_ = 1, sets_ = 1;  // images at a time
  bool alone_ = false;  // each group has one channel and one filter
  bool heavy_ = false;  // weights are more than what they meet
  int vectors_ = 2;
  int64_t panels_ = 1, parts_ = 1;  // blocks of filters; parts that they are cut into for more chunks
  int64_t low_panel_ = 1, high_panels_ = 0;  // the first so many panels have one filter more
  int64_t per_chunk_ = 1;
  std::unique_ptr<T[]> packed_;
};

template <bool backwards>
std::unique_ptr<Kernel> make_convolution(const Record& call) {
  if (call.outputs[0].dtype == DType::f32) return std::make_unique<Convolve<float>>(call, backwards);
  return std::make_unique<Convolve<double>>(call, backwards);
}

}  // namespace

void register_conv(engine::Backend& backend) {
  backend.provide(kConvolution, make_convolution<false>);
  backend.provide(kConvolutionData, make_convolution<true>);
}

}  // namespace slipstream::cpu
