! Nothing is wrong: waves in layers. Edges of the upper layer travel while the lower one is computed, and the other way round; every
! twentieth step energies of both layers are added up by one sum.
!
! arguments: steps, work of each rank on a layer (us), doubles of an edge
! run: 18 smpi=18 args="80 2500 2500"
module layers
  use truth
  implicit none
  integer :: length, left, right
  integer :: pending(4, 2)
  double precision, allocatable :: edges(:, :, :), halos(:, :, :)

contains

  subroutine make_layers(doubles)
    integer, intent(in) :: doubles
    length = doubles
    left = modulo(rank - 1, ranks)
    right = modulo(rank + 1, ranks)
    allocate (edges(length, 2, 2), halos(length, 2, 2))
    edges = rank
    pending = MPI_REQUEST_NULL
  end subroutine

  subroutine begin(layer)
    integer, intent(in) :: layer
    call MPI_Irecv(halos(:, 1, layer), length, MPI_DOUBLE_PRECISION, left, layer, MPI_COMM_WORLD, pending(1, layer), ierr)
    call MPI_Irecv(halos(:, 2, layer), length, MPI_DOUBLE_PRECISION, right, 2 + layer, MPI_COMM_WORLD, pending(2, layer), ierr)
    call MPI_Isend(edges(:, 1, layer), length, MPI_DOUBLE_PRECISION, right, layer, MPI_COMM_WORLD, pending(3, layer), ierr)
    call MPI_Isend(edges(:, 2, layer), length, MPI_DOUBLE_PRECISION, left, 2 + layer, MPI_COMM_WORLD, pending(4, layer), ierr)
  end subroutine

  subroutine compute(layer, us, step)
    integer, intent(in) :: layer, step
    double precision, intent(in) :: us
    call MPI_Waitall(4, pending(:, layer), MPI_STATUSES_IGNORE, ierr)
    call work_us(us*(0.98d0 + 0.04d0*chance(57, 2*step + layer, rank)))
    call begin(layer)
  end subroutine
end module

program healthy_waves_f
  use layers
  implicit none
  integer :: steps, step
  double precision :: us, mine(2), all(2)
  call truth_begin()
  steps = truth_number(1, 80)
  us = truth_number(2, 2500)
  call make_layers(truth_number(3, 2500))
  mine = 1
  do step = 1, steps
    call compute(1, us, step)
    call compute(2, us, step)
    if (mod(step, 20) == 0) call MPI_Allreduce(mine, all, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call MPI_Waitall(8, pending, MPI_STATUSES_IGNORE, ierr)
  call truth_end()
end program
