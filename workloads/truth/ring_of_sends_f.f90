! Every rank sends to the right before it receives from the left, by a send that waits for its receive: all wait in a
! ring.
!
! arguments: steps before it happens, work of a step (us)
! hang: 0 1 2 3
! run: 4 real=4 args="20 1000"
! run: 4-simulated smpi=4 args="20 1000"
program ring_of_sends_f
  use truth
  implicit none
  integer :: steps, step
  double precision :: us, x, y
  call truth_begin()
  steps = truth_number(1, 20)
  us = truth_number(2, 1000)
  x = rank
  do step = 1, steps
    call work_us(us)
    call MPI_Barrier(MPI_COMM_WORLD, ierr)
  end do
  call MPI_Ssend(x, 1, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, ierr) ! the place
  call MPI_Recv(y, 1, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  call truth_end()
end program
