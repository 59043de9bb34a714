// SPDX-License-Identifier: BSD-2-Clause
//! The cache: records, holds, and fills of what is missing.
//! Invariant: what is held or being filled ends before its cache, or neither ends.
use crate::{check, made, sys, Config, Key, Stats, View, ViewMut};
use std::io::{Result, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{marker::PhantomData, mem, ptr::NonNull};

/// A cache of records, compressed where that pays: C's arc, which is another thing in Rust.
/// Flags are those of `sys` that the C call takes. Holds and fills can't outlive it:
/// ```
/// fn release_first(c: abd::Cache, k: abd::Key) { let hold = c.hold(&k); drop(hold); drop(c); }
/// ```
/// ```compile_fail,E0505
/// fn drop_first(c: abd::Cache, k: abd::Key) { let hold = c.hold(&k); drop(c); drop(hold); }
/// ```
#[derive(Debug)]
pub struct Cache {
    raw: NonNull<sys::abd_arc_t>,
    fills: AtomicUsize,
}

// arc.h: all calls but abd_arc_destroy() may be made by any thread at any time.
unsafe impl Send for Cache {}
unsafe impl Sync for Cache {}

impl Cache {
    /// A cache that takes so many bytes of memory.
    pub fn new(capacity_bytes: usize) -> Result<Cache> {
        Cache::with(Config { capacity_bytes, ..Config::default() })
    }

    /// One with a config, whose `config_size` does not matter.
    pub fn with(mut config: Config) -> Result<Cache> {
        config.config_size = mem::size_of::<Config>();
        let raw = made(unsafe { sys::abd_arc_create(&config) })?;
        Ok(Cache { raw, fills: AtomicUsize::new(0) })
    }

    /// Stores a copy of the bytes as the record of `key`.
    pub fn put(&self, key: &Key, bytes: &[u8], flags: u32) -> Result<()> {
        let (start, size) = (bytes.as_ptr().cast(), bytes.len());
        let arc = self.raw.as_ptr();
        check(unsafe { sys::abd_arc_put_flags(arc, key, start, size, flags) } as isize).map(drop)
    }

    /// Reads as many bytes of the record of `key` as `to` has, from `off` on. False: not here.
    pub fn read_at(&self, key: &Key, off: usize, to: &mut [u8]) -> Result<bool> {
        let (start, size) = (to.as_mut_ptr().cast(), to.len());
        found(unsafe { sys::abd_arc_read(self.raw.as_ptr(), key, start, off, size) })
    }

    /// Holds the record of `key`, if it is here.
    pub fn hold(&self, key: &Key) -> Result<Option<Hold<'_>>> {
        let mut hold = Hold::empty();
        let result = unsafe { sys::abd_arc_hold(self.raw.as_ptr(), key, &mut hold.0) };
        Ok(if found(result as isize)? { Some(hold) } else { None })
    }

    /// Holds the record of `key`, or begins to fill it in; `size` is the room for what is fetched.
    /// Other threads that want it wait meanwhile. A thread that asks for its own fill: `EDEADLK`.
    pub fn hold_or_fill(&self, key: &Key, size: usize, flags: u32) -> Result<Found<'_>> {
        let (arc, mut hold, mut raw) = (self.raw.as_ptr(), Hold::empty(), unsafe { mem::zeroed() });
        let result =
            unsafe { sys::abd_arc_hold_or_fill(arc, key, size, flags, &mut hold.0, &mut raw) };
        if check(result as isize)? == 0 {
            return Ok(Found::Hold(hold));
        }
        self.fills.fetch_add(1, Ordering::Relaxed);
        Ok(Found::Fill(Fill { cache: self, raw, written: 0 }))
    }

    /// Forgets the record of `key`. False: there was none.
    pub fn remove(&self, key: &Key) -> Result<bool> {
        found(unsafe { sys::abd_arc_remove(self.raw.as_ptr(), key) } as isize)
    }

    /// Counters and gauges.
    pub fn stats(&self) -> Stats {
        let mut stats = Stats::default();
        unsafe { sys::abd_arc_stats_get(self.raw.as_ptr(), &mut stats, mem::size_of::<Stats>()) };
        stats
    }
}

impl Drop for Cache {
    fn drop(&mut self) {
        // While something is held or filled C must not destroy it. A guard was leaked: so is this.
        if *self.fills.get_mut() == 0 && self.stats().held_bytes == 0 {
            unsafe { sys::abd_arc_destroy(self.raw.as_ptr()) }
        }
    }
}

