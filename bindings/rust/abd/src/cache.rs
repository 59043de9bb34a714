// SPDX-License-Identifier: BSD-2-Clause
//! The cache: records, holds, and fills of what is missing.
//! Invariant: what is held or being filled ends before its cache, or neither ends.
use crate::{check, made, sys, Buffer, Config, Index, Key, Saved, Stats, View, ViewMut};
use std::io::{Result, Write};
use std::ops::Range;
use std::os::raw::c_void;
use std::os::unix::io::{AsFd, AsRawFd};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::{fmt, marker::PhantomData, mem, process, ptr, ptr::NonNull, time::Duration};

/// What [`Cache::with_evicted`] calls.
type OnEvicted = Box<dyn Fn(&mut Evicted<'_>) + Send + Sync>;

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
    evicted: *mut OnEvicted, // NULL: there is none
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

    /// One with a config, whose `config_size` and `evicted_cb` do not matter.
    pub fn with(mut config: Config) -> Result<Cache> {
        config.evicted_cb = None;
        Cache::create(config, ptr::null_mut())
    }

    /// One that calls `f` for each record that it has evicted, in any thread, and in several at a
    /// time. `abd_arc_evicted_t` in `abd/arc.h` says when. A panic in `f` ends the process: it must
    /// not pass through C.
    pub fn with_evicted(
        mut config: Config,
        f: impl Fn(&mut Evicted<'_>) + Send + Sync + 'static,
    ) -> Result<Cache> {
        let f: *mut OnEvicted = Box::into_raw(Box::new(Box::new(f)));
        config.evicted_cb = Some(evicted);
        config.evicted_arg = f.cast();
        Cache::create(config, f).map_err(|error| {
            drop(unsafe { Box::from_raw(f) });
            error
        })
    }

    fn create(mut config: Config, evicted: *mut OnEvicted) -> Result<Cache> {
        config.config_size = mem::size_of::<Config>();
        let raw = made(unsafe { sys::abd_arc_create(&config) })?;
        Ok(Cache { raw, evicted, fills: AtomicUsize::new(0) })
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

    /// The same of a part of the buffer, perhaps an lz4 block with its index.
    pub fn put_part(
        &self,
        key: &Key,
        buffer: Buffer<'static>,
        part: Range<usize>,
        size: usize,
        flags: u32,
        index: Option<&Index>,
    ) -> Result<()> {
        let (arc, raw) = (self.raw.as_ptr(), buffer.raw());
        let record = record(buffer.view().slice(part), size, flags, index);
        check(unsafe { sys::abd_arc_put_record(arc, key, raw, &record) } as isize)?;
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

    /// Reads ranges of many records; the memory that look-ups wait for is fetched together.
    pub fn read_many(&self, reads: &mut [(Key, usize, &mut [u8])]) -> Vec<Result<bool>> {
        let io = |(key, off, to): &mut (Key, usize, &mut [u8])| sys::abd_arc_io_t {
            key: *key,
            dst: to.as_mut_ptr().cast(),
            off: *off,
            size: to.len(),
            result: 0,
        };
        let mut ios: Vec<_> = reads.iter_mut().map(io).collect();
        unsafe { sys::abd_arc_read_many(self.raw.as_ptr(), ios.as_mut_ptr(), ios.len()) };
        ios.into_iter().map(|io| found(io.result)).collect()
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
        self.hold_or_fill_timed(key, size, flags, Duration::MAX)
    }

    /// The same, but after `most` no thread waits any more: `ETIMEDOUT`.
    pub fn hold_or_fill_timed(
        &self,
        key: &Key,
        size: usize,
        flags: u32,
        most: Duration,
    ) -> Result<Found<'_>> {
        let (arc, ns) = (self.raw.as_ptr(), u64::try_from(most.as_nanos()).unwrap_or(u64::MAX));
        let (mut hold, mut fill) = unsafe { mem::zeroed() };
        let (h, f) = (&mut hold, &mut fill);
        let result = unsafe { sys::abd_arc_hold_or_fill_timed(arc, key, size, flags, ns, h, f) };
        self.found(result, hold, fill)
    }

    /// The same without sleeping: if another fills the record, `ready` is called when that has
    /// ended, in any thread, unless the [`Wait`] is dropped before. Then ask again. The fill is no
    /// thread's. A panic in `ready` ends the process.
    pub fn hold_or_fill_async(
        &self,
        key: &Key,
        size: usize,
        flags: u32,
        ready: impl FnOnce() + Send + 'static,
    ) -> Result<Asked<'_>> {
        let wait = Wait { cache: self, key: *key, ready: Arc::new(Mutex::new(None)) };
        *wait.ready.lock().unwrap() = Some(Box::new(ready));
        let (arc, arg) = (self.raw.as_ptr(), Arc::into_raw(Arc::clone(&wait.ready)));
        let (mut hold, mut fill) = unsafe { mem::zeroed() };
        let (h, f, arg, call) = (&mut hold, &mut fill, arg as *mut c_void, Some(self::ready as _));
        let result =
            unsafe { sys::abd_arc_hold_or_fill_async(arc, key, size, flags, h, f, call, arg) };
        if result == -sys::EINPROGRESS {
            return Ok(Asked::Wait(wait));
        }
        drop(unsafe { Arc::from_raw(Arc::as_ptr(&wait.ready)) }); // C has not kept it
        let wait = mem::ManuallyDrop::new(wait); // nor is there anything to take back
        drop(unsafe { ptr::read(&wait.ready) });
        self.found(result, hold, fill).map(Asked::Found)
    }

    /// Holds the records of many keys, or begins to fill them in; another's fill is `EAGAIN`.
    /// `sizes` has as many as `keys`. The fills are no thread's.
    pub fn hold_or_fill_many(
        &self,
        keys: &[Key],
        sizes: &[usize],
        flags: u32,
    ) -> Vec<Result<Found<'_, Free>>> {
        let n = keys.len();
        assert_eq!(n, sizes.len());
        let (mut holds, mut fills) = (none(n), none(n));
        let mut results = vec![0; n];
        let (arc, keys, sizes) = (self.raw.as_ptr(), keys.as_ptr(), sizes.as_ptr());
        let (h, f, r) = (holds.as_mut_ptr(), fills.as_mut_ptr(), results.as_mut_ptr());
        unsafe { sys::abd_arc_hold_or_fill_many(arc, keys, sizes, flags, h, f, r, n) };
        let each = holds.into_iter().zip(fills).zip(results);
        each.map(|((hold, fill), result)| self.found(result, hold, fill)).collect()
    }

    fn found<W>(
        &self,
        result: i32,
        hold: sys::abd_arc_hold_t,
        raw: sys::abd_arc_fill_t,
    ) -> Result<Found<'_, W>> {
        if check(result as isize)? == 0 {
            return Ok(Found::Hold(Hold(hold, self.raw, PhantomData)));
        }
        self.fills.fetch_add(1, Ordering::Relaxed);
        Ok(Found::Fill(Fill { cache: self, raw, written: 0, of: PhantomData }))
    }

    /// Writes all records to a file, a pipe or a socket, the best first.
    pub fn save(&self, to: impl AsFd) -> Result<Saved> {
        let (arc, fd, mut saved) = (self.raw.as_ptr(), to.as_fd().as_raw_fd(), Saved::default());
        let result = unsafe { sys::abd_arc_save(arc, fd, &mut saved, mem::size_of::<Saved>()) };
        check(result as isize).map(|_| saved)
    }

    /// Puts what was saved behind what is here, until there is no more room.
    pub fn load(&self, from: impl AsFd) -> Result<Saved> {
        let (arc, fd, mut saved) = (self.raw.as_ptr(), from.as_fd().as_raw_fd(), Saved::default());
        let result = unsafe { sys::abd_arc_load(arc, fd, &mut saved, mem::size_of::<Saved>()) };
        check(result as isize).map(|_| saved)
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
            if !self.evicted.is_null() {
                drop(unsafe { Box::from_raw(self.evicted) });
            }
        }
    }
}

