/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read paths: declared for C and C++, whose owners are a pointer as well.
 */
#include <abd/abd.h>

#ifdef __cplusplus
#include <abd/abd.hpp>
typedef abd::arc path_cache;
typedef abd::buffer path_buffer;
#else
typedef struct {
	abd_arc_t *arc;
} path_cache;
typedef struct {
	abd_t *abd;
} path_buffer;
#endif

ABD_BEGIN_DECLS

int path_with(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst);
int path_hold(const path_cache *cache, const abd_arc_key_t *key, unsigned char *dst);
int path_read(const path_cache *cache, const abd_arc_key_t *key, void *dst, size_t size);
int path_borrow(const path_buffer *buffer, size_t size, unsigned char *dst);

void path_use(const void *bytes, size_t size);

ABD_END_DECLS
