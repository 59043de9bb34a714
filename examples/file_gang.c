/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A file as one buffer: it is read in pieces of 64 KiB, each a buffer of its own, and a gang joins
 * them. The gang is then used like any other buffer: a checksum runs over it, and two files are
 * compared, wherever the memory lies.
 *
 * usage: file_gang FILE [OTHER]
 */
#include <abd/abd.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PIECE_SIZE ((size_t)64 << 10)

/*
 * Append up to PIECE_SIZE bytes at file_off to the gang; the gang owns the piece. Returns bytes
 * read, or -errno.
 */
static ssize_t append_piece(abd_t *gang, int fd, off_t file_off)
{
	abd_t *piece = abd_alloc(PIECE_SIZE, false);

	if (piece == NULL)
		return -ENOMEM;

	ssize_t n = abd_pread(fd, piece, 0, PIECE_SIZE, file_off);

	if (n > 0 && (size_t)n < PIECE_SIZE) {
		/* The file ends here: allocate a piece of just the size that was read. */
		abd_free(piece);
		piece = abd_alloc((size_t)n, false);
		n = piece != NULL ? abd_pread(fd, piece, 0, (size_t)n, file_off) : -ENOMEM;
	}
	if (n > 0 && abd_gang_add(gang, piece, true) != 0)
		n = -ENOMEM;
	if (n <= 0)
		abd_free(piece);
	return n;
}

/* The file as a gang, or NULL after a message. */
static abd_t *read_file(const char *path)
{
	abd_t *gang = abd_alloc_gang();
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? -errno : -ENOMEM;

	if (gang != NULL && fd >= 0) {
		do
			n = append_piece(gang, fd, (off_t)abd_get_size(gang));
		while (n > 0);
	}
	if (fd >= 0)
		close(fd);
	if (n == 0)
		return gang;
	fprintf(stderr, "%s: %s\n", path, strerror((int)-n));
	abd_free(gang);
	return NULL;
}

struct adler {
	uint32_t a, b;
	unsigned pieces;
};

/* Called for each contiguous piece in turn; any result but 0 would end the walk. */
static int add_piece(void *buf, size_t size, void *priv)
{
	struct adler *sum = priv;

	for (size_t i = 0; i < size; i++) {
		sum->a = (sum->a + ((const unsigned char *)buf)[i]) % 65521;
		sum->b = (sum->b + sum->a) % 65521;
	}
	sum->pieces++;
	return 0;
}

int main(int argc, char **argv)
{
	abd_t *file = argc > 1 ? read_file(argv[1]) : NULL;
	abd_t *other = argc > 2 ? read_file(argv[2]) : NULL;
	struct adler sum = {1, 0, 0};

	if (file == NULL || (argc > 2 && other == NULL))
		return 1;
	abd_iterate_func(file, 0, abd_get_size(file), add_piece, &sum);
	printf("%zu bytes, adler32 %08x\n", abd_get_size(file), sum.b << 16 | sum.a);
	if (other != NULL)
		printf("%s\n", abd_equal(file, other) ? "equal" : "different");
	abd_free(other);
	abd_free(file);
	return 0;
}