/// So many of C's structs, empty.
fn none<T>(n: usize) -> Vec<T> {
    (0..n).map(|_| unsafe { mem::zeroed() }).collect()
}

fn record(part: View, size: usize, flags: u32, index: Option<&Index>) -> sys::abd_arc_record_t {
    sys::abd_arc_record_t {
        off: part.off,
        stored_size: part.len,
        logical_size: size,
        flags,
        index: index.map_or(ptr::null(), Index::raw),
        checksum: ptr::null(),
    }
}

/// What C calls back must return: Rust's panics end here, and the process with them.
fn call(f: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(f)).is_err() {
        process::abort();
    }
}

unsafe extern "C" fn evicted(record: *mut sys::abd_arc_evicted_t, arg: *mut c_void) {
    let (f, record) = unsafe { (&*(arg as *const OnEvicted), &mut *record) };
    call(|| f(&mut Evicted(record)));
}

/// A record that was evicted, lent to the callback of [`Cache::with_evicted`].
pub struct Evicted<'e>(&'e mut sys::abd_arc_evicted_t);

impl Evicted<'_> {
    /// Its key.
    pub fn key(&self) -> Key {
        self.0.key
    }

    /// Bytes of the record.
    pub fn len(&self) -> usize {
        self.0.logical_size
    }

    /// Why it was evicted: one of `sys::ABD_ARC_EVICTED_CAPACITY` and its like.
    pub fn reason(&self) -> u32 {
        self.0.reason
    }

    /// How often it was used, as far as the policy knows.
    pub fn uses(&self) -> u32 {
        self.0.uses
    }

    /// The bytes as the cache had them, and whether they are an lz4 block. None: it is damaged, or
    /// was taken.
    pub fn stored(&self) -> Option<(View<'_>, bool)> {
        let view = |abd| unsafe { View::new(abd, self.0.stored_size) };
        (!self.0.abd.is_null()).then(|| (view(self.0.abd), self.0.flags == sys::ABD_ARC_STORED))
    }

    /// Keeps the buffer. None: it must be copied, because it has no memory of its own.
    pub fn take(&mut self) -> Option<Buffer<'static>> {
        if self.0.abd.is_null() {
            return None;
        }
        unsafe { Buffer::taken(sys::abd_arc_evicted_take(self.0)) }
    }
}

