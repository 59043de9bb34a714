/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The handler that turns a broken contract into a jump back to the test.
 */
#include "abd_test.h"

#include <stdio.h>

_Thread_local jmp_buf abd_test_jump;
_Thread_local char abd_test_message[256];

static void abd_test_handler(const char *message)
{
	snprintf(abd_test_message, sizeof(abd_test_message), "%s", message);
	longjmp(abd_test_jump, 1);
}

void abd_test_catch(void)
{
	abd_test_message[0] = '\0';
	abd_contract_handler_set(abd_test_handler);
}

void abd_test_release(void)
{
	abd_contract_handler_set(NULL);
}
