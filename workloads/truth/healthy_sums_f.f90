! Nothing is wrong: all ranks have the same work, and one sum of several numbers in every step.
!
! arguments: steps, work of each rank (us), numbers
! run: 8 smpi=8 args="100 4000 20"
! run: 32 smpi=32 args="60 5000 100"
! run: 4 real=4 args="80 8000 20"
program healthy_sums_f
  use truth
  implicit none
  integer :: steps, step, numbers
  double precision :: us
  double precision, allocatable :: mine(:), all(:)
  call truth_begin()
  steps = truth_number(1, 100)
  us = truth_number(2, 4000)
  numbers = truth_number(3, 20)
  allocate (mine(numbers), all(numbers))
  mine = rank
  do step = 1, steps
    call work_us(us)
    call MPI_Allreduce(mine, all, numbers, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()
end program
