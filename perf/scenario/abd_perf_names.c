/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * names: looking up the names of a real tree in a hash table that has them, by ways to compare a
 * name.
 *
 * Source: linux-kernel, "Big git diff speedup by avoiding x86 fast string memcmp", December 2010.
 * A git diff looks up every name of a tree in the dentry cache. `rep cmpsb` is slow to start; words
 * with a masked tail took a look-up from 10 cycles for each byte of its name to 8, where hashing
 * the name byte by byte is included, as it is here.
 *
 * The names have their own lengths: at least 100,000 of /usr, if there are so many. All of them are
 * looked up in a random order; then, to tell what a look-up takes from what a byte takes, those of
 * similar length by themselves, as many of each as there are of the rarest, up to 8,192. A line
 * through these gives both. The set is as warm as the source's: looked up again and again.
 *
 * The table is a kernel's dentry cache: an entry for each name in each folder, which knows its
 * folder, its hash and its length. A name that is looked up stands in the text of a path, at any
 * address, and 64 bytes behind it can be read; the one in the table begins with a word, and is zero
 * up to a whole one.
 */
#include "abd_perf_data.h"
#include "abd_perf_scenario.h"

#include <abd/key.h>

#include <stdlib.h>
#include <string.h>

struct names_entry {
	uint32_t next, parent, hash, length;
	uint32_t name; /* where its name is: an index of words */
	uint32_t path; /* and where the path is in which it was met: an index of text */
};

/* What is known of a name before it is looked up, and what is to be found. */
struct names_query {
	uint32_t path, length, parent, wanted;
};

static struct {
	unsigned char *text;       /* of all names as they are looked up */
	uint64_t *words;           /* the table's names */
	struct names_entry *entry; /* from 1 on: 0 is the root, and the end of a chain */
	uint32_t *bucket, mask;
	size_t entries, most, text_size, text_room, words_used;

	struct names_query *query;
	size_t count, at;
	double bytes;  /* of a name, on average */
	size_t missed; /* look-ups that did not find what they should */
} names;

#define NAMES_INLINE static inline __attribute__((always_inline))
#define NAMES_EQUAL(way)                     \
	NAMES_INLINE bool names_equal_##way( \
		const unsigned char *name, const unsigned char *stored, size_t length)

NAMES_EQUAL(bytes)
{
	for (size_t i = 0; i < length; i++)
		if (name[i] != stored[i])
			return false;
	return true;
}

#if defined(__x86_64__)
enum { NAMES_CMPSB = 1 };

NAMES_EQUAL(cmpsb)
{
	bool equal;

	/* xor sets the zero flag, which a length of 0 would leave. */
	__asm__ volatile("xor %%eax, %%eax; repe cmpsb"
			 : "=@ccz"(equal), "+S"(name), "+D"(stored), "+c"(length)
			 :
			 : "rax", "memory");
	return equal;
}
#else
enum { NAMES_CMPSB = 0 };
#define names_equal_cmpsb names_equal_bytes
#endif

/* A type of its own: clang ignores the attributes of one that is only written in a cast. */
typedef uint64_t names_unaligned __attribute__((may_alias, aligned(1)));

NAMES_INLINE uint64_t names_word(const unsigned char *at)
{
	return *(const names_unaligned *)at;
}

/* The sketch of 2010 counted words and advanced by bytes; here the rest of the last is masked. */
NAMES_EQUAL(words)
{
	uint64_t mask = ~(uint64_t)0;

	for (; length > 8; length -= 8, name += 8, stored += 8)
		if (names_word(name) != names_word(stored))
			return false;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	mask >>= 8 * (8 - length);
#else
	mask <<= 8 * (8 - length);
#endif
	return ((names_word(name) ^ names_word(stored)) & mask) == 0;
}

/* Called, as a kernel's is: through a pointer that the compiler can't see through. */
static int (*volatile names_libc)(const void *, const void *, size_t) = memcmp;

NAMES_EQUAL(memcmp)
{
	return names_libc(name, stored, length) == 0;
}

NAMES_EQUAL(ours)
{
	return abd_key_equal(name, stored, length);
}

/*
 * Byte by byte, as kernels of that time hashed a name; the folder's number takes part.
 * FNV-1a (Fowler, Noll, Vo), with a last step that mixes the high bits down.
 */
