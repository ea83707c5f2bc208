! Opacities in a table that all ranks have. In each step one rank, each in its turn, puts one row in anew and broadcasts the
! table, of which nothing else has changed. The fix broadcasts the row.
!
! arguments: steps, work of each rank (us), rows of the table
! disease: transfer
! run: 16 smpi=16 args="60 5000 70"
module opacities
  use truth
  implicit none
  integer, parameter :: length = 500
  double precision, allocatable :: opacity(:, :)

contains

  subroutine share_row(row, owner)
    integer, intent(in) :: row, owner
    call MPI_Bcast(opacity(:, row), length, MPI_DOUBLE_PRECISION, owner, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine share_table(owner)
    integer, intent(in) :: owner
    integer :: numbers
    numbers = size(opacity)
    call MPI_Bcast(opacity, numbers, MPI_DOUBLE_PRECISION, owner, MPI_COMM_WORLD, ierr) ! the place
  end subroutine

  subroutine update(step)
    integer, intent(in) :: step
    integer :: row, owner
    row = 1 + mod(7*step, size(opacity, 2))
    owner = mod(step, ranks)
    if (rank == owner) opacity(:, row) = step
    if (mode == sick) then
      call share_table(owner) ! the place
    else
      call share_row(row, owner)
    end if
  end subroutine
end module

program whole_table_f
  use opacities
  implicit none
  integer :: steps, step
  double precision :: us
  call truth_begin()
  steps = truth_number(1, 60)
  us = truth_number(2, 5000)
  allocate (opacity(length, truth_number(3, 160)))
  opacity = 0
  do step = 1, steps
    call work_us(us)
    call update(step)
  end do
  call truth_end()
end program
