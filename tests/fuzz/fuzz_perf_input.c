/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer target: the input that abd-perf takes from outside: flags, alone and in command lines,
 * and trees of files (--input). The first byte chooses which. Nothing is measured.
 */
#include "fuzz_perf_input.h"
#include "fuzz_perf_die.h"

#include "abd_perf_clock.h"
#include "abd_perf_env.h"
#include "abd_perf_say.h"

#include <argp.h>

jmp_buf fuzz_perf_end;
bool fuzz_perf_ended;

void __wrap_abd_perf_say_die(int status, const char *format, ...) __attribute__((noreturn));
void __wrap_argp_error(const struct argp_state *state, const char *format, ...);
error_t __real_argp_parse(
	const struct argp *argp, int argc, char **argv, unsigned flags, int *index, void *input);
error_t __wrap_argp_parse(
	const struct argp *argp, int argc, char **argv, unsigned flags, int *index, void *input);

void __wrap_abd_perf_say_die(int status, const char *format, ...)
{
	fuzz_check(status != 0 && *format != '\0', "%d", status);
	longjmp(fuzz_perf_end, 1);
}

void __wrap_argp_error(const struct argp_state *state, const char *format, ...)
{
	(void)state;
	(void)format;
	longjmp(fuzz_perf_end, 1);
}

/* Parse without --help, which prints and exits. */
error_t __wrap_argp_parse(
	const struct argp *argp, int argc, char **argv, unsigned flags, int *index, void *input)
{
	error_t error = __real_argp_parse(argp, argc, argv, flags | ARGP_SILENT, index, input);

	if (error != 0)
		longjmp(fuzz_perf_end, 1);
	return error;
}

/* The clock that abd-perf measures by. */
clockid_t abd_perf_clock = CLOCK_PROCESS_CPUTIME_ID;

/* abd-perf's own function records where the data came from. */
void abd_perf_env_source(const char *origin)
{
	fuzz_check(*origin != '\0', "no origin");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, data + size};
	static FILE *nowhere;

	if (nowhere == NULL)
		stdout = nowhere = fopen("/dev/null", "w");
	switch (fuzz_byte(&in) % 3) {
	case 0:
		fuzz_perf_flag(&in);
		break;
	case 1:
		fuzz_perf_line(&in);
		break;
	default:
		fuzz_perf_files(&in);
	}
	return 0;
}
