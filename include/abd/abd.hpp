/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libabd for C++17 and later: objects that end what they began, and results that the compiler warns
 * of when nobody looks at them. It needs no exceptions and no RTTI, and adds nothing to the
 * library: each method is a C call.
 *
 *   buffer               owns a buffer           view, mutable_view   own a view of one
 *   const_ref, ref       arguments: any owner's buffer, to be read; to be written
 *   read_borrow, write_borrow, fresh_borrow      bytes in one piece, given back at the end
 *   bytes, const_bytes   an address and a size   result, status       a value or a negative errno
 *   arc, arc_hold, arc_fill                      own a cache, a hold and a fill
 *   held                 a held record           buf_resource         memory for std::pmr
 *
 * A method has the name of its C call, or nearly, and takes the arguments in the same order. The C
 * header has the call's contract, units and threads. When an owner is moved, the C object stays at
 * its address, so views and borrows of it stay valid. An owner that was moved from is empty, and
 * may only be assigned to and destroyed.
 *
 * As in C, the caller decides in which order objects end: a buffer must outlive the views, borrows,
 * pieces and gangs that refer to it, and a cache its holds and fills. Objects that are declared in
 * this order end in the reverse order. Checked builds report a wrong order, and clang warns of a
 * reference to something that a temporary object owned.
 *
 * Nothing here throws, except buf_resource, as std::pmr requires. value() of an error prints a line
 * on stderr and ends the program. It does not throw, because the files of one program may be
 * compiled with and without exceptions, and would disagree. For an exception, throw
 * std::system_error(r.code()). The program ends if a function throws that was passed to for_each()
 * or each(), because C frames lie between; a function passed to with() may throw. A handler of
 * abd_contract_handler_set() must not throw through a destructor.
 *
 * C names. The tag of abd_t is abd_buffer in C++, because this header has a namespace abd. The enum
 * abd_flush_durability is hidden by the function: say enum abd_flush_durability, or durability.
 *
 * C calls without a method take get() of these objects.
 */
#ifndef ABD_ABD_HPP
#define ABD_ABD_HPP

#if __cplusplus < 201703L
#error "abd.hpp needs C++17"
#endif

#include <abd/abd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <memory_resource>
#include <system_error>
#include <type_traits>
#include <utility>
#if __cplusplus >= 202002L
#include <span>
#endif

/* The result must not outlive this argument. clang warns if it would; gcc has no such warning. */
#ifdef __has_cpp_attribute
#if __has_cpp_attribute(clang::lifetimebound)
#define ABD_LIFETIMEBOUND [[clang::lifetimebound]]
#endif
#endif
#ifndef ABD_LIFETIMEBOUND
#define ABD_LIFETIMEBOUND
#endif

/* C fills in raw_ of class held: clearing it before would cost each hold four instructions. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Weffc++"

namespace abd
{

/* ---- bytes and answers ----------------------------------------------------------------------- */

/**
 * Somebody else's bytes: an address and a size. Made from those two, from an object with data() and
 * size(), such as std::string, std::vector or std::span, or from an array (in a string literal the
 * last 0 counts). Converts to std::span.
 */
template <class B> class basic_bytes
{
	using address = std::conditional_t<std::is_const_v<B>, const void *, void *>;
	template <class C>
	using element = std::remove_pointer_t<decltype(std::data(std::declval<C &>()))>;
	template <class E>
	static constexpr bool keeps_const = std::is_const_v<B> || !std::is_const_v<E>;
	template <class C, class E>
	static constexpr bool fits = !std::is_same_v<std::decay_t<C>, basic_bytes> &&
				     std::is_trivially_copyable_v<E> && keeps_const<E>;
	B *data_ = nullptr;
	size_t size_ = 0;

      public:
	basic_bytes() noexcept = default;
	basic_bytes(address data, size_t size) noexcept : data_(static_cast<B *>(data)), size_(size)
	{
	}
	template <class C, class E = element<C>, std::enable_if_t<fits<C, E>, int> = 0>
	basic_bytes(C &&of) noexcept : basic_bytes(std::data(of), std::size(of) * sizeof(E))
	{
	}
	B *data() const noexcept { return data_; }
	size_t size() const noexcept { return size_; }
	B *begin() const noexcept { return data_; }
	B *end() const noexcept { return data_ + size_; }
};
using bytes = basic_bytes<std::byte>;
using const_bytes = basic_bytes<const std::byte>;

/** A negative errno, as C calls return it; converts to any result. */
struct failure {
	int error;
};

namespace detail
{
[[noreturn]] inline void no_value(int error) noexcept
{
	std::fprintf(stderr, "abd: value() of a result that is error %d\n", error);
	std::abort();
}
} // namespace detail

