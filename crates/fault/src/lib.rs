//! What went wrong: kinds, the catalogue of reasons, faults and secrets.
