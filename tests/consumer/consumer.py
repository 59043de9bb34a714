#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""consumer.c in Python: opens the library (argv[1]) while the program runs."""
import ctypes
import sys

abd = ctypes.CDLL(sys.argv[1])
abd.abd_alloc.restype = abd.abd_borrow_buf_copy.restype = ctypes.c_void_p
buffer = ctypes.c_void_p(abd.abd_alloc(ctypes.c_size_t(8192), False))
first = ctypes.c_void_p(abd.abd_borrow_buf_copy(buffer, ctypes.c_size_t(8192)))
abd.abd_return_buf(buffer, first, ctypes.c_size_t(8192))
stats = (ctypes.c_uint64 * 64)()
abd.abd_stats_get(stats, ctypes.c_size_t(ctypes.sizeof(stats)))
PLACE = 25  # of borrow_copy_cnt: six fields, 16 orders, three more
print(f"borrow copies {stats[PLACE]}, borrows {stats[PLACE - 1]}")
abd.abd_free(buffer)
