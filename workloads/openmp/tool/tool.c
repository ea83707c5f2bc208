/* tool: an OMPT tool of somebody else, which counts regions and prints their number when the runtime ends. */
#include <omp-tools.h>
#include <stdio.h>

static int regions;

static void begin(ompt_data_t *task, const ompt_frame_t *frame, ompt_data_t *region, unsigned threads, int flags,
                  const void *address)
{
    (void)task, (void)frame, (void)region, (void)threads, (void)flags, (void)address;
    regions++;
}

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *data)
{
    (void)device, (void)data;
    ompt_set_callback_t set = (ompt_set_callback_t)lookup("ompt_set_callback");
    set(ompt_callback_parallel_begin, (ompt_callback_t)begin);
    return 1;
}

static void finalize(ompt_data_t *data)
{
    (void)data;
    printf("tool: %d regions\n", regions);
}

ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = {initialize, finalize, {0}};
    (void)version, (void)runtime;
    return &tool;
}
