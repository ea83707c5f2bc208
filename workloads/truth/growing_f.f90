! A list on one rank that is searched in every step and becomes longer: the work of that rank grows with the square of
! time. Neighbours exchange in a ring, nobody adds up over all.
!
! arguments: steps, work of each rank (us), additional work in the last step (us), the rank
! disease: growing-imbalance imbalance
! run: 12 smpi=12 args="90 2000 12000 4" blamed=4
! run: 4 real=4 args="80 3000 15000 1" blamed=1
program growing_f
  use truth
  implicit none
  integer, parameter :: length = 64
  integer :: steps, step, grows, right, left
  double precision :: us, more_us, out(length), in(length)
  call truth_begin()
  steps = truth_number(1, 90)
  us = truth_number(2, 2000)
  more_us = truth_number(3, 12000)
  grows = truth_number(4, 4)
  if (mode == fix .or. rank /= grows) more_us = 0
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = rank
  do step = 1, steps
    call work_us(us + more_us*(dble(step)/steps)**2) ! place begin
    call MPI_Sendrecv(out, length, MPI_DOUBLE_PRECISION, right, 1, in, length, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! place end
  end do
  call truth_end()
end program
