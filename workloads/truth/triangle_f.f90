! A triangular loop in blocks of columns: every rank has more of it than the one before. Dealt out in turns, all have the
! same.
!
! arguments: steps, work of the first rank (us)
! disease: imbalance
! fix: balance
! run: 8 smpi=8 args="80 1000" blamed=4-7
! run: 32 smpi=32 args="40 300" blamed=14-31
! run: 4 real=4 args="80 2000" blamed=2-3
program triangle_f
  use truth
  implicit none
  integer, parameter :: length = 1000
  integer :: steps, step, both(2), right, left
  double precision :: us, mine, all, edge(length), halo(length)
  call truth_begin()
  steps = truth_number(1, 80)
  us = truth_number(2, 1000)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  edge = rank
  do step = 1, steps
    call compute() ! place begin
    call MPI_Irecv(halo, length, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, both(1), ierr)
    call MPI_Isend(edge, length, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, both(2), ierr) ! place end
    call MPI_Waitall(2, both, MPI_STATUSES_IGNORE, ierr)
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()

contains

  subroutine compute()
    if (mode == sick) then
      call work_us(us*(rank + 1))
    else
      call work_us(us*(ranks + 1)/2)
    end if
    mine = rank
  end subroutine
end program
