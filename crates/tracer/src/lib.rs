//! The one preload library.
