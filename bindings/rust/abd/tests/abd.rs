// SPDX-License-Identifier: BSD-2-Clause
//! What the types do; what they forbid is tested in their documentation.
use abd::{sys, Asked, Buffer, Cache, Config, Found, Key};
use std::io::{Read, Result, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const SIZE: usize = 100_000;

fn errno<T>(result: Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn buffers_of_every_kind_hold_what_flat_memory_holds() -> Result<()> {
    // Pages between free ones, so that what follows lies in several pieces.
    let pages = (0..200).map(|_| Buffer::for_io(4096)).collect::<Result<Vec<_>>>()?;
    let _kept: Vec<_> = pages.into_iter().step_by(2).collect();
    let mut flat: Vec<u8> = (0..SIZE).map(|i| (i * i / 77) as u8 & 31).collect();
    let (mut memory, mut block) = (vec![0; SIZE], Buffer::zeroed(SIZE)?);
    let kinds = [Buffer::zeroed(SIZE), Buffer::for_io(SIZE), Buffer::linear(SIZE)];
    for (kind, buffer) in kinds.into_iter().chain([Buffer::over(&mut memory)]).enumerate() {
        let mut buffer = buffer?;
        assert_eq!(buffer.view().runs().count() > 1, kind < 2);
        buffer.view_mut().write_all(&flat)?;
        buffer.view_mut().borrow()?[5000..].fill(7);
        buffer.view_mut().slice(8000..SIZE).runs().for_each(|run| run.fill(9));
        flat[5000..8000].fill(7);
        flat[8000..].fill(9);
        std::mem::forget(buffer.view().borrow()?);
        assert_eq!(*buffer.view().slice(100..SIZE).borrow()?, flat[100..]);
        assert_eq!(buffer.view().runs().collect::<Vec<_>>().concat(), flat);
        let mut read = Vec::new();
        let rest = buffer.view().slice(3..SIZE);
        { rest }.read_to_end(&mut read)?;
        assert_eq!(read, flat[3..]);
        let mut other = Buffer::over(&mut read)?;
        other.view_mut().zero();
        other.view_mut().stream_from(rest);
        other.view_mut().flush_copy_from(rest, sys::ABD_FLUSH_AUTO);
        assert!(other.view() == rest && other.view().crc32c(0) == rest.crc32c(0));
        assert_eq!(other.view().fletcher_4(), rest.fletcher_4());
        other.view_mut().slice(9..10).copy_from(block.view().slice(0..1));
        assert!(other.view().same(rest) == 9 && other.view() != rest);
        let size = buffer.view().lz4_compress(block.view_mut().slice(10..SIZE / 2))?;
        let copy = std::fs::File::create("/dev/null")?;
        assert_eq!(rest.slice(0..9).write_file(&copy, 5)?, 9);
        let small = buffer.view().lz4_compress(block.view_mut().slice(SIZE / 2..SIZE / 2 + 9));
        assert_eq!(errno(small), Some(sys::ENOSPC));
        let packed = block.view().slice(10..10 + size);
        buffer.view_mut().zero();
        packed.lz4_decompress(buffer.view_mut())?;
        assert_eq!(*buffer.view().borrow()?, flat);
        let damaged = packed.slice(1..size).lz4_decompress(buffer.view_mut());
        assert_eq!(errno(damaged), Some(sys::EBADMSG));
        let program = std::fs::File::open("/proc/self/exe")?;
        assert_eq!(buffer.view_mut().read_file(&program, 0)?, SIZE);
        assert_eq!(*buffer.view().borrow()?, std::fs::read("/proc/self/exe")?[..SIZE]);
    }
    assert!(Buffer::zeroed(SIZE)?.view() == Buffer::over(&mut [0; SIZE])?.view());
    Ok(())
}

#[test]
#[should_panic(expected = "bytes 4000..4097 of 4096")]
fn a_range_past_the_end_panics() {
    Buffer::zeroed(4096).unwrap().view().read_at(4000, &mut [0; 97]);
}

#[test]
fn eight_threads_that_miss_a_key_fill_it_once() -> Result<()> {
    let (cache, fills, key) = (Cache::new(16 << 20)?, AtomicUsize::new(0), Key::default());
    let read = || match cache.hold_or_fill(&key, 8192, 0)? {
        Found::Hold(hold) => Ok(hold),
        Found::Fill(mut fill) => {
            fills.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(20));
            fill.with(|mut room| room.write_all(&[b'x'; 8192]))?;
            fill.commit(8192, 0)
        }
    };
    let held: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(read)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Result<_>>()
    })?;
    assert_eq!((held.len(), fills.into_inner(), cache.stats().entries), (8, 1, 1));
    let mut last = [0; 2];
    assert!(cache.remove(&key)? && !cache.remove(&key)? && !cache.read_at(&key, 0, &mut last)?);
    held[7].read_at(8190, &mut last)?;
    assert_eq!((&last, held[7].len(), held[7].stored().1), (b"xx", 8192, true));
    drop(held);
    assert!(cache.stats().held_bytes == 0 && format!("{cache:?}").contains("fills: 0 }"));
    Ok(())
}

