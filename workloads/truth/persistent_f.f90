! A ring of ranks with persistent requests; the rank with the boundary has more to do in every step.
!
! arguments: steps, work of each rank (us), additional work at the boundary (us), its rank
! disease: imbalance
! run: 8 smpi=8 args="80 1500 2500 7" blamed=7
! run: 24-balance smpi=24 args="60 2000 2000 0" blamed=0 fix=balance
! run: 4 real=4 args="80 3000 5000 3" blamed=3
program persistent_f
  use truth
  implicit none
  integer, parameter :: length = 200
  integer :: steps, step, requests(4), right, left, boundary
  double precision :: us, more_us, out(length, 2), in(length, 2)
  call truth_begin()
  steps = truth_number(1, 80)
  us = truth_number(2, 1500)
  more_us = truth_number(3, 2500)
  boundary = truth_number(4, 7)
  if (mode == balance) us = us + more_us/ranks
  if (mode == sick .and. rank == boundary) us = us + more_us
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = rank
  call MPI_Recv_init(in(1, 1), length, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierr)
  call MPI_Recv_init(in(1, 2), length, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), ierr)
  call MPI_Send_init(out(1, 1), length, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3), ierr)
  call MPI_Send_init(out(1, 2), length, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4), ierr)
  do step = 1, steps
    call work_us(us) ! place begin
    call MPI_Startall(4, requests, ierr) ! place end
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call truth_end()
end program
