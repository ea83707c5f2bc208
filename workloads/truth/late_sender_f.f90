! A chain in which each rank needs a number of the one before it; one rank of the chain is late with its own. All begin
! the next step together.
!
! arguments: steps, work of each rank (us), additional work of the late one (us), the late one
! disease: late-sender imbalance
! run: 8 smpi=8 args="60 2000 3000 0" blamed=0
! run: 32 smpi=32 args="60 2000 4000 12" blamed=12
! run: 4 real=4 args="60 3000 6000 0" blamed=0
program late_sender_f
  use truth
  implicit none
  integer :: steps, step, late
  double precision :: us, more_us, out, in, all
  call truth_begin()
  steps = truth_number(1, 60)
  us = truth_number(2, 2000)
  more_us = truth_number(3, 3000)
  late = truth_number(4, 0)
  if (mode == sick .and. rank == late) us = us + more_us
  out = rank
  do step = 1, steps
    call work_us(us) ! place begin
    if (rank + 1 < ranks) then
      call MPI_Send(out, 1, MPI_DOUBLE_PRECISION, rank + 1, 1, MPI_COMM_WORLD, ierr)
    end if ! place end
    if (rank > 0) call MPI_Recv(in, 1, MPI_DOUBLE_PRECISION, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    call MPI_Allreduce(in, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()
end program
