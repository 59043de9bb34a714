// SPDX-License-Identifier: BSD-2-Clause
//! Buffers, views and borrows. A view is a range of a C buffer, not a C view, and a borrow is not
//! C's: neither leaves a trace in the buffer, so leaking them does no harm.
//! Invariants: all bytes of a [`Buffer`] are initialised; a range lies within its buffer.
use crate::{check, made, sys};
use std::io::{Error, Read, Result, Write};
use std::ops::{Deref, DerefMut, Range};
use std::os::unix::io::{AsFd, AsRawFd};
use std::{marker::PhantomData, ptr, ptr::NonNull, slice};

/// A buffer. `Buffer<'static>` owns its bytes, one of [`Buffer::over`] borrows them. A view can't
/// outlive it, nor be used after it was written:
/// ```
/// fn use_first(mut b: abd::Buffer) { let v = b.view(); v.len(); b.view_mut().zero(); drop(b); }
/// ```
/// ```compile_fail,E0505
/// fn drop_first(b: abd::Buffer) { let v = b.view(); drop(b); v.len(); }
/// ```
/// ```compile_fail,E0502
/// fn write_first(mut b: abd::Buffer) { let v = b.view(); b.view_mut().zero(); v.len(); }
/// ```
#[derive(Debug)]
pub struct Buffer<'m>(NonNull<sys::abd_t>, PhantomData<&'m mut [u8]>);

// buffer.h: "any number of threads may read one; a thread that writes to it, or frees it, must be
// the only one using it": & and &mut.
unsafe impl Send for Buffer<'_> {}
unsafe impl Sync for Buffer<'_> {}

impl<'m> Buffer<'m> {
    /// C's memory is not initialised.
    fn zeros(raw: *mut sys::abd_t) -> Result<Buffer<'m>> {
        let mut buffer = Buffer(made(raw)?, PhantomData);
        buffer.view_mut().zero();
        Ok(buffer)
    }

    /// Zeros, in one piece or, when there are many, scattered.
    pub fn zeroed(size: usize) -> Result<Buffer<'static>> {
        Buffer::zeros(unsafe { sys::abd_alloc(size, false) })
    }

    /// Zeros in one piece.
    pub fn linear(size: usize) -> Result<Buffer<'static>> {
        Buffer::zeros(unsafe { sys::abd_alloc_linear(size, false) })
    }

    /// Zeros in pieces that begin at multiples of 4 KiB, as direct I/O wants it.
    pub fn for_io(size: usize) -> Result<Buffer<'static>> {
        Buffer::zeros(unsafe { sys::abd_alloc_for_io(size, false) })
    }

    /// A buffer over memory of the caller's.
    pub fn over(memory: &'m mut [u8]) -> Result<Buffer<'m>> {
        let (start, size) = (memory.as_mut_ptr().cast(), memory.len());
        Ok(Buffer(made(unsafe { sys::abd_get_from_buf(start, size) })?, PhantomData))
    }

    /// What C gives away, all of it initialised.
    pub(crate) unsafe fn taken(raw: *mut sys::abd_t) -> Option<Buffer<'static>> {
        NonNull::new(raw).map(|raw| Buffer(raw, PhantomData))
    }

    /// For a call that takes the buffer over.
    pub(crate) fn raw(&self) -> *mut sys::abd_t {
        self.0.as_ptr()
    }

    /// All of it, to be read.
    pub fn view(&self) -> View<'_> {
        unsafe { View::new(self.0.as_ptr(), (*self.0.as_ptr()).abd_size) }
    }

    /// All of it, to be written.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut(self.view(), PhantomData)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        unsafe { sys::abd_free(self.0.as_ptr()) }
    }
}

/// Bytes of a buffer. [`Read`] takes them off its front, as it does with `&[u8]`.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    raw: *const sys::abd_t,
    pub(crate) off: usize,
    pub(crate) len: usize,
    memory: PhantomData<&'a [u8]>,
}

unsafe impl Send for View<'_> {}
unsafe impl Sync for View<'_> {}