#[test]
fn a_fill_ends_with_what_was_written_or_with_nothing() -> Result<()> {
    let (cache, key) = (Cache::new(1 << 20)?, Key { pool: 1, ..Key::default() });
    let fill = |flags| match cache.hold_or_fill(&key, 4096, flags) {
        Ok(Found::Fill(fill)) => Ok(fill),
        other => Err(errno(other)),
    };
    let mut first = fill(0).unwrap();
    assert_eq!(fill(0).unwrap_err(), Some(sys::EDEADLK));
    let busy = std::thread::scope(|s| s.spawn(|| fill(sys::ABD_ARC_NOWAIT).err()).join().unwrap());
    assert_eq!(busy, Some(Some(sys::EAGAIN)));
    first.write_all(b"abc")?;
    let hold = first.commit(3, sys::ABD_ARC_PLAIN)?;
    assert!(cache.remove(&key)?);
    assert_eq!((&*hold.stored().0.borrow()?, hold.stored().1), (&b"abc"[..], false));
    let mut second = fill(0).unwrap();
    cache.put(&key, &[1; 64], 0)?;
    second.with(|mut room| room.write_at(0, b"old"));
    assert_eq!(errno(second.commit(4096, 0)), Some(sys::ESTALE));
    cache.remove(&key)?;
    fill(0).unwrap().write_all(&[1; 4096])?;
    let mut third = fill(0).unwrap();
    third.write_all(&[2; 96])?;
    let all = third.with(|room| room.view().borrow().map(|all| all.to_vec()))?;
    assert_eq!(all, [[2; 96].as_ref(), &[0; 4000]].concat());
    Ok(())
}

#[test]
fn a_block_that_is_compressed_into_its_room_is_as_long_as_it_came_out() -> Result<()> {
    let (cache, key) = (Cache::new(1 << 20)?, Key { pool: 1, ..Key::default() });
    let record = Buffer::zeroed(50_000)?;
    let mut fill = match cache.hold_or_fill(&key, 8192, 0)? {
        Found::Fill(fill) => fill,
        Found::Hold(_) => panic!("a hold"),
    };
    let size = fill.with(|room| record.view().lz4_compress(room))?;
    fill.truncate(size);
    let hold = fill.commit(50_000, sys::ABD_ARC_STORED | sys::ABD_ARC_VERIFY)?;
    let mut read = vec![1; 50_000];
    hold.read_at(0, &mut read)?;
    assert!(hold.stored().0.len() == size && read.iter().all(|&byte| byte == 0));
    Ok(())
}

