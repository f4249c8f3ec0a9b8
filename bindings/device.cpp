// Devices: their Python class, and which one is current.

#include "../core/engine/device.h"

#include "convert.h"
#include "errors.h"

namespace slipstream::python {

nb::object device_object(Device device) { return nb::cast(DeviceName{engine::kind_name(device), device.id}); }

Device current_device() {
  // Only slipstream.device can make another one current, so without it there is nothing to ask.
  nb::object module = nb::steal(PyImport_GetModule(nb::str("slipstream.device").ptr()));
  if (!module.is_valid()) {
    if (PyErr_Occurred()) nb::raise_python_error();
    return Device{};
  }
  auto name = nb::cast<DeviceName>(call_python(module.attr("current_device"), {}));
  return engine::device(name.kind, name.id);
}

Device to_device(nb::handle o) {
  if (o.is_none()) return current_device();
  nb::object name = nb::isinstance<DeviceName>(o)
                        ? nb::borrow(o)
                        : call_python(nb::module_::import_("slipstream.device").attr("resolve"), {o});
  const auto& d = nb::cast<const DeviceName&>(name);
  return engine::device(d.kind, d.id);
}

void bind_device(nb::module_& m) {
  auto text = [](const DeviceName& d) { return d.kind + "(" + std::to_string(d.id) + ")"; };
  nb::class_<DeviceName>(m, "Device", "Where an array lives: a kind and a number.")
      .def(
          "__init__",
          [](DeviceName* at, std::string kind, int id) {
            if (id < 0) fail(ErrorKind::value, "Device: id is ", id, ", but must not be negative");
            new (at) DeviceName{std::move(kind), id};
          },
          nb::arg("kind") = "cpu", nb::arg("id") = 0)
      .def_ro("kind", &DeviceName::kind)
      .def_ro("id", &DeviceName::id)
      .def_ro("device_type", &DeviceName::kind)
      .def_ro("device_id", &DeviceName::id)
      .def("__repr__", text)
      .def("__str__", text)
      .def("__eq__",
           [](const DeviceName& a, nb::handle b) -> nb::object {
             if (!nb::isinstance<DeviceName>(b)) return nb::borrow(Py_NotImplemented);
             return nb::bool_(a == nb::cast<const DeviceName&>(b));
           })
      .def("__hash__", [](const DeviceName& d) { return nb::hash(nb::make_tuple(d.kind, d.id)); })
      .def("__reduce__", [m = nb::handle(m)](const DeviceName& d) {
        return nb::make_tuple(m.attr("Device"), nb::make_tuple(d.kind, d.id));
      });
  m.def("device_count", &engine::device_count, nb::arg("kind"), "Number of devices of a kind; 0 for unknown kinds.");
}

}  // namespace slipstream::python
