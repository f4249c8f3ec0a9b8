// Devices: their Python class, and which one is current.

#include "../core/engine/device.h"

#include <atomic>

#include "convert.h"
#include "errors.h"

namespace slipstream::python {

// The first few devices have one object each, for good: `data[x.device]` then finds its key without comparing.
nb::object device_object(Device device) {
  constexpr size_t kKinds = 2, kFew = 8;
  static std::atomic<PyObject*> known[kKinds][kFew];
  bool few = device.kind < kKinds && device.id < kFew;
  if (few)
    if (PyObject* found = known[device.kind][device.id].load(std::memory_order_acquire)) return nb::borrow(found);
  nb::object made = nb::cast(DeviceName{engine::kind_name(device), device.id});
  PyObject* none = nullptr;
  if (few && known[device.kind][device.id].compare_exchange_strong(none, made.ptr(), std::memory_order_acq_rel))
    made.inc_ref();
  return made;
}

// A context variable: the devices of `with device:` of this thread or asyncio task, the innermost last.
static PyObject* device_stack = nullptr;

Device current_device() {
  PyObject* found = nullptr;
  checked(PyContextVar_Get(device_stack, nullptr, &found));
  nb::object stack = nb::steal(found);
  Py_ssize_t depth = PyTuple_GET_SIZE(found);
  return depth == 0 ? Device{} : to_device(PyTuple_GET_ITEM(found, depth - 1));
}

Device to_device(nb::handle o) {
  if (o.is_none()) return current_device();
  nb::object name = nb::isinstance<DeviceName>(o)
                        ? nb::borrow(o)
                        : call_python(nb::module_::import_("slipstream.device").attr("resolve"), {o});
  const auto& d = nb::cast<const DeviceName&>(name);
  return engine::device(d.kind, d.id);
}

// A slot, not a method: parameters are looked up by device at every call of a layer.
static Py_hash_t hash_device(PyObject* o) {
  const auto& d = *nb::inst_ptr<DeviceName>(o);
  return static_cast<Py_hash_t>(d.kind.size() * 1000 + static_cast<size_t>(d.id));
}

void bind_device(nb::module_& m) {
  device_stack = checked(PyContextVar_New("slipstream_devices", nb::tuple().ptr()));
  m.attr("device_stack") = nb::borrow(device_stack);
  auto text = [](const DeviceName& d) { return d.kind + "(" + std::to_string(d.id) + ")"; };
  static PyType_Slot slots[] = {{Py_tp_hash, reinterpret_cast<void*>(hash_device)}, {0, nullptr}};
  nb::class_<DeviceName>(m, "Device", nb::type_slots(slots),
                         "Where an array lives: a kind and a number.\n\n>>> npx.Device(\"cpu\", 1)\ncpu(1)")
      .def(
          "__init__",
          [](DeviceName* at, nb::object kind, int id) {
            if (nb::isinstance<DeviceName>(kind)) {  // as in MXNet, a copy
              new (at) DeviceName(nb::cast<const DeviceName&>(kind));
              return;
            }
            if (!nb::isinstance<nb::str>(kind))
              fail(ErrorKind::type, "Device: device_type is ", nb::repr(kind).c_str(), ", not a name or a device");
            std::string name = nb::cast<std::string>(kind);
            if (name == "cpu_pinned" || name == "cpu_shared") name = "cpu";  // MXNet's names for memory of the host
            if (name != "cpu" && name != "gpu")
              fail(ErrorKind::value, "Device: kind '", name, "' is none of 'cpu', 'gpu'");
            if (id < 0) fail(ErrorKind::value, "Device: id is ", id, ", but must not be negative");
            new (at) DeviceName{std::move(name), id};
          },
          nb::arg("device_type").none() = "cpu", nb::arg("device_id") = 0)
      .def_ro("kind", &DeviceName::kind)
      .def_ro("id", &DeviceName::id)
      .def_ro("device_type", &DeviceName::kind)
      .def_ro("device_id", &DeviceName::id)
      .def("__repr__", text)
      .def("__str__", text)
      .def(
          "__eq__",
          [](const DeviceName& a, nb::handle b) -> nb::object {
            if (!nb::isinstance<DeviceName>(b)) return nb::borrow(Py_NotImplemented);
            return nb::bool_(a == nb::cast<const DeviceName&>(b));
          },
          nb::arg("other").none())
      .def("__reduce__", [m = nb::handle(m)](const DeviceName& d) {
        return nb::make_tuple(m.attr("Device"), nb::make_tuple(d.kind, d.id));
      });
  m.def("device_count", &engine::device_count, nb::arg("kind"), "Number of devices of a kind; 0 for unknown kinds.");
}

}  // namespace slipstream::python