#[test]
fn what_engines_ask_of_a_cache_is_there() -> Result<()> {
    let cache = Cache::with(Config { capacity_bytes: 8 << 20, shards: 2, ..Config::default() })?;
    let key = |i| Key { pool: i % 2, birth: i, ..Key::default() };
    let mut bytes = [0; 4];
    for i in 0..20 {
        let mut buffer = Buffer::zeroed(5000)?;
        buffer.view_mut().write_at(0, &[i as u8; 4]);
        cache.put_buffer(&key(i), buffer, 5000, sys::ABD_ARC_PLAIN)?;
    }
    let refused = cache.put_buffer(&key(0), Buffer::zeroed(9)?, 5, sys::ABD_ARC_PLAIN);
    assert_eq!(errno(refused), Some(sys::EINVAL));
    let held = cache.hold_many(&(0..21).map(key).collect::<Vec<_>>());
    for (i, hold) in held[..20].iter().enumerate() {
        hold.as_ref().unwrap().as_ref().unwrap().read_at(0, &mut bytes)?;
        assert_eq!(bytes, [i as u8; 4]);
    }
    assert!(held[20].as_ref().unwrap().is_none());
    let first = held[0].as_ref().unwrap().as_ref().unwrap();
    assert!(first.forget()? && !first.forget()? && !cache.contains(&key(0)));
    let mut into = Buffer::zeroed(6)?;
    assert!(cache.read_into(&key(1), 1, into.view_mut().slice(2..5))?);
    assert!(!cache.read_into(&key(99), 1, into.view_mut())?);
    let mut six = [9; 6];
    into.view().read_at(0, &mut six);
    assert_eq!(six, [0, 0, 1, 1, 1, 0]);
    let second = first.try_clone()?;
    std::thread::scope(|s| s.spawn(move || second.read_at(0, &mut [0; 4])).join().unwrap())?;
    assert!(cache.peek_at(&key(1), 0, &mut bytes)? && bytes == [1; 4]);
    drop(held);
    assert_eq!(cache.remove_pool(0), 9);
    cache.resize(4 << 20)?;
    assert_eq!((cache.stats().capacity_bytes, cache.stats().entries), (4 << 20, 10));
    assert!(cache.trim(10000, std::time::Duration::MAX) >= 10000 && !cache.contains(&key(1)));
    Ok(())
}

#[test]
fn a_cache_whose_guards_were_leaked_is_leaked() -> Result<()> {
    let (held, filled, key) = (Cache::new(1 << 20)?, Cache::new(1 << 20)?, Key::default());
    held.put(&key, &[1; 64], 0)?;
    std::mem::forget(held.hold(&key)?);
    std::mem::forget(filled.hold_or_fill(&key, 4096, 0)?);
    Ok(())
}

#[test]
fn what_is_evicted_comes_with_its_reason_and_may_be_kept() -> Result<()> {
    let seen = Arc::new(Mutex::new((0, 0, Vec::new())));
    let (to, flags) = (Arc::clone(&seen), sys::ABD_ARC_DESTROY_EVICTS);
    let config = Config { capacity_bytes: 1 << 20, flags, ..Config::default() };
    let cache = Cache::with_evicted(config, move |evicted| {
        let mut seen = to.lock().unwrap();
        let at_end = evicted.reason() == sys::ABD_ARC_EVICTED_DESTROY;
        assert!(at_end || evicted.reason() == sys::ABD_ARC_EVICTED_CAPACITY);
        assert_eq!((evicted.len(), evicted.uses()), (SIZE, 1));
        let (view, is_block) = evicted.stored().unwrap();
        assert!(
            !is_block && *view.slice(0..8).borrow().unwrap() == evicted.key().birth.to_le_bytes()
        );
        if let Some(buffer) = evicted.take() {
            assert!(evicted.stored().is_none() && evicted.take().is_none());
            seen.2.push(buffer);
        }
        *(if at_end { &mut seen.1 } else { &mut seen.0 }) += 1;
    })?;
    for birth in 0..50_u64 {
        let mut buffer = Buffer::for_io(SIZE)?;
        buffer.view_mut().write_at(0, &birth.to_le_bytes());
        let key = Key { birth, ..Key::default() };
        cache.put_buffer(&key, buffer, SIZE, sys::ABD_ARC_PLAIN)?;
    }
    let (now, early) = (cache.stats(), seen.lock().unwrap().0);
    assert!(now.entries > 3 && early > 30);
    drop(cache);
    let seen = seen.lock().unwrap();
    assert_eq!((seen.0 + seen.1, seen.2.len()), (50, 50));
    assert!(Cache::with_evicted(Config::default(), |_| ()).is_err());
    Ok(())
}

