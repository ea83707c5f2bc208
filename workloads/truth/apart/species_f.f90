! A flame with the 53 species of a well-known mechanism on a grid of ranks in 2-D: the halo of each species is exchanged on
! its own, four small messages at a time, by the routine that was written for the temperature. Packed, the halos of all
! species go to a neighbour in one message.
!
! arguments: steps, work of each rank (us), species, doubles of an edge
! disease: small-messages
! run: 16 smpi=16 args="120 2000 53 32" overhead=2e-6
! run: 36 smpi=36 args="120 1500 53 20" overhead=3e-6
! run: 4 real=4 args="100 2000 212 32"
program species_f
  use truth
  implicit none
  integer :: steps, step, species, number, length, grid, sizes(2), beside(4)
  logical :: around(2)
  double precision :: us
  double precision, allocatable :: edges(:, :, :), halos(:, :, :)
  call truth_begin()
  steps = truth_number(1, 40)
  us = truth_number(2, 2000)
  species = truth_number(3, 53)
  length = truth_number(4, 32)
  sizes = 0
  around = .true.
  call MPI_Dims_create(ranks, 2, sizes, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, .false., grid, ierr)
  call MPI_Cart_shift(grid, 0, 1, beside(1), beside(2), ierr)
  call MPI_Cart_shift(grid, 1, 1, beside(3), beside(4), ierr)
  allocate (edges(length, species, 4), halos(length, species, 4))
  edges = rank
  do step = 1, steps
    call work_us(us)
    if (mode == sick) then
      do number = 1, species
        call exchange_one(number)
      end do
    else
      call exchange_all()
    end if
  end do
  call truth_end()

contains

  subroutine exchange_one(number)
    integer, intent(in) :: number
    integer :: side, requests(8)
    do side = 1, 4
      call MPI_Irecv(halos(:, number, side), length, MPI_DOUBLE_PRECISION, beside(side), ieor(side - 1, 1), grid, & ! place begin
                     requests(side), ierr)
    end do
    do side = 1, 4
      call MPI_Isend(edges(:, number, side), length, MPI_DOUBLE_PRECISION, beside(side), side - 1, grid, &
                     requests(4 + side), ierr)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr) ! place end
  end subroutine

  subroutine exchange_all()
    integer :: side, requests(8)
    do side = 1, 4
      call MPI_Irecv(halos(:, :, side), length*species, MPI_DOUBLE_PRECISION, beside(side), ieor(side - 1, 1), grid, &
                     requests(side), ierr)
    end do
    do side = 1, 4
      call MPI_Isend(edges(:, :, side), length*species, MPI_DOUBLE_PRECISION, beside(side), side - 1, grid, &
                     requests(4 + side), ierr)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine
end program