fn found(result: isize) -> Result<bool> {
    match check(result) {
        Err(error) if error.raw_os_error() == Some(sys::ENOENT) => Ok(false),
        result => result.map(|_| true),
    }
}

/// What [`Cache::hold_or_fill`] gives: the record, or the right to fetch it.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Found<'c> {
    Hold(Hold<'c>),
    Fill(Fill<'c>),
}

/// A record that stays while this lives, whether the cache keeps it or not.
#[derive(Debug)]
pub struct Hold<'c>(sys::abd_arc_hold_t, PhantomData<&'c Cache>);

// arc.h: any thread may release it, and several may read it at a time.
unsafe impl Send for Hold<'_> {}
unsafe impl Sync for Hold<'_> {}

impl Hold<'_> {
    fn empty() -> Self {
        Hold(unsafe { mem::zeroed() }, PhantomData)
    }

    /// Bytes of the record.
    pub fn len(&self) -> usize {
        self.0.logical_size
    }

    /// The bytes as the cache has them, and whether they are an lz4 block.
    pub fn stored(&self) -> (View<'_>, bool) {
        (unsafe { View::new(self.0.abd, self.0.stored_size) }, self.0.compressed)
    }

    /// Reads as many bytes of the record as `to` has, from `off` on.
    pub fn read_at(&self, off: usize, to: &mut [u8]) -> Result<()> {
        let (start, size) = (to.as_mut_ptr().cast(), to.len());
        check(unsafe { sys::abd_arc_hold_read(&self.0, start, off, size) }).map(drop)
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        if !self.0.entry.is_null() {
            unsafe { sys::abd_arc_release(&mut self.0) }
        }
    }
}

/// A record that this thread fetches. A drop without a commit lets another thread try.
/// When a thread ends, the cache frees what its leaked fills have. So a fill stays with its thread,
/// and what refers to its bytes ends with a call:
/// ```
/// fn sent<T: Send>(_: T) {}
/// fn hold(h: abd::Hold) { sent(&h); sent(h); }
/// fn size(mut f: abd::Fill) -> usize { f.with(|bytes| bytes.view().len()) }
/// ```
/// ```compile_fail,E0277
/// fn sent<T: Send>(_: T) {}
/// fn fill(f: abd::Fill) { sent(f); }
/// ```
/// ```compile_fail,E0277
/// fn sent<T: Send>(_: T) {}
/// fn fill(f: abd::Fill) { sent(&f); }
/// ```
/// ```compile_fail
/// fn size(mut f: abd::Fill) -> usize { f.with(|bytes| bytes).view().len() }
/// ```
#[derive(Debug)]
pub struct Fill<'c> {
    cache: &'c Cache,
    raw: sys::abd_arc_fill_t,
    /// So many bytes are initialised, and become the record.
    written: usize,
}

impl<'c> Fill<'c> {
    /// All of the room, as many bytes as were asked for; those not written yet are zero.
    pub fn with<R>(&mut self, f: impl FnOnce(ViewMut<'_>) -> R) -> R {
        let (abd, size) = (self.raw.abd, self.raw.size);
        unsafe { sys::abd_zero_off(abd, self.written, size - self.written) };
        self.written = size;
        f(ViewMut(unsafe { View::new(abd, size) }, PhantomData))
    }

    /// What was written becomes the record of `logical_size` bytes, or (`sys::ABD_ARC_STORED`) its
    /// lz4 block. `ESTALE`: the record was put or removed meanwhile, so look again.
    pub fn commit(mut self, logical_size: usize, flags: u32) -> Result<Hold<'c>> {
        let (fill, size, mut hold) = (&mut self.raw, self.written, Hold::empty());
        let to = &mut hold.0;
        check(unsafe { sys::abd_arc_fill_commit(fill, size, logical_size, flags, to) } as isize)?;
        Ok(hold)
    }
}

/// Writes behind what was written.
impl Write for Fill<'_> {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        let size = from.len().min(self.raw.size - self.written);
        let (abd, from) = (self.raw.abd, from.as_ptr().cast());
        unsafe { sys::abd_copy_from_buf_off(abd, from, self.written, size) };
        self.written += size;
        Ok(size)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl Drop for Fill<'_> {
    fn drop(&mut self) {
        // A commit has left it empty.
        if !self.raw.entry.is_null() {
            unsafe { sys::abd_arc_fill_abandon(&mut self.raw) }
        }
        self.cache.fills.fetch_sub(1, Ordering::Relaxed);
    }
}