/** A T, or a negative errno with an empty T. */
template <class T> class [[nodiscard]] result
{
	friend class arc;
	friend class arc_fill;
	friend class held;
	T value_{};
	int error_ = 0;

	/* fill(value) returns the error. */
	template <class F> result(std::in_place_t, F fill) : error_(fill(value_)) {}

      public:
	result(T value) noexcept : value_(std::move(value)) {}
	result(failure f) noexcept : error_(f.error) {}
	explicit operator bool() const noexcept { return __builtin_expect(error_ == 0, 1); }
	int error() const noexcept { return error_; }
	std::error_code code() const noexcept { return {-error_, std::generic_category()}; }
	/** The value; without one the program ends. */
	T &value() &noexcept { return error_ == 0 ? value_ : (detail::no_value(error_), value_); }
	const T &value() const &noexcept
	{
		return error_ == 0 ? value_ : (detail::no_value(error_), value_);
	}
	T &&value() &&noexcept ABD_LIFETIMEBOUND { return std::move(value()); }
	/** The value, when it is known that there is one. */
	T &operator*() &noexcept { return value_; }
	T &&operator*() &&noexcept ABD_LIFETIMEBOUND { return std::move(value_); }
	T *operator->() noexcept { return &value_; }
	const T &operator*() const &noexcept { return value_; }
	const T *operator->() const noexcept { return &value_; }
};

/** 0, or a negative errno. */
template <> class [[nodiscard]] result<void>
{
	int error_;

      public:
	result(int error = 0) noexcept : error_(error) {}
	result(failure f) noexcept : error_(f.error) {}
	explicit operator bool() const noexcept { return __builtin_expect(error_ == 0, 1); }
	int error() const noexcept { return error_; }
	std::error_code code() const noexcept { return {-error_, std::generic_category()}; }
	void value() const noexcept { return error_ == 0 ? void() : detail::no_value(error_); }
};
using status = result<void>;

/** A size, or a negative errno: what the C call returned, as one word. */
template <> class [[nodiscard]] result<size_t>
{
	ssize_t size_;

      public:
	result(ssize_t size) noexcept : size_(size) {}
	result(failure f) noexcept : size_(f.error) {}
	explicit operator bool() const noexcept { return __builtin_expect(size_ >= 0, 1); }
	int error() const noexcept { return size_ < 0 ? static_cast<int>(size_) : 0; }
	std::error_code code() const noexcept { return {-error(), std::generic_category()}; }
	size_t value() const noexcept
	{
		return size_ < 0 ? (detail::no_value(error()), 0) : **this;
	}
	size_t operator*() const noexcept { return static_cast<size_t>(size_); }
};

namespace detail
{
/* What the library made, or NULL with errno, which is then not 0. */
template <class T, class P, class... A> result<T> made(P *p, A... more) noexcept
{
	if (p != nullptr)
		return T(p, more...);
	if (errno <= 0)
		__builtin_unreachable();
	return failure{-errno};
}

struct end_buffer {
	void operator()(abd_t *abd) const { abd_free(abd); }
	void operator()(const abd_t *view) const { abd_free_const(view); }
};
struct end_read {
	const abd_t *abd;
	size_t size;
	void operator()(const std::byte *buf) const { abd_return_buf_const(abd, buf, size); }
};
struct end_write {
	abd_t *abd;
	size_t size;
	void operator()(std::byte *buf) const { abd_return_buf_copy(abd, buf, size); }
};
} // namespace detail

/* ---- borrows and pieces ---------------------------------------------------------------------- */

/** The first bytes of a buffer in one piece; its destructor ends the borrow. */
template <class B, class End> class basic_borrow
{
      protected:
	std::unique_ptr<B, End> buf_;

      public:
	basic_borrow() noexcept : buf_(nullptr, End{}) {}
	template <class A> basic_borrow(B *buf, A *abd, size_t n) : buf_(buf, End{abd, n}) {}
	B *data() const noexcept { return buf_.get(); }
	size_t size() const noexcept { return buf_.get_deleter().size; }
	B *begin() const noexcept { return data(); }
	B *end() const noexcept { return data() + size(); }
	/** End the borrow now: data() is NULL then, and size() says nothing. */
	void reset() { buf_.reset(); }
};
/** To read: abd_borrow_buf_const(). Nobody writes to the buffer meanwhile. */
using read_borrow = basic_borrow<const std::byte, detail::end_read>;
/** To fill: abd_borrow_buf(). The content is undefined at first; its end writes all of it back. */
using fresh_borrow = basic_borrow<std::byte, detail::end_write>;

/** To change: abd_borrow_buf_copy(). Its end writes the bytes back. */
class write_borrow : public fresh_borrow
{
      public:
	using fresh_borrow::fresh_borrow;
	/** End it by abd_return_buf(). Contract: the bytes were not changed. */
	void return_unchanged()
	{
		const detail::end_write at = buf_.get_deleter();

		abd_return_buf(at.abd, buf_.release(), at.size);
	}
};

/**
 * The spans of a range of a buffer, in order: for (abd::const_bytes run : buffer.pieces()). Runs
 * that are neighbours in memory come as one, except in a gang. The buffer outlives the spans. Each
 * begin() begins anew; from C++20 on it is a forward range.
 */
