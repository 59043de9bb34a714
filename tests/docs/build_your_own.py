#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Build your own: each step fails before it is written and passes afterwards, and a misunderstanding is called by its name.

usage: build_your_own.py CC

The reference solution passes every check; without the file of a step its check says that it is missing; with an empty file, which
functions are. Then misunderstandings, two for each step or more, are put into the solution, one by one, and the check must say what is wrong.
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "learn" / "build-your-own"
SOLUTION = HERE / "solution"
STEPS = range(1, 14)
ALONE = 8  # from this step on each stands alone
LINES = 120  # that a step may have
# step, what stands in the solution, what somebody might write, what the check says
MISUNDERSTANDINGS = [
    (1, "\tbuffer->piece[0] = (struct piece){", "\tmini_take(buffer);\n\tbuffer->piece[0] = (struct piece){", "memory that is the caller's was freed"),
    (1, "\tbuffer->end = NULL;\n", "", "gave its memory away, and freed it all the same"),
    (2, "\t\toff = 0; /* the next piece is read from its first byte */\n", "", "is no offset into the second"),
    (2, "smaller(size - i * PAGE, PAGE)", "PAGE", "the buffer ends before"),
    (3, "return buffer->count == 1;", "return buffer->size <= PAGE;", "what counts is the number of pieces"),
    (3, "if (size < 1536)", "if (size <= 1536)", "1,536 bytes are not less than 1,536"),
    (3, "\t\t} else if (want > 1) {\n\t\t\tlargest = want / 2; /* refused: smaller ones for the rest of this buffer */\n", "",
     "no reason to give up"),
    (4, "\tview->size = size;", "\tfor (size_t i = 1; i < count; i++)\n\t\tview->piece[i].addr += off % PAGE;\n\tview->size = size;",
     "only its first piece begins within a page"),
    (4, "\tif (!own)\n\t\treturn gang;\n", "\t(void)own;\n", "the gang ended children that it did not own"),
    (5, "return mini_is_linear(buffer) ? buffer->piece[0].addr : mem_get(buffer->size);", "return mem_get(buffer->size);",
     "its own address would do"),
    (5, "void mini_return(struct mini *buffer, void *lent)\n{\n",
     "void mini_return(struct mini *buffer, void *lent)\n{\n\tmini_copy_in(buffer, lent, 0, buffer->size);\n", "mini_return() wrote the copy back"),
    (6, "\tmove(cache, e, T2);\n", "\tmove(cache, e, e->list);\n", "used twice, and is not in T2"),
    (6, "move(cache, e, known != NULL ? T2 : T1);", "move(cache, e, T1);", "4 came back"),
    (6, "\t\tif (e->stored != NULL)\n\t\t\tmini_free(e->stored);\n\t\te->key = key;", "\t\te->key = key;", "its old buffer was not freed"),
    (6, "\t\tevict(cache, true);", "\t\tevict(cache, false);", "exactly its target"),
    (6, "move(cache, cache_oldest(cache, T1), NONE);", "move(cache, cache_oldest(cache, T1), B1);", "leaves no ghost"),
    (6, "less < cache->target ? less : cache->target", "less", "no number from 0 to records"),
    (7, "if (atomic_load(&shared->slot[slot]) == found)", "if (found != NULL)", "look again after the note is written"),
    (7, "if (*place != NULL && !noted(shared, *place))", "if (*place != NULL)", "the writer ended a buffer that a reader's note names"),
    (8, "\tif (hdr->users == 0)\n\t\tlist_out(hdr);\n", "", "still stands in its list"),
    (8, "\tif (left == 0) {", "\tif (hdr->in == NULL) {", "put back while the other still uses it"),
    (8, "if (hdr->gone)\n\t\t\thdr_end(hdr);\n\t\telse\n\t\t\t", "", "was gone, and the header was put back"),
    (9, "use->reading || ", "", "makes no second use of it"),
    (9, "<= SAME_USE", "< SAME_USE", "it is the same use"),
    (9, "\t\treturn MRU;\n\tuse->noted", "\t\treturn use->noted = use->now, MRU;\n\tuse->noted", "is not noted: noted stays as it is"),
    (9, "\tuse->noted = use->now;\n", "\tif (!first)\n\t\tuse->noted = use->now;\n", "noted while the block is read, however soon"),
    (9, "return use->was_prefetch ? MRU : MFU;", "return MFU;", "is used for the first time"),
    (10, "\tfor (; *last != NULL; last = &(*last)->next)\n\t\tif ((*last)->key == key)\n\t\t\tfirst = false;\n\t*last = ask;",
     "\tfor (struct ask *each = *last; each != NULL; each = each->next)\n\t\tif (each->key == key)\n\t\t\tfirst = false;\n\task->next = *last;\n\t*last = ask;",
     "in the order in which they came"),
    (10, "ask->func(ask->arg, error);", "ask->func(ask->arg, 0);", "all who waited get its error"),
    (10, "\t\task->func(ask->arg, error);\n",
     "\t\task->next = misses->first;\n\t\tmisses->first = ask;\n\t\task->func(ask->arg, error);\n\t\tmisses->first = ask->next;\n",
     "take the list away before you call"),
    (11, "\t\tif (hdr->marker || !lock_try(hdr))\n\t\t\tcontinue;\n",
     "\t\tif (hdr->marker)\n\t\t\tcontinue;\n\t\tif (!lock_try(hdr))\n\t\t\tbreak;\n", "those behind it can be evicted"),
    (11, "hdr->marker || ", "", "somebody's marker was ended"),
    (11, " && ended < EVICT_MOST", "", "ten headers at most"),
    (12, "\t\told->bytes = mem_get(old->size);\n\t\tmemcpy(old->bytes, form->bytes, old->size);\n", "", "it needs a copy first"),
    (12, "if (old->forms == form && form->next == NULL) {", "if (old->forms != NULL) {", "others use this header, and it lost its key"),
    (13, "if (queue->tail != NULL && queue->tail->number > from)", "if (false)", "behind the first one's"),
    (13, "<= queue->count", "< queue->count", "the first one did not wake"),
]


