! Chemistry with a table that all ranks share. In each step every rank integrates what it does not find in the table, and
! adds it then; as only one may do so at a time, a token goes round, and whoever has it sorts its entries in. There are so
! many ranks that the token comes back later than the next entries are ready. The fix gives each rank a table of its own.
!
! arguments: steps, integrating (us), sorting in (us)
! disease: serialised-section lock-contention
! run: 16 smpi=16 args="100 2000 220"
! run: 4 real=4 args="60 4000 2500"
module table
  use truth
  implicit none
  integer, parameter :: entries = 20
  double precision :: token(entries)

contains

  subroutine take_token(step)
    integer, intent(in) :: step
    if (rank == 0 .and. step == 1) return
    call MPI_Recv(token, entries, MPI_DOUBLE_PRECISION, modulo(rank - 1, ranks), 7, MPI_COMM_WORLD, & ! place begin
                  MPI_STATUS_IGNORE, ierr) ! place end
  end subroutine

  subroutine pass_token()
    call MPI_Send(token, entries, MPI_DOUBLE_PRECISION, modulo(rank + 1, ranks), 7, MPI_COMM_WORLD, ierr) ! the place
  end subroutine

  subroutine sort_in(us, step)
    double precision, intent(in) :: us
    integer, intent(in) :: step
    if (mode == sick) then
      call take_token(step) ! place begin
      call work_us(us)
      token(mod(step, entries) + 1) = rank
      call pass_token() ! place end
    else
      call work_us(us)
    end if
  end subroutine
end module

program token_f
  use table
  implicit none
  integer :: steps, step
  double precision :: integrating_us, sorting_us, mine, all
  call truth_begin()
  steps = truth_number(1, 60)
  integrating_us = truth_number(2, 2000)
  sorting_us = truth_number(3, 220)
  token = 0
  do step = 1, steps
    call work_us(integrating_us)
    call sort_in(sorting_us, step)
  end do
  if (mode == sick .and. rank == 0) call take_token(steps + 1)
  mine = rank
  call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  call truth_end()
end program
