/* SPDX-License-Identifier: BSD-2-Clause */
/* What both programs need: nbdkit's functions, blocks of known content, a device's sudden end. */
#include "device.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define IMAGE "./device.img"

static struct device device;
static char said[500];

void nbdkit_error(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said, sizeof(said), format, arguments);
	va_end(arguments);
}

void nbdkit_debug(const char *format, ...)
{
	(void)format;
}

static void need(bool right, const char *what)
{
	if (!right) {
		perror(what);
		exit(2);
	}
}

static uint64_t next_random(uint64_t *random)
{
	*random = *random * 6364136223846793005u + 1442695040888963407u;
	return *random >> 32;
}

/* Other content for each number: noise, zeroes, or half of each, which lz4 makes smaller. */
static void make_block(char *bytes, uint64_t number)
{
	uint64_t random = number * 2 + 1;
	size_t size = number % 8 == 0 ? 0 : number % 2 == 1 ? BLOCK : BLOCK / 2;

	memset(bytes, 0, BLOCK);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)next_random(&random);
}

static void kill_device(void)
{
	abd_arc_destroy(device.arc);
	close(device.fd);
	log_close(&device.log);
	free(device.place);
}