#[test]
fn fills_without_a_thread_end_anywhere_and_wake_who_waits() -> Result<()> {
    let (cache, calls) = (Cache::new(16 << 20)?, Arc::new(AtomicUsize::new(0)));
    let key = |birth| Key { birth, ..Key::default() };
    cache.put(&key(1), b"there", 0)?;
    let mut many = cache.hold_or_fill_many(&[key(0), key(1), key(0)], &[100; 3], 0);
    assert_eq!(errno(many.pop().unwrap()), Some(sys::EAGAIN));
    assert!(matches!(many.pop(), Some(Ok(Found::Hold(_)))));
    let mut fill = match many.pop() {
        Some(Ok(Found::Fill(fill))) => fill,
        other => panic!("{other:?}"),
    };
    let ask = || {
        let calls = Arc::clone(&calls);
        let ready = move || {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        cache.hold_or_fill_async(&key(0), 100, 0, ready)
    };
    let (first, second) = (ask()?, ask()?);
    assert!(matches!((&first, &second), (Asked::Wait(_), Asked::Wait(_))));
    let soon = std::time::Duration::from_millis(1);
    let late = cache.hold_or_fill_timed(&key(0), 100, 0, soon);
    assert_eq!(errno(late), Some(sys::ETIMEDOUT));
    drop(first);
    assert_eq!(Arc::strong_count(&calls), 2);
    std::thread::scope(|scope| {
        scope
            .spawn(move || {
                fill.write_all(b"headrecord").and_then(|()| {
                    fill.commit_part(4..10, 6, sys::ABD_ARC_PLAIN, None).map(|hold| hold.len())
                })
            })
            .join()
            .unwrap()
    })?;
    assert_eq!((calls.load(Ordering::Relaxed), Arc::strong_count(&calls)), (1, 1));
    drop(second);
    let hold = match ask()? {
        Asked::Found(Found::Hold(hold)) => hold,
        other => panic!("{other:?}"),
    };
    assert_eq!((hold.len(), &*hold.stored().0.borrow()?), (6, &b"record"[..]));
    assert_eq!(Arc::strong_count(&calls), 1);
    assert_eq!(errno(cache.hold_or_fill_async(&key(7), 0, 0, || ())), Some(sys::EINVAL));
    let (mut a, mut b) = ([0; 3], [0; 3]);
    let results = cache.read_many(&mut [(key(0), 3, &mut a), (key(9), 0, &mut b)]);
    assert!(a == *b"ord" && matches!(results[..], [Ok(true), Ok(false)]));
    Ok(())
}

#[test]
fn a_block_comes_with_its_index_and_a_cache_from_a_file() -> Result<()> {
    let mut flat: Vec<u8> = (0..SIZE).map(|i| (i * i / 77) as u8 & 31).collect();
    let (record, mut block) = (Buffer::over(&mut flat)?, Buffer::zeroed(SIZE)?);
    let to = block.view_mut();
    let (size, index) = record.view().lz4_compress_indexed(to, 4096, 0)?;
    let form = index.to_bytes(size)?;
    assert_eq!(abd::Index::from_bytes(&form, size)?, index);
    assert_eq!(errno(abd::Index::from_bytes(&form, size + 1)), Some(sys::EBADMSG));
    let (mut part, packed) = ([0; 100], block.view().slice(0..size));
    for index in [Some(&index), None] {
        assert_eq!(packed.lz4_decompress_range(50_000, &mut part, index)?, 100);
        assert!(record.view().slice(50_000..50_100).borrow()?[..] == part);
    }
    let (cache, other, key) = (Cache::new(1 << 20)?, Cache::new(1 << 20)?, Key::default());
    cache.put_part(&key, block, 0..size, SIZE, sys::ABD_ARC_STORED, Some(&index))?;
    let path = std::env::temp_dir().join(format!("abd-save-{}", std::process::id()));
    let open =
        |write: bool| std::fs::File::options().read(!write).write(write).create(write).open(&path);
    assert_eq!(cache.save(open(true)?)?.records, 1);
    let loaded = other.load(open(false)?);
    std::fs::remove_file(&path)?;
    assert_eq!((loaded?.is_complete, other.stats().entries), (1, 1));
    part.fill(0);
    assert!(other.read_at(&key, 50_000, &mut part)?);
    assert!(record.view().slice(50_000..50_100).borrow()?[..] == part);
    assert_eq!(errno(cache.load(std::fs::File::open("/dev/null")?)), Some(sys::EBADMSG));
    Ok(())
}
