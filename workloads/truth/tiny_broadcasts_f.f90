! Thirty parameters are broadcast one by one in every step; one broadcast of thirty does the same. Then all agree on the
! time step, so that no rank runs ahead.
!
! arguments: steps, work of each rank (us), parameters
! disease: tiny-collectives
! run: 32 smpi=32 args="50 500 60"
! run: 4 real=4 args="60 500 500"
program tiny_broadcasts_f
  use truth
  implicit none
  integer :: steps, step, parameters, first, together
  double precision :: us, mine, all
  double precision, allocatable :: values(:)
  call truth_begin()
  steps = truth_number(1, 50)
  us = truth_number(2, 500)
  parameters = truth_number(3, 60)
  allocate (values(parameters))
  values = 1
  mine = 1
  together = parameters
  if (mode == sick) together = 1
  do step = 1, steps
    do first = 1, parameters, together
      call MPI_Bcast(values(first), together, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! the place
    end do
    call work_us(us)
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_MIN, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()
end program
