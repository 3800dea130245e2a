/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files that are read and written: nothing waits for a FIFO's other end, a file is there as a whole
 * or as it was, and devices are not replaced.
 */
#include "base/file.h"

#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/strag-file-XXXXXX";

/* A name in the folder. */
static const char *in_folder(const char *name)
{
    static char names[4][320];
    static int next;
    char *made = names[next++ % 4];
    snprintf(made, sizeof names[0], "%s/%s", folder, name);
    return made;
}

static int make_folder(void **state)
{
    return mkdtemp(folder) ? 0 : -1;
}

/* Removes the folder, which must have these files alone: what was temporary is gone. */
static void empty_folder(int expected)
{
    DIR *open = opendir(folder);
    int files = 0;
    assert_non_null(open);
    for (const struct dirent *entry; (entry = readdir(open));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        assert_int_equal(unlink(in_folder(entry->d_name)), 0);
        files++;
    }
    closedir(open);
    assert_int_equal(files, expected);
}

static int remove_folder(void **state)
{
    return rmdir(folder);
}

static void content_is(const char *name, const char *expected)
{
    struct strag_error err;
    char *text = NULL;
    size_t length;
    assert_int_equal(strag_file_read(name, 100, &text, &length, &err), STRAG_OK);
    assert_string_equal(text, expected);
    free(text);
}

static void write_whole(const char *name, const char *text)
{
    struct strag_output output;
    struct strag_error err;
    assert_int_equal(strag_output_open(&output, name, &err), STRAG_OK);
    fputs(text, output.stream);
    assert_int_equal(strag_output_close(&output, true, &err), STRAG_OK);
}

static void whole_or_as_it_was(void **state)
{
    struct strag_output output;
    struct strag_error err;
    struct stat info;
    const char *name = in_folder("file"), *other = in_folder("other"), *link = in_folder("link");
    const mode_t before = umask(026);
    write_whole(name, "one");
    umask(before);
    assert_int_equal(stat(name, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);

    assert_int_equal(strag_output_open(&output, name, &err), STRAG_OK);
    fputs("two", output.stream);
    fflush(output.stream);
    content_is(name, "one");
    assert_int_equal(strag_output_close(&output, false, &err), STRAG_OK);
    content_is(name, "one");

    assert_int_equal(strag_output_open(&output, name, &err), STRAG_OK);
    fputs("three", output.stream);
    assert_int_equal(strag_output_place(&output, &err), STRAG_OK);
    content_is(name, "three");
    fputs(" and more", output.stream);
    assert_int_equal(strag_output_place(&output, &err), STRAG_OK);
    content_is(name, "three and more");
    assert_int_equal(strag_output_close(&output, true, &err), STRAG_OK);

    write_whole(other, "mine");
    assert_int_equal(symlink("other", link), 0);
    write_whole(link, "four");
    content_is(link, "four");
    content_is(other, "mine");
    empty_folder(3);
}

/* Written as it is. */
static void devices(void **state)
{
    struct strag_output output;
    struct strag_error err;
    struct stat info;
    write_whole("/dev/null", "nothing");
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
    assert_int_equal(strag_output_open(&output, "/dev/full", &err), STRAG_OK);
    fputs("too much", output.stream);
    assert_int_equal(strag_output_close(&output, true, &err), STRAG_ERR_IO);
    assert_string_equal(err.text, "No space left on device");

    int ends[2], own = dup(STDOUT_FILENO);
    char text[8] = "";
    assert_int_equal(pipe(ends), 0);
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    write_whole("/dev/stdout", "here");
    dup2(own, STDOUT_FILENO);
    assert_int_equal(read(ends[0], text, sizeof text), 4);
    assert_string_equal(text, "here");
    close(own);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(lstat("/dev/stdout", &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

/* Who opens a FIFO the usual way waits here for ever. */
static void refused(void **state)
{
    struct strag_output output;
    struct strag_error err;
    char message[420], long_name[300], *text;
    size_t length;
    const char *fifo = in_folder("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(strag_file_read(fifo, 100, &text, &length, &err), STRAG_ERR_IO);
    snprintf(message, sizeof message,
             "%s: a FIFO, socket or device; only a regular file is read here", fifo);
    assert_string_equal(err.text, message);
    assert_int_equal(strag_file_read("/dev/zero", 100, &text, &length, &err), STRAG_ERR_IO);

    memset(long_name, 'x', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    const struct {
        const char *name, *why;
    } cases[] = {
        {fifo, "a FIFO, socket or device has this name"},
        {folder, "Is a directory"},
        {in_folder("none/file"), "No such file or directory"},
        {in_folder("fifo/file"), "Not a directory"},
        {long_name, "File name too long"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(strag_output_open(&output, cases[i].name, &err), STRAG_ERR_IO);
        assert_string_equal(err.text, cases[i].why);
    }
    struct stat info;
    assert_int_equal(stat(fifo, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    empty_folder(1);
}

/* The last test: it holds from here on. */
static void streams(void **state)
{
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    strag_file_accept_streams();
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    content_is(name, "piped");
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_or_as_it_was),
        cmocka_unit_test(devices),
        cmocka_unit_test(refused),
        cmocka_unit_test(streams),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
