! A transposition of eight fields by eight collectives of all with all, with a little work behind each, where one with
! eight times the data does. Parts are small, so it is the number of messages that costs.
!
! arguments: steps, work on a field (us), fields, doubles for each rank
! disease: alltoall tiny-collectives
! run: 32 smpi=32 args="25 100 8 2" overhead=1e-6
! run: 48 smpi=48 args="20 200 8 4" overhead=1e-6
! run: 4 real=4 args="40 300 60 4"
program transpose_f
  use truth
  implicit none
  integer :: steps, step, fields, field, together, length
  double precision :: us
  double precision, allocatable :: out(:), in(:)
  call truth_begin()
  steps = truth_number(1, 30)
  us = truth_number(2, 100)
  fields = truth_number(3, 8)
  length = truth_number(4, 2)
  allocate (out(length*fields*ranks), in(length*fields*ranks))
  out = rank
  together = fields
  if (mode == sick) together = 1
  do step = 1, steps
    do field = 1, fields, together
      call work_us(us*together)
      call MPI_Alltoall(out, length*together, MPI_DOUBLE_PRECISION, in, length*together, MPI_DOUBLE_PRECISION, & ! place begin
                        MPI_COMM_WORLD, ierr) ! place end
    end do
  end do
  call truth_end()
end program
