/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The cache's index under C11's memory model. It runs the real code (lib/arc/abd_arc_index.[ch])
 * with one look-up. Each load of that look-up may read every value that its memory order allows.
 * Spin can't do this: it knows only sequential memory, and checks a model instead of the code.
 *
 * The writer runs first, alone. Every store is kept with its time. Then the look-up runs again and
 * again, each time with another choice of what its loads read. Of each word it may read any value
 * that is not older than the values it knows of. It knows of what it read before, and, after an
 * acquire load of a release store, of everything stored before that store.
 * This covers all that C11 allows here. Only one writer runs at a time (it holds the lock), and
 * writers never read what readers write, so no value has to be guessed before it is written.
 * Readers don't see each other, so one is enough. A grace period divides look-ups: those that it
 * waits for see no later store, and all others see every store before it. Every sequence of
 * operations up to a given length is tried.
 *
 * Properties of each look-up, whatever its loads read:
 *   1. it finds a key that is in the index all the time;
 *   2. what it finds has the key, and was not removed before the look-up began;
 *   3. it reads nothing that was freed, and nothing that it doesn't know to be initialised;
 *   4. it ends after 6 rounds at most: while a grace period waits for it, its key's home can rise,
 *      fall and rise again, and the turn can change twice.
 *
 * With "orders", each release store and each acquire load is made relaxed, one after the other, and
 * the search must find a broken property each time, except for the three in unneeded[].
 * tests/plants has bugs of other kinds, with "guard: model arc_index".
 *
 *   arc_index LENGTH               search, and print the number of look-ups
 *   arc_index LENGTH OPERATIONS    the same with some of the operations only, such as gse
 *   arc_index LENGTH orders        search with all operations, then with each order made relaxed
 */
#include "abd_arc_hash.h"
#include "abd_arc_policy.h"
#include "abd_chunk.h"
#include "abd_contract.h"

#include <abd/key.h>

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what the library uses of ours: atomics, memory, hash ------------------------------------ */

/* A load or store in the library. */
struct where {
	int line;
	const char *word;
};

static uintptr_t model_load(
	const volatile void *word, size_t size, memory_order order, const struct where *where);
/* where is NULL for a store that is not atomic. */
static void model_store(volatile void *word, size_t size, uintptr_t bits, memory_order order,
	const struct where *where);
static void *model_alloc(size_t size);
static void model_free(void *block, size_t size);
static bool model_key_equal(const void *entry, const abd_arc_key_t *key);

