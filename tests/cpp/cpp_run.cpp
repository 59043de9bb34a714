/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * abd.hpp, every method of it: owners, guards, errors. Also what cpp.py compiles by every compiler,
 * standard and mode, so a method that is not called here is not compiled there.
 */
#include <abd/abd.hpp>

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

static int passed, failed;

#define CHECK(...) check(static_cast<bool>(__VA_ARGS__), #__VA_ARGS__, __LINE__)

static void check(bool ok, const char *what, int line)
{
	(ok ? passed : failed)++;
	if (!ok)
		std::printf("FAIL cpp_run.cpp:%d: %s\n", line, what);
}

/* Bytes that no two places have alike for long. */
static std::string text(size_t size)
{
	std::string out(size, 0);

	for (size_t i = 0; i < size; i++)
		out[i] = static_cast<char>('a' + (i + i / 26 + i / 997) % 26);
	return out;
}

static abd::buffer filled(const std::string &content)
{
	abd::buffer made = abd::buffer::alloc(content.size()).value();

	made.copy_from_buf(content);
	return made;
}

static uint64_t live()
{
	const abd_stats stats = abd::stats_get();

	return stats.linear_cnt + stats.scatter_cnt;
}

/* What ends the program, in a child. */
template <class F> static bool dies(F f)
{
	std::fflush(stdout);
	const pid_t child = fork();

	if (child == 0) {
		std::fclose(stderr);
		f();
		_exit(0);
	}
	int status = 0;

	return waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

static void buffers_move_and_end_once()
{
	abd::buffer first = filled(text(100000)), second;
	abd_t *const at = first.get();

	CHECK(first && !second && live() == 1);
	abd::view seen = first.slice(10, 50).value();
	second = std::move(first);
	CHECK(second.get() == at && !first);
	CHECK(seen.equal_buf(text(100000).substr(10, 50)));
	first = abd::buffer::alloc_linear(64).value();
	CHECK(live() == 2);
	first = abd::buffer::zeros(100).value();
	CHECK(live() == 1 && first.is_zeros() && first.all_zero(0, 100));
	first = abd::buffer(second.release());
	CHECK(first.get() == at && !second);
}

static void errors_are_answers()
{
	abd::result<abd::buffer> none = abd::buffer::alloc(0);

	CHECK(!none && none.error() == -EINVAL && none.code() == std::errc::invalid_argument);
	CHECK(abd::buffer::alloc_for_io(0).error() == -EINVAL);
	CHECK(dies([&] { static_cast<void>(none.value()); }));
	CHECK(dies([] { abd::status(abd::failure{-EIO}).value(); }));
	abd::status().value();
	abd::result<abd::buffer> some = abd::buffer::alloc(10);
	CHECK(some && some.error() == 0 && some->size() == 10 && (*some).size() == 10);
	CHECK(std::as_const(some)->size() == 10 && (*std::as_const(some)).size() == 10);
}

static void borrows_are_given_back()
{
	const std::string content = text(50000);
	abd::buffer buffer = filled(content);

	{
		abd::read_borrow read = buffer.borrow(50000).value();
		abd::read_borrow moved = std::move(read);

		CHECK(read.data() == nullptr && moved.size() == 50000);
		CHECK(std::memcmp(moved.data(), content.data(), 50000) == 0);
	}
	{
		auto change = buffer.borrow_copy(50000);

		std::fill(change->begin(), change->end(), std::byte{'z'});
	}
	CHECK(buffer.equal_buf(std::string(50000, 'z')));
	{
		auto fresh = buffer.borrow_fresh(50000);

		std::memcpy(fresh->data(), content.data(), 50000);
		fresh->reset();
		CHECK(buffer.equal_buf(content));
	}
	{
		auto looked_at = buffer.borrow_copy(100);

		CHECK(looked_at->data()[0] == std::byte{'a'});
		looked_at->return_unchanged();
	}
	CHECK(buffer.equal_buf(content));
	abd::buffer linear = abd::buffer::alloc_linear(10).value();
	linear.zero(0, 10);
	linear.to_buf()[3] = std::byte{'x'};
	CHECK(std::as_const(linear).to_buf()[3] == std::byte{'x'} && linear.is_linear());
}

/* 20 pieces that are no neighbours. */
static void runs_come_in_order()
{
	std::string memory = text(4000), flat, walked;
	std::vector<iovec> iov;

	for (size_t i = 0; i < 20; i++) {
		iov.push_back({&memory[i * 200], 100 + i});
		flat += memory.substr(i * 200, 100 + i);
	}
	abd::buffer gang = abd::buffer::from_iov(iov.data(), 20).value();
	CHECK(gang.is_gang() && gang.size() == flat.size() && gang.equal_buf(flat));
	size_t runs = 0;
	for (abd::const_bytes run : std::as_const(gang).pieces()) {
		walked.append(reinterpret_cast<const char *>(run.data()), run.size());
		runs++;
	}
	CHECK(walked == flat && runs == 20);
	runs = 0;
	for (abd::const_bytes run : std::as_const(gang).pieces(150, 500))
		runs += run.size();
	CHECK(runs == 500);
	for (abd::bytes run : gang.pieces(150, 0))
		runs += run.size();
	CHECK(runs == 500);
	auto pieces = std::as_const(gang).pieces(150, 500);
	auto next = pieces.begin(), was = next++;
	CHECK((*was).size() == 51 && (*next).size() == 102 && was != next);
	CHECK(++was == next && was != pieces.end() && pieces.begin() != was);
#if __cplusplus >= 202002L
	static_assert(std::ranges::forward_range<decltype(pieces)>);
#endif
	for (abd::bytes run : gang.pieces())
		std::fill(run.begin(), run.end(), std::byte{'q'});
	CHECK(gang.equal_buf(std::string(flat.size(), 'q')) && memory[199] != 'q');

	int calls = 0;
	CHECK(gang.for_each(0, gang.size(), [&](abd::bytes run) {
		run.data()[0] = std::byte{'r'};
		return ++calls == 3 ? 7 : 0;
	}) == 7);
	CHECK(calls == 3 && memory[0] == 'r' && memory[400] == 'r' && memory[600] == 'q');
	CHECK(std::as_const(gang).for_each(0, gang.size(), [](abd::const_bytes) { return 0; }) ==
		0);
	gang.verify();
}

static int ended;

static void gangs_and_views()
{
	std::vector<char> memory(300);
	abd::buffer over = abd::buffer::from_buf(memory).value();
	std::vector<char> nothing;
	CHECK(abd::buffer::from_buf(nothing).error() == -EINVAL);
	const auto fixed = abd::buffer::alloc(1);
	CHECK(fixed.value().size() == 1 && fixed->size() == 1);
	abd::buffer gang = abd::buffer::alloc_gang().value();
	abd::buffer like = abd::buffer::alloc_sametype(over, 100).value();

	like.zero(0, 100);
	CHECK(gang.gang_add(over) && over && gang.size() == 300);
	CHECK(gang.gang_add(std::move(like)) && !like && gang.size() == 400);
	{
		abd::mutable_view part = gang.slice_mutable(290, 20).value();
		abd::mutable_view moved = std::move(part);

		moved.copy_from_buf(std::string_view("0123456789abcdefghij"));
		CHECK(!part && moved && moved.size() == 20 && memory[299] == '9');
	}
	{
		abd::buffer grown = abd::buffer::alloc_gang().value();

		CHECK(grown.append(std::string_view("end")) &&
			grown.prepend(std::string_view("begin")));
		CHECK(grown.size() == 8 && grown.equal_buf(std::string_view("beginend")));
	}
	CHECK(gang.equal_buf(std::string_view("abc"), 300));
	CHECK(gang.cmp_buf(std::string_view("abd"), 300) < 0);
	char some[4] = "";
	gang.copy_to_buf(some, 298);
	CHECK(std::memcmp(some, "89ab", 4) == 0);

	{
		auto adopted = abd::buffer::from_buf_cb(
			memory, [](void *, size_t, void *p) { ++*static_cast<int *>(p); }, &ended);

		CHECK(adopted && ended == 0);
	}
	CHECK(ended == 1);
	abd::buffer for_io = abd::buffer::alloc_for_io(100).value();
	for_io.zero(0, 100);
	CHECK(reinterpret_cast<uintptr_t>(for_io.borrow(100)->data()) % 4096 == 0);
	CHECK(!over.is_linear_page() && abd::const_ref(over).get() == over.get());
}

static void two_buffers()
{
	const std::string content = text(70000);
	abd::buffer a = filled(content), b = abd::buffer::alloc(70000).value();

	abd::copy_off(b, a, 0, 0, 70000);
	abd::copy_stream_off(b, a, 100, 100, 60000);
	CHECK(abd::equal(a, b) && abd::cmp(a, b) == 0);
	b.copy_from_buf(std::string_view("~"), 60000);
	CHECK(!abd::equal(a, b) && abd::cmp(a, b) < 0 && abd::diff_off(a, b, 0, 0, 70000) == 60000);
	CHECK(abd::equal_off(a, b, 0, 0, 60000));
	abd::flush_copy_off(b, a, 60000, 60000, 10000, ABD_FLUSH_AUTO);
	CHECK(abd::equal(abd::const_ref(a), abd::ref(b)));
	b.flush_copy_from_buf(std::string_view("new"), 5, ABD_FLUSH_NODRAIN);
	abd_flush_drain();
	std::string back(3, 0);
	b.flush_copy_to_buf(back, 5, ABD_FLUSH_EXCLUSIVE);
	CHECK(back == "new");
	const abd::durability reach = abd_flush_durability();
	CHECK(reach >= ABD_FLUSH_DURABILITY_NONE);

	CHECK(a.crc32c(100, 200, a.crc32c(0, 100)) == abd_crc32c(a.get(), 0, 300, 0));
	CHECK(a.xxh3(0, 70000, 1) == abd_xxh3(a.get(), 0, 70000, 1));
}

static void lz4_there_and_back()
{
	const std::string content = text(100000);
	abd::buffer record = filled(content), room = abd::buffer::alloc(100000).value();
	abd::buffer out = abd::buffer::alloc(100000).value();
	std::string flat(100000, 0), part(1000, 0);

	const size_t hard = abd::lz4_compress_effort(room, record, 0, 0, 100000, 6).value();
	CHECK(abd::lz4_decompress_exact(out, room, 0, 100000, 0, hard) && abd::equal(out, record));
	const size_t n = abd::lz4_compress(room, record, 4, 0, 100000).value();
	CHECK(hard <= n);
	CHECK(abd::lz4_decompress(out, room, 0, 100000, 4, n).value() == 100000);
	CHECK(abd::lz4_decompress_to_buf(flat, room, 4, n).value() == 100000 && flat == content);
	CHECK(abd::lz4_decompress_exact_to_buf(flat, room, 4, n) && flat == content);
	CHECK(abd::lz4_decompress_exact_to_buf(part, room, 4, n).error() == -EBADMSG);
	CHECK(abd::lz4_decompress_range_to_buf(part, room, 50000, 4, n).value() == 1000);
	CHECK(part == content.substr(50000, 1000));
}

static void files_there_and_back()
{
	const std::string content = text(50000);
	abd::buffer buffer = filled(content), back = abd::buffer::alloc(50000).value();
	std::FILE *file = std::tmpfile();

	CHECK(file != nullptr);
	if (file == nullptr)
		return;
	CHECK(buffer.pwrite(fileno(file), 0, 50000, 10).value() == 50000);
	CHECK(back.pread(fileno(file), 0, 50000, 10).value() == 50000 && abd::equal(buffer, back));
	CHECK(back.pread(fileno(file), 0, 50000, -1).error() == -EINVAL);
	std::fclose(file);
}

static void memory_for_containers()
{
	abd::buf_resource resource, marked(true);
	struct alignas(2048) page {
		char bytes[2048];
	};

	CHECK(resource.is_equal(resource) && !resource.is_equal(marked));
	for (size_t alignment = 1; alignment <= 4096; alignment *= 2) {
		void *p = marked.allocate(3, alignment);

		CHECK(reinterpret_cast<uintptr_t>(p) % alignment == 0);
		marked.deallocate(p, 3, alignment);
	}
	std::pmr::vector<page> pages(5, &resource);
	std::pmr::vector<char> chars(1, 'x', &resource);
	for (int i = 0; i < 10000; i++)
		chars.push_back('y');
	CHECK(reinterpret_cast<uintptr_t>(&pages[4]) % 2048 == 0 && chars[10000] == 'y');
	resource.deallocate(resource.allocate(0, 1), 0, 1);
#if __cpp_exceptions
	bool thrown = false;
	try {
		static_cast<void>(resource.allocate(10, 8192));
	} catch (const std::bad_alloc &) {
		thrown = true;
	}
	CHECK(thrown);
#endif
}

/* A std::span is bytes, and bytes are a std::span. */
static void bytes_of_everything()
{
	char array[5] = {};
	const std::vector<uint32_t> words = {1, 2, 3};
	abd::const_bytes of_words = words, of_none;
	abd::bytes of_array = array;

	CHECK(of_words.size() == 12 && of_array.size() == 5 && of_none.data() == nullptr);
	of_words = of_array;
	CHECK(of_words.data() == of_array.data() && of_words.end() - of_words.begin() == 5);
#if __cplusplus >= 202002L
	std::span<std::byte> span = of_array;
	std::span<const std::byte> read = abd::const_bytes(array, 5);
	abd::bytes again = span;
	CHECK(span.size() == 5 && read.data() == span.data() && again.data() == span.data());
#endif
}

#if ABD_HAS_ARC
static abd::arc::key key_of(uint64_t n)
{
	return {1, {n, 0}, 7};
}

static abd::arc make_arc()
{
	abd_arc_config config{};

	config.capacity_bytes = 16 << 20;
	config.flags = ABD_ARC_CHECKSUM;
	return abd::arc::create(config).value();
}

static void records_are_put_read_and_held()
{
	const std::string content = text(20000);
	std::string back(20000, 0), part(10, 0);
	abd::arc cache = make_arc();
	size_t needed = 0;

	CHECK(abd::arc::create({}).error() == -EINVAL);
	CHECK(cache.put(key_of(1), content) && cache.contains(key_of(1)) &&
		!cache.contains(key_of(2)));
	CHECK(cache.put(key_of(1), abd::const_bytes(content.data(), 0)).error() == -EINVAL);
	CHECK(cache.read(key_of(1), back).value() == 20000 && back == content);
	CHECK(cache.read(key_of(1), part, 500, ABD_ARC_NO_TOUCH) &&
		part == content.substr(500, 10));
	CHECK(cache.read(key_of(2), part).error() == -ENOENT);
	abd::buffer into = abd::buffer::alloc(20001).value();
	CHECK(cache.read(key_of(1), into, 1, 0, 20000).value() == 20000);
	CHECK(cache.read(key_of(2), into, 1, 0, 20000).error() == -ENOENT);
	CHECK(cache.read_all(key_of(1), part, needed).error() == -ENOSPC && needed == 20000);

	abd::arc_hold hold = cache.hold(key_of(1)).value(), moved;
	CHECK(hold && hold.compressed() && hold.logical_size() == 20000);
	CHECK(hold.buffer().size() == hold.stored_size());
	moved = std::move(hold);
	CHECK(!hold && moved && moved.get()->entry != nullptr);
	{
		const abd::arc_hold second = moved.dup().value();

		CHECK(second && second.get()->abd == moved.get()->abd);
		CHECK(second.get()->entry != moved.get()->entry);
	}
	CHECK(cache.hold_drop(moved) && cache.hold_drop(moved).error() == -ENOENT);
	CHECK(moved.read(part, 500) && part == content.substr(500, 10));
	moved = std::move(hold);
	CHECK(!moved && cache.stats_get().held_bytes == 0);
	CHECK(cache.hold(key_of(1)).error() == -ENOENT);

	CHECK(cache.put(key_of(3), content, ABD_ARC_METADATA));
	size_t seen = 0;
	CHECK(cache.with(key_of(3), [&](const abd::held &of) { seen = of.logical_size(); }));
	CHECK(seen == 20000 && cache.stats_get().held_bytes == 0);
	CHECK(cache.with(key_of(4), [&](const abd::held &) { seen = 0; }).error() == -ENOENT);
	CHECK(seen == 20000);

#if __cpp_exceptions
	try {
		static_cast<void>(cache.with(key_of(3), [](const abd::held &) { throw 5; }));
	} catch (int) {
		seen = 0;
	}
	CHECK(seen == 0 && cache.stats_get().held_bytes == 0);
#endif
	abd::arc other = std::move(cache);
	CHECK(other && !cache && other.contains(key_of(3)));
}

static void fills_are_committed_or_abandoned()
{
	const std::string content = text(10000);
	abd::arc cache = make_arc();

	for (int i = 0; i < 2; i++) {
		auto found = cache.hold_or_fill(key_of(1), 10000);

		CHECK(found && found->fill && !found->hold && found->fill.size() == 10000);
		/* Not committed: abandoned here, so that the next one gets to fill. */
	}
	CHECK(!cache.contains(key_of(1)));
	{
		auto found = cache.hold_or_fill(key_of(1), 10000);
		abd::arc_fill fill;

		fill = std::move(found->fill);
		CHECK(!found->fill);
		fill.buffer().copy_from_buf(content);
		CHECK(cache.hold_or_fill(key_of(1), 1, ABD_ARC_NOWAIT).error() == -EDEADLK);
		auto hold = fill.commit_and_hold(10000, 10000);
		CHECK(hold && hold->logical_size() == 10000 && !fill);
	}
	auto found = cache.hold_or_fill(key_of(1), 10000);
	CHECK(found && found->hold && !found->fill);
	auto second = cache.hold_or_fill(key_of(2), 100);
	second->fill.buffer().zero(0, 100);
	CHECK(second->fill.commit(100, 100, ABD_ARC_PLAIN) && cache.contains(key_of(2)));
	auto third = cache.hold_or_fill(key_of(3), 100);
	CHECK(third->fill.commit(100, 50).error() == -EINVAL && !third->fill);
	auto fourth = cache.hold_or_fill(key_of(4), 100);
	fourth->fill.abandon();
	CHECK(!fourth->fill && cache.hold_or_fill(key_of(5), 0).error() == -EINVAL);
}

static void fills_of_no_thread_are_ended_by_any()
{
	abd::arc cache = make_arc();
	std::array<abd::arc::key, 3> keys{key_of(1), key_of(2), key_of(1)};
	const std::array<size_t, 3> sizes{100, 100, 100};
	std::array<abd::arc_hold, 3> holds;
	std::array<abd::arc_fill, 3> fills;
	std::array<int, 3> results;
	int called = 0;
	auto ready = [](void *arg) { ++*static_cast<int *>(arg); };

	CHECK(cache.put(key_of(2), text(100)));
	for (int turn = 0; turn < 2; turn++) /* what the first has begun ends in the second */
		CHECK(cache.hold_or_fill_many(keys.data(), sizes.data(), 0, holds.data(),
			      fills.data(), results.data(), 3) == 2);
	CHECK(results[0] == 1 && fills[0] && !holds[0] && results[1] == 0 && holds[1]);
	CHECK(results[2] == -EAGAIN && !fills[2] && !holds[2]);
	auto wait = [&] { return cache.hold_or_fill_async(key_of(1), 100, 0, ready, &called); };
	CHECK(wait().error() == -EINPROGRESS && wait().error() == -EINPROGRESS);
	CHECK(cache.forget_ready(key_of(1), ready, &called));
	CHECK(cache.hold_or_fill(key_of(1), 100, 0, 1000).error() == -ETIMEDOUT);

	const abd_arc_record_t record{10, 90, 90, ABD_ARC_PLAIN, nullptr, nullptr};
	fills[0].buffer().copy_from_buf(text(100));
	CHECK(fills[0].commit_record(record) && !fills[0] && called == 1);
	CHECK(cache.forget_ready(key_of(1), ready, &called).error() == -ENOENT);
	CHECK(wait()->hold.logical_size() == 90 && called == 1);
	auto found = cache.hold_or_fill_async(key_of(3), 100, 0, ready, &called);
	found->fill.buffer().copy_from_buf(text(100));
	CHECK(found->fill.commit_record_and_hold(record)->logical_size() == 90);
	abd::buffer given = filled(text(100)), kept = filled(text(90));
	CHECK(cache.put_record(key_of(4), std::move(given), record) && !given);
	CHECK(cache.put_record(key_of(4), std::move(kept), record).error() == -EINVAL && kept);
}

static void a_cache_is_saved_and_loaded()
{
	abd::arc one = make_arc(), two = make_arc();
	abd_arc_saved saved, loaded;
	std::FILE *file = std::tmpfile();

	CHECK(one.put(key_of(1), text(100)) && one.put(key_of(2), text(5000)));
	CHECK(one.save(fileno(file), saved) && saved.records == 2 && saved.is_complete == 1);
	std::rewind(file);
	CHECK(two.load(fileno(file), loaded) && loaded.records == 2 && two.contains(key_of(2)));
	CHECK(two.load(fileno(file), loaded).error() == -EBADMSG &&
		one.save(-1, saved).error() < 0);
	std::fclose(file);
}

static void buffers_are_given_away_or_kept()
{
	abd::arc cache = make_arc();
	abd::buffer given = filled(text(8192)), view_of = filled(text(100));
	abd::buffer linear = abd::buffer::alloc_gang().value();

	CHECK(cache.put_abd(key_of(1), std::move(given), 8192, ABD_ARC_PLAIN) && !given);
	CHECK(linear.gang_add(view_of));
	CHECK(cache.put_abd(key_of(2), std::move(linear), 100).error() == -EINVAL && linear);
	CHECK(cache.contains(key_of(1)) && !cache.contains(key_of(2)));
}

static void many_at_once()
{
	abd::arc cache = make_arc();
	std::array<abd::arc::key, 20> keys;
	std::array<abd::arc_hold, 20> holds;
	std::array<int, 20> results;
	std::array<abd_arc_io_t, 20> ios;
	std::array<char, 20> got{};

	for (size_t i = 0; i < 20; i++) {
		keys[i] = key_of(i);
		ios[i] = {keys[i], &got[i], 1, 1, 0};
		if (i % 4 != 0)
			CHECK(cache.put(keys[i], std::string(3, static_cast<char>('a' + i))));
	}
	for (int turn = 0; turn < 2; turn++) {
		CHECK(cache.hold_many(keys.data(), holds.data(), results.data(), 20) == 15);
		CHECK(!holds[0] && results[0] == -ENOENT && holds[1] && results[1] == 0);
	}
	CHECK(cache.read_many(ios.data(), 20) == 15 && got[5] == 'f' && ios[4].result == -ENOENT);
	size_t walked = 0;
	CHECK(cache.each([&](const abd::arc::key &of, size_t, size_t logical) {
		walked += logical;
		return of.pool == 1 ? 0 : -1;
	}) == 0);
	CHECK(walked == 45);
	CHECK(cache.each([](const abd::arc::key &, size_t, size_t) { return 5; }) == 5);
	for (abd::arc_hold &hold : holds)
		hold.release();
	CHECK(cache.stats_get().held_bytes == 0 && cache.stats_get().entries == 15);
	CHECK(cache.remove(key_of(1)) && cache.remove(key_of(1)).error() == -ENOENT);
	CHECK(cache.remove_pool(1).value() == 14 && cache.stats_get().entries == 0);
	CHECK(cache.resize(1 << 20) && cache.resize(1).error() == -EINVAL);
	CHECK(cache.trim(0, 0) <= 1 << 20);
}
#endif

int main()
{
	buffers_move_and_end_once();
	errors_are_answers();
	borrows_are_given_back();
	runs_come_in_order();
	gangs_and_views();
	two_buffers();
	lz4_there_and_back();
	files_there_and_back();
	memory_for_containers();
	bytes_of_everything();
#if ABD_HAS_ARC
	records_are_put_read_and_held();
	fills_are_committed_or_abandoned();
	fills_of_no_thread_are_ended_by_any();
	a_cache_is_saved_and_loaded();
	buffers_are_given_away_or_kept();
	many_at_once();
#endif
	CHECK(live() == 0);
	std::printf("%d passed, %d failed\n", passed, failed);
	return failed != 0;
}
