/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of fletcher_4 kernels, and the words that lie across spans.
 * Invariant: between spans fewer than 4 bytes are carried.
 */
#include "abd_fletcher.h"

#include "abd_base.h"

#include <string.h>

extern const struct abd_fletcher_kernel abd_fletcher_scalar;
extern const struct abd_fletcher_kernel abd_fletcher_avx2;
extern const struct abd_fletcher_kernel abd_fletcher_avx512;

const struct abd_fletcher_kernel *const abd_fletcher_kernels[] = {
#if defined(__x86_64__)
	&abd_fletcher_avx512,
	&abd_fletcher_avx2,
#endif
	&abd_fletcher_scalar,
	NULL,
};

const struct abd_fletcher_kernel *abd_fletcher_get(const char *name)
{
	for (size_t i = 0; abd_fletcher_kernels[i] != NULL; i++) {
		const struct abd_fletcher_kernel *kernel = abd_fletcher_kernels[i];

		if ((name == NULL || strcmp(name, kernel->name) == 0) && kernel->supported())
			return kernel;
	}
	return NULL;
}

void abd_fletcher_begin(struct abd_fletcher_state *state, const struct abd_fletcher_kernel *kernel, bool byteswap)
{
	*state = (struct abd_fletcher_state){.add = byteswap ? kernel->byteswap : kernel->native};
}

void abd_fletcher_add(struct abd_fletcher_state *state, const void *span, size_t size)
{
	const uint8_t *p = span;

	if (state->carried > 0) {
		size_t taken = abd_min(size, 4 - state->carried);

		memcpy(state->carry + state->carried, p, taken);
		state->carried += taken;
		if (state->carried < 4)
			return;
		state->add(state->sum, state->carry, 1);
		p += taken;
		size -= taken;
	}
	state->add(state->sum, p, size / 4);
	state->carried = size % 4;
	memcpy(state->carry, p + size - state->carried, state->carried);
}

void abd_fletcher_end(struct abd_fletcher_state *state, uint64_t checksum[4])
{
	if (state->carried > 0) {
		memset(state->carry + state->carried, 0, 4 - state->carried);
		state->add(state->sum, state->carry, 1);
	}
	memcpy(checksum, state->sum, sizeof(state->sum));
}
