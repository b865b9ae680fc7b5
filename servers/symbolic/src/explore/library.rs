//! Builtins, methods of builtin types, and modules of the standard library.

pub(crate) mod aggregate;
pub(crate) mod builtins;
pub(crate) mod methods;
pub(crate) mod modules;
pub(crate) mod python_modules;
