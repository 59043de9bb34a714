/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a broken contract ends: one line, the handler if there is one, and in any case abort().
 */
#include "abd_test.h"

static char memory[16];

ABD_TEST_CHILD(contract_without_handler)
{
	abd_buf_free(memory, 0);
	return 0;
}

static void returns(const char *message)
{
	fprintf(stderr, "told of %zu letters\n", strlen(message));
}

ABD_TEST_CHILD(contract_with_a_handler_that_returns)
{
	abd_contract_handler_set(returns);
	abd_buf_free(memory, 0);
	return 0;
}

Test(abd_contract, it_aborts_with_and_without_a_handler)
{
	static const char *const children[] = {
		"contract_without_handler", "contract_with_a_handler_that_returns"};

	for (size_t i = 0; i < 2; i++) {
		char text[512];
		int status = abd_test_child_run(children[i], NULL, text, sizeof(text));

		cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%x: %s",
			(unsigned)status, text);
		cr_assert_not_null(
			strstr(text, "abd: contract broken: abd_buf_free: size 0"), "%s", text);
		cr_assert_eq(strstr(text, "told of") != NULL, i == 1, "%s", text);
	}
}
