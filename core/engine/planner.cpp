// Planner: turns recorded calls into tasks. Drops work nobody can read, fuses, bundles tiny calls, finds the order.
#include "planner.h"

#include <sstream>

#include "../program.h"
#include "cut.h"
#include "execute.h"
#include "fuse.h"
#include "rows.h"
#include "runtime.h"
#include "tiles.h"
#include "weight.h"

namespace slipstream::engine {

namespace {

constexpr size_t kRoom = 2048;   // calls: more than are recorded before somebody plans them
constexpr size_t kSpareRooms = 1;  // threads seldom plan at one time

// May nobody be able to read some result of it?
bool has_unnamed_output(const Record& call) {
  return std::any_of(call.outputs.begin(), call.outputs.end(),
                     [](const Operand& output) { return !output.storage()->has_handles(); });
}

// Records and storages were last touched by the front end's core, or so long ago that they lie far away: asked for all
// at once they come while nothing waits for them.
void bring_near(std::span<const Record> calls) {
  for (const Record& call : calls)
    for (const Operand& output : call.outputs) {
      const char* storage = reinterpret_cast<const char*>(output.storage());
      for (size_t line = 0; line < sizeof(Storage); line += 64) __builtin_prefetch(storage + line, 1);
    }
}

// A storage that calls of one batch alone can name will not be written by one of them. If that is the one that makes
// it, nobody uses it at all: gives the bytes that are no longer in flight.
int64_t leave_unwritten(Storage& storage, bool in_place) {
  storage.pending_writes.store(storage.pending_writes.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
  if (in_place || !storage.in_flight.load(std::memory_order_relaxed)) return 0;
  storage.in_flight.store(false, std::memory_order_relaxed);
  return static_cast<int64_t>(storage.nbytes);
}

// Calls that were merged into others, or ran, are dropped when the planner's lock is released. What only calls can name
// must not wait for that, or memory piles up behind a long plan. (It was made by a call, and its history went with its
// handles, so its end needs none of the front end's locks.)
void release_passing(std::span<Record> calls) {
  auto release = [](Operand& operand) {
    if (operand.is_scalar()) return;
    const Storage& storage = *operand.storage();
    if (!storage.has_handles() && storage.in_flight.load(std::memory_order_relaxed)) operand = Operand();
  };
  for (Record& call : calls) {
    for (Operand& input : call.inputs) release(input);
    for (Operand& output : call.outputs) release(output);
  }
}

void add_once(SmallVec<Task*, 6>& tasks, const Ref<Task>& task) {
  if (!task || task->finished()) return;
  for (Task* known : tasks)
    if (known == task.get()) return;
  tasks.push_back(task.get());
}

}  // namespace

void Planner::plan(std::vector<Ref<Task>>& ready) {
  std::unique_lock hold(mutex);
  plan_all(ready, hold);
}

bool Planner::try_plan(std::vector<Ref<Task>>& ready, bool more_to_come) {
  std::unique_lock hold(mutex, std::try_to_lock);
  if (!hold) return false;
  plan_all(ready, hold, false, more_to_come);
  return true;
}

bool Planner::try_run(std::vector<Ref<Task>>& ready) {
  std::unique_lock hold(mutex, std::try_to_lock);
  if (!hold) return false;
  plan_all(ready, hold, true);
  return true;
}

// Nothing recorded before it is unfinished, and nobody can plan what comes after it meanwhile.
bool Planner::run_recorded(Record& call) {
  if (runtime_.stream.size() > 0) return false;
  std::unique_lock hold(mutex, std::try_to_lock);
  if (!hold || !may_run_here() || runtime_.stream.size() > 0 || !run_uncut(call)) return false;
  if (!noted_at_once_) forget_notes();
  noted_at_once_ = true;
  noted_calls_++;
  noted_run_++;
  return true;
}

// Runs a call here unless others could take part.
bool Planner::run_uncut(Record& call) {
  Prepared prepared = prepare(runtime_, call);
  if (prepared.kernel && prepared.kernel->chunks(0) > 1) return false;
  if (!call.sequence) runtime_.stream.count(call);
  if (prepared.kernel) prepared.failure = run_kernel(runtime_, call, *prepared.kernel);
  prepared.kernel.reset();
  conclude(runtime_, call, prepared.failure);
  return true;
}

// Dead and merged calls stay where they are, without an op. They may own objects of the front end, whose release may
// need its locks: they go after ours is released.
void Planner::plan_all(std::vector<Ref<Task>>& ready, std::unique_lock<std::mutex>& hold, bool waits,
                       bool more_to_come) {
  if (runtime_.stream.size() == 0) return;
  Calls calls = take_room();
  std::vector<Record> replaced;
  bool only_trifles = runtime_.stream.take(calls);
  size_t step = batch_size();
  bool few = waits && calls.size() <= kFewCalls;
  for (std::span rest(calls); !rest.empty();) {
    if (more_to_come && rest.size() < step && rest.size() < calls.size()) {
      runtime_.stream.give_back(rest);
      break;
    }
    size_t length = only_trifles ? std::min(rest.size(), step) : length_of_batch(rest, step);
    size_t replaced_before = replaced_.size();
    plan_batch(rest.first(length), ready, few);
    release_passing(rest.first(length));
    release_passing(std::span(replaced_).subspan(replaced_before));
    rest = rest.subspan(length);
  }
  if (ready.size() > 1) runtime_.pool.submit(ready);  // before another thread submits what comes after them
  forget_finished();
  replaced.swap(replaced_);
  dropping_.fetch_add(1, std::memory_order_relaxed);
  hold.unlock();
  calls.clear();
  replaced.clear();
  dropping_.fetch_sub(1, std::memory_order_release);
  hold.lock();
  give_room(std::move(calls));
  if (replaced.capacity() > replaced_.capacity()) replaced_.swap(replaced);
}

// Vectors of calls are used again and never grow as a rule: heaps would be torn by what they leave behind.
Calls Planner::take_room() {
  Calls room;
  if (rooms_.empty()) {
    room.reserve(kRoom);
  } else {
    room = std::move(rooms_.back());
    rooms_.pop_back();
  }
  return room;
}

void Planner::give_room(Calls&& room) {
  if (room.capacity() == kRoom && rooms_.size() < kSpareRooms) rooms_.push_back(std::move(room));
}

// Runs calls from the first on under the lock, so that nobody plans what comes after them meanwhile; stops at one that
// is worth a task. Gives the number of calls done. For a `few` calls that a thread waits for, more are not worth it.
size_t Planner::run_here(std::span<Record> calls, bool few) {
  Weight most = !few ? Weight::trivial : calls.size() > 1 ? Weight::small : Weight::modest;
  for (size_t i = 0; i < calls.size(); i++) {
    Record& call = calls[i];
    if (!call.op) continue;
    if (weigh(call) > most || (few && (call.op->flags & kObservable))) return i;
    if (!run_uncut(call)) return i;
    call.op = nullptr;
    noted_run_++;
  }
  return calls.size();
}

// May calls run here: does the program allow it, and is everything planned so far done?
bool Planner::may_run_here() {
  if (settings_.bulk <= 1 || runtime_.tracer.on()) return false;
  forget_finished();
  return live_.empty() && new_tasks_.empty();
}

void Planner::plan_batch(std::span<Record> calls, std::vector<Ref<Task>>& ready, bool few) {
  batch_number_++;
  forget_notes();
  noted_calls_ = calls.size();
  auto whole = calls;
  bring_near(whole);
  bool counts = settings_.skip && std::any_of(calls.begin(), calls.end(), has_unnamed_output);
  if (counts) count_operands(whole);
  if (counts) drop_dead(whole);
  if (may_run_here()) calls = calls.subspan(run_here(calls, few));
  if (calls.empty()) return;
  if (!counts) count_operands(whole);
  why_alone_.assign(calls.size(), settings_.fuse ? nullptr : "merging is switched off");
  std::vector<uint32_t> row_groups;
  if (settings_.fuse) {
    if (settings_.skip) share_equal(whole, calls);
    std::vector<size_t> tiled = tiled_calls(calls);
    fuse(runtime_, calls, tiled, why_alone_, replaced_, programs_);
    row_groups = group_by_rows(calls);
    group_by_tiles(calls, tiled, row_groups);
  }
  row_tasks_.clear();
  for (size_t i = 0; i < calls.size(); i++) {
    uint32_t group = row_groups.empty() ? 0 : row_groups[i];
    if (calls[i].op) place(std::move(calls[i]), group ? nullptr : why_alone_[i], group);
  }
  open_group_ = nullptr;
  for (Ref<Task>& task : new_tasks_) {
    live_.push_back(task);
    if (task->blockers.fetch_sub(1, std::memory_order_acq_rel) != 1) continue;
    task->ready_ns = runtime_.tracer.on() ? now_ns() : 0;
    task->state.store(Task::ready, std::memory_order_release);
    ready.push_back(task);
  }
  new_tasks_.clear();
}

inline StorageUse& Planner::use_of(Storage& storage) {
  StorageUse& use = storage.use;
  if (use.generation == 0)
    use.generation = runtime_.generation;
  else if (use.generation != runtime_.generation)
    forget_parent(use);
  return use;
}

void Planner::forget_parent(StorageUse& use) {
  use = StorageUse();
  use.generation = runtime_.generation;
}

// From the last call to the first: a call is kept if it has an effect, if somebody can still name its result (a handle,
// or a call that is not in this batch), or if a kept call of this batch reads it.
void Planner::drop_dead(std::span<Record> calls) {
  size_t before = noted_skipped_.size();
  int64_t bytes = 0, program_calls = 0;
  for (size_t i = calls.size(); i-- > 0;) {
    Record& call = calls[i];
    if (!call.op) continue;
    if (is_dead(call)) {
      for (Operand& output : call.outputs) bytes += leave_unwritten(*output.storage(), call.in_place);
      program_calls += call.calls;
      noted_skipped_.push_back(std::exchange(call.op, nullptr));
      continue;
    }
    for (const Operand& input : call.inputs)
      if (!input.is_scalar()) use_of(*input.storage()).needed_in = batch_number_;
    if (call.in_place)  // what it does not overwrite is still read later
      for (const Operand& output : call.outputs) use_of(*output.storage()).needed_in = batch_number_;
  }
  size_t dropped = noted_skipped_.size() - before;
  if (dropped == 0) return;
  runtime_.counters.skipped.fetch_add(static_cast<int64_t>(dropped), std::memory_order_relaxed);
  runtime_.counters.returned_bytes.fetch_add(bytes, std::memory_order_relaxed);
  runtime_.retire(program_calls);
}

// How many operands of this batch lie on each storage: if there are no others, nobody else can name it.
void Planner::count_operands(std::span<const Record> calls) {
  auto count = [this](Storage& storage) {
    StorageUse& use = use_of(storage);
    if (use.counted_in != batch_number_) use.operands = 0;
    use.counted_in = batch_number_;
    use.operands++;
  };
  for (const Record& call : calls) {
    for (const Operand& input : call.inputs)
      if (!input.is_scalar()) count(*input.storage());
    for (const Operand& output : call.outputs) count(*output.storage());
  }
}

bool Planner::is_dead(const Record& call) {
  if ((call.op->flags & (kObservable | kMayFail)) || call.outputs.empty()) return false;
  for (const Operand& output : call.outputs) {
    const Storage& storage = *output.storage();
    const StorageUse& use = storage.use;
    if (storage.has_handles() || use.needed_in == batch_number_ || storage.uses() != use.operands) return false;
  }
  return true;
}

// Of the calls that are not done yet. What equal calls alone needed is dead afterwards.
void Planner::share_equal(std::span<Record> whole, std::span<Record> calls) {
  noted_shared_ = share(runtime_, calls);
  if (!noted_shared_.any()) return;
  batch_number_++;  // counted and marked anew
  count_operands(whole);
  drop_dead(whole);
}

void Planner::place(Record&& call, const char* why_alone, uint32_t row_group) {
  SmallVec<Task*, 6> before;
  for (const Operand& input : call.inputs) {
    if (input.is_scalar()) continue;
    StorageUse& use = use_of(*input.storage());
    add_once(before, use.last_writer);
    if (call.op->flags & kAfterFailure) {  // callbacks of one array are called in order, each after the one before it
      for (size_t i = use.readers.size(); i-- > 0;) {
        if (!(use.readers[i]->flags & kAfterFailure)) continue;
        add_once(before, use.readers[i]);
        break;
      }
    }
  }
  for (const Operand& output : call.outputs) {
    StorageUse& use = use_of(*output.storage());
    add_once(before, use.last_writer);
    for (const Ref<Task>& reader : use.readers) add_once(before, reader);
  }

  Task* task = task_for(call, before, row_group);
  for (Task* earlier : before)
    if (earlier != task) task->run_after(*earlier);

  for (const Operand& input : call.inputs) {
    if (input.is_scalar()) continue;
    StorageUse& use = use_of(*input.storage());
    if (use.last_writer.get() == task || (!use.readers.empty() && use.readers[use.readers.size() - 1].get() == task))
      continue;
    if (use.readers.size() >= 8 &&
        (use.readers.size() & (use.readers.size() - 1)) == 0) {  // now and then, drop the finished
      SmallVec<Ref<Task>, 2> active;
      for (Ref<Task>& reader : use.readers)
        if (!reader->finished()) active.push_back(reader);
      use.readers = std::move(active);
    }
    use.readers.emplace_back(task);
  }
  if (runtime_.tracer.on()) trace_inputs(call, *task);
  note(call, *task, before, why_alone);
  for (const Operand& output : call.outputs) {
    StorageUse& use = use_of(*output.storage());
    use.last_writer = Ref<Task>(task);
    use.last_call = task->by_rows ? task->sequence : call.sequence;
    use.readers.clear();
  }
  task->flags |= call.op->flags;
  task->new_bytes += static_cast<size_t>(new_bytes(call));
  if (call.op->flags & kTiled)
    for (const Operand& input : call.inputs) task->new_bytes += input.is_scalar() ? 0 : input.nbytes();
  task->steps.push_back(std::move(call));
}

void Planner::trace_inputs(const Record& call, Task& task) {
  task.after.resize(static_cast<size_t>(task.steps.size()));
  std::vector<uint64_t>& calls = task.after.emplace_back();
  for (const Operand& input : call.inputs)
    if (!input.is_scalar() && use_of(*input.storage()).last_call) calls.push_back(use_of(*input.storage()).last_call);
}

// A tiny call joins a group of this batch if neither has to wait for more than it would alone.
Task* Planner::task_for(const Record& call, const SmallVec<Task*, 6>& before, uint32_t row_group) {
  if (row_group) {
    if (row_tasks_.size() < row_group) row_tasks_.resize(row_group);
    Task*& task = row_tasks_[row_group - 1];
    if (!task) task = new_task(call);
    task->by_rows = true;
    return task;
  }
  Device device = device_of(call);
  Weight weight = weigh(call);
  bool tiny = weight <= Weight::tiny;
  if (tiny && open_group_ && open_group_->device == device && open_group_->recorded_in == call.recorded_in &&
      open_group_->steps.size() < settings_.bulk) {
    bool fits = true, follows = false;
    for (Task* earlier : before) {
      fits = fits && (earlier == open_group_ || open_group_->runs_after(*earlier));
      follows |= earlier == open_group_;
    }
    if (fits && (follows || open_group_->runs_only_after(before))) return open_group_;
  }
  Task* task = new_task(call);
  task->tiny = tiny;
  task->brief = tiny || (weight <= Weight::modest && goes_by_elements(call));
  if (tiny) open_group_ = task;
  return task;
}

Task* Planner::new_task(const Record& call) {
  new_tasks_.push_back(Ref<Task>::adopt(new Task()));
  Task* task = new_tasks_.back().get();
  task->device = device_of(call);
  task->sequence = call.sequence;
  task->recorded_in = call.recorded_in;
  return task;
}

void Planner::forget_finished() {
  while (!live_.empty() && live_.front()->finished()) live_.pop_front();
  if (live_.size() < 256 || (live_.size() & (live_.size() - 1)) != 0) return;
  std::erase_if(live_, [](const Ref<Task>& task) { return task->finished(); });
}

Ref<Task> Planner::last_writer(Storage& storage) {
  std::lock_guard hold(mutex);
  if (storage.use.generation != runtime_.generation) return {};
  Ref<Task> task = storage.use.last_writer;
  return task && task->finished() ? Ref<Task>() : task;
}

std::vector<Ref<Task>> Planner::unfinished(uint64_t up_to) {
  std::lock_guard hold(mutex);
  std::vector<Ref<Task>> tasks;
  for (const Ref<Task>& task : live_)
    if (task->sequence <= up_to && !task->finished()) tasks.push_back(task);
  return tasks;
}

std::vector<Ref<Task>> Planner::oldest_unfinished(int part) {
  std::vector<Ref<Task>> tasks = unfinished(UINT64_MAX);
  size_t n = tasks.size(), parts = static_cast<size_t>(part);
  tasks.resize((n + parts - 1) / parts);
  return tasks;
}

Planning Planner::settings() {
  std::lock_guard hold(mutex);
  return settings_;
}

void Planner::set(const Planning& settings) {
  std::lock_guard hold(mutex);
  settings_ = settings;
  batch_.store(std::max(settings.batch, 1), std::memory_order_relaxed);
}

void Planner::forget_notes() {
  notes_.clear();
  noted_skipped_.clear();
  noted_calls_ = noted_run_ = 0;
  noted_at_once_ = false;
  noted_shared_ = {};
}

void Planner::note(const Record& call, const Task& task, const SmallVec<Task*, 6>& before, const char* why_alone) {
  Note& note = notes_.emplace_back();
  note.op = call.op;
  note.why_alone = why_alone;
  if (call.op == &kMap || call.op == &kReduce) note.params = call.params;
  note.calls = call.calls;
  if (!call.outputs.empty()) note.shape = call.outputs[0].shape;
  note.task = task.sequence;
  note.by_rows = task.by_rows;
  for (const Task* earlier : before) {
    if (earlier == &task) continue;
    if (earlier->sequence >= notes_.front().task)
      note.after.push_back(earlier->sequence);
    else
      note.after_earlier = true;
  }
}

namespace {

// "3 not run, because equal calls give the same: sum, max"
void describe(std::ostream& text, std::vector<const Op*> calls, const char* what) {
  if (calls.empty()) return;
  text << calls.size() << what;
  std::sort(calls.begin(), calls.end());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  const char* joint = ": ";
  for (const Op* op : calls) text << std::exchange(joint, ", ") << op->name;
  text << '\n';
}

// "multiply add tanh, then sum; 1 stored"
void describe(std::ostream& text, const Program& program) {
  for (size_t i = 0; i < program.code.size(); i++) text << (i ? " " : "") << row_op(program.code[i].row).name;
  if (program.reduction != Row::none) text << ", then " << row_op(program.reduction).name;
  text << "; " << program.results.size() << " stored";
}

}  // namespace

std::string Planner::explain() {
  std::lock_guard hold(mutex);
  std::ostringstream text;
  text << "last batch: " << noted_calls_ << (noted_calls_ == 1 ? " call\n" : " calls\n");
  describe(text, noted_skipped_, " skipped, because nobody can read them");
  if (noted_run_) text << noted_run_ << " so small that they ran one by one, without a plan\n";
  describe(text, noted_shared_.spared, " not run, because an equal call gives the same");
  describe(text, noted_shared_.copied, " that only copy what an equal call gives");
  uint64_t task = 0;
  for (const Note& note : notes_) {
    bool new_task = note.task != task;
    task = note.task;
    if (new_task)
      text << "task " << task
           << (!note.by_rows             ? ": "
               : note.op->flags & kTiled ? ", tile by tile: "
                                         : ", block of rows by block of rows: ");
    else
      text << "        then ";
    const auto* program = static_cast<const Program*>(note.op == &kMap ? note.params.get() : nullptr);
    if (note.op == &kReduce) program = static_cast<const ReducedProgram&>(*note.params).program.get();
    if (program) {
      text << note.calls << (note.calls == 1 ? " call" : " calls") << " fused into one pass (";
      describe(text, *program);
      text << ")";
    } else {
      text << note.op->name;
      if (note.why_alone) text << " (not fused: " << note.why_alone << ")";
    }
    text << " -> " << note.shape;
    if (new_task) {
      const char* joint = ", after task ";
      for (uint64_t earlier : note.after) text << std::exchange(joint, ", ") << earlier;
      if (note.after_earlier) text << (note.after.empty() ? ", after" : " and") << " tasks of earlier batches";
      if (note.after.empty() && !note.after_earlier) text << ", can start at once";
    }
    text << '\n';
  }
  return text.str();
}

}  // namespace slipstream::engine
