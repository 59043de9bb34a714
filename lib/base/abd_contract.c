/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line that a broken contract prints, and the handler that gets it.
 */
#include "abd_contract.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static void (*_Atomic abd_contract_handler)(const char *message);

void abd_contract_handler_set(void (*handler)(const char *message))
{
	atomic_store(&abd_contract_handler, handler);
}

void abd_contract_fail(const char *call, const char *format, ...)
{
	char message[256];
	va_list args;
	size_t length =
		(size_t)snprintf(message, sizeof(message), "abd: contract broken: %s: ", call);
	size_t used = abd_min(length, sizeof(message) - 1);

	va_start(args, format);
	/* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it forgets va_start() here */
	vsnprintf(message + used, sizeof(message) - used, format, args);
	va_end(args);
	abd_contract_end(message);
}

void abd_contract_end(const char *message)
{
	void (*handler)(const char *) = atomic_load(&abd_contract_handler);

	fprintf(stderr, "%s\n", message);
	if (handler != NULL)
		handler(message);
	abort();
}
