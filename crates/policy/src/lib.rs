//! The guard: who is calling and how much they may ask for. Pure: no I/O.
