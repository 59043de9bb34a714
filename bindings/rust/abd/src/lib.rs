// SPDX-License-Identifier: BSD-2-Clause
//! Buffers over contiguous and scattered memory, and a cache of compressed records: libabd without
//! `unsafe`. What C calls a broken contract can't be written, or panics (a range past the end).
//! Errors are errnos: compare [`std::io::Error::raw_os_error`] with those of [`sys`]. Only helpers
//! of std, such as [`std::io::Write::write_all`], have errors without a number.
//! Guards may be leaked ([`std::mem::forget`]): what they guard is then leaked with them.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs)]

// Elsewhere a thread's own values might be dropped after libabd has abandoned the thread's fills.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
compile_error!("the crate abd needs Linux with the GNU C library");

mod buffer;
mod cache;

#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

pub use abd_sys as sys;
pub use buffer::{Borrow, BorrowMut, Buffer, Index, View, ViewMut};
pub use cache::{Asked, Cache, Evicted, Fill, Found, Free, Hold, Local, Wait};
pub use sys::{
    abd_arc_config as Config, abd_arc_key_t as Key, abd_arc_saved as Saved, abd_arc_stats as Stats,
};

/// C's results: -errno, or a number.
fn check(result: isize) -> std::io::Result<usize> {
    usize::try_from(result).map_err(|_| std::io::Error::from_raw_os_error(-result as i32))
}

/// C's pointers: NULL and errno, or what was made.
fn made<T>(pointer: *mut T) -> std::io::Result<std::ptr::NonNull<T>> {
    std::ptr::NonNull::new(pointer).ok_or_else(std::io::Error::last_os_error)
}

// What the headers promise threads. What they do not is refuted at Fill.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<(Buffer, View, ViewMut, Borrow, BorrowMut, Cache, Hold, Index, Wait)>();
};
