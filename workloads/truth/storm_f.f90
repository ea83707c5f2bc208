! A storm moves over a grid of ranks in 2-D and makes the ranks below it slower; edges go to all four neighbours.
!
! arguments: steps, work of each rank (us), additional work below the storm (us), steps it stays over a rank
! disease: moving-imbalance
! fix: balance
! run: 16 smpi=16 args="128 1500 3000 4"
! run: 36 smpi=36 args="108 2000 2500 3"
! run: 4 real=4 args="80 3000 6000 5"
program storm_f
  use truth
  implicit none
  integer, parameter :: length = 300
  integer :: steps, step, stays, side, grid, sizes(2), beside(4), requests(8)
  logical :: around(2)
  double precision :: us, more_us, out(length, 4), in(length, 4)
  call truth_begin()
  steps = truth_number(1, 128)
  us = truth_number(2, 1500)
  more_us = truth_number(3, 3000)
  stays = truth_number(4, 4)
  sizes = 0
  around = .true.
  call MPI_Dims_create(ranks, 2, sizes, ierr)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, around, .false., grid, ierr)
  call MPI_Cart_shift(grid, 0, 1, beside(1), beside(2), ierr)
  call MPI_Cart_shift(grid, 1, 1, beside(3), beside(4), ierr)
  out = rank
  do step = 0, steps - 1
    call weather() ! place begin
    do side = 1, 4
      call MPI_Irecv(in(1, side), length, MPI_DOUBLE_PRECISION, beside(side), (side + 1)/2, grid, requests(side), ierr)
    end do ! place end
    do side = 1, 4
      call MPI_Isend(out(1, side), length, MPI_DOUBLE_PRECISION, beside(side), (side + 1)/2, grid, requests(4 + side), ierr)
    end do
    call MPI_Waitall(8, requests, MPI_STATUSES_IGNORE, ierr)
  end do
  call truth_end()

contains

  subroutine weather()
    if (mode == sick .and. mod(step/stays, ranks) == rank) then
      call work_us(us + more_us)
    else if (mode == balance) then
      call work_us(us + more_us/ranks)
    else
      call work_us(us)
    end if
  end subroutine
end program