template <class B> class basic_pieces
{
	static constexpr bool reads = std::is_const_v<B>;
	using span = std::conditional_t<reads, abd_span_const_t, abd_span_t>;
	std::conditional_t<reads, const abd_t, abd_t> *abd_;
	size_t off_, size_;

      public:
	struct sentinel {
	};
	class iterator
	{
		friend class basic_pieces;
		span at_ = {};

	      public:
		using value_type = basic_bytes<B>;
		using difference_type = std::ptrdiff_t;
		using reference = value_type;
		using pointer = void;
		using iterator_category = std::input_iterator_tag;
		using iterator_concept = std::forward_iterator_tag;
		value_type operator*() const noexcept { return {at_.buf, at_.len}; }
		iterator &operator++() noexcept
		{
			if constexpr (reads)
				abd_span_next_const(&at_);
			else
				abd_span_next(&at_);
			return *this;
		}
		iterator operator++(int) noexcept
		{
			iterator was = *this;

			++*this;
			return was;
		}
		friend bool operator==(const iterator &a, const iterator &b) noexcept
		{
			return a.at_.off == b.at_.off && a.at_.len == b.at_.len;
		}
		friend bool operator!=(const iterator &a, const iterator &b) noexcept
		{
			return !(a == b);
		}
		friend bool operator==(const iterator &a, sentinel) noexcept
		{
			return a.at_.len == 0;
		}
		friend bool operator!=(const iterator &a, sentinel) noexcept
		{
			return a.at_.len != 0;
		}
	};
	template <class A>
	basic_pieces(A *abd, size_t off, size_t size) : abd_(abd), off_(off), size_(size)
	{
		static_assert(reads || !std::is_const_v<A>, "who may write");
	}
	iterator begin() const noexcept
	{
		iterator first;

		if constexpr (reads)
			abd_span_begin_const(&first.at_, abd_, off_, size_);
		else
			abd_span_begin(&first.at_, abd_, off_, size_);
		return first;
	}
	sentinel end() const noexcept { return {}; }
};

/* ---- buffers --------------------------------------------------------------------------------- */

class view;
class mutable_view;

/** What can be done with anything that may be read; D has get(). */
template <class D> class reads
{
	const abd_t *me() const noexcept { return static_cast<const D *>(this)->get(); }

      public:
	size_t size() const noexcept { return abd_get_size(me()); }
	bool is_linear() const noexcept { return abd_is_linear(me()); }
	bool is_linear_page() const noexcept { return abd_is_linear_page(me()); }
	bool is_zeros() const noexcept { return abd_is_zeros(me()); }
	bool is_gang() const noexcept { return abd_is_gang(me()); }
	void verify() const { abd_verify(me()); }

	/** The memory of a linear buffer. */
	const std::byte *to_buf() const
	{
		return static_cast<const std::byte *>(abd_to_buf_const(me()));
	}
	result<read_borrow> borrow(size_t n) const
	{
		auto buf = static_cast<const std::byte *>(abd_borrow_buf_const(me(), n));

		return detail::made<read_borrow>(buf, me(), n);
	}
	template <class V = view> result<V> slice(size_t off, size_t size) const
	{
		return detail::made<V>(abd_get_offset_const(me(), off, size));
	}
	basic_pieces<const std::byte> pieces(size_t off, size_t size) const
	{
		return {me(), off, size};
	}
	basic_pieces<const std::byte> pieces() const { return {me(), 0, size()}; }
	/** f(const_bytes) returns 0 to go on. */
	template <class F> int for_each(size_t off, size_t size, F f) const
	{
		auto call = [](const void *buf, size_t len, void *p) noexcept -> int {
			return (*static_cast<F *>(p))(const_bytes(buf, len));
		};
		return abd_iterate_func_const(me(), off, size, call, &f);
	}
	void copy_to_buf(bytes dst, size_t off = 0) const
	{
		abd_copy_to_buf_off(dst.data(), me(), off, dst.size());
	}
	void flush_copy_to_buf(bytes dst, size_t off, unsigned flags) const
	{
		abd_flush_copy_to_buf_off(dst.data(), me(), off, dst.size(), flags);
	}
	result<size_t> pwrite(int fd, size_t off, size_t size, int64_t file_off) const
	{
		return abd_pwrite(fd, me(), off, size, file_off);
	}
	int cmp_buf(const_bytes buf, size_t off = 0) const
	{
		return abd_cmp_buf_off(me(), buf.data(), off, buf.size());
	}
	bool equal_buf(const_bytes buf, size_t off = 0) const
	{
		return abd_equal_buf_off(me(), buf.data(), off, buf.size());
	}
	bool all_zero(size_t off, size_t size) const
	{
		return abd_cmp_zero_off(me(), off, size) == 0;
	}

	uint32_t crc32c(size_t off, size_t size, uint32_t seed = 0) const
	{
		return abd_crc32c(me(), off, size, seed);
	}
	uint64_t xxh3(size_t off, size_t size, uint64_t seed = 0) const
	{
		return abd_xxh3(me(), off, size, seed);
	}
};

