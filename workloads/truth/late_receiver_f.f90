! A ring in which even ranks send first and odd ranks receive first; odd ranks have more to do before. Sends are
! synchronous, as large ones are.
!
! arguments: steps, work of each rank (us), additional work of the odd ones (us), doubles of a message
! disease: late-receiver imbalance
! run: 8 smpi=8 args="60 1500 2500 10" blamed=1,3,5,7
! run: 16-large smpi=16 args="40 2000 3000 20000" blamed=1,3,5,7,9,11,13,15
! run: 4 real=4 args="60 3000 5000 10" blamed=1,3
program late_receiver_f
  use truth
  implicit none
  integer :: steps, step, length
  double precision :: us, more_us
  double precision, allocatable :: x(:)
  call truth_begin()
  steps = truth_number(1, 60)
  us = truth_number(2, 1500)
  more_us = truth_number(3, 2500)
  length = truth_number(4, 10)
  allocate (x(length))
  x = rank
  if (mode == fix) more_us = 0
  do step = 1, steps
    if (mod(rank, 2) == 0) then
      call work_us(us)
      call MPI_Ssend(x, length, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, ierr)
      call MPI_Recv(x, length, MPI_DOUBLE_PRECISION, mod(rank + ranks - 1, ranks), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    else
      call work_us(us + more_us) ! place begin
      call MPI_Recv(x, length, MPI_DOUBLE_PRECISION, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! place end
      call MPI_Ssend(x, length, MPI_DOUBLE_PRECISION, mod(rank + 1, ranks), 1, MPI_COMM_WORLD, ierr)
    end if
  end do
  call truth_end()
end program
