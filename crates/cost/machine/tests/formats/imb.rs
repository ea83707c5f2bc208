//! The Intel MPI Benchmarks, by version and part.

use super::{collectives, import_imb, messages};

pub const IMB_2021: &str = "#----------------------------------------------------------------
#    Intel(R) MPI Benchmarks 2021.3, MPI-1 part
#----------------------------------------------------------------
# Date                  : Mon Nov 16 10:05:54 2026
# MPI Version           : 3.1

# Calling sequence was:

# IMB-MPI1 -time 0.5 Alltoall

# List of Benchmarks to run:

# Alltoall

#---------------------------------------------------
# Benchmarking PingPong
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#---------------------------------------------------
       #bytes #repetitions      t[usec]   Mbytes/sec
            0         1000         0.50         0.00
         1024         1000         1.25       839.88

#----------------------------------------------------------------
# Benchmarking Alltoall
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
            1         1000         0.65         6.00         3.36
         8192 time-out.; Time limit (secs_per_sample * msg_sizes_list_len) is over; use \"-time X\" or SECS_PER_SAMPLE=X (IMB_settings.h) to increase time limit.

#----------------------------------------------------------------
# Benchmarking Reduce_scatter
# #processes = 4
#----------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
           64         1000         0.65         7.00         3.36

#-----------------------------------------------------------------------------
# Benchmarking Sendrecv
# #processes = 4
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         0.60         0.75         0.60        20.00

#-----------------------------------------------------------------------------
# Benchmarking Exchange
# #processes = 2
# ( 2 additional processes waiting in MPI_Barrier)
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         0.60         0.75         0.60        20.00

#-----------------------------------------------------------------------------
# Benchmarking Exchange
# #processes = 4
#-----------------------------------------------------------------------------
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]   Mbytes/sec
            8         1000         0.60         0.75         0.60        20.00

#---------------------------------------------------
# Benchmarking Barrier
# #processes = 4
#---------------------------------------------------
 #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]
         1000         0.60         0.75         0.63


# All processes entering MPI_Finalize
";

#[test]
fn imb_mpi1_of_2021() {
    let machine = import_imb(IMB_2021).unwrap();
    assert_eq!(messages(&machine), [("pingpong", 0, 2, 500.0), ("pingpong", 1_024, 2, 1_250.0)]);
    let expected = [
        ("MPI_Alltoall", "plain", 4, 4, 6_000.0, 1_000),
        ("MPI_Reduce_scatter", "plain", 256, 4, 7_000.0, 1_000),
        ("MPI_Sendrecv", "shift", 8, 4, 750.0, 1_000),
        ("MPI_Barrier", "plain", 0, 4, 750.0, 1_000),
    ];
    assert_eq!(collectives(&machine), expected);
    assert_eq!(machine.about.command, "IMB-MPI1 -time 0.5 Alltoall");
    let notes = machine.about.disturbed.join("\n");
    assert!(notes.contains("Alltoall of 8192 bytes at 4 ranks is missing: time-out"), "{notes}");
    assert!(notes.contains("and 1 more: Exchange left out: a machine has no such measurement"), "{notes}");
    assert_eq!(machine.about.disturbed.len(), 2, "{notes}");
}

#[test]
fn imb_of_2018_has_whole_vectors_in_a_reduce_scatter() {
    let old = IMB_2021.replace("Intel(R) MPI Benchmarks 2021.3,", "Intel (R) MPI Benchmarks 2018 Update 1,");
    let machine = import_imb(&old).unwrap();
    assert!(collectives(&machine).contains(&("MPI_Reduce_scatter", "plain", 64, 4, 7_000.0, 1_000)));
    let cut: String = IMB_2021.lines().skip(14).map(|line| format!("{line}\n")).collect();
    let machine = import_imb(&cut).unwrap();
    assert!(!machine.operations().contains("MPI_Reduce_scatter"));
    assert!(machine.about.disturbed.join("\n").contains("the file does not say its version"));
}

