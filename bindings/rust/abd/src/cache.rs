// SPDX-License-Identifier: BSD-2-Clause
//! The cache: records, holds, and fills of what is missing.
//! Invariant: what is held or being filled ends before its cache, or neither ends.
use crate::{check, made, sys, Buffer, Config, Key, Stats, View, ViewMut};
use std::io::{Result, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{marker::PhantomData, mem, ptr::NonNull, time::Duration};

/// A cache of records, compressed where that pays: C's arc, which is another thing in Rust.
/// Flags and errors are those of the C call in `abd/arc.h`. Holds and fills can't outlive it:
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

    /// One with a config, whose `config_size` and `evicted_cb` do not matter: C's callback would
    /// run in any thread, and a panic must not pass through C.
    pub fn with(mut config: Config) -> Result<Cache> {
        config.config_size = mem::size_of::<Config>();
        config.evicted_cb = None;
        let raw = made(unsafe { sys::abd_arc_create(&config) })?;
        Ok(Cache { raw, fills: AtomicUsize::new(0) })
    }

    /// Stores a copy of the bytes as the record of `key`.
    pub fn put(&self, key: &Key, bytes: &[u8], flags: u32) -> Result<()> {
        let (start, size) = (bytes.as_ptr().cast(), bytes.len());
        let arc = self.raw.as_ptr();
        check(unsafe { sys::abd_arc_put_flags(arc, key, start, size, flags) } as isize).map(drop)
    }

    /// Makes a buffer the record of `key`, without a copy where `flags` say what its bytes are.
    /// After an error the buffer is gone.
    pub fn put_buffer(
        &self,
        key: &Key,
        buffer: Buffer<'static>,
        size: usize,
        flags: u32,
    ) -> Result<()> {
        let (arc, raw) = (self.raw.as_ptr(), buffer.raw());
        check(unsafe { sys::abd_arc_put_abd(arc, key, raw, size, flags) } as isize)?;
        mem::forget(buffer);
        Ok(())
    }

    /// Reads as many bytes of the record of `key` as `to` has, from `off` on. False: not here.
    pub fn read_at(&self, key: &Key, off: usize, to: &mut [u8]) -> Result<bool> {
        let (start, size) = (to.as_mut_ptr().cast(), to.len());
        found(unsafe { sys::abd_arc_read(self.raw.as_ptr(), key, start, off, size) })
    }

    /// The same, but the policy does not learn of it, as a backup wants it.
    pub fn peek_at(&self, key: &Key, off: usize, to: &mut [u8]) -> Result<bool> {
        let (start, size, flags) = (to.as_mut_ptr().cast(), to.len(), sys::ABD_ARC_NO_TOUCH);
        let arc = self.raw.as_ptr();
        found(unsafe { sys::abd_arc_read_flags(arc, key, start, off, size, flags) })
    }

    /// Reads as many bytes of the record as `to` has into a buffer of any kind.
    pub fn read_into(&self, key: &Key, off: usize, to: ViewMut<'_>) -> Result<bool> {
        let (arc, dst, at, size) = (self.raw.as_ptr(), to.raw(), to.0.off, to.0.len);
        found(unsafe { sys::abd_arc_read_abd(arc, key, dst, at, off, size) })
    }

    /// Whether the record of `key` is here. This is no use of it.
    pub fn contains(&self, key: &Key) -> bool {
        unsafe { sys::abd_arc_contains(self.raw.as_ptr(), key) }
    }

    /// Holds the record of `key`, if it is here.
    pub fn hold(&self, key: &Key) -> Result<Option<Hold<'_>>> {
        let mut hold = self.no_hold();
        let result = unsafe { sys::abd_arc_hold(self.raw.as_ptr(), key, &mut hold.0) };
        Ok(if found(result as isize)? { Some(hold) } else { None })
    }

    /// Holds the records of many keys; the memory that look-ups wait for is fetched together.
    pub fn hold_many(&self, keys: &[Key]) -> Vec<Result<Option<Hold<'_>>>> {
        let mut raw: Vec<sys::abd_arc_hold_t> =
            keys.iter().map(|_| unsafe { mem::zeroed() }).collect();
        let (mut results, n) = (vec![0; keys.len()], keys.len());
        let (holds, to) = (raw.as_mut_ptr(), results.as_mut_ptr());
        unsafe { sys::abd_arc_hold_many(self.raw.as_ptr(), keys.as_ptr(), holds, to, n) };
        let each = raw.into_iter().map(|raw| Hold(raw, self.raw, PhantomData)).zip(results);
        each.map(|(hold, result)| Ok(found(result as isize)?.then_some(hold))).collect()
    }

    /// Holds the record of `key`, or begins to fill it in; `size` is the room for what is fetched.
    /// Other threads that want it wait meanwhile. A thread that asks for its own fill: `EDEADLK`.
    pub fn hold_or_fill(&self, key: &Key, size: usize, flags: u32) -> Result<Found<'_>> {
        let (arc, mut hold, mut raw) =
            (self.raw.as_ptr(), self.no_hold(), unsafe { mem::zeroed() });
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

    /// Forgets all records of a pool, and says how many there were.
    pub fn remove_pool(&self, pool: u64) -> usize {
        unsafe { sys::abd_arc_remove_pool(self.raw.as_ptr(), pool) as usize }
    }

    /// Changes how many bytes of memory it takes.
    pub fn resize(&self, capacity_bytes: usize) -> Result<()> {
        let arc = self.raw.as_ptr();
        check(unsafe { sys::abd_arc_resize(arc, capacity_bytes) } as isize).map(drop)
    }

    /// Gives so many bytes of memory back to the system, or fewer when the time is up.
    pub fn trim(&self, bytes: usize, most: Duration) -> usize {
        let ns = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        unsafe { sys::abd_arc_trim(self.raw.as_ptr(), bytes, ns) }
    }

    fn no_hold<'c>(&self) -> Hold<'c> {
        Hold(unsafe { mem::zeroed() }, self.raw, PhantomData)
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
pub struct Hold<'c>(sys::abd_arc_hold_t, NonNull<sys::abd_arc_t>, PhantomData<&'c Cache>);