impl<'a> View<'a> {
    /// The first `len` bytes of `raw` exist, are initialised, and for `'a` nobody else writes them.
    pub(crate) unsafe fn new(raw: *const sys::abd_t, len: usize) -> View<'a> {
        View { raw, off: 0, len, memory: PhantomData }
    }

    /// How many bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Some of the bytes. Panics, as all calls with ranges do, where they are not there.
    pub fn slice(self, range: Range<usize>) -> View<'a> {
        let (start, end) = (range.start, range.end);
        assert!(start <= end && end <= self.len, "bytes {start}..{end} of {}", self.len);
        View { off: self.off + start, len: end - start, ..self }
    }

    /// Takes the first piece of memory off; it is empty at the end.
    fn piece(&mut self) -> (NonNull<u8>, usize) {
        let (mut iov, mut size) = (sys::iovec { iov_base: ptr::null_mut(), iov_len: 0 }, 0);
        unsafe { sys::abd_to_iov(self.raw, self.off, self.len, &mut iov, 1, &mut size) };
        *self = self.slice(size..self.len);
        (NonNull::new(iov.iov_base.cast()).unwrap_or(NonNull::dangling()), size)
    }

    /// The pieces of memory, in order.
    pub fn runs(mut self) -> impl Iterator<Item = &'a [u8]> {
        std::iter::from_fn(move || match self.piece() {
            (_, 0) => None,
            (start, len) => Some(unsafe { slice::from_raw_parts(start.as_ptr(), len) }),
        })
    }

    /// The bytes in one piece: the memory itself, or a copy if that is in several.
    pub fn borrow(mut self) -> Result<Borrow<'a>> {
        let View { raw, off, len, memory } = self;
        let (mut start, size) = self.piece();
        if size < len {
            start = made(unsafe { sys::abd_buf_alloc(len, false) })?.cast();
            unsafe { sys::abd_copy_to_buf_off(start.as_ptr().cast(), raw, off, len) };
        }
        Ok(Borrow { start, len, copied: size < len, memory })
    }

    /// Copies the bytes from `off` on, as many as `to` has.
    pub fn read_at(self, off: usize, to: &mut [u8]) {
        let from = self.slice(off..off.saturating_add(to.len()));
        unsafe { sys::abd_copy_to_buf_off(to.as_mut_ptr().cast(), from.raw, from.off, from.len) }
    }

    /// How many bytes are the same before the first difference, or an end.
    pub fn same(self, other: View<'_>) -> usize {
        let least = self.len.min(other.len);
        unsafe { sys::abd_diff_off(self.raw, other.raw, self.off, other.off, least) }
    }

    /// The checksum crc32c; `seed` is 0, or what the bytes before have.
    pub fn crc32c(self, seed: u32) -> u32 {
        unsafe { sys::abd_crc32c(self.raw, self.off, self.len, seed) }
    }

    /// The checksum fletcher_4, as OpenZFS computes it.
    pub fn fletcher_4(self) -> [u64; 4] {
        let mut sums = [0; 4];
        unsafe { sys::abd_fletcher_4(self.raw, self.off, self.len, sums.as_mut_ptr()) };
        sums
    }

    /// The checksum xxh3.
    pub fn xxh3(self, seed: u64) -> u64 {
        unsafe { sys::abd_xxh3(self.raw, self.off, self.len, seed) }
    }

    /// Writes the bytes into a file.
    pub fn write_file(self, file: impl AsFd, file_off: i64) -> Result<usize> {
        let fd = file.as_fd().as_raw_fd();
        check(unsafe { sys::abd_pwrite(fd, self.raw, self.off, self.len, file_off) })
    }

    /// Makes an lz4 block of the bytes, and returns its size. `ENOSPC`: `to` is too small.
    pub fn lz4_compress(self, to: ViewMut<'_>) -> Result<usize> {
        if to.0.len == 0 {
            return Err(Error::from_raw_os_error(sys::ENOSPC));
        }
        // C writes up to the buffer's end, so that must be where `to` ends.
        let room = made(unsafe { sys::abd_get_offset_size(to.raw(), to.0.off, to.0.len) })?;
        let room = Buffer(room, PhantomData);
        check(unsafe { sys::abd_lz4_compress(room.0.as_ptr(), self.raw, 0, self.off, self.len) })
    }

    /// Decodes the lz4 block that the bytes are, of exactly as many as `to` has. `EBADMSG`: it is
    /// damaged, and any bytes are in `to`.
    pub fn lz4_decompress(self, to: ViewMut<'_>) -> Result<()> {
        let (raw, off, len) = (to.raw(), to.0.off, to.0.len);
        let (from, at, size) = (self.raw, self.off, self.len);
        check(unsafe { sys::abd_lz4_decompress_exact(raw, from, off, len, at, size) }).map(drop)
    }
}