/** What else can be done with anything that may be written. */
template <class D> class writes : public reads<D>
{
	abd_t *me() noexcept { return static_cast<D *>(this)->get(); }

      public:
	using reads<D>::to_buf;
	using reads<D>::pieces;
	using reads<D>::for_each;
	std::byte *to_buf() { return static_cast<std::byte *>(abd_to_buf(me())); }
	result<write_borrow> borrow_copy(size_t n)
	{
		auto buf = static_cast<std::byte *>(abd_borrow_buf_copy(me(), n));

		return detail::made<write_borrow>(buf, me(), n);
	}
	result<fresh_borrow> borrow_fresh(size_t n)
	{
		auto buf = static_cast<std::byte *>(abd_borrow_buf(me(), n));

		return detail::made<fresh_borrow>(buf, me(), n);
	}
	template <class V = mutable_view> result<V> slice_mutable(size_t off, size_t size)
	{
		return detail::made<V>(abd_get_offset_size(me(), off, size));
	}
	basic_pieces<std::byte> pieces(size_t off, size_t size) { return {me(), off, size}; }
	basic_pieces<std::byte> pieces() { return {me(), 0, this->size()}; }
	/** f(bytes) returns 0 to go on. */
	template <class F> int for_each(size_t off, size_t size, F f)
	{
		auto call = [](void *buf, size_t len, void *p) noexcept -> int {
			return (*static_cast<F *>(p))(bytes(buf, len));
		};
		return abd_iterate_func(me(), off, size, call, &f);
	}
	void zero(size_t off, size_t size) { abd_zero_off(me(), off, size); }
	void copy_from_buf(const_bytes src, size_t off = 0)
	{
		abd_copy_from_buf_off(me(), src.data(), off, src.size());
	}
	void flush_copy_from_buf(const_bytes src, size_t off, unsigned flags)
	{
		abd_flush_copy_from_buf_off(me(), src.data(), off, src.size(), flags);
	}
	result<size_t> pread(int fd, size_t off, size_t size, int64_t file_off)
	{
		return abd_pread(fd, me(), off, size, file_off);
	}
};

/**
 * Views, borrows, pieces and addresses must not outlive their buffer. So a temporary buffer, such
 * as buffer::alloc(n).value(), gives none.
 */
template <class R> class lasting : public R
{
      public:
	template <class V = view> result<V> slice(size_t off, size_t size) const &
	{
		return R::template slice<V>(off, size);
	}
	template <class V = view> void slice(size_t off, size_t size) const && = delete;
	result<read_borrow> borrow(size_t n) const & { return R::borrow(n); }
	void borrow(size_t n) const && = delete;
	auto pieces() & { return R::pieces(); }
	auto pieces() const & { return R::pieces(); }
	void pieces() const && = delete;
	auto pieces(size_t off, size_t size) & { return R::pieces(off, size); }
	auto pieces(size_t off, size_t size) const & { return R::pieces(off, size); }
	void pieces(size_t off, size_t size) const && = delete;
	auto to_buf() & { return R::to_buf(); }
	auto to_buf() const & { return R::to_buf(); }
	void to_buf() const && = delete;
};

/** The type of arguments that are read: a buffer whose owner outlives the reference. */
class const_ref : public reads<const_ref>
{
	const abd_t *abd_;

      public:
	const_ref(const abd_t *abd ABD_LIFETIMEBOUND) noexcept : abd_(abd) {}
	template <class D>
	const_ref(const reads<D> &of ABD_LIFETIMEBOUND) : abd_(static_cast<const D &>(of).get())
	{
	}
	const abd_t *get() const noexcept { return abd_; }
};

/** The type of arguments that are written. */
class ref : public writes<ref>
{
	abd_t *abd_;

      public:
	ref(abd_t *abd ABD_LIFETIMEBOUND) noexcept : abd_(abd) {}
	template <class D> ref(writes<D> &of) : abd_(static_cast<D &>(of).get()) {}
	abd_t *get() const noexcept { return abd_; }
};

/** A view to read through. What it views outlives it. */
class view : public lasting<reads<view>>
{
	std::unique_ptr<const abd_t, detail::end_buffer> abd_{};

      public:
	view() noexcept = default;
	/** Takes over what abd_get_offset_const() returned. */
	explicit view(const abd_t *abd) noexcept : abd_(abd) {}
	explicit operator bool() const noexcept { return abd_ != nullptr; }
	const abd_t *get() const noexcept ABD_LIFETIMEBOUND { return abd_.get(); }
};

