/* SPDX-License-Identifier: BSD-3-Clause */
#include "plugin_support.h"

#include "support.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static void *plugin_handle;

static const char *build_folder(void)
{
    const char *folder = getenv("builddir");
    return folder ? folder : ".";
}

void plugin_driver(struct gpu *gpu, unsigned seed)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/test/cuda/.libs/libcuda.so.1", build_folder());
    if (!gpu_open(gpu, path))
        fail_msg("%s: %s", path, dlerror());
    assert_non_null(gpu->fake_restart);
    gpu_close(gpu);
    gpu->fake_restart(seed);
    assert_true(gpu_open(gpu, path));
}

/* The plug-in looks for the kernels where it is itself. */
static void make_folder(char *folder, const char *kernels)
{
    char plugin[PATH_MAX], path[PATH_MAX];
    snprintf(folder, PATH_MAX, "%s/test/cuda/plugin.%ld", build_folder(), (long)getpid());
    assert_true(mkdir(folder, 0777) == 0 || errno == EEXIST);
    assert_non_null(realpath(build_folder(), plugin));
    strncat(plugin, "/cuda/.libs/" STRAG_CUDA_PLUGIN, sizeof plugin - strlen(plugin) - 1);
    snprintf(path, sizeof path, "%.4000s/%s", folder, STRAG_CUDA_PLUGIN);
    assert_int_equal(symlink(plugin, path), 0);
    if (kernels) {
        snprintf(path, sizeof path, "%.4000s/%s", folder, STRAG_CUDA_KERNELS);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        assert_true(fputs(kernels, file) >= 0);
        assert_int_equal(fclose(file), 0);
    }
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {STRAG_CUDA_PLUGIN, STRAG_CUDA_KERNELS};
    char path[PATH_MAX];
    for (int f = 0; f < 2; f++) {
        snprintf(path, sizeof path, "%.4000s/%s", folder, files[f]);
        unlink(path);
    }
    rmdir(folder);
}

static char folder[PATH_MAX];

strag_cuda_open_fn *plugin_function(const char *kernels)
{
    char path[PATH_MAX];
    strag_cuda_open_fn *function;
    if (folder[0])
        remove_folder(folder);
    make_folder(folder, kernels);
    snprintf(path, sizeof path, "%.4000s/%s", folder, STRAG_CUDA_PLUGIN);
    plugin_handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin_handle)
        fail_msg("%s", dlerror());
    void *symbol = dlsym(plugin_handle, "strag_cuda_open");
    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof function);
    return function;
}

const struct strag_cuda *plugin_open(const struct gpu *gpu, const char *kernels)
{
    struct strag_error err = {""};
    const struct strag_cuda *cuda = plugin_function(kernels)(STRAG_CUDA_VERSION, gpu->handle, &err);
    if (!cuda)
        fail_msg("the plug-in: %s", err.text);
    remove_folder(folder);
    folder[0] = '\0';
    return cuda;
}

void plugin_close(const struct gpu *gpu, const struct strag_cuda *cuda)
{
    struct fake_counts counts;
    cuda->close();
    gpu->fake_counts(&counts);
    assert_int_equal(counts.mistakes, 0);
    assert_int_equal(counts.pinned_pieces, 0);
    assert_int_equal(counts.streams, 0);
    assert_int_equal(counts.events, 0);
    assert_int_equal(counts.modules, 0);
    assert_int_equal(counts.retained, gpu->devices);
    assert_int_equal(counts.pushed, 1); /* this program's own */
    assert_int_equal(dlclose(plugin_handle), 0);
}