#undef atomic_load_explicit
#undef atomic_load
#undef atomic_store_explicit
#undef atomic_init
#define atomic_load_explicit(word, order)          \
	((__typeof__((void)0, *(word)))model_load( \
		(word), sizeof(*(word)), (order), &(struct where){__LINE__, #word}))
#define atomic_load(word) atomic_load_explicit(word, memory_order_seq_cst)
#define atomic_store_explicit(word, value, order)                         \
	model_store((word), sizeof(*(word)), (uintptr_t)(value), (order), \
		&(struct where){__LINE__, #word})
#define atomic_init(word, value) \
	model_store((word), sizeof(*(word)), (uintptr_t)(value), memory_order_relaxed, NULL)
#define abd_arc_hash_key(seed, key) ((void)(seed), (key)->birth)
#define abd_key_equal(a, b, size) model_key_equal((a), (b))
#define abd_chunk_provider_now() 0u
#define abd_chunk_alloc_direct(provider, order) model_alloc(ABD_CHUNK_SIZE)
#define abd_chunk_free_direct(provider, run, order) model_free((run), ABD_CHUNK_SIZE)
#define abd_mem_alloc(size, alignment) model_alloc(size)
#define abd_mem_free(block, size, alignment) model_free((block), (size))
#define abd_mem_refused() false
#define malloc(size) model_alloc(size)
#define free(block) ((void)(block))

#include "abd_arc_index.c"

#undef malloc
#undef free

/* ---- memory: words, and every value that each has had ---------------------------------------- */

#define PAGES 32
#define WORDS (PAGES * ABD_CHUNK_SIZE / 8)
#define VALUES 65536
#define NEVER UINT32_MAX

struct value {
	uint32_t time;
	uint32_t next; /* of the same word; 0: none */
	uintptr_t bits;
	bool is_release;
};

static _Alignas(ABD_CHUNK_SIZE) unsigned char memory[PAGES * ABD_CHUNK_SIZE];

static struct {
	size_t used;           /* of memory */
	uint32_t freed[PAGES]; /* when, or NEVER */
	uint32_t first[WORDS], last[WORDS];
	struct value value[VALUES]; /* from 1 on: 0 is none */
	uint32_t values;
	uint32_t now;
} history;

/* Places in the code that have a memory order: stores, and the loads of readers. */
#define SITES 64

static struct site {
	struct where where;
	bool is_store;
	unsigned number; /* among those of this word, as they are met */
} sites[SITES];
static size_t site_count;

/* The place whose order is made relaxed now, or NULL. */
static const struct site *relaxed;

static const struct site *site_of(const struct where *where, bool is_store)
{
	unsigned number = 1;

	for (size_t i = 0; i < site_count; i++) {
		struct site *site = &sites[i];

		if (site->is_store == is_store && site->where.line == where->line)
			return site;
		number += site->is_store == is_store && strcmp(site->where.word, where->word) == 0;
	}
	assert(site_count < SITES);
	sites[site_count] = (struct site){*where, is_store, number};
	return &sites[site_count++];
}

/* The order at a place. */
static memory_order order_at(const struct where *where, bool is_store, memory_order order)
{
	if (order == memory_order_relaxed)
		return order;
	return site_of(where, is_store) == relaxed ? memory_order_relaxed : order;
}

static void *model_alloc(size_t size)
{
	void *block = &memory[history.used];

	/*
	 * No block is used twice, so that accesses to freed memory are noticed. Each block has
	 * pages of its own.
	 */
	history.used += (size + ABD_CHUNK_SIZE - 1) / ABD_CHUNK_SIZE * ABD_CHUNK_SIZE;
	assert(history.used <= sizeof(memory));
	return block;
}

static size_t page_of(const volatile void *word)
{
	return (size_t)((const volatile unsigned char *)word - memory) / ABD_CHUNK_SIZE;
}

static void model_free(void *block, size_t size)
{
	(void)size;
	history.freed[page_of(block)] = ++history.now;
}

static size_t word_of(const volatile void *word)
{
	size_t at = (size_t)((const volatile unsigned char *)word - memory);

	assert(at < sizeof(memory) && at % 8 == 0);
	return at / 8;
}

static struct abd_arc_index *the_index;

static void model_store(volatile void *word, size_t size, uintptr_t bits, memory_order order,
	const struct where *where)
{
	size_t w = word_of(word);
	uint32_t v = ++history.values;

	assert(size == 8 && v < VALUES);
	order = order_at(where, true, order);
	history.value[v] = (struct value){
		.time = ++history.now, .bits = bits, .is_release = order != memory_order_relaxed};
	if (history.first[w] == 0)
		history.first[w] = v;
	else
		history.value[history.last[w]].next = v;
	history.last[w] = v;
	*(volatile uintptr_t *)word = bits;
}

/* ---- choices: all of them, one after the other ----------------------------------------------- */

#define CHOICES 256

static struct {
	size_t made, at;
	uint32_t chosen[CHOICES], of[CHOICES];
} choice;

static uint32_t choose(uint32_t of)
{
	if (of == 1)
		return 0;
	if (choice.at == choice.made) {
		assert(choice.made < CHOICES);
		choice.chosen[choice.made] = 0;
		choice.of[choice.made++] = of;
	}
	return choice.chosen[choice.at++];
}

/* Go to the next combination of choices. False: there are no more. */
static bool choose_otherwise(void)
{
	choice.at = 0;
	while (choice.made > 0 && choice.chosen[choice.made - 1] + 1 == choice.of[choice.made - 1])
		choice.made--;
	if (choice.made == 0)
		return false;
	choice.chosen[choice.made - 1]++;
	return true;
}

/* ---- entries, and when they were in ---------------------------------------------------------- */

#define ENTRIES 1024
#define LIVES 32

enum key { KEY_A, KEY_C, KEY_X, KEYS };

/* A span of time in which a key was in the index for certain. */
struct life {
	uint32_t from, to;
};

static struct known {
	uint32_t put, out; /* when its put began; when it was removed */
	_Alignas(64) unsigned char bytes[sizeof(struct abd_arc_entry)];
} entries[ENTRIES];
static size_t entry_count;

static struct {
	struct abd_arc_entry *entry; /* NULL: out */
	abd_arc_key_t key;
	struct life life[LIVES];
	size_t lives;
} keys[KEYS];

static struct abd_arc_entry *entry_at(size_t n)
{
	return (struct abd_arc_entry *)(void *)entries[n].bytes;
}

static size_t number_of(const void *entry)
{
	return (size_t)((const char *)entry - (const char *)entries) / sizeof(entries[0]);
}

/* ---- the look-up ----------------------------------------------------------------------------- */

#define READS 400
#define ROUNDS 6

static struct {
	bool on;
	uint32_t begin;    /* it knows of all stores up to here when it begins */
	uint32_t horizon;  /* it sees no store from here on */
	uint32_t knows;    /* by now it knows of all stores up to here */
	uint32_t newest;   /* the newest store that it has read */
	uint32_t begin_by; /* from what it read: it began no later than this */
	uint32_t number;
	unsigned rounds, turns_read;
	const char *wrong;
	jmp_buf out;
	size_t reads;
	struct {
		const volatile void *word;
		uint32_t value;
		int line;
	} read[READS];
} look;
static uint32_t read_in[WORDS], read_value[WORDS];
static uint64_t look_ups;
static unsigned rounds_most;

static void go_wrong(const char *what)
{
	look.wrong = what;
	longjmp(look.out, 1);
}

/* The oldest value of a word that the look-up may read. */
static uint32_t oldest_for(size_t w)
{
	uint32_t v = read_in[w] == look.number ? read_value[w] : history.first[w];

	if (v == 0 || (read_in[w] != look.number && history.value[v].time > look.knows))
		go_wrong("it reads what was not made before, as far as it knows");
	while (history.value[v].next != 0 &&
		history.value[history.value[v].next].time <= look.knows)
		v = history.value[v].next;
	return v;
}

static bool is_seen(uint32_t v)
{
	return v != 0 && history.value[v].time < look.horizon;
}

/* Choose one of the values of a word that the look-up may read. */
static const struct value *pick(const volatile void *word, size_t w)
{
	uint32_t oldest = oldest_for(w), of = 1, v;

	for (v = history.value[oldest].next; is_seen(v); v = history.value[v].next)
		of++;
	v = oldest;
	for (uint32_t i = choose(of); i > 0; i--)
		v = history.value[v].next;
	read_in[w] = look.number;
	read_value[w] = v;
	assert(look.reads < READS);
	look.read[look.reads].word = word;
	look.read[look.reads++].value = v;
	return &history.value[v];
}

static uintptr_t model_load(
	const volatile void *word, size_t size, memory_order order, const struct where *where)
{
	assert(size == 8);
	if (!look.on)
		return *(const volatile uintptr_t *)word;
	if ((uintptr_t)word - (uintptr_t)memory >= sizeof(memory))
		go_wrong("it follows a pointer to nowhere");
	if (history.freed[page_of(word)] < look.horizon)
		go_wrong("it reads what was freed");
	order = order_at(where, false, order);
	size_t w = word_of(word);

	/* Each round reads the turn twice. */
	if (word == &the_index->turns)
		look.rounds += look.turns_read++ % 2 == 0;
	const struct value *value = pick(word, w);

	look.read[look.reads - 1].line = where->line;
	if (order != memory_order_relaxed && value->is_release && value->time > look.knows)
		look.knows = value->time;
	if (value->time > look.newest)
		look.newest = value->time;
	if (value->next != 0 && history.value[value->next].time - 1 < look.begin_by)
		look.begin_by = history.value[value->next].time - 1;
	return value->bits;
}

static bool model_key_equal(const void *entry, const abd_arc_key_t *key)
{
	size_t n = number_of(entry);

	if (look.on && n >= entry_count)
		go_wrong("it found no entry");
	if (look.on && entries[n].put > look.knows)
		go_wrong("it reads a key that was not there yet, as far as it knows");
	if (look.on && entries[n].out <= look.begin)
		go_wrong("it reads an entry that was out before it began");
	return memcmp(entry, key, sizeof(*key)) == 0;
}

/*
 * A key was missed if the look-up lies within a life of that key. A look-up can have begun at any
 * time from begin to begin_by. It ended at newest, or when it began if that is later.
 */
static void check_missed(enum key key)
{
	for (size_t i = 0; i < keys[key].lives; i++) {
		const struct life *life = &keys[key].life[i];
		uint32_t from = life->from > look.begin ? life->from : look.begin;
		uint32_t to = life->to < look.begin_by ? life->to : look.begin_by;

		if (from <= to && look.newest <= life->to)
			look.wrong = "a key that was in all the time was not found";
	}
}

static void check(enum key key, const struct abd_arc_entry *found)
{
	if (look.rounds > rounds_most)
		rounds_most = look.rounds;
	if (look.rounds > ROUNDS)
		look.wrong = "it goes on too long";
	if (found == NULL)
		check_missed(key);
	else if (!abd_arc_index_is_leaving(found) && entries[number_of(found)].out < look.begin_by)
		look.wrong = "what was found had been taken out before the look-up began";
}

/*
 * Run one look-up that begins at begin and sees no store from horizon on. False: something is
 * wrong.
 */
static bool look_up(enum key key, uint32_t begin, uint32_t horizon)
{
	struct abd_arc_entry *found;

	look.begin = look.knows = begin;
	look.horizon = horizon;
	look.newest = look.rounds = look.turns_read = 0;
	look.begin_by = horizon - 1;
	look.wrong = NULL;
	look.reads = 0;
	look.number++;
	look_ups++;
	if (setjmp(look.out) == 0) {
		look.on = true;
		found = abd_arc_index_find(the_index, keys[key].key.birth, &keys[key].key);
		look.on = false;
		check(key, found);
	}
	look.on = false;
	return look.wrong == NULL;
}

/* ---- the writer: operations, one letter each ------------------------------------------------- */

#define GRACES 16

/*
 * The states from which the writer begins: the number of lines, the number of entries that stay in
 * line 0, the operations done first (they may double the lines), and whether the page is filled up.
 */
static const struct beginning {
	const char *name;
	size_t lines, staying;
	const char *operations;
	bool is_full;
} beginnings[] = {
	{"one entry", 64, 0, "", false},
	{"one entry, lines doubled", 64, 0, "g", false},
	{"6 entries that stay", 64, 6, "", false},
	{"6 entries that stay, lines doubled", 64, 6, "g", false},
	{"7 entries that stay", 64, 7, "", false},
	{"7 entries that stay, lines doubled", 64, 7, "g", false},
	{"a full page", 64, 0, "cg", true},
	{"a full directory", 512, 0, "", false},
};

static const char *operations = "gsecdrxyl";

static struct {
	const struct beginning *beginning;
	uint32_t begin;
	struct life grace[GRACES];
	size_t graces;
} writer;

static struct abd_arc_entry *entry_new(const abd_arc_key_t *key)
{
	assert(entry_count < ENTRIES);
	struct abd_arc_entry *entry = entry_at(entry_count);

	entries[entry_count].put = ++history.now;
	entries[entry_count++].out = NEVER;
	memcpy(&entry->key, key, sizeof(*key));
	return entry;
}

static bool put(enum key key)
{
	struct abd_arc_entry *entry = entry_new(&keys[key].key), *old;

	if (!abd_arc_index_put(the_index, keys[key].key.birth, entry, &old))
		return false;
	assert(old == keys[key].entry);
	keys[key].entry = entry;
	history.now++;
	if (old != NULL) {
		entries[number_of(old)].out = history.now;
	} else {
		assert(keys[key].lives < LIVES);
		keys[key].life[keys[key].lives++] = (struct life){history.now, NEVER};
	}
	return true;
}

static void take_out(enum key key)
{
	struct known *known = &entries[number_of(keys[key].entry)];

	keys[key].life[keys[key].lives - 1].to = history.now;
	abd_arc_index_remove(the_index, keys[key].key.birth, keys[key].entry);
	history.now++;
	known->out = known->out == NEVER ? history.now : known->out;
	keys[key].entry = NULL;
}

/* From now on no look-up may look into the entry, but each must say that it may be there. */
static bool leave(enum key key)
{
	if (keys[key].entry == NULL || entries[number_of(keys[key].entry)].out != NEVER)
		return false;
	abd_arc_index_leave(the_index, keys[key].key.birth, keys[key].entry);
	entries[number_of(keys[key].entry)].out = ++history.now;
	return true;
}

/*
 * The grace period begins at the end of the joining and lasts until join_end(): as long as
 * possible.
 */
static bool join(void)
{
	if (the_index->is_shrinking ||
		!abd_arc_index_shrink(the_index, writer.beginning->lines * ABD_ARC_LINE_LOAD))
		return false;
	assert(writer.graces < GRACES);
	writer.grace[writer.graces++] = (struct life){++history.now, NEVER};
	return true;
}

static bool join_end(void)
{
	if (!the_index->is_shrinking)
		return false;
	writer.grace[writer.graces - 1].to = ++history.now;
	abd_arc_index_shrink_end(the_index);
	return true;
}

static bool split(void)
{
	if (the_index->lines != writer.beginning->lines)
		return false;
	abd_arc_index_grow(the_index, writer.beginning->lines * ABD_ARC_LINE_LOAD + 1);
	return true;
}

/*
 * Do one operation. False: it is not possible now. Key A is always in the index; C has the same
 * home and tag as A; X stays where it is when lines are split.
 */
static bool do_one(char operation)
{
	enum key key = operation == 'c' || operation == 'd' ? KEY_C : KEY_X;

	switch (operation) {
	case 'g':
		return split();
	case 's':
		return join();
	case 'e':
		return join_end();
	case 'r':
		return put(KEY_A);
	case 'l':
		return leave(KEY_C);
	case 'c':
	case 'x':
		return keys[key].entry == NULL && put(key);
	default:
		if (keys[key].entry == NULL)
			return false;
		take_out(key);
		return true;
	}
}

static void put_staying(uint64_t home)
{
	abd_arc_key_t key = {.pool = 9, .dva = {entry_count, 0}, .birth = (uint64_t)9 << 56 | home};
	struct abd_arc_entry *old;
	bool is_in = abd_arc_index_put(the_index, key.birth, entry_new(&key), &old);

	assert(is_in && old == NULL);
	(void)is_in;
}

static void begin(const struct beginning *beginning)
{
	memset(history.first, 0, sizeof(history.first));
	memset(history.freed, 0xff, sizeof(history.freed));
	history.used = history.now = history.values = 0;
	writer.beginning = beginning;
	writer.graces = entry_count = 0;
	the_index = abd_arc_index_new(beginning->lines * ABD_ARC_LINE_LOAD, 0);
	atomic_init(&the_index->turns, 0); /* the library sets it to 0 with all of the struct */
	for (enum key key = 0; key < KEYS; key++) {
		uint64_t tag = key == KEY_X ? 9 : 7, home = key == KEY_X ? 0 : beginning->lines;

		keys[key].entry = NULL;
		keys[key].lives = 0;
		keys[key].key =
			(abd_arc_key_t){.pool = 1, .dva = {key, 0}, .birth = tag << 56 | home};
	}
	for (size_t i = 0; i < beginning->staying; i++)
		put_staying(0);
	put(KEY_A);
	for (const char *operation = beginning->operations; *operation != 0; operation++)
		do_one(*operation);
	/* One slot stays free, for C or for a new entry of A. */
	for (size_t i = 0; beginning->is_full && i < 64 * ABD_ARC_LINE_SLOTS - 1; i++)
		put_staying(i % 64);
	writer.begin = ++history.now;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const char *word_name(const volatile void *word)
{
	static char name[64];
	size_t page = page_of(word), at = word_of(word) % (ABD_CHUNK_SIZE / 8);

	if (word == &the_index->lines)
		return "lines";
	if (word == &the_index->turns)
		return "turns";
	if (word == &the_index->directory)
		return "directory";
	snprintf(name, sizeof(name), "page %zu, line %zu, %s %zu", page, at / 8,
		at % 8 == 0 ? "tags" : "slot", at % 8 == 0 ? 0 : at % 8 - 1);
	return name;
}

static void say_wrong(const char *done, enum key key)
{
	printf("%s; then %s; look-up of %c: %s\n", writer.beginning->name, done, "ACX"[key],
		look.wrong);
	for (size_t i = 0; i < look.reads; i++) {
		const struct value *value = &history.value[look.read[i].value];

		printf("\tline %d: %s: %#" PRIxPTR ", stored at %u\n", look.read[i].line,
			word_name(look.read[i].word), value->bits, value->time);
	}
}

/* Run every look-up that is possible after what the writer did. */
static bool look_up_all(const char *done)
{
	for (enum key key = 0; key < KEY_X; key++) {
		for (size_t i = 0; i <= writer.graces; i++) {
			uint32_t from = i == 0 ? writer.begin : writer.grace[i - 1].from;
			uint32_t horizon = i < writer.graces ? writer.grace[i].to : NEVER;

			choice.made = choice.at = 0;
			do {
				if (!look_up(key, from, horizon)) {
					say_wrong(done, key);
					return false;
				}
			} while (choose_otherwise());
		}
	}
	return true;
}

/*
 * Try all sequences that begin with done, up to length. Only those of full length are checked: they
 * contain the shorter ones.
 */
static bool search_from(const struct beginning *beginning, char *done, size_t count, size_t length)
{
	for (const char *next = operations; *next != 0; next++) {
		bool possible = true;

		done[count] = *next;
		done[count + 1] = 0;
		begin(beginning);
		for (size_t i = 0; possible && i <= count; i++)
			possible = do_one(done[i]);
		if (!possible)
			continue;
		if (count + 1 < length ? !search_from(beginning, done, count + 1, length)
				       : !look_up_all(done))
			return false;
	}
	return true;
}

static bool search(size_t length)
{
	char done[LIVES];

	for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++)
		if (!search_from(&beginnings[i], done, 0, length))
			return false;
	return true;
}

/*
 * Orders that could be relaxed, and why. They stay, because readers of the code expect them and x86
 * has no cheaper ones.
 */
static const struct {
	const char *word;
	unsigned number;
	bool is_store;
	const char *why;
} unneeded[] = {
	{"&atomic_load(&index->directory)->page[index->pages]", 1, true,
		"who reads the page has read lines, which rose behind this"},
	{"&directory->page[home / ABD_ARC_PAGE_LINES]", 1, false, "the same"},
	{"&index->turns", 2, false, "nothing is read behind it in that round"},
};

static const char *why_unneeded(const struct site *site)
{
	for (size_t i = 0; i < sizeof(unneeded) / sizeof(unneeded[0]); i++)
		if (unneeded[i].is_store == site->is_store && unneeded[i].number == site->number &&
			strcmp(unneeded[i].word, site->where.word) == 0)
			return unneeded[i].why;
	return NULL;
}

/* Make each order relaxed in turn. Returns how many of them the search misjudged. */
static unsigned try_orders(size_t length)
{
	size_t count = site_count; /* the first search has reached them all */
	unsigned bad = 0;

	for (size_t i = 0; i < count; i++) {
		const char *why = why_unneeded(&sites[i]);
		bool is_found = false;

		relaxed = &sites[i];
		/* Shortest sequences first: they are the easiest to understand. */
		for (size_t n = 2; n <= length && !is_found; n++)
			is_found = !search(n);
		printf("%s: %s made relaxed, line %d, %s%s%s\n",
			is_found      ? "found"
			: why != NULL ? "unneeded"
				      : "NOT FOUND",
			sites[i].is_store ? "release" : "acquire", sites[i].where.line,
			sites[i].where.word, why != NULL ? ": " : "", why != NULL ? why : "");
		bad += is_found == (why != NULL);
	}
	return bad;
}

int main(int argc, char **argv)
{
	size_t length = argc > 1 ? (size_t)atoi(argv[1]) : 0;

	if (length < 2 || length >= LIVES)
		return 2;
	bool with_orders = argc > 2 && strcmp(argv[2], "orders") == 0;

	if (argc > 2 && !with_orders)
		operations = argv[2];
	if (!search(length))
		return 1;
	printf("%" PRIu64 " look-ups; no more than %u rounds each\n", look_ups, rounds_most);
	return !with_orders || try_orders(length) == 0 ? 0 : 1;
}
