// SPDX-License-Identifier: BSD-2-Clause
//! What the crate `abd` uses of libabd's C interface; contracts are in the headers. For
//! tests/rust/headers.py callbacks are types with names, and constants are as C writes them.
#![allow(non_camel_case_types)]

use std::os::raw::{c_int, c_long, c_uint, c_void};

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
pub const ESTALE: c_int = 116;
pub const ABD_FLUSH_AUTO: c_uint = 0;
pub const ABD_FLUSH_SHARED: c_uint = 1;
pub const ABD_FLUSH_EXCLUSIVE: c_uint = 2;
// Of a cache's config.
pub const ABD_ARC_CHECKSUM: c_uint = 1 << 0;
pub const ABD_ARC_SECOND_TIME: c_uint = 1 << 1;
pub const ABD_ARC_ALIGNED: c_uint = 1 << 2;
pub const ABD_ARC_REINDEX: c_uint = 1 << 3;
pub const ABD_ARC_NO_GHOSTS: c_uint = 1 << 4;
// Of calls: the same bits mean other things here.
pub const ABD_ARC_METADATA: c_uint = 1 << 0;
pub const ABD_ARC_NOWAIT: c_uint = 1 << 1;
pub const ABD_ARC_STORED: c_uint = 1 << 2;
pub const ABD_ARC_PLAIN: c_uint = 1 << 3;
pub const ABD_ARC_NO_TOUCH: c_uint = 1 << 4;
pub const ABD_ARC_VERIFY: c_uint = 1 << 5;
/// A buffer. Its flags and its size may be read, the rest is private.
#[repr(C)]
#[rustfmt::skip]
pub struct abd_t {
    pub abd_flags: c_uint, small: [u8; 4], pub abd_size: usize, parent: *mut c_void,
    counts: [u32; 2], borrows: *mut c_void, kind: [usize; 3],
}

/// A cache: only ever behind a pointer.
#[repr(C)]
pub struct abd_arc_t([u8; 0]);