type Ready = Mutex<Option<Box<dyn FnOnce() + Send>>>;

unsafe extern "C" fn ready(arg: *mut c_void) {
    let ready = unsafe { Arc::from_raw(arg as *const Ready) };
    call(|| {
        let f = ready.lock().unwrap().take();
        f.into_iter().for_each(|f| f());
    });
}

/// What [`Cache::hold_or_fill_async`] gives: what it found, or that another fills the record.
#[derive(Debug)]
#[allow(missing_docs)]
pub enum Asked<'c> {
    Found(Found<'c, Free>),
    Wait(Wait<'c>),
}

/// Somebody waits for another's fill. Its drop takes the call back that is to come, if it has not
/// begun yet.
pub struct Wait<'c> {
    cache: &'c Cache,
    key: Key,
    ready: Arc<Ready>,
}

impl fmt::Debug for Wait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").field("key", &self.key).finish()
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        // The address is this one's as long as it lives, so no other call is taken back.
        let (arc, arg) = (self.cache.raw.as_ptr(), Arc::as_ptr(&self.ready));
        let (call, arg) = (Some(ready as _), arg as *mut c_void);
        if unsafe { sys::abd_arc_forget_ready(arc, &self.key, call, arg) } == 0 {
            drop(unsafe { Arc::from_raw(arg as *const Ready) });
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
pub enum Found<'c, W = Local> {
    Hold(Hold<'c>),
    Fill(Fill<'c, W>),
}

/// Says of a [`Fill`] that it is the thread's that began it.
#[derive(Debug)]
pub enum Local {}

/// Says of a [`Fill`] that it is no thread's: it may be sent to another.
#[derive(Debug)]
pub enum Free {}

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
/// stays with its thread, but for a `Fill<Free>`, which is no thread's; and what refers to its
/// bytes ends with a call:
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
/// ```
/// fn sent<T: Send>(_: T) {}
/// fn free(f: abd::Fill<abd::Free>) { sent(f); }
/// ```
/// ```compile_fail
/// fn size(mut f: abd::Fill) -> usize { f.with(|bytes| bytes).view().len() }
/// ```
#[derive(Debug)]
pub struct Fill<'c, W = Local> {
    cache: &'c Cache,
    raw: sys::abd_arc_fill_t,
    /// So many bytes are initialised, and become the record.
    written: usize,
    of: PhantomData<W>,
}

// arc.h: any thread may end it.
unsafe impl Send for Fill<'_, Free> {}

impl<'c, W> Fill<'c, W> {
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

    /// The same of a part of what was written, perhaps an lz4 block with its index.
    pub fn commit_part(
        mut self,
        part: Range<usize>,
        logical_size: usize,
        flags: u32,
        index: Option<&Index>,
    ) -> Result<Hold<'c>> {
        let (written, mut hold) = (self.written, self.cache.no_hold());
        let part = unsafe { View::new(self.raw.abd, written) }.slice(part);
        let (record, fill) = (record(part, logical_size, flags, index), &mut self.raw);
        let to = &mut hold.0;
        check(unsafe { sys::abd_arc_fill_commit_record(fill, &record, to) } as isize)?;
        Ok(hold)
    }
}

/// Writes behind what was written.
impl<W> Write for Fill<'_, W> {
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

impl<W> Drop for Fill<'_, W> {
    fn drop(&mut self) {
        // A commit has left it empty.
        if !self.raw.entry.is_null() {
            unsafe { sys::abd_arc_fill_abandon(&mut self.raw) }
        }
        self.cache.fills.fetch_sub(1, Ordering::Relaxed);
    }
}
