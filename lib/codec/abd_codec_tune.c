/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tunable "lz4": which decoder is in use.
 */
#include "abd_lz4_decode.h"
#include "abd_tunable.h"

#include <stdatomic.h>

static const struct abd_lz4_decoder *_Atomic abd_codec_decoder;

static void abd_codec_start_once(void)
{
	const struct abd_lz4_decoder *none = NULL;

	abd_tunable_from_environment(&abd_codec_tunables);
	atomic_compare_exchange_strong(&abd_codec_decoder, &none, abd_lz4_decoder_get(NULL));
}

static void abd_codec_start(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, abd_codec_start_once);
}

const struct abd_lz4_decoder *abd_lz4_decoder_active(void)
{
	const struct abd_lz4_decoder *decoder =
		atomic_load_explicit(&abd_codec_decoder, memory_order_acquire);

	if (ABD_UNLIKELY(decoder == NULL)) {
		abd_codec_start();
		decoder = atomic_load(&abd_codec_decoder);
	}
	return decoder;
}

static int abd_codec_lz4_set(const char *name)
{
	const struct abd_lz4_decoder *decoder =
		abd_lz4_decoder_get(strcmp(name, "auto") != 0 ? name : NULL);

	if (decoder == NULL)
		return -EINVAL;
	atomic_store(&abd_codec_decoder, decoder);
	return 0;
}

static const char *abd_codec_lz4_get(char *text, size_t size)
{
	(void)text, (void)size;
	return abd_lz4_decoder_active()->name;
}

static const struct abd_tunable abd_codec_tunable_table[] = {
	{"lz4", abd_codec_lz4_set, abd_codec_lz4_get},
};

const struct abd_tunables abd_codec_tunables = {
	abd_codec_tunable_table,
	sizeof(abd_codec_tunable_table) / sizeof(abd_codec_tunable_table[0]),
	abd_codec_start,
};