// arc.h: any thread may release it, and several may read it at a time.
unsafe impl Send for Hold<'_> {}
unsafe impl Sync for Hold<'_> {}

impl Hold<'_> {
    /// Bytes of the record.
    pub fn len(&self) -> usize {
        self.0.logical_size
    }

    /// The bytes as the cache has them, and whether they are an lz4 block.
    pub fn stored(&self) -> (View<'_>, bool) {
        (unsafe { View::new(self.0.abd, self.0.stored_size) }, self.0.compressed)
    }

    /// A second hold of the record, which ends alone.
    pub fn try_clone(&self) -> Result<Self> {
        let mut copy = Hold(unsafe { mem::zeroed() }, self.1, PhantomData);
        check(unsafe { sys::abd_arc_hold_dup(&self.0, &mut copy.0) } as isize).map(|_| copy)
    }

    /// Forgets the record that is held. False: its key has another one by now, or none.
    pub fn forget(&self) -> Result<bool> {
        found(unsafe { sys::abd_arc_hold_drop(self.1.as_ptr(), &self.0) } as isize)
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

/// A record that this thread fetches. A drop without a commit lets another thread try; until then
/// those that ask for the record sleep, for as long as a leaked fill's thread lives, but with
/// `sys::ABD_ARC_NOWAIT`. When a thread ends, the cache frees what its leaked fills have. So a fill
/// stays with its thread, and what refers to its bytes ends with a call:
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
    /// All of the room, as many bytes as were asked for; those not written yet are zero. All of it
    /// counts as written then: where less of it is the record, [`Fill::truncate`] follows.
    pub fn with<R>(&mut self, f: impl FnOnce(ViewMut<'_>) -> R) -> R {
        let (abd, size) = (self.raw.abd, self.raw.size);
        unsafe { sys::abd_zero_off(abd, self.written, size - self.written) };
        self.written = size;
        f(ViewMut(unsafe { View::new(abd, size) }, PhantomData))
    }

    /// Only the first `len` bytes count as written, if there are more.
    pub fn truncate(&mut self, len: usize) {
        self.written = self.written.min(len);
    }

    /// What was written becomes the record of `logical_size` bytes, or (`sys::ABD_ARC_STORED`) its
    /// lz4 block. `ESTALE`: the record was put or removed meanwhile, so look again. `EINVAL`: what
    /// was written is no record of `logical_size`.
    pub fn commit(mut self, logical_size: usize, flags: u32) -> Result<Hold<'c>> {
        let (fill, size, mut hold) = (&mut self.raw, self.written, self.cache.no_hold());
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
