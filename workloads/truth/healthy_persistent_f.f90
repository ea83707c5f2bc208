! Nothing is wrong: a ring with persistent requests, and the same work on each rank.
!
! arguments: steps, work of each rank (us)
! run: 8 smpi=8 args="80 4000"
! run: 4 real=4 args="80 8000"
program healthy_persistent_f
  use truth
  implicit none
  integer, parameter :: length = 200
  integer :: steps, step, requests(2)
  double precision :: us, out(length), in(length)
  call truth_begin()
  steps = truth_number(1, 80)
  us = truth_number(2, 4000)
  out = rank
  call MPI_Recv_init(in, length, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Send_init(out, length, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, requests(2), ierr)
  do step = 1, steps
    call MPI_Startall(2, requests, ierr)
    call work_us(us)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call truth_end()
end program
