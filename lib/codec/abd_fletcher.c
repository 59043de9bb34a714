/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The fletcher_4 kernels of this build, and the words that lie across spans.
 * Invariant: fewer bytes than one step of the kernel are carried from one span to the next.
 */
#include "abd_fletcher.h"
#include "abd_fletcher_words.h"

const struct abd_fletcher_kernel *const abd_fletcher_kernels[] = {
#if ABD_ON_X86
	&abd_fletcher_avx512,
	&abd_fletcher_avx2,
#endif
	&abd_fletcher_scalar,
	NULL,
};

/*
 * Narrow lanes are joined sooner: 512 bytes 1.19 times as fast. At 4 KiB they win 1.05 in L1, and
 * lose more than that out of memory.
 */
static const struct abd_plan_built_in abd_fletcher_built_in[] = {
#if ABD_ON_X86
	{"zen4", {{2048, &abd_fletcher_avx2.kernel}, {SIZE_MAX, &abd_fletcher_avx512.kernel}}},
#endif
	{NULL, {{0, NULL}}},
};

struct abd_choice abd_fletcher_choice =
	ABD_CHOICE("fletcher", abd_fletcher_kernels, .built_in = abd_fletcher_built_in);

void abd_fletcher_begin(
	struct abd_fletcher_state *state, const struct abd_fletcher_kernel *kernel, bool byteswap)
{
	state->kernel = kernel;
	state->byteswap = byteswap;
	state->carried = 0;
	kernel->begin(state->lanes);
}

static void add_steps(struct abd_fletcher_state *state, const struct iovec *span, size_t count)
{
	if (state->byteswap)
		state->kernel->byteswap(state->lanes, span, count);
	else
		state->kernel->native(state->lanes, span, count);
}

/* A span that is not whole steps, or that begins within one. */
static void add_one(struct abd_fletcher_state *state, const uint8_t *p, size_t size)
{
	size_t step = state->kernel->step;

	if (state->carried > 0) {
		size_t taken = abd_min(size, step - state->carried);

		memcpy(state->carry + state->carried, p, taken);
		state->carried += taken;
		if (state->carried < step)
			return;
		add_steps(state, &(struct iovec){state->carry, step}, 1);
		p += taken;
		size -= taken;
	}
	state->carried = size & (step - 1);
	size -= state->carried;
	add_steps(state, &(struct iovec){(void *)p, size}, 1);
	memcpy(state->carry, p + size, state->carried);
}

void abd_fletcher_add(struct abd_fletcher_state *state, const struct iovec *span, size_t count)
{
	const struct iovec *end = span + count;

	while (span < end) {
		const struct iovec *first = span;

		while (span < end && state->carried == 0 &&
			(span->iov_len & (state->kernel->step - 1)) == 0)
			span++;
		add_steps(state, first, (size_t)(span - first));
		if (span < end) {
			add_one(state, span->iov_base, span->iov_len);
			span++;
		}
	}
}

void abd_fletcher_end(struct abd_fletcher_state *state, uint64_t checksum[4])
{
	size_t words = (state->carried + 3) / 4;

	state->kernel->join(checksum, state->lanes);
	if (words == 0)
		return;
	memset(state->carry + state->carried, 0, 4 * words - state->carried);
	fletcher_words(checksum, state->carry, words, state->byteswap);
}
