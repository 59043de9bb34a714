// SPDX-License-Identifier: BSD-2-Clause
// consumer.c in Go: the flags are what pkg-config says.
package main

// #cgo pkg-config: abd
// #include <abd/abd.h>
import "C"
import "fmt"

func main() {
	var stats C.struct_abd_stats
	abd := C.abd_alloc(8192, false)
	first := C.abd_borrow_buf_copy(abd, 8192)
	C.abd_return_buf(abd, first, 8192)
	C.abd_stats_get(&stats, C.sizeof_struct_abd_stats)
	fmt.Printf("linear %v, borrow copies %d\n", bool(C.abd_is_linear(abd)), stats.borrow_copy_cnt)
	C.abd_free(abd)
}