#[test]
fn imb_nbc_rma_and_groups() {
    let text = "#    Intel(R) MPI Benchmarks 2019 Update 6, MPI-NBC part
#-----------------------------------------------------------------------------
# Benchmarking Iallreduce
# #processes = 2
#-----------------------------------------------------------------------------
       #bytes #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
            4           20         2.75         1.50         0.33         0.00

# Benchmarking Ialltoall_pure
# #processes = 2
       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects
            4           20         0.65         1.25         0.97         0.00
            8           20         0.65         1.50         0.97         2.00

# Benchmarking Ibarrier
# #processes = 2
 #repetitions t_ovrl[usec] t_pure[usec]  t_CPU[usec]   overlap[%]
           20         0.90         0.50         0.31         0.00

# Benchmarking Unidir_put
# #processes = 2
#
#    MODE: NON-AGGREGATE
#
       #bytes #repetitions      t[usec]   Mbytes/sec
            1           20         1.25         0.78

# Benchmarking Unidir_put
# #processes = 2
#
#    MODE: AGGREGATE
#
       #bytes #repetitions      t[usec]   Mbytes/sec
            1           20         0.10         0.78

# Benchmarking Multi-Allreduce
# ( 2 groups of 2 processes each running simultaneous )
# Group  0:     0    1
        Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]

            0            4            5         0.29         6.17         3.23

# Benchmarking Allreduce
# #processes = 4
        Group       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]

            0            4            5         5.93         6.25         6.11

# Benchmarking Uniband
# #processes = 2
       #bytes #repetitions   Mbytes/sec      Msg/sec
            8           20         8.00      1000000

# Benchmarking Uniband
# #processes = 4
       #bytes #repetitions   Mbytes/sec      Msg/sec
            8           20        16.00      2000000
";
    let machine = import_imb(text).unwrap();
    let expected = [
        ("MPI_Iallreduce", "plain", 4, 2, 1_500.0, 20),
        ("MPI_Iallreduce", "overlapped", 4, 2, 2_750.0, 20),
        ("MPI_Ialltoall", "plain", 8, 2, 1_250.0, 20),
        ("MPI_Ialltoall", "plain", 16, 2, 1_500.0, 20),
        ("MPI_Ibarrier", "plain", 0, 2, 500.0, 20),
        ("MPI_Ibarrier", "overlapped", 0, 2, 900.0, 20),
        ("MPI_Put", "plain", 1, 2, 1_250.0, 20),
        ("MPI_Allreduce", "plain", 4, 4, 6_250.0, 5),
    ];
    assert_eq!(collectives(&machine), expected);
    assert_eq!(messages(&machine), [("stream", 8, 2, 1_000.0)]);
    assert!(machine.collectives[2].disturbed.is_none() && machine.collectives[3].disturbed.is_some());
    assert_eq!(machine.about.disturbed.len(), 3, "{:?}", machine.about.disturbed);
}

#[test]
fn imb_files_that_cannot_be_right_are_refused_with_their_line() {
    let text = "# Benchmarking Bcast\n# #processes = 2\n  #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n";
    for (text, message) in [
        (format!("{text} 4 20 1.0 2.0\n"), "line 4: the row has not as many columns as its heading"),
        (text.replace("# #processes = 2\n", ""), "line 2: a heading before it is said how many processes"),
        (text.replace("= 2", "= two"), "line 2: the number of processes is not a number"),
        (
            text.replace("t_max[usec]", "t_odd[usec]") + "4 20 1 2 1.5\n",
            "line 4: the row does not have the times",
        ),
        (format!("{text} 4 20 1.0 nan 1.0\n"), "line 4: the row does not have the times"),
        ("hello\n".to_owned(), "there is no table of the Intel MPI Benchmarks in it"),
    ] {
        let error = import_imb(&text).unwrap_err().to_string();
        assert!(error.contains(message), "{message} not in {error}");
    }
}
