! Transport of neutrons on a square of ranks: sweeps from each of its four corners to the opposite one, in blocks of planes. Each rank
! takes what flows in from two sides, works on the block, and sends on to the two others. Blocks are so thick that
! the ranks far from the corner wait long for their first one. The fix makes blocks an eighth as thick, so that an eighth
! of the waiting is left.
!
! arguments: steps, work of each rank on all planes of one sweep (us), blocks of a sweep
! disease: pipeline-fill
! run: 16 smpi=16 args="24 3200 3"
module sweeps
  use truth
  implicit none
  integer, parameter :: flow = 60
  integer :: grid, sides(2), place(2)
  double precision :: inflow(flow, 2), outflow(flow, 2)

contains

  subroutine make_square()
    logical :: around(2)
    sides = 0
    around = .false.
    call MPI_Dims_create(ranks, 2, sides, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, sides, around, .false., grid, ierr)
    outflow = 1
  end subroutine

  ! One block, with neighbours it comes from and goes to on both axes.
  subroutine block(from, to, us)
    integer, intent(in) :: from(2), to(2)
    double precision, intent(in) :: us
    integer :: axis
    do axis = 1, 2
      call MPI_Recv(inflow(:, axis), flow, MPI_DOUBLE_PRECISION, from(axis), axis, grid, MPI_STATUS_IGNORE, ierr) ! the place
    end do
    call work_us(us) ! place begin
    do axis = 1, 2
      call MPI_Send(outflow(:, axis), flow, MPI_DOUBLE_PRECISION, to(axis), axis, grid, ierr) ! place end
    end do
  end subroutine

  subroutine sweep(corner, blocks, us, step)
    integer, intent(in) :: corner, blocks, step
    double precision, intent(in) :: us
    integer :: from(2), to(2), axis, number, direction
    do axis = 1, 2
      direction = merge(1, -1, btest(corner, axis - 1))
      call MPI_Cart_shift(grid, axis - 1, direction, from(axis), to(axis), ierr)
    end do
    do number = 1, blocks
      call block(from, to, us/blocks*(0.97d0 + 0.06d0*chance(54, 100*step + number, rank))) ! the place
    end do
  end subroutine
end module

program corners_f
  use sweeps
  implicit none
  integer :: steps, step, blocks, corner
  double precision :: us, mine, all
  call truth_begin()
  steps = truth_number(1, 24)
  us = truth_number(2, 3200)
  blocks = truth_number(3, 3)
  if (mode /= sick) blocks = 8*blocks
  call make_square()
  mine = 1
  do step = 1, steps
    do corner = 0, 3
      call sweep(corner, blocks, us, 4*step + corner) ! the place
    end do
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()
end program