/** Owns a C object. It can be moved but not copied, and a const owner only reads its buffer. */
template <class D> class owns : public lasting<writes<D>>
{
	std::unique_ptr<abd_t, detail::end_buffer> abd_{};

      public:
	owns() noexcept = default;
	/** Takes over what a C call returned. */
	explicit owns(abd_t *abd) noexcept : abd_(abd) {}
	explicit operator bool() const noexcept { return abd_ != nullptr; }
	abd_t *get() noexcept ABD_LIFETIMEBOUND { return abd_.get(); }
	const abd_t *get() const noexcept ABD_LIFETIMEBOUND { return abd_.get(); }
	result<write_borrow> borrow_copy(size_t n) & { return writes<D>::borrow_copy(n); }
	void borrow_copy(size_t n) && = delete;
	result<fresh_borrow> borrow_fresh(size_t n) & { return writes<D>::borrow_fresh(n); }
	void borrow_fresh(size_t n) && = delete;
	template <class V = mutable_view> result<V> slice_mutable(size_t off, size_t size) &
	{
		return writes<D>::template slice_mutable<V>(off, size);
	}
	template <class V = mutable_view> void slice_mutable(size_t off, size_t size) && = delete;
	/** Hands the C object to the caller, who frees it. */
	[[nodiscard]] abd_t *release() noexcept { return abd_.release(); }
};

/** A view to write through. What it views outlives it. */
class mutable_view : public owns<mutable_view>
{
	using owns::owns;
};

/** A buffer of any kind. */
class buffer : public owns<buffer>
{
	static result<buffer> own(abd_t *abd) { return detail::made<buffer>(abd); }

      public:
	using owns::owns;
	static result<buffer> alloc(size_t n, bool meta = false) { return own(abd_alloc(n, meta)); }
	static result<buffer> alloc_linear(size_t size, bool is_metadata = false)
	{
		return own(abd_alloc_linear(size, is_metadata));
	}
	static result<buffer> alloc_for_io(size_t size, bool is_metadata = false)
	{
		return own(abd_alloc_for_io(size, is_metadata));
	}
	static result<buffer> alloc_sametype(ref of, size_t n)
	{
		return own(abd_alloc_sametype(of.get(), n));
	}
	static result<buffer> alloc_gang() { return own(abd_alloc_gang()); }
	static result<buffer> zeros(size_t size) { return own(abd_get_zeros(size)); }
	/** Over memory that outlives it. */
	static result<buffer> from_buf(bytes b)
	{
		return own(abd_get_from_buf(b.data(), b.size()));
	}
	/** Over memory that it takes over: free_cb runs at its end. */
	static result<buffer> from_buf_cb(
		bytes b, void (*free_cb)(void *, size_t, void *), void *arg)
	{
		return own(abd_get_from_buf_cb(b.data(), b.size(), free_cb, arg));
	}
	/** Over the memory of an iovec, which outlives it. */
	static result<buffer> from_iov(const iovec *iov, int n)
	{
		return own(abd_from_iov(iov, n));
	}
	/** Append to a gang a child that outlives it. */
	status gang_add(ref cabd) { return abd_gang_add(get(), cabd.get(), false); }
	/** Copy bytes to a gang's end; to its front. */
	status append(const_bytes buf) { return abd_append(get(), buf.data(), buf.size()); }
	status prepend(const_bytes buf) { return abd_prepend(get(), buf.data(), buf.size()); }
	/** Append a child that becomes the gang's; after an error it is still the caller's. */
	status gang_add(buffer &&cabd)
	{
		const int error = abd_gang_add(get(), cabd.get(), true);

		if (error == 0)
			static_cast<void>(cabd.release());
		return error;
	}
};

/* ---- two buffers, lz4, counters -------------------------------------------------------------- */

inline int cmp(const_ref a, const_ref b)
{
	return abd_cmp(a.get(), b.get());
}
inline bool equal(const_ref a, const_ref b)
{
	return abd_equal(a.get(), b.get());
}
inline bool equal_off(const_ref a, const_ref b, size_t a_off, size_t b_off, size_t size)
{
	return abd_equal_off(a.get(), b.get(), a_off, b_off, size);
}
inline size_t diff_off(const_ref a, const_ref b, size_t a_off, size_t b_off, size_t size)
{
	return abd_diff_off(a.get(), b.get(), a_off, b_off, size);
}
inline void copy_off(ref dst, const_ref src, size_t dst_off, size_t src_off, size_t size)
{
	abd_copy_off(dst.get(), src.get(), dst_off, src_off, size);
}
inline void copy_stream_off(ref dst, const_ref src, size_t dst_off, size_t src_off, size_t size)
{
	abd_copy_stream_off(dst.get(), src.get(), dst_off, src_off, size);
}
inline void flush_copy_off(
	ref dst, const_ref src, size_t dst_off, size_t src_off, size_t size, unsigned flags)
{
	abd_flush_copy_off(dst.get(), src.get(), dst_off, src_off, size, flags);
}