/// Where an lz4 block can be entered: [`View::lz4_compress_indexed`] makes it, and reads of a part
/// need it. C's struct, as its words.
#[derive(Clone, Debug, PartialEq)]
pub struct Index(Vec<u32>);

impl Index {
    pub(crate) fn raw(&self) -> *const sys::abd_lz4_index {
        self.0.as_ptr().cast()
    }

    /// Its form for a file. `block_size`: how long the block is.
    pub fn to_bytes(&self, block_size: usize) -> Result<Vec<u8>> {
        let mut form = vec![0; self.0.len() * 4 + 8];
        let (to, room, size) = (form.as_mut_ptr().cast(), form.len(), self.0.len() * 4);
        let put = unsafe { sys::abd_lz4_index_put(to, room, self.raw(), size, block_size) };
        form.truncate(check(put)?);
        Ok(form)
    }

    /// What such a form says; `EBADMSG`: it is none of a block of this size.
    pub fn from_bytes(form: &[u8], block_size: usize) -> Result<Index> {
        let mut words = vec![0_u32; form.len() / 4 + 4];
        let (to, room, from) = (words.as_mut_ptr().cast(), words.len() * 4, form.as_ptr().cast());
        check(unsafe { sys::abd_lz4_index_get(to, room, from, form.len(), block_size) })?;
        words.truncate(4 + 2 * words[2] as usize);
        Ok(Index(words))
    }
}

impl View<'_> {
    /// Compresses into the front of `to` so that the block can be entered at each `group_size`
    /// bytes. Returns its size.
    pub fn lz4_compress_indexed(
        self,
        to: ViewMut<'_>,
        group_size: usize,
        effort: i32,
    ) -> Result<(usize, Index)> {
        let mut words = vec![0_u32; unsafe { sys::abd_lz4_index_size(self.len, group_size) } / 4];
        if words.is_empty() || to.0.len == 0 {
            return Err(Error::from_raw_os_error(sys::EINVAL));
        }
        // As in lz4_compress().
        let room = made(unsafe { sys::abd_get_offset_size(to.raw(), to.0.off, to.0.len) })?;
        let room = Buffer(room, PhantomData);
        let (dst, src, off, len) = (room.0.as_ptr(), self.raw, self.off, self.len);
        let index = words.as_mut_ptr().cast();
        let size = unsafe {
            sys::abd_lz4_compress_indexed(dst, src, 0, off, len, group_size, effort, index)
        };
        Ok((check(size)?, Index(words)))
    }

    /// Decodes, of the record whose block this is, as many bytes as `to` has from `off` on, or
    /// fewer at its end. With an index that is not the block's they are other bytes of it.
    pub fn lz4_decompress_range(
        self,
        off: usize,
        to: &mut [u8],
        index: Option<&Index>,
    ) -> Result<usize> {
        let (dst, size, src) = (to.as_mut_ptr().cast(), to.len(), self.raw);
        let (at, len) = (self.off, self.len);
        check(match index {
            Some(index) => unsafe {
                let index = index.raw();
                sys::abd_lz4_decompress_indexed_range_to_buf(dst, src, off, size, at, len, index)
            },
            None => unsafe { sys::abd_lz4_decompress_range_to_buf(dst, src, off, size, at, len) },
        })
    }
}

impl PartialEq for View<'_> {
    fn eq(&self, other: &View<'_>) -> bool {
        self.len == other.len && self.same(*other) == self.len
    }
}

impl Read for View<'_> {
    fn read(&mut self, to: &mut [u8]) -> Result<usize> {
        let size = to.len().min(self.len);
        self.read_at(0, &mut to[..size]);
        *self = self.slice(size..self.len);
        Ok(size)
    }
}

/// Bytes that nobody else uses. [`Write`] takes them off the front, as it does with `&mut [u8]`.
#[derive(Debug)]
pub struct ViewMut<'a>(pub(crate) View<'a>, pub(crate) PhantomData<&'a mut [u8]>);

impl<'a> ViewMut<'a> {
    pub(crate) fn raw(&self) -> *mut sys::abd_t {
        self.0.raw as *mut sys::abd_t
    }

