! Every so many steps the field is gathered to the first rank, which writes it (a sleep) and goes on; all meet in a sum.
!
! arguments: steps, work of each rank (us), writing (us), every how many steps, doubles of a part
! disease: serialised-io rare-imbalance imbalance
! blamed: 0
! run: 16 smpi=16 args="60 3000 12000 4 500"
! run: 64 smpi=64 args="60 2500 20000 6 100"
! run: 4 real=4 args="60 3000 25000 4 500"
program gather_write_f
  use truth
  implicit none
  integer :: steps, step, every, length
  double precision :: us, writing_us, mine, all
  double precision, allocatable :: part(:), whole(:)
  call truth_begin()
  steps = truth_number(1, 60)
  us = truth_number(2, 3000)
  writing_us = truth_number(3, 12000)
  every = truth_number(4, 4)
  length = truth_number(5, 500)
  allocate (part(length), whole(length*ranks))
  part = rank
  mine = 1
  do step = 1, steps
    if (mode == sick .and. mod(step, every) == 0) then
      call MPI_Gather(part, length, MPI_DOUBLE_PRECISION, whole, length, MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr)
      if (rank == 0) call work_us(writing_us) ! place begin
    end if
    call work_us(us)
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr) ! place end
  end do
  call truth_end()
end program