inline result<size_t> lz4_compress(ref dst, const_ref src, size_t dst_off, size_t src_off, size_t n)
{
	return abd_lz4_compress(dst.get(), src.get(), dst_off, src_off, n);
}
inline result<size_t> lz4_compress_effort(
	ref dst, const_ref src, size_t dst_off, size_t src_off, size_t n, int effort)
{
	return abd_lz4_compress_effort(dst.get(), src.get(), dst_off, src_off, n, effort);
}
inline result<size_t> lz4_decompress(
	ref dst, const_ref src, size_t dst_off, size_t dst_size, size_t src_off, size_t n)
{
	return abd_lz4_decompress(dst.get(), src.get(), dst_off, dst_size, src_off, n);
}
inline result<size_t> lz4_decompress_to_buf(bytes dst, const_ref src, size_t src_off, size_t n)
{
	return abd_lz4_decompress_to_buf(dst.data(), src.get(), dst.size(), src_off, n);
}
inline result<size_t> lz4_decompress_exact(
	ref dst, const_ref src, size_t dst_off, size_t size, size_t src_off, size_t n)
{
	return abd_lz4_decompress_exact(dst.get(), src.get(), dst_off, size, src_off, n);
}
inline result<size_t> lz4_decompress_exact_to_buf(
	bytes dst, const_ref src, size_t src_off, size_t n)
{
	return abd_lz4_decompress_exact_to_buf(dst.data(), src.get(), dst.size(), src_off, n);
}
/** Bytes [range_off, +dst.size()) of the record. */
inline result<size_t> lz4_decompress_range_to_buf(
	bytes dst, const_ref src, size_t range_off, size_t src_off, size_t n)
{
	return abd_lz4_decompress_range_to_buf(
		dst.data(), src.get(), range_off, dst.size(), src_off, n);
}

/** How far flush-copies move data: what abd_flush_durability() returns. */
using durability = enum ::abd_flush_durability;

inline abd_stats stats_get()
{
	abd_stats stats;

	abd_stats_get(&stats, sizeof(stats));
	return stats;
}

/**
 * Memory of abd_buf_alloc() for containers: std::pmr::vector<char> v(&resource). Alignments go up
 * to 4 KiB. Without memory it does what the standard library does there: it throws std::bad_alloc.
 * Two resources are never equal. Any thread may use it.
 */
class buf_resource final : public std::pmr::memory_resource
{
	bool is_metadata_;

	/* abd_buf_alloc() aligns by the size. */
	static size_t room(size_t size, size_t alignment) noexcept
	{
		const size_t least = alignment > 64 ? 4096 : alignment > 16 ? 64 : 1;

		return size < least ? least : size;
	}
	void *do_allocate(size_t size, size_t alignment) override
	{
		void *buf = alignment > 4096 ? nullptr
					     : abd_buf_alloc(room(size, alignment), is_metadata_);

		/* This one throws, also where this file is compiled without exceptions. */
		return buf != nullptr ? buf
				      : std::pmr::null_memory_resource()->allocate(size, alignment);
	}
	void do_deallocate(void *buf, size_t size, size_t alignment) override
	{
		abd_buf_free_marked(buf, room(size, alignment), is_metadata_);
	}
	bool do_is_equal(const memory_resource &other) const noexcept override
	{
		return this == &other;
	}

      public:
	explicit buf_resource(bool is_metadata = false) noexcept : is_metadata_(is_metadata) {}
};

#if ABD_HAS_ARC
/* ---- the cache ------------------------------------------------------------------------------- */

class arc_hold;

/** A held record, to be read. */
class held
{
	friend class arc;
	friend class arc_fill;

      protected:
	abd_arc_hold_t raw_;
	held() noexcept {}
	explicit held(const abd_arc_hold_t &raw) noexcept : raw_(raw) {}
	held(const held &) = default;

      public:
	/** The cached buffer itself: an lz4 block if compressed(), else the record. */
	const_ref buffer() const noexcept ABD_LIFETIMEBOUND { return raw_.abd; }
	size_t stored_size() const noexcept { return raw_.stored_size; }
	size_t logical_size() const noexcept { return raw_.logical_size; }
	bool compressed() const noexcept { return raw_.compressed; }
	/** dst.size() bytes of the record from off. */
	result<size_t> read(bytes dst, size_t off = 0) const
	{
		return abd_arc_hold_read(&raw_, dst.data(), off, dst.size());
	}
	/** A second hold of the record, which ends by itself. */
	inline result<arc_hold> dup() const;
	const abd_arc_hold_t *get() const noexcept ABD_LIFETIMEBOUND { return &raw_; }
};

/** A hold, or none. Its destructor ends it, in any thread. Its cache outlives it. */
class arc_hold : public held
{
      public:
	arc_hold() noexcept : held(abd_arc_hold_t{}) {}
	/** Takes over what a C call filled in. */
	explicit arc_hold(const abd_arc_hold_t &raw) noexcept : held(raw) {}
	arc_hold(arc_hold &&from) noexcept : held(std::exchange(from.raw_, abd_arc_hold_t{})) {}
	arc_hold &operator=(arc_hold from) noexcept
	{
		std::swap(raw_, from.raw_);
		return *this;
	}
	~arc_hold() { release(); }
	explicit operator bool() const noexcept { return raw_.entry != nullptr; }
	/** End it now, if there is one. */
	void release()
	{
		if (raw_.entry != nullptr)
			abd_arc_release(&raw_);
	}
};

