/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kills examples/flush_log while it appends, again and again, and looks at what is left.
 * Claims: every record it acknowledged is there; it accepts none that is torn; the log goes on from
 * there.
 * With --plant it damages the last acknowledged record before it looks, which must be found.
 *
 * usage: kill_log FLUSH_LOG FILE KILLS [--plant]
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *log_file; /* 16 MiB, often of memory */

/* However this program ends, it leaves nothing. */
static void remove_log(void)
{
	unlink(log_file);
}

struct child {
	pid_t pid;
	FILE *output;
};

/* Exit statuses must be told apart from those of the checks: 3 is "could not be tried". */
static void give_up(const char *what)
{
	perror(what);
	exit(3);
}

static struct child start(const char *program, const char *file, const char *command)
{
	struct child child;
	int ends[2];

	if (pipe(ends) != 0)
		give_up("pipe");
	child.pid = fork();
	if (child.pid < 0)
		give_up("fork");
	if (child.pid == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(ends[1], STDOUT_FILENO);
		if (strcmp(command, "append") == 0)
			dup2(null, STDERR_FILENO);
		close(ends[0]);
		close(ends[1]);
		execl(program, program, file, command, (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	child.output = fdopen(ends[0], "r");
	if (child.output == NULL)
		give_up("fdopen");
	return child;
}

static int end(struct child *child)
{
	int status;

	fclose(child->output);
	if (waitpid(child->pid, &status, 0) != child->pid)
		give_up("waitpid");
	return status;
}

static void wait_us(long us)
{
	struct timespec wait = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&wait, NULL);
}

static uint64_t random_state = 28;

static uint64_t random_next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/*
 * The last number acknowledged before the kill; 0 for none. *full: the log had no more room, so
 * nothing was killed.
 */
static unsigned long long append_and_kill(const char *program, const char *file, bool *full)
{
	struct child child = start(program, file, "append");
	unsigned long long acknowledged = 0, number;
	char line[64];
	int status;

	/*
	 * Half of the kills soon after the start (while it looks for the end, or at its first
	 * record), half during appends.
	 */
	if (random_next() % 2 == 0 && fgets(line, sizeof(line), child.output) != NULL &&
		sscanf(line, "%llu", &number) == 1)
		acknowledged = number;
	wait_us((long)(random_next() % 5000));
	kill(child.pid, SIGKILL);
	/* A line that the kill cut off has no end, and is no acknowledgement. */
	while (fgets(line, sizeof(line), child.output) != NULL)
		if (strchr(line, '\n') != NULL && sscanf(line, "%llu", &number) == 1)
			acknowledged = number;
	status = end(&child);
	if (WIFEXITED(status) && WEXITSTATUS(status) != 0) {
		fprintf(stderr, "flush_log append ended with %d\n", WEXITSTATUS(status));
		exit(1);
	}
	*full = WIFEXITED(status);
	return acknowledged;
}

/* How many records there are, by flush_log itself; *torn counts torn ones behind them. */
static unsigned long long check(const char *program, const char *file, unsigned *torn)
{
	struct child child = start(program, file, "check");
	unsigned long long count = 0;
	char line[64] = "";
	bool read = fgets(line, sizeof(line), child.output) != NULL &&
		    sscanf(line, "%llu records", &count) == 1;
	int status = end(&child);

	if (!read || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "flush_log check failed\n");
		exit(1);
	}
	*torn += strstr(line, "torn") != NULL;
	return count;
}

/* Flip a byte of the first record, which is there once anything was acknowledged. */
static void damage(const char *file)
{
	unsigned char byte = 0;
	int fd = open(file, O_RDWR);

	if (fd < 0 || pread(fd, &byte, 1, 32) != 1)
		give_up(file);
	byte ^= 1;
	if (pwrite(fd, &byte, 1, 32) != 1)
		give_up(file);
	close(fd);
}

int main(int argc, char **argv)
{
	bool plant = argc == 5 && strcmp(argv[4], "--plant") == 0;
	unsigned kills = argc >= 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0, killed = 0, torn = 0;
	unsigned long long acknowledged = 0, appended = 0;

	if (kills == 0 || (argc != 4 && !plant)) {
		fprintf(stderr, "usage: kill_log FLUSH_LOG FILE KILLS [--plant]\n");
		return 2;
	}
	log_file = argv[2];
	remove_log();
	atexit(remove_log);
	while (killed < kills) {
		bool full;
		unsigned long long last = append_and_kill(argv[1], argv[2], &full), count;

		acknowledged = last > acknowledged ? last : acknowledged;
		if (plant && acknowledged > 0)
			damage(argv[2]);
		count = check(argv[1], argv[2], &torn);
		if (count < acknowledged) {
			fprintf(stderr, "kill %u: %llu records were acknowledged, %llu are there\n",
				killed, acknowledged, count);
			return 1;
		}
		killed += !full;
		if (full) {
			appended += count;
			acknowledged = 0;
			remove_log();
		} else {
			acknowledged = count; /* found once, it must stay */
		}
	}
	appended += acknowledged;
	printf("%u kills, %llu records, none missing; %u torn ones behind them, none accepted\n",
		killed, appended, torn);
	return 0;
}
