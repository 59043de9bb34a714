/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What abd.hpp refuses. Each line that ends in "wrong" must not compile, nor must one that ends in
 * "kept" by clang; every other one must. cpp.py compares the lines of the errors.
 */
#include <abd/abd.hpp>

#include <string>

static void changes(abd::ref)
{
}

static void reads(abd::const_ref)
{
}

void owners(abd::buffer buffer, abd::mutable_view part, abd::view view)
{
	abd::buffer moved = std::move(buffer);
	abd::buffer copied = moved;    /* wrong */
	copied = moved;                /* wrong */
	abd::view seen = view;         /* wrong */
	abd::mutable_view two = part;  /* wrong */
	abd::buffer raw = moved.get(); /* wrong */
	abd::buffer::alloc(5);         /* wrong: the answer is not looked at */
	delete moved;                  /* wrong */
}

abd::buffer made();
const abd::buffer fixed();
abd::view seen();

void nothing_outlives_a_temporary(abd::buffer &buffer)
{
	auto part = made().slice(0, 1);                     /* wrong */
	auto piece = made().slice_mutable(0, 1);            /* wrong */
	auto lent = made().borrow(1);                       /* wrong */
	auto fresh = made().borrow_fresh(1);                /* wrong */
	auto copy = made().borrow_copy(1);                  /* wrong */
	auto deeper = buffer.slice(0, 1).value().borrow(1); /* wrong */
	auto address = made().to_buf();                     /* wrong */
	for (abd::const_bytes run : made().pieces())        /* wrong */
		reads(abd::const_ref(buffer)), static_cast<void>(run);
	for (abd::const_bytes run : abd::const_ref(buffer).pieces(0, 1))
		static_cast<void>(run);
	abd::const_ref whole = made();                 /* kept */
	const abd_t *object = made().get();            /* kept */
	const abd_t *of_const = fixed().get();         /* kept */
	const abd_t *of_view = seen().get();           /* kept */
	abd::const_ref both(made().get());             /* kept */
	abd::ref changed = made().get();               /* kept */
	auto &&answer = abd::buffer::alloc(5).value(); /* kept */
	auto &&known = *abd::buffer::alloc(5);         /* kept */
	abd::const_ref again = buffer, of_it = again.get();
	reads(made());
	reads(made().get());
	reads(abd::buffer::alloc(5).value());
}

void const_is_for_reading(abd::buffer &buffer, const abd::buffer &fixed, abd::view view)
{
	buffer.zero(0, 1);
	fixed.zero(0, 1); /* wrong */
	view.zero(0, 1);  /* wrong */
	reads(fixed);
	reads(view);
	changes(buffer);
	changes(fixed);                       /* wrong */
	changes(view);                        /* wrong */
	changes(fixed.get());                 /* wrong */
	view.borrow_copy(1).value();          /* wrong */
	for (abd::bytes run : fixed.pieces()) /* wrong */
		*run.data() = std::byte{};
	*fixed.to_buf() = std::byte{}; /* wrong */
	*buffer.to_buf() = std::byte{};
	auto lent = view.borrow(1);
	*lent->data() = std::byte{};                          /* wrong */
	abd::mutable_view part = fixed.slice(0, 1).value();   /* wrong */
	fixed.slice_mutable(0, 1).value();                    /* wrong */
	abd::basic_pieces<std::byte> runs(fixed.get(), 0, 1); /* wrong */
}

void bytes_keep_const(const std::string &fixed, std::string &text, abd::buffer &buffer)
{
	struct owner {
		std::string name;
	} owners[2];
	abd::const_bytes read = fixed;
	abd::bytes write = text;
	read = write;
	write = read;                  /* wrong */
	abd::bytes hidden = fixed;     /* wrong */
	abd::const_bytes of = owners;  /* wrong: not plain bytes */
	abd::const_bytes all = buffer; /* wrong: not one piece of memory */
}

#if ABD_HAS_ARC
void holds(abd::arc &cache, const abd::arc &fixed, abd::arc_hold hold, abd::arc_fill fill)
{
	abd::arc other = cache;     /* wrong */
	abd::arc_hold twice = hold; /* wrong */
	abd::arc_fill two = fill;   /* wrong */
	abd::held sliced = hold;    /* wrong */
	changes(hold.buffer());     /* wrong */
	changes(fill.buffer());
	hold.buffer().zero(0, 1);                      /* wrong */
	cache.put({}, fixed.get());                    /* wrong */
	fixed.remove({}).value();                      /* wrong */
	cache.remove({});                              /* wrong: the answer is not looked at */
	cache.put_abd({}, std::move(hold), 1).value(); /* wrong */
	static_cast<void>(fixed.contains({}));
}

abd::arc_hold held();
abd::arc_fill begun();
abd::arc opened();

void nothing_outlives_what_was_held()
{
	abd::const_ref record = held().buffer();  /* kept */
	auto same = held().buffer();              /* kept */
	const abd_arc_hold_t *raw = held().get(); /* kept */
	abd::ref room = begun().buffer();         /* kept */
	abd_arc_t *cache = opened().get();        /* kept */
	reads(held().buffer());
	changes(begun().buffer());
}
#endif