NAMES_INLINE uint32_t names_hash(const unsigned char *name, size_t length, uint32_t parent)
{
	uint32_t hash = 2166136261u ^ parent * 2654435761u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ name[i]) * 16777619u;
	return hash ^ hash >> 15;
}

typedef bool names_equal_t(const unsigned char *name, const unsigned char *stored, size_t length);

NAMES_INLINE uint32_t names_find(const struct names_query *query, names_equal_t *equal)
{
	const unsigned char *name = names.text + query->path;
	uint32_t hash = names_hash(name, query->length, query->parent),
		 at = names.bucket[hash & names.mask];

	for (; at != 0; at = names.entry[at].next) {
		const struct names_entry *entry = &names.entry[at];

		if (entry->hash == hash && entry->parent == query->parent &&
			entry->length == query->length &&
			equal(name, (const unsigned char *)(names.words + entry->name),
				query->length))
			break;
	}
	return at;
}

#define NAMES_WAY(stem)                                                                           \
	static double names_run_##stem(void *arg, uint64_t iterations)                            \
	{                                                                                         \
		double start = abd_perf_clock_ns();                                               \
                                                                                                  \
		(void)arg;                                                                        \
		for (; iterations > 0; iterations--) {                                            \
			names.missed += names_find(&names.query[names.at], names_equal_##stem) != \
					names.query[names.at].wanted;                             \
			names.at = names.at + 1 < names.count ? names.at + 1 : 0;                 \
		}                                                                                 \
		return abd_perf_clock_ns() - start;                                               \
	}

NAMES_WAY(bytes)
NAMES_WAY(cmpsb)
NAMES_WAY(words)
NAMES_WAY(memcmp)
NAMES_WAY(ours)

enum { BYTES, WORDS, MEMCMP, OURS, CMPSB, NAMES_WAYS };

static const struct {
	const char *name;
	double (*run)(void *arg, uint64_t iterations);
	names_equal_t *equal;
} names_way[NAMES_WAYS] = {{"byte loop", names_run_bytes, names_equal_bytes},
	{"masked words", names_run_words, names_equal_words},
	{"memcmp", names_run_memcmp, names_equal_memcmp},
	{"abd_key_equal", names_run_ours, names_equal_ours},
	{"repe cmpsb", names_run_cmpsb, names_equal_cmpsb}};

/* ---- the tree ------------------------------------------------------------------------------- */

/* A name is one by its bytes: whatever they are, line ends too. fts_number holds its number. */
static bool names_visit(FTSENT *entry, void *arg)
{
	size_t length = entry->fts_namelen;
	uint32_t number = (uint32_t)names.entries, hash;

	(void)arg;
	if (entry->fts_level == 0)
		return true;
	if (names.entries > names.most || names.text_room - names.text_size < length + 65)
		return false;
	memcpy(names.text + names.text_size, entry->fts_name, length);
	memcpy(names.words + names.words_used, entry->fts_name, length);
	hash = names_hash(
		names.text + names.text_size, length, (uint32_t)entry->fts_parent->fts_number);
	names.entry[number] = (struct names_entry){names.bucket[hash & names.mask],
		(uint32_t)entry->fts_parent->fts_number, hash, (uint32_t)length,
		(uint32_t)names.words_used, (uint32_t)names.text_size};
	names.bucket[hash & names.mask] = number;
	names.text[names.text_size + length] = '/';
	names.text_size += length + 1;
	names.words_used += length / sizeof(uint64_t) + 1;
	names.entries++;
	entry->fts_number = number;
	return true;
}

static void names_free(void)
{
	free(names.bucket);
	free(names.entry);
	free(names.text);
	free(names.words);
	free(names.query);
}

/* The names below root, at most most, a power of two. False, after a warning: there are none. */
static bool names_make(const char *root, size_t most)
{
	names.most = most;
	names.mask = (uint32_t)most - 1;
	names.entries = 1;
	names.text_size = names.words_used = names.missed = 0;
	names.text_room = most * 64;
	names.bucket = calloc(most, sizeof(*names.bucket));
	names.entry = calloc(most + 1, sizeof(*names.entry));
	names.query = calloc(most + 1, sizeof(*names.query));
	names.text = calloc(names.text_room, 1);
	names.words = calloc(names.text_room / sizeof(uint64_t) + most, sizeof(uint64_t));
	if (names.bucket == NULL || names.entry == NULL || names.query == NULL ||
		names.text == NULL || names.words == NULL)
		abd_perf_say_die(1, "no memory for a table of %zu names", most);
	abd_perf_files_walk(root, names_visit, NULL);
	if (names.entries > 1)
		return true;
	abd_perf_say_warn("names is left out: %s holds no names", root);
	names_free();
	return false;
}

/* Every way finds every name equal to the table's, and no longer with a byte of it changed. */
static bool names_right(bool plant, uint64_t random)
{
	unsigned char other[320];
	bool right = true;

	((unsigned char *)(names.words + names.entry[names.entries - 1].name))[0] ^= plant;
	for (size_t i = 1; i < names.entries && right; i++) {
		const struct names_entry *entry = &names.entry[i];
		const unsigned char *stored = (unsigned char *)(names.words + entry->name);

		memcpy(other, names.text + entry->path, entry->length);
		memset(other + entry->length, 0x5a, 8); /* what follows a name does not matter */
		for (unsigned way = 0; way < NAMES_WAYS; way++)
			right = right && names_way[way].equal(other, stored, entry->length);
		other[abd_perf_random_below(&random, entry->length)] ^= 0x20;
		for (unsigned way = 0; way < NAMES_WAYS; way++)
			right = right && !names_way[way].equal(other, stored, entry->length);
	}
	return right;
}

/* ---- races, and what a byte takes ------------------------------------------------------------ */

#define NAMES_SHORT 4    /* bytes */
#define NAMES_LEAST 1024 /* names that a class needs */

enum { NAMES_CLASSES = 8 }; /* of 1 to 8 bytes, of 9 to 16, to 64 */

static const char *const names_text[NAMES_CLASSES + 1] = {"1 to 8 bytes", "9 to 16 bytes",
	"17 to 24 bytes", "25 to 32 bytes", "33 to 40 bytes", "41 to 48 bytes", "49 to 56 bytes",
	"57 to 64 bytes", "any length"};
static struct abd_perf_race names_race[NAMES_CLASSES + 1];
static double names_mean[NAMES_CLASSES]; /* bytes of a class's names */

/* Race what was drawn. False: it was not measured. */
static bool names_measure(
	struct abd_perf_race *race, const char *text, const struct abd_perf_options *options)
{
	static const struct abd_perf_claim claims[] = {{OURS, BYTES, 0, NULL},
		{OURS, MEMCMP, 0, NULL}, {OURS, CMPSB, 0, NULL}, {WORDS, CMPSB, 0, NULL}};
	struct abd_perf_path path[NAMES_WAYS];
	json_t *result;

	abd_perf_say_step("names of %s", text);
	for (unsigned i = 0; i < NAMES_WAYS; i++)
		path[i] = (struct abd_perf_path){names_way[i].name, names_way[i].run, NULL};
	if (!abd_perf_race_run(race, path, NAMES_WAYS - !NAMES_CMPSB, options))
		return false;
	result = abd_perf_result_add("names", "lookup", "%s", text);
	abd_perf_result_text(result, "state", "warm");
	abd_perf_result_number(result, "names", (double)names.count);
	abd_perf_result_number(result, "bytes", names.bytes);
	abd_perf_result_race(result, race, path, 0);
	abd_perf_result_claims(result, race, path, claims, NAMES_CMPSB ? 4 : 2);
	return true;
}

/*
 * Draw the names of a class that are looked up from now on, NAMES_CLASSES: of any length, in a
 * random order. Returns how many it has.
 */
static size_t names_draw(unsigned class, size_t most, uint64_t random)
{
	size_t found = 0;

	names.at = names.count = 0;
	names.bytes = 0;
	for (uint32_t i = 1; i < names.entries; i++) {
		const struct names_entry *entry = &names.entry[i];

		if (class != NAMES_CLASSES && (entry->length - 1) / 8 != class)
			continue;
		/* Into a place among those before it, which moves to the end: a shuffle. */
		size_t at = abd_perf_random_below(&random, ++found);

		names.query[found - 1] = names.query[at];
		names.query[at] =
			(struct names_query){entry->path, entry->length, entry->parent, i};
	}
	for (; names.count < found && names.count < most; names.count++)
		names.bytes += names.query[names.count].length;
	names.bytes /= (double)(names.count > 0 ? names.count : 1);
	return found;
}

/* A round that was disturbed may have a line that falls, and has no part in what follows. */
static void names_add_lines(unsigned classes, unsigned rounds)
{
	static const struct abd_perf_said said = {"names", 10 / 8.,
		"10 cycles for each byte with rep cmpsb, 8 by masked words (linux-kernel, 2010)"};
	static double byte[NAMES_WAYS][ABD_PERF_ROUNDS_MAX], few[NAMES_WAYS][ABD_PERF_ROUNDS_MAX];
	static double ratio[2][ABD_PERF_ROUNDS_MAX];
	unsigned ways = names_race[0].paths, sound = 0;
	double ns[NAMES_CLASSES];
	json_t *result;

	for (unsigned i = 0; i < rounds; i++) {
		bool rises = true;

		for (unsigned way = 0; way < ways; way++) {
			for (unsigned j = 0; j < classes; j++)
				ns[j] = names_race[j].ns[way][i];
			byte[way][sound] = abd_perf_stat_line(
				names_mean, ns, classes, NAMES_SHORT, &few[way][sound]);
			rises = rises && byte[way][sound] > 0 && few[way][sound] > 0;
		}
		ratio[0][sound] = byte[CMPSB][sound] / byte[WORDS][sound];
		ratio[1][sound] = few[CMPSB][sound] / few[WORDS][sound];
		sound += rises;
	}
	for (unsigned i = 0; i < 2 && sound > 0; i++) {
		result = abd_perf_result_add(
			"names", "line", i == 0 ? "a byte" : "a look-up of 4 bytes");
		for (unsigned way = 0; way < ways; way++)
			abd_perf_result_figure(result, names_way[way].name, "ns",
				abd_perf_stat(i == 0 ? byte[way] : few[way], sound));
		if (NAMES_CMPSB)
			abd_perf_result_ratio(result, names_way[WORDS].name, names_way[CMPSB].name,
				abd_perf_stat(ratio[i], sound), 0, i == 0 ? &said : NULL);
	}
}

static void names_races(const struct abd_perf_options *options)
{
	size_t least = options->mode == ABD_PERF_QUICK ? 2048 : 8192;
	unsigned classes = 0, rounds = ABD_PERF_ROUNDS_MAX; /* those that all classes have */

	names_draw(NAMES_CLASSES, names.entries, options->seed);
	names_measure(&names_race[NAMES_CLASSES], names_text[NAMES_CLASSES], options);
	for (unsigned i = 0; i < NAMES_CLASSES; i++) {
		size_t found = names_draw(i, 1, options->seed);

		least = found >= NAMES_LEAST && found < least ? found : least;
	}
	for (unsigned i = 0; i < NAMES_CLASSES && !abd_perf_say_stopped(); i++) {
		if (names_draw(i, least, options->seed) < NAMES_LEAST)
			continue;
		names_mean[classes] = names.bytes;
		if (!names_measure(&names_race[classes], names_text[i], options))
			continue;
		rounds = names_race[classes].rounds < rounds ? names_race[classes].rounds : rounds;
		classes++;
	}
	if (classes >= 3)
		names_add_lines(classes, rounds);
}

static int names_scenario(const struct abd_perf_options *options)
{
	const char *root = options->input != NULL ? options->input : "/usr";
	bool wanted = false, right;

	abd_perf_say_begin("names", NAMES_CLASSES + 1);
	for (unsigned i = 0; i <= NAMES_CLASSES; i++)
		wanted |= abd_perf_say_wants("names of %s", names_text[i]);
	if (!wanted)
		return 0;
	if (!names_make(root, 1 << (options->quick ? 17 : 20)))
		return ABD_PERF_LEFT_OUT;
	if (names.entries < 100000)
		abd_perf_say_warn("names: %s holds %zu: fewer than 100,000 may be learnt by heart",
			root, names.entries - 1);
	right = names_right(options->plant, options->seed);
	if (right)
		names_races(options);
	right = right && names.missed == 0;
	if (!right)
		abd_perf_say_warn("names: a way to compare did not find what is there");
	names_free();
	return !right;
}

const struct abd_perf_scenario abd_perf_names = {
	.name = "names",
	.summary =
		"looking up a tree's names in a hash table, by ways to compare them and by length",
	.uses = ABD_PERF_USES_INPUT,
	.normal_s = 3,
	.full_s = 12,
	.claim = {"names: .*", 3},
	.headline = {"names: .*", 3, 3},
	.run = names_scenario,
};
