! Solidification of a melt in 3-D. A crystal grows in the part of one rank, which has more and more cells of the front to work on,
! and there is no sum over all: its neighbours wait for it, then theirs. The fix moves walls between ranks as it grows, so that each
! has its share of the front.
!
! arguments: steps, melt (us), front at the end of the run (us), the rank with the crystal
! disease: growing-imbalance imbalance
! fix: balance
! run: 27 smpi=27 args="80 3500 5500 16" blamed=16
module melt
  use truth
  implicit none
  integer, parameter :: face = 180
  integer :: grid, beside(6)
  double precision :: faces(face, 6), ghosts(face, 6)

contains

  subroutine make_melt()
    integer :: sizes(3), axis
    logical :: around(3)
    sizes = 0
    around = .true.
    call MPI_Dims_create(ranks, 3, sizes, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, sizes, around, .false., grid, ierr)
    do axis = 0, 2
      call MPI_Cart_shift(grid, axis, 1, beside(2*axis + 1), beside(2*axis + 2), ierr)
    end do
    faces = rank
  end subroutine

  subroutine swap_faces()
    integer :: side, requests(12)
    do side = 1, 6
      call MPI_Irecv(ghosts(:, side), face, MPI_DOUBLE_PRECISION, beside(side), ieor(side - 1, 1), grid, requests(side), ierr)
      call MPI_Isend(faces(:, side), face, MPI_DOUBLE_PRECISION, beside(side), side - 1, grid, requests(6 + side), ierr)
    end do
    call MPI_Waitall(12, requests, MPI_STATUSES_IGNORE, ierr) ! the place
  end subroutine

  double precision function front_us(largest_us, step, steps, crystal)
    double precision, intent(in) :: largest_us
    integer, intent(in) :: step, steps, crystal
    front_us = 0
    if (mode /= sick) then
      front_us = largest_us*step/steps/ranks
    else if (rank == crystal) then
      front_us = largest_us*step/steps
    end if
  end function

  subroutine solidify(melt_us, more_us, step)
    double precision, intent(in) :: melt_us, more_us
    integer, intent(in) :: step
    call work_us(melt_us*(0.98d0 + 0.04d0*chance(55, step, rank))) ! place begin
    call work_us(more_us)
    call swap_faces() ! place end
  end subroutine
end module

program crystals_f
  use melt
  implicit none
  integer :: steps, step, crystal
  double precision :: melt_us, largest_us
  call truth_begin()
  steps = truth_number(1, 80)
  melt_us = truth_number(2, 3500)
  largest_us = truth_number(3, 5500)
  crystal = truth_number(4, 16)
  call make_melt()
  do step = 1, steps
    call solidify(melt_us, front_us(largest_us, step, steps, crystal), step)
  end do
  call truth_end()
end program
