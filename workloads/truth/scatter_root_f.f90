! The first rank reads the next batch (a sleep) and scatters it; all compute on it and add up.
!
! arguments: steps, work of each rank (us), reading (us), doubles for each rank
! disease: late-root imbalance serialised-io
! blamed: 0
! run: 8 smpi=8 args="80 3000 2000 100"
! run: 32 smpi=32 args="60 4000 3000 1000"
! run: 4 real=4 args="60 4000 5000 100"
program scatter_root_f
  use truth
  implicit none
  integer :: steps, step, length
  double precision :: us, reading_us, mine, all
  double precision, allocatable :: batch(:), part(:)
  call truth_begin()
  steps = truth_number(1, 80)
  us = truth_number(2, 3000)
  reading_us = truth_number(3, 2000)
  length = truth_number(4, 100)
  allocate (batch(length*ranks), part(length))
  batch = 1
  mine = 1
  do step = 1, steps
    if (rank == 0 .and. mode == sick) call work_us(reading_us) ! place begin
    call MPI_Scatter(batch, length, MPI_DOUBLE_PRECISION, part, length, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! place end
    call work_us(us)
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()
end program