#[repr(C)]
pub struct iovec {
    pub iov_base: *mut c_void,
    pub iov_len: usize,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_arc_key_t {
    pub pool: u64,
    pub dva: [u64; 2],
    pub birth: u64,
}

/// Its private fields are C's `evicted_cb` and its argument: none is called.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct abd_arc_no_callback([usize; 2]);

#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[rustfmt::skip]
pub struct abd_arc_config {
    pub config_size: usize, pub capacity_bytes: usize, pub expected_entries: usize,
    pub hit_batch: u32, pub flags: u32, pub lz4_index_min: u32, pub lz4_index_group: u32,
    pub evicted: abd_arc_no_callback, pub shards: usize,
    pub metadata_min_bytes: usize, pub metadata_max_bytes: usize, pub lz4_effort: usize,
}

#[repr(C)]
#[derive(Debug)]
#[rustfmt::skip]
pub struct abd_arc_hold_t {
    pub abd: *const abd_t, pub stored_size: usize, pub logical_size: usize, pub compressed: bool,
    pub entry: *mut c_void,
}

#[repr(C)]
#[derive(Debug)]
#[rustfmt::skip]
pub struct abd_arc_fill_t {
    pub abd: *mut abd_t, pub size: usize, pub entry: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[rustfmt::skip]
pub struct abd_arc_stats {
    pub hits: u64, pub misses: u64, pub decodes: u64, pub damaged: u64, pub puts: u64,
    pub replaces: u64, pub removes: u64, pub evictions: u64, pub ghost_hits_recent: u64,
    pub ghost_hits_frequent: u64, pub hits_told: u64, pub hits_dropped: u64,
    pub grace_periods: u64, pub shrinks: u64, pub capacity_bytes: u64, pub used_bytes: u64,
    pub stored_bytes: u64, pub logical_bytes: u64, pub metadata_stored_bytes: u64,
    pub entries: u64, pub metadata_entries: u64, pub recent_bytes: u64, pub frequent_bytes: u64,
    pub ghost_recent_bytes: u64, pub ghost_frequent_bytes: u64, pub ghosts: u64,
    pub target_bytes: u64, pub target_recent_bytes: u64, pub evicted_bytes: u64,
    pub held_bytes: u64, pub index_bytes: u64, pub moves: u64, pub resident_bytes: u64,
    pub waits: u64, pub remembered: u64, pub told: u64, pub metadata_bytes: u64,
    pub minimum_bytes: u64, pub protected_bytes: u64, pub reindexed: u64,
}

#[rustfmt::skip]
extern "C" {
    // buffer.h
    pub fn abd_alloc(size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_alloc_linear(size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_alloc_for_io(size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_free(abd: *mut abd_t);
    pub fn abd_get_offset_size(sabd: *mut abd_t, off: usize, size: usize) -> *mut abd_t;
    pub fn abd_get_from_buf(buf: *mut c_void, size: usize) -> *mut abd_t;
    pub fn abd_buf_alloc(size: usize, is_metadata: bool) -> *mut c_void;
    pub fn abd_buf_free(buf: *mut c_void, size: usize);
    // operate.h, compare.h
    pub fn abd_copy_off(dabd: *mut abd_t, sabd: *const abd_t, doff: usize, soff: usize,
        size: usize);
    pub fn abd_copy_from_buf_off(abd: *mut abd_t, buf: *const c_void, off: usize, size: usize);
    pub fn abd_copy_to_buf_off(buf: *mut c_void, abd: *const abd_t, off: usize, size: usize);
    pub fn abd_zero_off(abd: *mut abd_t, off: usize, size: usize);
    pub fn abd_diff_off(a: *const abd_t, b: *const abd_t, a_off: usize, b_off: usize,
        size: usize) -> usize;
    // flush.h, io.h
    pub fn abd_flush_copy_off(dst: *mut abd_t, src: *const abd_t, dst_off: usize, src_off: usize,
        size: usize, flags: c_uint);
    pub fn abd_to_iov(abd: *const abd_t, off: usize, size: usize, iov: *mut iovec, iov_max: c_int,
        covered: *mut usize) -> c_int;
    pub fn abd_pread(fd: c_int, dst: *mut abd_t, dst_off: usize, size: usize,
        file_off: c_long) -> isize;
    pub fn abd_pwrite(fd: c_int, src: *const abd_t, src_off: usize, size: usize,
        file_off: c_long) -> isize;
    // codec.h
    pub fn abd_lz4_compress(dst: *mut abd_t, src: *const abd_t, dst_off: usize, src_off: usize,
        src_size: usize) -> isize;
    pub fn abd_lz4_decompress_exact(dst: *mut abd_t, src: *const abd_t, dst_off: usize, size: usize,
        src_off: usize, src_size: usize) -> isize;
    pub fn abd_fletcher_4(abd: *const abd_t, off: usize, size: usize, checksum: *mut u64);
    pub fn abd_crc32c(abd: *const abd_t, off: usize, size: usize, seed: u32) -> u32;
    pub fn abd_xxh3(abd: *const abd_t, off: usize, size: usize, seed: u64) -> u64;
    // arc.h
    pub fn abd_arc_create(config: *const abd_arc_config) -> *mut abd_arc_t;
    pub fn abd_arc_destroy(arc: *mut abd_arc_t);
    pub fn abd_arc_put_flags(arc: *mut abd_arc_t, key: *const abd_arc_key_t, buf: *const c_void,
        size: usize, flags: c_uint) -> c_int;
    pub fn abd_arc_read(arc: *mut abd_arc_t, key: *const abd_arc_key_t, dst: *mut c_void,
        off: usize, size: usize) -> isize;
    pub fn abd_arc_read_flags(arc: *mut abd_arc_t, key: *const abd_arc_key_t, dst: *mut c_void,
        off: usize, size: usize, flags: c_uint) -> isize;
    pub fn abd_arc_contains(arc: *mut abd_arc_t, key: *const abd_arc_key_t) -> bool;
    pub fn abd_arc_hold(arc: *mut abd_arc_t, key: *const abd_arc_key_t,
        hold: *mut abd_arc_hold_t) -> c_int;
    pub fn abd_arc_hold_read(hold: *const abd_arc_hold_t, dst: *mut c_void, off: usize,
        size: usize) -> isize;
    pub fn abd_arc_hold_drop(arc: *mut abd_arc_t, hold: *const abd_arc_hold_t) -> c_int;
    pub fn abd_arc_hold_many(arc: *mut abd_arc_t, keys: *const abd_arc_key_t,
        holds: *mut abd_arc_hold_t, results: *mut c_int, n: usize) -> usize;
    pub fn abd_arc_release(hold: *mut abd_arc_hold_t);
    pub fn abd_arc_hold_or_fill(arc: *mut abd_arc_t, key: *const abd_arc_key_t, size: usize,
        flags: c_uint, hold: *mut abd_arc_hold_t, fill: *mut abd_arc_fill_t) -> c_int;
    pub fn abd_arc_fill_commit(fill: *mut abd_arc_fill_t, stored_size: usize, logical_size: usize,
        flags: c_uint, hold: *mut abd_arc_hold_t) -> c_int;
    pub fn abd_arc_fill_abandon(fill: *mut abd_arc_fill_t);
    pub fn abd_arc_remove(arc: *mut abd_arc_t, key: *const abd_arc_key_t) -> c_int;
    pub fn abd_arc_remove_pool(arc: *mut abd_arc_t, pool: u64) -> isize;
    pub fn abd_arc_put_abd(arc: *mut abd_arc_t, key: *const abd_arc_key_t, abd: *mut abd_t,
        logical_size: usize, flags: c_uint) -> c_int;
    pub fn abd_arc_resize(arc: *mut abd_arc_t, capacity_bytes: usize) -> c_int;
    pub fn abd_arc_set_pool_min(arc: *mut abd_arc_t, pool: u64, bytes: usize) -> c_int;
    pub fn abd_arc_trim(arc: *mut abd_arc_t, bytes: usize, max_ns: u64) -> usize;
    pub fn abd_arc_stats_get(arc: *mut abd_arc_t, stats: *mut abd_arc_stats,
        stats_size: usize) -> c_int;
}
