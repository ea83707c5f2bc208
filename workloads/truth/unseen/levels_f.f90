! Shallow water on a grid of ranks in 2-D, with a few dozen layers. Ghosts of each layer and each of three variables travel in a
! message of their own, as the routine that exchanges them takes a field in 2-D. The fix packs all layers and variables into one
! message for each neighbour.
!
! arguments: steps, work of each rank (us), layers
! disease: small-messages
! run: 16 smpi=16 args="250 1400 24" overhead=2e-6
module ghosts
  use truth
  implicit none
  integer, parameter :: variables = 3, length = 24
  integer :: grid, beside(4), layers
  double precision, allocatable :: out(:, :, :, :), in(:, :, :, :)

contains

  subroutine make_ghosts(count)
    integer, intent(in) :: count
    integer :: sizes(2)
    logical :: around(2)
    layers = count
    sizes = 0
    around = .true.
    call MPI_Dims_create(ranks, 2, sizes, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, .false., grid, ierr)
    call MPI_Cart_shift(grid, 0, 1, beside(1), beside(2), ierr)
    call MPI_Cart_shift(grid, 1, 1, beside(3), beside(4), ierr)
    allocate (out(length, layers, variables, 4), in(length, layers, variables, 4))
    out = rank
  end subroutine

  subroutine swap(layer, variable, count)
    integer, intent(in) :: layer, variable, count
    integer :: side, requests(8)
    do side = 1, 4
      call MPI_Irecv(in(1, layer, variable, side), count, MPI_DOUBLE_PRECISION, beside(side), ieor(side - 1, 1), & ! place begin
                     grid, requests(side), ierr)
    end do
    do side = 1, 4
      call MPI_Isend(out(1, layer, variable, side), count, MPI_DOUBLE_PRECISION, beside(side), side - 1, grid, &
                     requests(4 + side), ierr)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr) ! place end
  end subroutine

  subroutine fill_ghosts()
    integer :: layer, which
    if (mode /= sick) then
      call swap(1, 1, length*layers*variables)
      return
    end if
    do which = 1, variables
      do layer = 1, layers
        call swap(layer, which, length) ! the place
      end do
    end do
  end subroutine
end module

program levels_f
  use ghosts
  implicit none
  integer :: steps, step
  double precision :: us
  call truth_begin()
  steps = truth_number(1, 250)
  us = truth_number(2, 1400)
  call make_ghosts(truth_number(3, 24))
  do step = 1, steps
    call work_us(us*(0.985d0 + 0.03d0*chance(56, step, rank)))
    call fill_ghosts() ! the place
  end do
  call truth_end()
end program
