// SPDX-License-Identifier: BSD-2-Clause
//! libabd's C interface; contracts are in the headers, from which its declarations are made.
#![allow(non_camel_case_types, non_upper_case_globals)]

use std::os::raw::{c_char, c_int, c_uchar, c_uint, c_void};

/// For structs with pointers, of which zeros are a value.
macro_rules! zeroed_by_default {
    ($name:ident) => {
        impl Default for $name {
            fn default() -> $name {
                unsafe { std::mem::zeroed() }
            }
        }
    };
}

/// The size of a type where the headers were read, which is on 64 bits; elsewhere what it has.
#[allow(dead_code)] // Rust 1.63 does not see its use in constants without a name
const fn size_of_on_64_bits<T>(read: usize) -> usize {
    if cfg!(target_pointer_width = "64") {
        std::mem::size_of::<T>()
    } else {
        read
    }
}

#[rustfmt::skip]
mod made;
pub use made::*;

pub const ENOENT: c_int = 2;
pub const EIO: c_int = 5;
pub const E2BIG: c_int = 7;
pub const EBADF: c_int = 9;
pub const EAGAIN: c_int = 11;
pub const ENOMEM: c_int = 12;
pub const EINVAL: c_int = 22;
pub const ENOSPC: c_int = 28;
pub const EDEADLK: c_int = 35;
pub const EBADMSG: c_int = 74;
pub const ETIMEDOUT: c_int = 110;
pub const EINPROGRESS: c_int = 115;
pub const ESTALE: c_int = 116;

// Its pointers are for C's callback alone.
unsafe impl Send for abd_arc_config {}
unsafe impl Sync for abd_arc_config {}

/// C's `struct iovec`.
#[repr(C)]
pub struct iovec {
    pub iov_base: *mut c_void,
    pub iov_len: usize,
}

/// A cache: only ever behind a pointer.
#[repr(C)]
pub struct abd_arc_t([u8; 0]);

/// liburing's: only ever behind a pointer.
#[repr(C)]
pub struct io_uring([u8; 0]);

/// liburing's: only ever behind a pointer.
#[repr(C)]
pub struct io_uring_sqe([u8; 0]);