def check(step, folder, compiler):
    done = subprocess.run([str(HERE / "check"), str(step), str(folder)], capture_output=True, text=True, check=False,
                          env={**os.environ, "CC": compiler, "CFLAGS": "-w"})
    return done.returncode, done.stdout + done.stderr


def steps(folder, upto, changed=None):
    """The solution's steps in a folder; changed: one of them, and its text."""
    for n in range(1, upto + 1):
        (folder / f"step{n}.c").write_text(changed[1] if changed and changed[0] == n else (SOLUTION / f"step{n}.c").read_text())


def try_step(step, compiler):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        lines = len([line for line in (SOLUTION / f"step{step}.c").read_text().splitlines() if line.strip()])
        if lines > LINES:
            yield f"step {step} has {lines} lines, more than {LINES}"
        header = "mini.h" if step < ALONE else "mini_arc.h"
        steps(folder, step - 1)
        for what, want in (("no file", f"step{step}.c is not there yet"), ("an empty file", f"these functions of {header} are not there yet")):
            if what == "an empty file":
                (folder / f"step{step}.c").write_text(f"#include \"{header}\"\n")
            code, said = check(step, folder, compiler)
            if code == 0 or want not in said:
                yield f"step {step}, {what}: exit {code}, \"{said.strip()}\""
        steps(folder, step)
        code, said = check(step, folder, compiler)
        if code != 0 or said != f"right: step {step}\n":
            yield f"step {step}, the solution: exit {code}, \"{said.strip()}\""


def try_wrong(wrong, compiler):
    step, right, mistaken, want = wrong
    text = (SOLUTION / f"step{step}.c").read_text()
    if text.count(right) != 1:
        yield f"step {step}: \"{right}\" stands {text.count(right)} times in the solution"
        return
    with tempfile.TemporaryDirectory() as name:
        steps(pathlib.Path(name), step, (step, text.replace(right, mistaken)))
        code, said = check(step, name, compiler)
        # In words: of the misunderstanding, and of nothing but it.
        if code != 1 or want not in said or len(re.findall("wrong: ", said)) != 1:
            yield f"step {step}, \"{want}\" is not said: exit {code}, \"{said.strip()}\""


def main(compiler):
    jobs = [(try_step, step) for step in STEPS] + [(try_wrong, wrong) for wrong in MISUNDERSTANDINGS]
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        failures = [finding for found in pool.map(lambda job: list(job[0](job[1], compiler)), jobs) for finding in found]
    for finding in failures:
        print("FAIL", finding)
    print(f"{len(jobs) - len(failures)} passed, {len(failures)} failed")
    return int(bool(failures))


sys.exit(main(sys.argv[1]))
