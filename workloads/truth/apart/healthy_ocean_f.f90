! Nothing is wrong: an ocean on a grid of ranks in 2-D, with a long step for its layers and short ones for its surface, each
! of which needs the edges of the one before. Times differ a little by chance. Every tenth step the first rank prints a line
! with what it gathers, which takes it a moment.
!
! arguments: steps, work on the layers (us), short steps, work of a short one (us), by how much they differ at most
!            (thousandths), seed
! run: 12 smpi=12 args="40 6000 8 800 6 seed"
! run: 36 smpi=36 args="30 8000 10 1000 4 seed"
! run: 4 real=4 args="20 20000 4 8000 3 seed"
program healthy_ocean_f
  use truth
  implicit none
  integer, parameter :: edge = 64
  integer :: steps, step, shorts, short, seed, grid, sizes(2), beside(4)
  logical :: around(2)
  double precision :: us, short_us, part, mine(2)
  double precision, allocatable :: printed(:)
  double precision :: edges(edge, 4), halos(edge, 4)
  call truth_begin()
  steps = truth_number(1, 40)
  us = truth_number(2, 6000)
  shorts = truth_number(3, 8)
  short_us = truth_number(4, 800)
  part = truth_number(5, 6)/1000d0
  seed = truth_number(6, 1)
  sizes = 0
  around = .true.
  call MPI_Dims_create(ranks, 2, sizes, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, .false., grid, ierr)
  call MPI_Cart_shift(grid, 0, 1, beside(1), beside(2), ierr)
  call MPI_Cart_shift(grid, 1, 1, beside(3), beside(4), ierr)
  allocate (printed(2*ranks))
  edges = rank
  mine = rank
  do step = 1, steps
    call exchange()
    call work_us(us*(1 + part*chance(seed, step, rank)))
    do short = 1, shorts
      call exchange()
      call work_us(short_us*(1 + part*chance(seed, steps*step + short, ranks + rank)))
    end do
    if (mod(step, 10) == 0) then
      call MPI_Gather(mine, 2, MPI_DOUBLE_PRECISION, printed, 2, MPI_DOUBLE_PRECISION, 0, grid, ierr)
      if (rank == 0) call work_us(40d0)
    end if
  end do
  call truth_end()

contains

  subroutine exchange()
    integer :: side, requests(8)
    do side = 1, 4
      call MPI_Irecv(halos(:, side), edge, MPI_DOUBLE_PRECISION, beside(side), ieor(side - 1, 1), grid, requests(side), ierr)
    end do
    do side = 1, 4
      call MPI_Isend(edges(:, side), edge, MPI_DOUBLE_PRECISION, beside(side), side - 1, grid, requests(4 + side), ierr)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine
end program