inline result<arc_hold> held::dup() const
{
	return {std::in_place, [&](arc_hold &got) { return abd_arc_hold_dup(&raw_, &got.raw_); }};
}

/**
 * A record that the caller is to fetch, or none. Its destructor, in any thread, abandons it unless
 * it was committed. Its cache outlives it; so does the thread that began it, unless that was by
 * hold_or_fill_async() or hold_or_fill_many().
 */
class arc_fill
{
	friend class arc;
	abd_arc_fill_t raw_{};

      public:
	arc_fill() noexcept = default;
	arc_fill(arc_fill &&from) noexcept : raw_(std::exchange(from.raw_, abd_arc_fill_t{})) {}
	arc_fill &operator=(arc_fill from) noexcept
	{
		std::swap(raw_, from.raw_);
		return *this;
	}
	~arc_fill() { abandon(); }
	explicit operator bool() const noexcept { return raw_.entry != nullptr; }
	/** Where the record goes, until the fill ends. */
	ref buffer() const noexcept ABD_LIFETIMEBOUND { return raw_.abd; }
	size_t size() const noexcept { return raw_.size; }
	/** The first stored_size bytes are the record. The fill has ended, after an error too. */
	status commit(size_t stored_size, size_t logical_size, unsigned flags = 0)
	{
		return abd_arc_fill_commit(&raw_, stored_size, logical_size, flags, nullptr);
	}
	result<arc_hold> commit_and_hold(
		size_t stored_size, size_t logical_size, unsigned flags = 0)
	{
		return {std::in_place, [&](arc_hold &got) {
				return abd_arc_fill_commit(
					&raw_, stored_size, logical_size, flags, &got.raw_);
			}};
	}
	/** The same for a record in parts: behind a header, with an index or a checksum. */
	status commit_record(const abd_arc_record_t &record)
	{
		return abd_arc_fill_commit_record(&raw_, &record, nullptr);
	}
	result<arc_hold> commit_record_and_hold(const abd_arc_record_t &record)
	{
		return {std::in_place, [&](arc_hold &got) {
				return abd_arc_fill_commit_record(&raw_, &record, &got.raw_);
			}};
	}
	/** End it without a record, if it has not ended. */
	void abandon()
	{
		if (raw_.entry != nullptr)
			abd_arc_fill_abandon(&raw_);
	}
};

/** What hold_or_fill() returns: one of the two, and the other is empty. */
struct arc_found {
	arc_hold hold;
	arc_fill fill;
};

/**
 * A cache. Any thread may call its methods, but only one assigns to it or destroys it. It outlives
 * its holds and fills. const methods change no record.
 */
class arc
{
	struct end_arc {
		void operator()(abd_arc_t *p) const { abd_arc_destroy(p); }
	};
	struct end_hold {
		abd_arc_hold_t &raw;
		~end_hold() { abd_arc_release(&raw); }
	};
	std::unique_ptr<abd_arc_t, end_arc> arc_{};

      public:
	using key = abd_arc_key_t;
	arc() noexcept = default;
	/** Takes over what abd_arc_create() returned. */
	explicit arc(abd_arc_t *raw) noexcept : arc_(raw) {}
	/** config_size need not be set. */
	static result<arc> create(abd_arc_config config)
	{
		config.config_size = sizeof(config);
		return detail::made<arc>(abd_arc_create(&config));
	}
	explicit operator bool() const noexcept { return arc_ != nullptr; }
	abd_arc_t *get() const noexcept ABD_LIFETIMEBOUND { return arc_.get(); }

	status put(const key &k, const_bytes record, unsigned flags = 0)
	{
		return abd_arc_put_flags(get(), &k, record.data(), record.size(), flags);
	}
	/** The buffer becomes the cache's; after an error it is still the caller's. */
	status put_abd(const key &k, buffer &&record, size_t logical_size, unsigned flags = 0)
	{
		const int error = abd_arc_put_abd(get(), &k, record.get(), logical_size, flags);

		if (error == 0)
			static_cast<void>(record.release());
		return error;
	}
	/** The same for a record in parts. */
	status put_record(const key &k, buffer &&from, const abd_arc_record_t &record)
	{
		const int error = abd_arc_put_record(get(), &k, from.get(), &record);

		if (error == 0)
			static_cast<void>(from.release());
		return error;
	}
	/** dst.size() bytes of the record from off. */
	result<size_t> read(const key &k, bytes dst, size_t off = 0, unsigned flags = 0) const
	{
		return abd_arc_read_flags(get(), &k, dst.data(), off, dst.size(), flags);
	}
	/** size bytes of the record from off, into a buffer of any kind. */
	result<size_t> read(const key &k, ref dst, size_t dst_off, size_t off, size_t size) const
	{
		return abd_arc_read_abd(get(), &k, dst.get(), dst_off, off, size);
	}
	result<size_t> read_all(const key &k, bytes dst, size_t &size_needed) const
	{
		return abd_arc_read_all(get(), &k, dst.data(), dst.size(), &size_needed);
	}
	size_t read_many(abd_arc_io_t *ios, size_t n) const
	{
		return abd_arc_read_many(get(), ios, n);
	}
	bool contains(const key &k) const { return abd_arc_contains(get(), &k); }

