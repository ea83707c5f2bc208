/* A tool of the program's own for OpenMP runtimes (OMPT): counts parallel regions and prints their number at the end. */
#include <omp-tools.h>
#include <stdio.h>

static int regions;

static void begun(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned threads, int flags,
                  const void *address)
{
    (void)task, (void)frame, (void)region, (void)threads, (void)flags, (void)address;
    __atomic_add_fetch(&regions, 1, __ATOMIC_RELAXED);
}

static int initialize(ompt_function_lookup_t look_up, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)look_up("ompt_set_callback");
    set(ompt_callback_parallel_begin, (ompt_callback_t)begun);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    printf("the tool saw %d regions\n", regions);
    fflush(stdout);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t result = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return &result;
}
