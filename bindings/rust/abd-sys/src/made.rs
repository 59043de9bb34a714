// SPDX-License-Identifier: BSD-2-Clause
// Made from libabd's headers by tests/made --write.
use super::*;

pub const ABD_ARC_CHECKSUM: c_uint = 65536;
pub const ABD_ARC_SECOND_TIME: c_uint = 131072;
pub const ABD_ARC_NO_GHOSTS: c_uint = 1048576;
pub const ABD_ARC_DESTROY_EVICTS: c_uint = 2097152;
pub const ABD_ARC_METADATA: c_uint = 1;
pub const ABD_ARC_NOWAIT: c_uint = 2;
pub const ABD_ARC_STORED: c_uint = 4;
pub const ABD_ARC_PLAIN: c_uint = 8;
pub const ABD_ARC_NO_TOUCH: c_uint = 16;
pub const ABD_ARC_VERIFY: c_uint = 32;
pub const ABD_ARC_EVICTED_CAPACITY: c_uint = 1;
pub const ABD_ARC_EVICTED_RESIZE: c_uint = 2;
pub const ABD_ARC_EVICTED_TRIM: c_uint = 3;
pub const ABD_ARC_EVICTED_DAMAGED: c_uint = 4;
pub const ABD_ARC_EVICTED_DESTROY: c_uint = 5;
pub const ABD_FLAG_LINEAR: c_uint = 1;
pub const ABD_FLAG_OWNER: c_uint = 2;
pub const ABD_FLAG_META: c_uint = 4;
pub const ABD_FLAG_MULTI_ZONE: c_uint = 8;
pub const ABD_FLAG_MULTI_CHUNK: c_uint = 16;
pub const ABD_FLAG_LINEAR_PAGE: c_uint = 32;
pub const ABD_FLAG_GANG: c_uint = 64;
pub const ABD_FLAG_GANG_FREE: c_uint = 128;
pub const ABD_FLAG_ALLOCD: c_uint = 256;
pub const ABD_FLAG_FROM_PAGES: c_uint = 512;
pub const ABD_FLUSH_AUTO: c_uint = 0;
pub const ABD_FLUSH_SHARED: c_uint = 1;
pub const ABD_FLUSH_EXCLUSIVE: c_uint = 2;
pub const ABD_FLUSH_NODRAIN: c_uint = 256;
pub const ABD_FLUSH_DURABILITY_NONE: c_uint = 0;
pub const ABD_FLUSH_DURABILITY_COHERENCY: c_uint = 1;
pub const ABD_FLUSH_DURABILITY_PERSISTENCE: c_uint = 2;
pub const ABD_KEY_INLINE_SIZE: c_uint = 64;
pub const ABD_ARC_CAPACITY_MIN: usize = 65536;
pub const ABD_ARC_RECORD_MAX: usize = 2113929216;
pub const ABD_ARC_HIT_BATCH_MAX: usize = 256;
pub const ABD_ARC_SHARDS_MAX: usize = 64;
pub const ABD_LZ4_INDEX_FORM: usize = 8;
pub const ABD_LZ4_LENGTH_SIZE: usize = 4;
pub const ABD_STATS_ORDERS: usize = 16;

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_arc_key_t {
    pub pool: u64,
    pub dva: [u64; 2],
    pub birth: u64,
}
const _: [(); 32] = [(); size_of_on_64_bits::<abd_arc_key_t>(32)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_arc_evicted_t {
    pub key: abd_arc_key_t,
    pub abd: *const abd_t,
    pub stored_size: usize,
    pub logical_size: usize,
    pub flags: c_uint,
    pub entry: *mut c_void,
    pub reason: c_uint,
    pub uses: c_uint,
}
zeroed_by_default!(abd_arc_evicted_t);
const _: [(); 80] = [(); size_of_on_64_bits::<abd_arc_evicted_t>(80)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_arc_config {
    pub config_size: usize,
    pub capacity_bytes: usize,
    pub expected_entries: usize,
    pub hit_batch: u32,
    pub flags: u32,
    pub lz4_index_min: u32,
    pub lz4_index_group: u32,
    pub evicted_cb: Option<unsafe extern "C" fn(*mut abd_arc_evicted_t, *mut c_void)>,
    pub evicted_arg: *mut c_void,
    pub shards: usize,
    pub metadata_min_bytes: usize,
    pub metadata_max_bytes: usize,
    pub lz4_effort: usize,
}
zeroed_by_default!(abd_arc_config);
const _: [(); 88] = [(); size_of_on_64_bits::<abd_arc_config>(88)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_arc_hold_t {
    pub abd: *const abd_t,
    pub stored_size: usize,
    pub logical_size: usize,
    pub compressed: bool,
    pub entry: *mut c_void,
}
zeroed_by_default!(abd_arc_hold_t);
const _: [(); 40] = [(); size_of_on_64_bits::<abd_arc_hold_t>(40)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_arc_fill_t {
    pub abd: *mut abd_t,
    pub size: usize,
    pub entry: *mut c_void,
}
zeroed_by_default!(abd_arc_fill_t);
const _: [(); 24] = [(); size_of_on_64_bits::<abd_arc_fill_t>(24)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_arc_record_t {
    pub off: usize,
    pub stored_size: usize,
    pub logical_size: usize,
    pub flags: c_uint,
    pub index: *const abd_lz4_index,
    pub checksum: *const u64,
}
zeroed_by_default!(abd_arc_record_t);
const _: [(); 48] = [(); size_of_on_64_bits::<abd_arc_record_t>(48)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_arc_io_t {
    pub key: abd_arc_key_t,
    pub dst: *mut c_void,
    pub off: usize,
    pub size: usize,
    pub result: isize,
}
zeroed_by_default!(abd_arc_io_t);
const _: [(); 64] = [(); size_of_on_64_bits::<abd_arc_io_t>(64)];

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_arc_stats {
    pub hits: u64,
    pub misses: u64,
    pub decodes: u64,
    pub damaged: u64,
    pub puts: u64,
    pub replaces: u64,
    pub removes: u64,
    pub evictions: u64,
    pub ghost_hits_recent: u64,
    pub ghost_hits_frequent: u64,
    pub hits_told: u64,
    pub hits_dropped: u64,
    pub grace_periods: u64,
    pub shrinks: u64,
    pub capacity_bytes: u64,
    pub used_bytes: u64,
    pub stored_bytes: u64,
    pub logical_bytes: u64,
    pub metadata_stored_bytes: u64,
    pub entries: u64,
    pub metadata_entries: u64,
    pub recent_bytes: u64,
    pub frequent_bytes: u64,
    pub ghost_recent_bytes: u64,
    pub ghost_frequent_bytes: u64,
    pub ghosts: u64,
    pub target_bytes: u64,
    pub target_recent_bytes: u64,
    pub evicted_bytes: u64,
    pub held_bytes: u64,
    pub index_bytes: u64,
    pub moves: u64,
    pub resident_bytes: u64,
    pub waits: u64,
    pub remembered: u64,
    pub told: u64,
    pub metadata_bytes: u64,
    pub thread_bytes: u64,
}
const _: [(); 304] = [(); size_of_on_64_bits::<abd_arc_stats>(304)];

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_arc_saved {
    pub records: u64,
    pub stored_bytes: u64,
    pub file_bytes: u64,
    pub skipped: u64,
    pub damaged: u64,
    pub is_complete: u64,
}
const _: [(); 48] = [(); size_of_on_64_bits::<abd_arc_saved>(48)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_t {
    pub abd_flags: c_uint,
    pub abd_provider: u8,
    pub abd_class_count: u8,
    pub abd_order: u8,
    pub abd_zeros: u8,
    pub abd_size: usize,
    pub abd_parent: *mut abd_t,
    pub abd_gang_refs: u32,
    pub abd_children: u32,
    pub abd_borrows: *mut c_void,
    abd_u: [usize; 3],
}
zeroed_by_default!(abd_t);
const _: [(); 64] = [(); size_of_on_64_bits::<abd_t>(64)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_piece {
    pub abd: *const abd_t,
    pub off: usize,
    pub size: usize,
}
zeroed_by_default!(abd_piece);
const _: [(); 24] = [(); size_of_on_64_bits::<abd_piece>(24)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_allocator {
    pub alloc: Option<unsafe extern "C" fn(usize, usize, bool, *mut c_void) -> *mut c_void>,
    pub free: Option<unsafe extern "C" fn(*mut c_void, usize, bool, *mut c_void)>,
    pub arg: *mut c_void,
}
zeroed_by_default!(abd_allocator);
const _: [(); 24] = [(); size_of_on_64_bits::<abd_allocator>(24)];

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_lz4_index {
    pub group_size: u32,
    pub hub_size: u32,
    pub count: u32,
    pub reserved: u32,
    pub points: [[u32; 2]; 0],
}
const _: [(); 16] = [(); size_of_on_64_bits::<abd_lz4_index>(16)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_span_place {
    pub abd_left: usize,
    pub abd_leaf_left: usize,
    pub abd_run_step: usize,
    pub abd_run: *const iovec,
    pub abd_entry: *const c_void,
}
zeroed_by_default!(abd_span_place);
const _: [(); 40] = [(); size_of_on_64_bits::<abd_span_place>(40)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_span_t {
    pub buf: *mut c_void,
    pub len: usize,
    pub off: usize,
    pub abd_place: abd_span_place,
}
zeroed_by_default!(abd_span_t);
const _: [(); 64] = [(); size_of_on_64_bits::<abd_span_t>(64)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_span_const_t {
    pub buf: *const c_void,
    pub len: usize,
    pub off: usize,
    pub abd_place: abd_span_place,
}
zeroed_by_default!(abd_span_const_t);
const _: [(); 64] = [(); size_of_on_64_bits::<abd_span_const_t>(64)];

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_pool_stats {
    pub region_size: u64,
    pub free_size: u64,
    pub largest_free_run: u64,
    pub free_runs: [u64; 16],
}
const _: [(); 152] = [(); size_of_on_64_bits::<abd_pool_stats>(152)];

#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct abd_stats {
    pub struct_size: u64,
    pub linear_cnt: u64,
    pub linear_data_size: u64,
    pub scatter_cnt: u64,
    pub scatter_data_size: u64,
    pub scatter_chunk_waste: u64,
    pub scatter_order: [u64; 16],
    pub scatter_multi_chunk: u64,
    pub scatter_alloc_retry: u64,
    pub borrow_cnt: u64,
    pub borrow_copy_cnt: u64,
    pub borrow_copy_bytes: u64,
    pub resident_regions: u64,
    pub resident_jemalloc: u64,
    pub resident_malloc: u64,
    pub resident_pool: u64,
    pub resident_small: u64,
    pub refused_cnt: u64,
}
const _: [(); 264] = [(); size_of_on_64_bits::<abd_stats>(264)];

#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct abd_uring {
    pub ring: *mut io_uring,
    pub abd_base: *mut c_char,
    pub abd_size: usize,
    pub abd_home: *mut c_uchar,
    pub abd_mark: u64,
}
zeroed_by_default!(abd_uring);
const _: [(); 40] = [(); size_of_on_64_bits::<abd_uring>(40)];

extern "C" {
    pub fn abd_alloc(size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_alloc_for_io(size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_alloc_gang() -> *mut abd_t;
    pub fn abd_alloc_gang_struct(abd: *mut abd_t) -> *mut abd_t;
    pub fn abd_alloc_linear(size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_alloc_linear_struct(abd: *mut abd_t, size: usize, is_metadata: bool) -> *mut abd_t;
    pub fn abd_alloc_sametype(sabd: *mut abd_t, size: usize) -> *mut abd_t;
    pub fn abd_allocator_set(allocator: *const abd_allocator) -> c_int;
    pub fn abd_append(abd: *mut abd_t, buf: *const c_void, size: usize) -> c_int;
    pub fn abd_arc_contains(arc: *mut abd_arc_t, key: *const abd_arc_key_t) -> bool;
    pub fn abd_arc_create(config: *const abd_arc_config) -> *mut abd_arc_t;
    pub fn abd_arc_destroy(arc: *mut abd_arc_t);
    pub fn abd_arc_each(arc: *mut abd_arc_t, visit: Option<unsafe extern "C" fn(*const abd_arc_key_t, usize, usize, *mut c_void) -> c_int>, arg: *mut c_void) -> c_int;
    pub fn abd_arc_evicted_take(evicted: *mut abd_arc_evicted_t) -> *mut abd_t;
    pub fn abd_arc_fill_abandon(fill: *mut abd_arc_fill_t);
    pub fn abd_arc_fill_commit(fill: *mut abd_arc_fill_t, stored_size: usize, logical_size: usize, flags: c_uint, hold: *mut abd_arc_hold_t) -> c_int;
    pub fn abd_arc_fill_commit_record(fill: *mut abd_arc_fill_t, record: *const abd_arc_record_t, hold: *mut abd_arc_hold_t) -> c_int;
    pub fn abd_arc_forget_ready(arc: *mut abd_arc_t, key: *const abd_arc_key_t, ready: Option<unsafe extern "C" fn(*mut c_void)>, arg: *mut c_void) -> c_int;
    pub fn abd_arc_hold(arc: *mut abd_arc_t, key: *const abd_arc_key_t, hold: *mut abd_arc_hold_t) -> c_int;
    pub fn abd_arc_hold_drop(arc: *mut abd_arc_t, hold: *const abd_arc_hold_t) -> c_int;
    pub fn abd_arc_hold_dup(hold: *const abd_arc_hold_t, copy: *mut abd_arc_hold_t) -> c_int;
    pub fn abd_arc_hold_many(arc: *mut abd_arc_t, keys: *const abd_arc_key_t, holds: *mut abd_arc_hold_t, results: *mut c_int, n: usize) -> usize;
    pub fn abd_arc_hold_or_fill(arc: *mut abd_arc_t, key: *const abd_arc_key_t, size: usize, flags: c_uint, hold: *mut abd_arc_hold_t, fill: *mut abd_arc_fill_t) -> c_int;
    pub fn abd_arc_hold_or_fill_async(arc: *mut abd_arc_t, key: *const abd_arc_key_t, size: usize, flags: c_uint, hold: *mut abd_arc_hold_t, fill: *mut abd_arc_fill_t, ready: Option<unsafe extern "C" fn(*mut c_void)>, arg: *mut c_void) -> c_int;
    pub fn abd_arc_hold_or_fill_many(arc: *mut abd_arc_t, keys: *const abd_arc_key_t, sizes: *const usize, flags: c_uint, holds: *mut abd_arc_hold_t, fills: *mut abd_arc_fill_t, results: *mut c_int, n: usize) -> usize;
    pub fn abd_arc_hold_or_fill_timed(arc: *mut abd_arc_t, key: *const abd_arc_key_t, size: usize, flags: c_uint, timeout_ns: u64, hold: *mut abd_arc_hold_t, fill: *mut abd_arc_fill_t) -> c_int;
    pub fn abd_arc_hold_read(hold: *const abd_arc_hold_t, dst: *mut c_void, off: usize, size: usize) -> isize;
    pub fn abd_arc_load(arc: *mut abd_arc_t, fd: c_int, saved: *mut abd_arc_saved, saved_size: usize) -> c_int;
    pub fn abd_arc_put(arc: *mut abd_arc_t, key: *const abd_arc_key_t, buf: *const c_void, size: usize) -> c_int;
    pub fn abd_arc_put_abd(arc: *mut abd_arc_t, key: *const abd_arc_key_t, abd: *mut abd_t, logical_size: usize, flags: c_uint) -> c_int;
    pub fn abd_arc_put_flags(arc: *mut abd_arc_t, key: *const abd_arc_key_t, buf: *const c_void, size: usize, flags: c_uint) -> c_int;
    pub fn abd_arc_put_record(arc: *mut abd_arc_t, key: *const abd_arc_key_t, abd: *mut abd_t, record: *const abd_arc_record_t) -> c_int;
    pub fn abd_arc_read(arc: *mut abd_arc_t, key: *const abd_arc_key_t, dst: *mut c_void, off: usize, size: usize) -> isize;
    pub fn abd_arc_read_abd(arc: *mut abd_arc_t, key: *const abd_arc_key_t, dst: *mut abd_t, dst_off: usize, off: usize, size: usize) -> isize;
    pub fn abd_arc_read_all(arc: *mut abd_arc_t, key: *const abd_arc_key_t, dst: *mut c_void, capacity: usize, size_needed: *mut usize) -> isize;
    pub fn abd_arc_read_flags(arc: *mut abd_arc_t, key: *const abd_arc_key_t, dst: *mut c_void, off: usize, size: usize, flags: c_uint) -> isize;
    pub fn abd_arc_read_many(arc: *mut abd_arc_t, ios: *mut abd_arc_io_t, n: usize) -> usize;
    pub fn abd_arc_release(hold: *mut abd_arc_hold_t);
    pub fn abd_arc_remove(arc: *mut abd_arc_t, key: *const abd_arc_key_t) -> c_int;
    pub fn abd_arc_remove_pool(arc: *mut abd_arc_t, pool: u64) -> isize;
    pub fn abd_arc_resize(arc: *mut abd_arc_t, capacity_bytes: usize) -> c_int;
    pub fn abd_arc_save(arc: *mut abd_arc_t, fd: c_int, saved: *mut abd_arc_saved, saved_size: usize) -> c_int;
    pub fn abd_arc_stats_get(arc: *mut abd_arc_t, stats: *mut abd_arc_stats, stats_size: usize) -> c_int;
    pub fn abd_arc_trim(arc: *mut abd_arc_t, bytes: usize, max_ns: u64) -> usize;
    pub fn abd_borrow_buf(abd: *mut abd_t, n: usize) -> *mut c_void;
    pub fn abd_borrow_buf_const(abd: *const abd_t, n: usize) -> *const c_void;
    pub fn abd_borrow_buf_copy(abd: *mut abd_t, n: usize) -> *mut c_void;
    pub fn abd_buf_alloc(size: usize, is_metadata: bool) -> *mut c_void;
    pub fn abd_buf_free(buf: *mut c_void, size: usize);
    pub fn abd_buf_free_marked(buf: *mut c_void, size: usize, is_metadata: bool);
    pub fn abd_cache_reap_now();
    pub fn abd_cmp(dabd: *const abd_t, sabd: *const abd_t) -> c_int;
    pub fn abd_cmp_buf(abd: *const abd_t, buf: *const c_void, size: usize) -> c_int;
    pub fn abd_cmp_buf_off(abd: *const abd_t, buf: *const c_void, off: usize, size: usize) -> c_int;
    pub fn abd_cmp_zero(abd: *const abd_t, size: usize) -> c_int;
    pub fn abd_cmp_zero_off(abd: *const abd_t, off: usize, size: usize) -> c_int;
    pub fn abd_compat_gang_add(pabd: *mut abd_t, cabd: *mut abd_t, free_on_free: bool);
    pub fn abd_compat_refusal_handler_set(handler: Option<unsafe extern "C" fn(*const c_char, usize) -> bool>);
    pub fn abd_compat_refused(call: *const c_char, size: usize, tries: c_uint);
    pub fn abd_contract_handler_set(handler: Option<unsafe extern "C" fn(*const c_char)>);
    pub fn abd_copy(dabd: *mut abd_t, sabd: *const abd_t, size: usize);
    pub fn abd_copy_from_buf(abd: *mut abd_t, buf: *const c_void, size: usize);
    pub fn abd_copy_from_buf_off(abd: *mut abd_t, buf: *const c_void, off: usize, size: usize);
    pub fn abd_copy_off(dabd: *mut abd_t, sabd: *const abd_t, doff: usize, soff: usize, size: usize);
    pub fn abd_copy_stream_off(dabd: *mut abd_t, sabd: *const abd_t, doff: usize, soff: usize, size: usize);
    pub fn abd_copy_to_buf(buf: *mut c_void, abd: *const abd_t, size: usize);
    pub fn abd_copy_to_buf_off(buf: *mut c_void, abd: *const abd_t, off: usize, size: usize);
    pub fn abd_crc32c(abd: *const abd_t, off: usize, size: usize, seed: u32) -> u32;
    pub fn abd_diff_off(a: *const abd_t, b: *const abd_t, a_off: usize, b_off: usize, size: usize) -> usize;
    pub fn abd_equal(a: *const abd_t, b: *const abd_t) -> bool;
    pub fn abd_equal_buf_off(abd: *const abd_t, buf: *const c_void, off: usize, size: usize) -> bool;
    pub fn abd_equal_off(a: *const abd_t, b: *const abd_t, a_off: usize, b_off: usize, size: usize) -> bool;
    pub fn abd_fini();
    pub fn abd_fletcher_4(abd: *const abd_t, off: usize, size: usize, checksum: *mut u64);
    pub fn abd_fletcher_4_swapped(abd: *const abd_t, off: usize, size: usize, checksum: *mut u64);
    pub fn abd_flush_calibrate() -> c_int;
    pub fn abd_flush_copy_from_buf_off(dst: *mut abd_t, src: *const c_void, dst_off: usize, size: usize, flags: c_uint);
    pub fn abd_flush_copy_off(dst: *mut abd_t, src: *const abd_t, dst_off: usize, src_off: usize, size: usize, flags: c_uint);
    pub fn abd_flush_copy_to_buf_off(dst: *mut c_void, src: *const abd_t, src_off: usize, size: usize, flags: c_uint);
    pub fn abd_flush_drain();
    pub fn abd_flush_durability() -> c_uint;
    pub fn abd_free(abd: *mut abd_t);
    pub fn abd_free_const(view: *const abd_t);
    pub fn abd_from_iov(iov: *const iovec, iov_count: c_int) -> *mut abd_t;
    pub fn abd_from_pieces(pieces: *const abd_piece, count: usize) -> *const abd_t;
    pub fn abd_gang_add(pabd: *mut abd_t, cabd: *mut abd_t, free_on_free: bool) -> c_int;
    pub fn abd_get_from_buf(buf: *mut c_void, size: usize) -> *mut abd_t;
    pub fn abd_get_from_buf_cb(buf: *mut c_void, size: usize, free_cb: Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void)>, arg: *mut c_void) -> *mut abd_t;
    pub fn abd_get_from_buf_struct(abd: *mut abd_t, buf: *mut c_void, size: usize) -> *mut abd_t;
    pub fn abd_get_offset(sabd: *mut abd_t, off: usize) -> *mut abd_t;
    pub fn abd_get_offset_const(sabd: *const abd_t, off: usize, size: usize) -> *const abd_t;
    pub fn abd_get_offset_size(sabd: *mut abd_t, off: usize, size: usize) -> *mut abd_t;
    pub fn abd_get_offset_struct(abd: *mut abd_t, sabd: *mut abd_t, off: usize, size: usize) -> *mut abd_t;
    pub fn abd_get_zeros(size: usize) -> *mut abd_t;
    pub fn abd_get_zeros_struct(abd: *mut abd_t, size: usize) -> *mut abd_t;
    pub fn abd_init();
    pub fn abd_is_aligned(abd: *const abd_t, off: usize, size: usize, alignment: usize) -> bool;
    pub fn abd_iterate_func(abd: *mut abd_t, off: usize, size: usize, func: Option<unsafe extern "C" fn(*mut c_void, usize, *mut c_void) -> c_int>, r#priv: *mut c_void) -> c_int;
    pub fn abd_iterate_func2(dabd: *mut abd_t, sabd: *mut abd_t, doff: usize, soff: usize, size: usize, func: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize, *mut c_void) -> c_int>, r#priv: *mut c_void) -> c_int;
    pub fn abd_iterate_func_const(abd: *const abd_t, off: usize, size: usize, func: Option<unsafe extern "C" fn(*const c_void, usize, *mut c_void) -> c_int>, r#priv: *mut c_void) -> c_int;
    pub fn abd_key_equal_long(a: *const c_void, b: *const c_void, size: usize) -> bool;
    pub fn abd_lz4_compress(dst: *mut abd_t, src: *const abd_t, dst_off: usize, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_compress_effort(dst: *mut abd_t, src: *const abd_t, dst_off: usize, src_off: usize, src_size: usize, effort: c_int) -> isize;
    pub fn abd_lz4_compress_indexed(dst: *mut abd_t, src: *const abd_t, dst_off: usize, src_off: usize, src_size: usize, group_size: usize, effort: c_int, index: *mut abd_lz4_index) -> isize;
    pub fn abd_lz4_decompress(dst: *mut abd_t, src: *const abd_t, dst_off: usize, dst_size: usize, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_decompress_exact(dst: *mut abd_t, src: *const abd_t, dst_off: usize, size: usize, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_decompress_exact_to_buf(dst: *mut c_void, src: *const abd_t, size: usize, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_decompress_indexed_range_to_buf(dst: *mut c_void, src: *const abd_t, range_off: usize, range_size: usize, src_off: usize, src_size: usize, index: *const abd_lz4_index) -> isize;
    pub fn abd_lz4_decompress_range_to_buf(dst: *mut c_void, src: *const abd_t, range_off: usize, range_size: usize, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_decompress_to_buf(dst: *mut c_void, src: *const abd_t, dst_size: usize, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_index_check(index: *const abd_lz4_index, size: usize, block_size: usize) -> c_int;
    pub fn abd_lz4_index_get(index: *mut abd_lz4_index, index_size: usize, src: *const c_void, src_size: usize, block_size: usize) -> isize;
    pub fn abd_lz4_index_put(dst: *mut c_void, dst_size: usize, index: *const abd_lz4_index, index_size: usize, block_size: usize) -> isize;
    pub fn abd_lz4_index_size(src_size: usize, group_size: usize) -> usize;
    pub fn abd_lz4_length_get(src: *const abd_t, src_off: usize, src_size: usize) -> isize;
    pub fn abd_lz4_length_put(dst: *mut abd_t, dst_off: usize, length: u32);
    pub fn abd_lz4_might_pay(src: *const abd_t, src_off: usize, src_size: usize) -> bool;
    pub fn abd_lz4_pays(size: usize, compressed_size: usize) -> bool;
    pub fn abd_pool_region(base: *mut *mut c_void, size: *mut usize) -> c_int;
    pub fn abd_pool_stats_get(stats: *mut abd_pool_stats, stats_size: usize) -> c_int;
    pub fn abd_pread(fd: c_int, dst: *mut abd_t, dst_off: usize, size: usize, file_off: i64) -> isize;
    pub fn abd_prepend(abd: *mut abd_t, buf: *const c_void, size: usize) -> c_int;
    pub fn abd_pwrite(fd: c_int, src: *const abd_t, src_off: usize, size: usize, file_off: i64) -> isize;
    pub fn abd_raidz_gen_iterate(cabds: *mut *mut abd_t, dabd: *mut abd_t, off: usize, csize: usize, dsize: usize, parity: c_uint, func_raidz_gen: Option<unsafe extern "C" fn(*mut *mut c_void, *const c_void, usize, usize)>);
    pub fn abd_raidz_rec_iterate(cabds: *mut *mut abd_t, tabds: *mut *mut abd_t, tsize: usize, parity: c_uint, func_raidz_rec: Option<unsafe extern "C" fn(*mut *mut c_void, usize, *mut *mut c_void, *const c_uint)>, mul: *const c_uint);
    pub fn abd_release_ownership_of_buf(abd: *mut abd_t);
    pub fn abd_return_buf(abd: *mut abd_t, buf: *mut c_void, n: usize);
    pub fn abd_return_buf_const(abd: *const abd_t, buf: *const c_void, n: usize);
    pub fn abd_return_buf_copy(abd: *mut abd_t, buf: *mut c_void, n: usize);
    pub fn abd_size_alloc_linear(size: usize) -> bool;
    pub fn abd_span_begin(span: *mut abd_span_t, abd: *mut abd_t, off: usize, size: usize);
    pub fn abd_span_begin_const(span: *mut abd_span_const_t, abd: *const abd_t, off: usize, size: usize);
    pub fn abd_span_next(span: *mut abd_span_t);
    pub fn abd_span_next_const(span: *mut abd_span_const_t);
    pub fn abd_stats_get(stats: *mut abd_stats, stats_size: usize) -> c_int;
    pub fn abd_take_ownership_of_buf(abd: *mut abd_t, is_metadata: bool);
    pub fn abd_to_buf(abd: *mut abd_t) -> *mut c_void;
    pub fn abd_to_buf_const(abd: *const abd_t) -> *const c_void;
    pub fn abd_to_iov(abd: *const abd_t, off: usize, size: usize, iov: *mut iovec, iov_max: c_int, covered: *mut usize) -> c_int;
    pub fn abd_tuning_get(name: *const c_char) -> *const c_char;
    pub fn abd_tuning_set(name: *const c_char, value: *const c_char) -> c_int;
    pub fn abd_uring_begin(uring: *mut abd_uring, ring: *mut io_uring) -> c_int;
    pub fn abd_uring_end(uring: *mut abd_uring);
    pub fn abd_uring_pread(uring: *mut abd_uring, fd: c_int, dst: *mut abd_t, dst_off: usize, size: usize, file_off: i64) -> isize;
    pub fn abd_uring_prep_read(uring: *const abd_uring, sqe: *mut io_uring_sqe, fd: c_int, dst: *mut abd_t, dst_off: usize, size: usize, file_off: i64) -> usize;
    pub fn abd_uring_prep_write(uring: *const abd_uring, sqe: *mut io_uring_sqe, fd: c_int, src: *const abd_t, src_off: usize, size: usize, file_off: i64) -> usize;
    pub fn abd_uring_pwrite(uring: *mut abd_uring, fd: c_int, src: *const abd_t, src_off: usize, size: usize, file_off: i64) -> isize;
    pub fn abd_verify(abd: *const abd_t);
    pub fn abd_version() -> *const c_char;
    pub fn abd_xxh3(abd: *const abd_t, off: usize, size: usize, seed: u64) -> u64;
    pub fn abd_zero(abd: *mut abd_t, size: usize);
    pub fn abd_zero_off(abd: *mut abd_t, off: usize, size: usize);
    pub static mut abd_key_equal_any: Option<unsafe extern "C" fn(*const c_void, *const c_void, usize) -> bool>;
    pub static mut abd_compat_scatter_enabled: *mut c_int;
}