    /// The same, to be read.
    pub fn view(&self) -> View<'_> {
        self.0
    }

    /// Some of the bytes.
    pub fn slice(&mut self, range: Range<usize>) -> ViewMut<'_> {
        ViewMut(self.0.slice(range), PhantomData)
    }

    /// The pieces of memory, in order.
    pub fn runs(mut self) -> impl Iterator<Item = &'a mut [u8]> {
        std::iter::from_fn(move || match self.0.piece() {
            (_, 0) => None,
            (start, len) => Some(unsafe { slice::from_raw_parts_mut(start.as_ptr(), len) }),
        })
    }

    /// As [`View::borrow`]. A copy goes back into the buffer when the guard is dropped.
    pub fn borrow(self) -> Result<BorrowMut<'a>> {
        Ok(BorrowMut { lent: self.0.borrow()?, to: self })
    }

    /// Copies `bytes` to `off` and behind.
    pub fn write_at(&mut self, off: usize, bytes: &[u8]) {
        let to = self.0.slice(off..off.saturating_add(bytes.len()));
        unsafe { sys::abd_copy_from_buf_off(self.raw(), bytes.as_ptr().cast(), to.off, to.len) }
    }

    /// Copies `from`, which must have as many bytes.
    pub fn copy_from(&mut self, from: View<'_>) {
        assert_eq!(self.0.len, from.len, "bytes copied");
        unsafe { sys::abd_copy_off(self.raw(), from.raw, self.0.off, from.off, from.len) }
    }

    /// The same past the caches, for bytes that nobody reads soon.
    pub fn stream_from(&mut self, from: View<'_>) {
        assert_eq!(self.0.len, from.len, "bytes copied");
        unsafe { sys::abd_copy_stream_off(self.raw(), from.raw, self.0.off, from.off, from.len) }
    }

    /// The same, durable on return; `flags` say who else writes, such as `sys::ABD_FLUSH_SHARED`.
    pub fn flush_copy_from(&mut self, from: View<'_>, flags: u32) {
        assert_eq!(self.0.len, from.len, "bytes copied");
        assert!(flags <= sys::ABD_FLUSH_EXCLUSIVE, "flags {flags:#x}");
        let (raw, off) = (self.raw(), self.0.off);
        unsafe { sys::abd_flush_copy_off(raw, from.raw, off, from.off, from.len, flags) }
    }

    /// Fills it with zeros.
    pub fn zero(&mut self) {
        unsafe { sys::abd_zero_off(self.raw(), self.0.off, self.0.len) }
    }

    /// Reads from a file. Fewer bytes than there is room: the file ends there.
    pub fn read_file(&mut self, file: impl AsFd, file_off: i64) -> Result<usize> {
        let (fd, raw) = (file.as_fd().as_raw_fd(), self.raw());
        check(unsafe { sys::abd_pread(fd, raw, self.0.off, self.0.len, file_off) })
    }
}

impl Write for ViewMut<'_> {
    fn write(&mut self, from: &[u8]) -> Result<usize> {
        let size = from.len().min(self.0.len);
        self.write_at(0, &from[..size]);
        self.0 = self.0.slice(size..self.0.len);
        Ok(size)
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

/// Bytes of a view in one piece.
#[derive(Debug)]
pub struct Borrow<'a> {
    start: NonNull<u8>,
    len: usize,
    copied: bool,
    memory: PhantomData<&'a [u8]>,
}

// A buffer may be read, and abd_buf_free() called, by any thread.
unsafe impl Send for Borrow<'_> {}
unsafe impl Sync for Borrow<'_> {}

impl Deref for Borrow<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl Drop for Borrow<'_> {
    fn drop(&mut self) {
        if self.copied {
            unsafe { sys::abd_buf_free(self.start.as_ptr().cast(), self.len) }
        }
    }
}

/// Bytes of a view in one piece, to be written. A drop puts a copy back; a leak does not.
#[derive(Debug)]
pub struct BorrowMut<'a> {
    lent: Borrow<'a>,
    to: ViewMut<'a>,
}

impl Deref for BorrowMut<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.lent
    }
}

impl DerefMut for BorrowMut<'_> {
    fn deref_mut(&mut self) -> &mut [u8] {
        unsafe { slice::from_raw_parts_mut(self.lent.start.as_ptr(), self.lent.len) }
    }
}

impl Drop for BorrowMut<'_> {
    fn drop(&mut self) {
        if self.lent.copied {
            self.to.write_at(0, &self.lent);
        }
    }
}
