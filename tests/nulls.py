#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Writes a test of all public calls: NULL in place of each pointer in turn breaks the contract of that call, and the line names the parameter.

usage: tests/nulls.py test_nulls.c     tests/CMakeLists.txt makes it a part of tests/abd
"""
import pathlib
import re
import sys

import headers
from headers import Function, Pointer, c_type

# Parameters that may be NULL, or that nothing can check; and why.
MAY = {
    "abd_free": "frees nothing", "abd_free_const": "frees nothing", "abd_buf_free": "frees nothing", "abd_buf_free_marked": "frees nothing",
    "abd_arc_destroy": "ends nothing", "abd_allocator_set": "says -EINVAL", "abd_contract_handler_set": "takes the handler away",
    "abd_arc_fill_commit.hold": "no hold is wanted", "abd_arc_fill_commit_record.hold": "no hold is wanted",
    "abd_raidz_rec_iterate.mul": "is the function's own", "abd_key_equal_long": "is hot, as memcmp()",
    "abd_compat_refusal_handler_set": "takes the handler away", "abd_compat_refused": "is called by macros, with a constant",
    "abd_compat_gang_add": "is abd_gang_add() by another name",
}
PASSED_ON = {"arg", "priv"}  # to the caller's function

FIRST = r"""/* SPDX-License-Identifier: BSD-2-Clause */
/* Made by tests/nulls.py. */
#include "abd_test.h"

#include <ctype.h>

#pragma GCC diagnostic ignored "-Wunused-result"

static abd_t *buffers[4], *columns[4][1];
static _Alignas(4096) char memory[4][4096];
static struct iovec pieces = {memory[0], 512};

static int nothing(void)
{
    return 0;
}

static bool has_word(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if (!isalnum((unsigned char)at[-1]) && at[-1] != '_' && !isalnum((unsigned char)at[length]) && at[length] != '_')
            return true;
    return false;
}

#define null(call, name, ...)                                                                        \
    do {                                                                                         \
        abd_test_expect_contract((void)call(__VA_ARGS__), "broken: " #call ": ");            \
        cr_assert(has_word(strstr(abd_test_message, #call ": ") + sizeof(#call), name),      \
            "\"%s\" does not name " name, abd_test_message);                             \
    } while (0)

#if ABD_HAS_ARC
static abd_arc_t *arc;
static abd_arc_key_t key = {.pool = 1, .birth = 1};
static abd_arc_hold_t held, hold;
static abd_arc_fill_t fill;
static abd_arc_io_t io = {.key = {.pool = 1, .birth = 1}, .dst = memory[0], .size = 4};
#endif
#if ABD_HAS_URING
static struct io_uring_sqe *request = (void *)memory[0];
static struct abd_uring uring = {.ring = (void *)memory[1]};
#endif

static void begin(void)
{
    memset(memory, 0, sizeof(memory));
    ((struct abd_lz4_index *)memory[3])->group_size = 1024;
    for (int i = 0; i < 4; i++) {
        cr_assert_not_null(buffers[i] = columns[i][0] = abd_alloc_linear(4096, false));
        abd_zero(buffers[i], 4096);
    }
#if ABD_HAS_ARC
    struct abd_arc_config config = {.config_size = sizeof(config), .capacity_bytes = 1 << 20};
    abd_arc_key_t missing = {.pool = 2};

    cr_assert_not_null(arc = abd_arc_create(&config));
    cr_assert_eq(abd_arc_put(arc, &key, "data", 4), 0);
    cr_assert_eq(abd_arc_hold(arc, &key, &held), 0);
    cr_assert_eq(abd_arc_hold_or_fill(arc, &missing, 4096, 0, &hold, &fill), 1);
#endif
}

static void end(void)
{
#if ABD_HAS_ARC
    abd_arc_fill_abandon(&fill);
    abd_arc_release(&held);
    abd_arc_destroy(arc);
#endif
    for (int i = 0; i < 4; i++)
        abd_free(buffers[i]);
}

TestSuite(abd_nulls, .init = begin, .fini = end);
"""

POINTERS = {"abd_arc_t": "arc", "abd_arc_key_t": "&key", "abd_arc_io_t": "&io", "abd_arc_fill_t": "&fill", "struct iovec": "&pieces", "char": '"max_order"',
            "struct abd_uring": "&uring", "struct io_uring": "uring.ring", "struct io_uring_sqe": "request", "struct abd_lz4_index": "(void *)memory[3]"}
NUMBERS = {"parity": 1, "effort": 3, "fd": -1, "iov_max": 1, "iov_count": 1, "stats_size": 8, "group_size": 1024, "flags": 0, "is_metadata": 0, "length": 1}


def is_function(interface, kind):
    of = kind.of
    return isinstance(of, Function) or isinstance(getattr(interface.typedefs.get(getattr(of, "name", "")), "type", None), Function)


def good(interface, call, place, name, kind):
    """What the call accepts there."""
    if not isinstance(kind, Pointer):
        number = NUMBERS.get(name, 0 if name.endswith("off") or "64" in c_type(kind) else 1 if call.endswith("_many") else 512)
        return str(number)
    if is_function(interface, kind):
        return "(void *)nothing"
    of = c_type(kind.of).removeprefix("const ").strip()
    if of == "abd_t":
        return f"buffers[{place}]"
    if of == "abd_t *":
        return f"columns[{place}]"
    if of == "abd_arc_hold_t":
        return "&held" if call in ("abd_arc_hold_read", "abd_arc_hold_drop", "abd_arc_hold_dup") else "&hold"
    return POINTERS.get(of, f"(void *)memory[{place % 3}]")


def tests(interface):
    for one in interface.functions.values():
        parameters = one.type.parameters
        nulls = [place for place, (name, kind) in enumerate(parameters) if isinstance(kind, Pointer) and name not in PASSED_ON
                 and one.name not in MAY and f"{one.name}.{name}" not in MAY]
        if not one.exported or not nulls:
            continue
        needs = re.match(r"abd_(arc|uring)_", one.name)
        if needs:
            yield f"#if ABD_HAS_{needs[1].upper()}"
        yield f"Test(abd_nulls, {one.name})\n{{"
        for place in nulls:
            given = ["NULL" if at == place else good(interface, one.name, at, *of) for at, of in enumerate(parameters)]
            yield f"\tnull({one.name}, \"{parameters[place][0]}\", {', '.join(given)});"
        yield "}"
        yield "#endif\n" if needs else ""


pathlib.Path(sys.argv[1]).write_text("\n".join([FIRST, *tests(headers.read())]))