	result<arc_hold> hold(const key &k) const
	{
		return {std::in_place,
			[&](arc_hold &got) { return abd_arc_hold(get(), &k, &got.raw_); }};
	}
	/**
	 * Hold the record while f(const held &) runs, by the same instructions as in C. f returns
	 * nothing; an error that it finds it must keep itself.
	 */
	template <class F> status with(const key &k, F &&f) const
	{
		static_assert(std::is_void_v<std::invoke_result_t<F, const held &>>);
		held got;
		const int error = abd_arc_hold(get(), &k, &got.raw_);

		if (__builtin_expect(error == 0, 1)) {
			const end_hold end{got.raw_};
			std::forward<F>(f)(static_cast<const held &>(got));
		}
		return error;
	}
	/** n keys, holds and results. Holds that are in holds[] before are released. */
	size_t hold_many(const key *keys, arc_hold *holds, int *results, size_t n) const
	{
		static_assert(sizeof(arc_hold) == sizeof(abd_arc_hold_t), "so an array is one too");
		for (size_t i = 0; i < n; i++)
			holds[i].release();
		return abd_arc_hold_many(
			get(), keys, reinterpret_cast<abd_arc_hold_t *>(holds), results, n);
	}
	/** Hold the record, or begin to fill it in; sleep for another's fill for so long at most.
	 */
	result<arc_found> hold_or_fill(
		const key &k, size_t size, unsigned flags = 0, uint64_t timeout_ns = UINT64_MAX)
	{
		return {std::in_place, [&](arc_found &got) {
				const int answer = abd_arc_hold_or_fill_timed(get(), &k, size,
					flags, timeout_ns, &got.hold.raw_, &got.fill.raw_);

				return answer < 0 ? answer : 0;
			}};
	}
	/** The same without sleeping. The error EINPROGRESS: ready(arg) will be called. */
	result<arc_found> hold_or_fill_async(
		const key &k, size_t size, unsigned flags, void (*ready)(void *), void *arg)
	{
		return {std::in_place, [&](arc_found &got) {
				const int answer = abd_arc_hold_or_fill_async(get(), &k, size,
					flags, &got.hold.raw_, &got.fill.raw_, ready, arg);

				return answer < 0 ? answer : 0;
			}};
	}
	status forget_ready(const key &k, void (*ready)(void *), void *arg)
	{
		return abd_arc_forget_ready(get(), &k, ready, arg);
	}
	/** n keys, sizes, holds, fills and results. What holds[] and fills[] had ends before. */
	size_t hold_or_fill_many(const key *keys, const size_t *sizes, unsigned flags,
		arc_hold *holds, arc_fill *fills, int *results, size_t n)
	{
		static_assert(sizeof(arc_fill) == sizeof(abd_arc_fill_t), "so an array is one too");
		for (size_t i = 0; i < n; i++) {
			holds[i].release();
			fills[i].abandon();
		}
		return abd_arc_hold_or_fill_many(get(), keys, sizes, flags,
			reinterpret_cast<abd_arc_hold_t *>(holds),
			reinterpret_cast<abd_arc_fill_t *>(fills), results, n);
	}
	/** To or from a file, where fd is; an error leaves figures too. */
	status save(int fd, abd_arc_saved &saved) const
	{
		return abd_arc_save(get(), fd, &saved, sizeof(saved));
	}
	status load(int fd, abd_arc_saved &saved)
	{
		return abd_arc_load(get(), fd, &saved, sizeof(saved));
	}

	status remove(const key &k) { return abd_arc_remove(get(), &k); }
	status hold_drop(const held &h) { return abd_arc_hold_drop(get(), h.get()); }
	result<size_t> remove_pool(uint64_t p) { return abd_arc_remove_pool(get(), p); }
	/** f(key, stored_size, logical_size) returns 0 to go on. */
	template <class F> int each(F f) const
	{
		auto call = [](const key *k, size_t stored, size_t logical,
				    void *p) noexcept -> int {
			return (*static_cast<F *>(p))(*k, stored, logical);
		};
		return abd_arc_each(get(), call, &f);
	}
	status resize(size_t capacity_bytes) { return abd_arc_resize(get(), capacity_bytes); }
	size_t trim(size_t size, uint64_t max_ns) { return abd_arc_trim(get(), size, max_ns); }
	abd_arc_stats stats_get() const
	{
		abd_arc_stats stats;

		abd_arc_stats_get(get(), &stats, sizeof(stats));
		return stats;
	}
};
#endif

} // namespace abd

#pragma GCC diagnostic pop

#if __cplusplus >= 202002L
template <class B>
inline constexpr bool std::ranges::enable_borrowed_range<abd::basic_bytes<B>> = true;
#endif

#endif
