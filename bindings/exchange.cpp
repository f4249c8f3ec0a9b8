// Exchange of memory with other libraries: the buffer protocol and DLPack, both without copies.

#include <cstdlib>
#include <memory>

#include "../core/engine/engine.h"
#include "../core/ops/structural.h"
#include "ndarray.h"

namespace slipstream::python {

namespace {

// ---- buffer protocol

const char* buffer_format(DType t) {  // of the struct module; nullptr: it has none
  switch (t) {
    case DType::b1: return "?";
    case DType::i8: return "b";
    case DType::i16: return "h";
    case DType::i32: return "i";
    case DType::i64: return "q";
    case DType::u8: return "B";
    case DType::u16: return "H";
    case DType::u32: return "I";
    case DType::u64: return "Q";
    case DType::f16: return "e";
    case DType::f32: return "f";
    case DType::f64: return "d";
    case DType::c64: return "Zf";
    case DType::c128: return "Zd";
    default: return nullptr;
  }
}

bool column_major(const Array& a) {
  View v = a;
  std::reverse(v.shape.begin(), v.shape.end());
  std::reverse(v.strides.begin(), v.strides.end());
  return v.contiguous();
}

char nothing[16];

std::atomic<uint32_t>& count_lent(const Array& a, bool writable) {
  return writable ? a.storage()->lent_writable : a.storage()->lent;
}

// The memory of an array that is ready, on the host. Empty arrays may have none. Before others write to it, calls that
// were recorded earlier have read it.
void* host_memory(const Array& a, bool writable, const char* what) {
  engine::wait(a);
  if (writable) engine::wait_all();
  if (a.device().kind != 0) fail(ErrorKind::value, what, ": the array is on ", a.device(), "; copy it to cpu(0) first");
  return a.size() == 0 || !a.storage()->data() ? nothing : a.storage()->data() + a.offset;
}

void refuse(const char* why) {
  PyErr_SetString(PyExc_BufferError, why);
  nb::raise_python_error();
}

// Can the array's memory be described in the way that is asked for?
void check_buffer(const Array& a, int flags) {
  auto asks = [flags](int what) { return (flags & what) == what; };
  if (!buffer_format(a.dtype)) refuse("bfloat16 has no buffer format: use asnumpy()");
  bool rows = a.contiguous(), columns = column_major(a);
  if ((asks(PyBUF_C_CONTIGUOUS) || !asks(PyBUF_STRIDES)) && !rows) refuse("the array is not C-contiguous");
  if (asks(PyBUF_F_CONTIGUOUS) && !columns) refuse("the array is not Fortran contiguous");
  if (asks(PyBUF_ANY_CONTIGUOUS) && !rows && !columns) refuse("the array is not contiguous");
}

void fill_buffer(Py_buffer* view, PyObject* owner, const Array& a, void* data, int flags) {
  auto n = static_cast<size_t>(a.ndim());
  auto* dims = static_cast<Py_ssize_t*>(std::malloc(sizeof(Py_ssize_t) * (2 * n + 1)));
  if (!dims) throw std::bad_alloc();
  std::copy(a.shape.begin(), a.shape.end(), dims);
  std::copy(a.strides.begin(), a.strides.end(), dims + n);
  view->buf = data;
  view->obj = Py_NewRef(owner);
  view->len = static_cast<Py_ssize_t>(a.nbytes());
  view->itemsize = static_cast<Py_ssize_t>(itemsize(a.dtype));
  view->readonly = flags & PyBUF_WRITABLE ? 0 : 1;
  view->ndim = flags & PyBUF_ND ? a.ndim() : 1;  // who asks for no shape gets bytes in one line
  view->format = flags & PyBUF_FORMAT ? const_cast<char*>(buffer_format(a.dtype)) : nullptr;
  view->shape = flags & PyBUF_ND ? dims : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? dims + n : nullptr;
  view->suboffsets = nullptr;
  view->internal = dims;
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    const Array& a = as_array(self);
    check_buffer(a, flags);
    bool writable = flags & PyBUF_WRITABLE;
    if (writable && a.storage()->read_only) refuse("the array is read-only; its memory is another library's");
    sync_point("the buffer protocol");
    fill_buffer(view, self, a, host_memory(a, writable, "buffer"), flags);
    count_lent(a, writable) += 1;
    return 0;
  });
}

void release_buffer(PyObject* self, Py_buffer* view) {
  count_lent(as_array(self), !view->readonly) -= 1;
  std::free(view->internal);
}

// What a host call is lent: memory that is ready for it, although calls recorded later may wait to write there.
int get_lent_buffer(PyObject* self, Py_buffer* view, int flags) {
  view->obj = nullptr;
  return guarded(-1, [&] {
    const Array& a = as_array(self);
    if (flags & PyBUF_WRITABLE) refuse("what a host call is given is read-only");
    check_buffer(a, flags);
    fill_buffer(view, self, a, a.storage()->data() ? a.storage()->data() + a.offset : nothing, flags);
    return 0;
  });
}

void release_lent_buffer(PyObject*, Py_buffer* view) { std::free(view->internal); }

