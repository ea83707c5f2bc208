! Every so many steps the first rank looks for neighbours anew, alone, and tells everybody in the next broadcast.
!
! arguments: steps, work of each rank (us), additional work of the first (us), every how many steps
! disease: rare-imbalance imbalance late-root serialised-io
! blamed: 0
! run: every-15th smpi=12 args="90 2500 18000 15"
! run: every-30th smpi=48 args="90 2000 24000 30"
! run: 4-every-15th real=4 args="90 2500 30000 15"
program rare_f
  use truth
  implicit none
  integer :: steps, step, every
  double precision :: us, more_us, mine(8), all(8)
  call truth_begin()
  steps = truth_number(1, 90)
  us = truth_number(2, 2500)
  more_us = truth_number(3, 18000)
  every = truth_number(4, 15)
  mine = rank
  do step = 1, steps
    call work_us(us)
    call MPI_Allreduce(mine, all, 8, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
    if (rank == 0 .and. mode == sick .and. mod(step, every) == 0) call work_us(more_us) ! place begin
    call MPI_Bcast(all, 8, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! place end
  end do
  call truth_end()
end program
