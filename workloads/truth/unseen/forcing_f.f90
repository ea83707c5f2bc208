! An ocean driven by winds from a file. In every step the first rank reads winds, interpolates them in time, and broadcasts
! them to all others, which have nothing to do meanwhile. The fix has winds read and interpolated ahead by an I/O thread, so
! that only the broadcast is left.
!
! arguments: steps, momentum (us), heat and salt (us), reading and interpolating (us), doubles of winds
! disease: late-root imbalance serialised-io
! blamed: 0
! run: 16 smpi=16 args="80 2000 1500 1700 2500"
module winds
  use truth
  implicit none
  double precision, allocatable :: wind(:)

contains

  subroutine read_winds(us, step)
    double precision, intent(in) :: us
    integer, intent(in) :: step
    if (rank == 0 .and. mode == sick) call work_us(us*(0.9d0 + 0.2d0*chance(52, step, 0))) ! the place
    wind = step
  end subroutine

  subroutine winds_of_step(us, step)
    double precision, intent(in) :: us
    integer, intent(in) :: step
    if (rank == 0) call read_winds(us, step) ! place begin
    call MPI_Bcast(wind, size(wind), MPI_DOUBLE_PRECISION, 0, MPI_COMM_WORLD, ierr) ! place end
  end subroutine
end module

module ocean
  use truth
  implicit none
  integer, parameter :: length = 300
  double precision :: edges(length, 2), halos(length, 2)

contains

  subroutine swap()
    integer :: requests(4), left, right
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    call MPI_Irecv(halos(:, 1), length, MPI_DOUBLE_PRECISION, left, 1, MPI_COMM_WORLD, requests(1), ierr)
    call MPI_Irecv(halos(:, 2), length, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD, requests(2), ierr)
    call MPI_Isend(edges(:, 1), length, MPI_DOUBLE_PRECISION, right, 1, MPI_COMM_WORLD, requests(3), ierr)
    call MPI_Isend(edges(:, 2), length, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, requests(4), ierr)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine

  subroutine advance(us, step, part)
    double precision, intent(in) :: us
    integer, intent(in) :: step, part
    call work_us(us*(0.98d0 + 0.04d0*chance(53, 2*step + part, rank)))
    call swap()
  end subroutine
end module

program forcing_f
  use winds
  use ocean
  implicit none
  integer :: steps, step
  double precision :: momentum_us, heat_us, reading_us
  call truth_begin()
  steps = truth_number(1, 80)
  momentum_us = truth_number(2, 2000)
  heat_us = truth_number(3, 1500)
  reading_us = truth_number(4, 1700)
  allocate (wind(truth_number(5, 2500)))
  edges = rank
  do step = 1, steps
    call winds_of_step(reading_us, step) ! the place
    call advance(momentum_us, step, 0)
    call advance(heat_us, step, 1)
  end do
  call truth_end()
end program