PyTypeObject* make_lent_type() {
  PyType_Slot slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_lent_buffer)},
                         {Py_bf_releasebuffer, reinterpret_cast<void*>(release_lent_buffer)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc_array)},
                         {0, nullptr}};
  PyType_Spec spec{"slipstream._core.lent", sizeof(ArrayObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

// ---- DLPack: the structs of its ABI, versions 0 and 1

struct DLDevice {
  int32_t type, id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManaged {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManaged*);
};
struct DLManagedVersioned {
  uint32_t major, minor;
  void* context;
  void (*deleter)(DLManagedVersioned*);
  uint64_t flags;
  DLTensor tensor;
};
constexpr uint64_t kReadOnly = 1, kCopied = 2;

// What a consumer of the tensor holds: the array's handle keeps the memory. It may let go on any thread, without the
// GIL.
template <class Managed>
struct Lent {
  Managed managed;
  Shared handle;
  Dims shape, strides;
  ~Lent() {
    const Array& array = as_array(handle.get());
    count_lent(array, !array.storage()->read_only) -= 1;
  }
};

DLDataType dl_type(DType t) {
  uint8_t code = 0;
  switch (kind(t)) {
    case Kind::boolean: code = 6; break;
    case Kind::integer: code = info(t).is_signed ? 0 : 1; break;
    case Kind::real: code = t == DType::bf16 ? 4 : 2; break;
    case Kind::complex: code = 5; break;
  }
  return {code, static_cast<uint8_t>(8 * itemsize(t)), 1};
}

template <class Managed>
Lent<Managed>* lend_tensor(const Array& a) {
  bool writable = !a.storage()->read_only;
  void* data = host_memory(a, writable, "__dlpack__");
  Shared handle = share(nb::cast(a.detached()));
  auto lent = std::make_unique<Lent<Managed>>();
  lent->handle = std::move(handle);
  count_lent(a, writable) += 1;
  lent->shape = a.shape;
  for (int64_t stride : a.strides) lent->strides.push_back(stride / static_cast<int64_t>(itemsize(a.dtype)));
  lent->managed.tensor = {data, {1, 0}, a.ndim(), dl_type(a.dtype), lent->shape.data(), lent->strides.data(), 0};
  lent->managed.context = lent.get();
  lent->managed.deleter = [](Managed* m) { delete static_cast<Lent<Managed>*>(m->context); };
  return lent.release();
}

template <class Managed>
void drop_capsule(PyObject* capsule, const char* name) {
  if (!PyCapsule_IsValid(capsule, name)) return;  // a consumer took it and renamed it
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

// Some libraries abort the process where a stride is negative.
bool runs_backwards(const Array& a) {
  return std::any_of(a.strides.begin(), a.strides.end(), [](int64_t stride) { return stride < 0; });
}

PyObject* dlpack_method(PyObject* self, PyObject* const* args, Py_ssize_t n, PyObject* keywords) {
  return guarded([&] {
    Arguments<4> given("__dlpack__", {"stream", "max_version", "dl_device", "copy"}, args, n, keywords);
    if (given[0] && given[0] != Py_None)
      fail(ErrorKind::value, "__dlpack__: arrays on the cpu have no streams; stream must be None");
    if (given[2] && given[2] != Py_None && nb::cast<int>(nb::handle(given[2])[0]) != 1)
      refuse("__dlpack__: the array is on the cpu; copy it first");
    sync_point("DLPack export");
    bool copying = given[3] == Py_True || (given[3] != Py_False && runs_backwards(as_array(self)));
    Array a = copying ? copy(as_array(self)) : as_array(self);
    bool versioned = given[1] && given[1] != Py_None && nb::cast<int>(nb::handle(given[1])[0]) >= 1;
    bool read_only = a.storage()->read_only;
    if (!versioned && read_only)
      refuse("__dlpack__: the array is read-only, which DLPack cannot say before version 1; copy it first");
    if (!versioned)
      return PyCapsule_New(&lend_tensor<DLManaged>(a)->managed, "dltensor",
                           [](PyObject* c) { drop_capsule<DLManaged>(c, "dltensor"); });
    auto* lent = lend_tensor<DLManagedVersioned>(a);
    lent->managed.major = 1;
    lent->managed.minor = 0;
    lent->managed.flags = (copying ? kCopied : 0) | (read_only ? kReadOnly : 0);
    return PyCapsule_New(&lent->managed, "dltensor_versioned",
                         [](PyObject* c) { drop_capsule<DLManagedVersioned>(c, "dltensor_versioned"); });
  });
}

// Makes bfloat16 in a capsule, which NumPy does not take, its bits as uint16, which it takes. True: it was bfloat16.
bool as_bits(nb::handle capsule) {
  const char* name = PyCapsule_GetName(capsule.ptr());
  if (!name) nb::raise_python_error();
  void* managed = PyCapsule_GetPointer(capsule.ptr(), name);
  bool versioned = std::string_view(name) == "dltensor_versioned";
  if (!managed || (!versioned && std::string_view(name) != "dltensor")) return false;
  DLTensor& tensor =
      versioned ? static_cast<DLManagedVersioned*>(managed)->tensor : static_cast<DLManaged*>(managed)->tensor;
  DLDataType bits = dl_type(DType::bf16), found = tensor.dtype;
  if (found.code != bits.code || found.bits != bits.bits || found.lanes != bits.lanes) return false;
  tensor.dtype = dl_type(DType::u16);
  return true;
}

// ---- borrowing

// An array over the memory of a NumPy array, which `keeper` keeps until nobody reads it any more. Calls that write to
// it are done before they return, for those who look at the memory by another name.
Array borrow_array(nb::object values, nb::object keeper, bool read_only) {
  DType dtype = to_dtype(nb::object(values.attr("dtype")).ptr());
  if (dtype == DType::bf16) values = values.attr("view")(nb::handle(dtype_object(DType::u16)));
  Py_buffer buffer;
  checked(PyObject_GetBuffer(values.ptr(), &buffer, PyBUF_STRIDES));
  View view(dtype, 0, {}, {});
  int64_t last = 0;  // of the first bytes of elements, counted from that of the first element
  for (int i = 0; i < buffer.ndim; i++) {
    view.shape.push_back(buffer.shape[i]);
    view.strides.push_back(buffer.strides[i]);
    int64_t reach = (buffer.shape[i] - 1) * buffer.strides[i];
    (reach < 0 ? view.offset : last) += std::abs(reach);
  }
  auto nbytes = static_cast<size_t>(view.offset + last) + itemsize(dtype);
  char* start = static_cast<char*>(buffer.buf) - view.offset;
  auto* storage = new Storage(Device{}, nbytes, start, [kept = share(keeper)] {});
  storage->read_only = read_only;
  storage->lent = 1;
  PyBuffer_Release(&buffer);
  return Array(storage, std::move(view));
}

PyObject* dlpack_device_method(PyObject*, PyObject*) {
  return guarded([&] { return nb::make_tuple(1, 0).release().ptr(); });  // all cpu devices share the host's memory
}

}  // namespace

nb::object lend(const Array& a) {
  static PyTypeObject* type = make_lent_type();
  View v = a;
  if (a.dtype == DType::bf16) v.dtype = DType::u16;  // NumPy takes no buffer of it, but views its bits
  PyObject* o = checked(type->tp_alloc(type, 0));
  new (&as_array(o)) Array(a.view(std::move(v)));
  nb::object values = numpy().asarray(nb::steal(o));
  return a.dtype == DType::bf16 ? nb::object(values.attr("view")(nb::handle(dtype_object(a.dtype)))) : values;
}

void add_exchange(TypeParts& parts) {
  parts.slot(Py_bf_getbuffer, get_buffer);
  parts.slot(Py_bf_releasebuffer, release_buffer);
  parts.method("__dlpack__", reinterpret_cast<PyCFunction>(dlpack_method), METH_FASTCALL | METH_KEYWORDS,
               "__dlpack__($self, *, stream=None, max_version=None, dl_device=None, copy=None)\n--\n\n"
               "The memory as a DLPack capsule: waits.");
  parts.method("__dlpack_device__", dlpack_device_method, METH_NOARGS, "DLPack's name of the device.");
}

void bind_exchange(nb::module_& m) {
  // array(obj, dtype=None, device=None, copy=None): from NumPy arrays, buffers, numbers.
  m.def(
      "array",
      [](nb::object o, nb::object dtype, nb::object device, nb::object copying) {
        std::optional<DType> to = to_dtype_or_none(dtype);
        bool own = is_ndarray(o.ptr());
        Device on = own && device.is_none() ? as_array(o.ptr()).device() : to_device(device);
        Array made = to_array(o.ptr(), on, to);
        bool fresh = !own;
        if (to && made.dtype != *to) made = astype(made, *to), fresh = true;
        if (!(made.device() == on)) made = copy_to_device(made, on), fresh = true;
        if (!fresh && copying.ptr() == Py_True) made = copy(made);
        return made;
      },
      nb::arg("object"), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(), nb::arg("copy") = nb::none(),
      "An array of NumPy's values, a buffer's, or a number. What is not an ndarray is always copied.");
  m.def(
      "from_numbers",
      [](nb::object o, nb::object dtype, nb::object device, nb::object beside) {
        const Array* other = is_ndarray(beside.ptr()) ? &as_array(beside.ptr()) : nullptr;
        return array_of_numbers(o.ptr(), to_dtype_or_none(dtype), to_device(device), other);
      },
      nb::arg("values").none(), nb::arg("dtype") = nb::none(), nb::arg("device") = nb::none(),
      nb::arg("beside") = nb::none(),
      "An array of a number or nested lists of numbers; None for what only NumPy can read. `beside`: an array whose "
      "type they adapt to.");
  m.def("dlpack_as_bits", as_bits, nb::arg("capsule"),
        "Turns bfloat16 in a DLPack capsule into its bits, uint16; whether it was bfloat16.");
  m.def("borrow", borrow_array, nb::arg("values"), nb::arg("keeper"), nb::arg("read_only"),
        "An array over the memory of a NumPy array that is not empty; the keeper is let go when it is read no more.");
}

}  // namespace slipstream::python
