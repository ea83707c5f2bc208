! Heat in a plate, on a grid of ranks in 2-D: fluxes from temperatures, then temperatures from fluxes, and behind each part
! an exchange of edges by the same routine. There is no sum over all. The processors of one node are slower than those of
! the others, so its ranks take longer for everything, and all others wait for them through their neighbours.
!
! arguments: steps, work of each rank on fluxes (us), on temperatures (us), by how much the node is slower (%), its first
!            and its last rank
! disease: slow-ranks imbalance
! run: 24 smpi=24 args="90 2000 1200 18 8 11" blamed=8-11
! run: 4 real=4 args="60 5000 3000 50 2 3" blamed=2-3
module plate
  use truth
  implicit none
  integer, parameter :: length = 250
  integer :: grid, beside(4)
  double precision :: edges(length, 4), halos(length, 4)

contains

  subroutine make_plate()
    integer :: sizes(2)
    logical :: around(2)
    sizes = 0
    around = .true.
    call MPI_Dims_create(ranks, 2, sizes, ierr)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, .false., grid, ierr)
    call MPI_Cart_shift(grid, 0, 1, beside(1), beside(2), ierr)
    call MPI_Cart_shift(grid, 1, 1, beside(3), beside(4), ierr)
    edges = rank
  end subroutine

  subroutine exchange()
    integer :: side, requests(8)
    do side = 1, 4
      call MPI_Irecv(halos(:, side), length, MPI_DOUBLE_PRECISION, beside(side), ieor(side - 1, 1), grid, requests(side), ierr)
    end do
    do side = 1, 4
      call MPI_Isend(edges(:, side), length, MPI_DOUBLE_PRECISION, beside(side), side - 1, grid, requests(4 + side), ierr)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr) ! the place
  end subroutine

  subroutine step_of_plate(fluxes_us, temperatures_us)
    double precision, intent(in) :: fluxes_us, temperatures_us
    call work_us(fluxes_us) ! place begin
    call exchange()
    call work_us(temperatures_us)
    call exchange() ! place end
  end subroutine
end module

program slow_node_f
  use plate
  implicit none
  integer :: steps, step, first, last
  double precision :: slower
  call truth_begin()
  steps = truth_number(1, 70)
  first = truth_number(5, 8)
  last = truth_number(6, 11)
  slower = 1
  if (mode == sick .and. rank >= first .and. rank <= last) slower = 1 + truth_number(4, 18)/100d0
  call make_plate()
  do step = 1, steps
    call step_of_plate(slower*truth_number(2, 2000), slower*truth_number(3, 1200))
  end do
  call truth_end()
end program
