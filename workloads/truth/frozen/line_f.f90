! A line of ranks: each exchanges with its left neighbour, then with its right one, by a call that sends and receives. The
! second rank can exchange with the third only when it has done so with the first, the third with the fourth only after that,
! and so on to the end of the line, where everybody adds up. The fix has all four messages under way at the same time.
!
! arguments: steps, work of each rank (us), doubles of a halo
! disease: wrong-order pipeline-fill late-receiver late-sender
! run: 20 smpi=20 args="60 5000 6000"
module halo
  use truth
  implicit none
  integer :: length, left, right
  double precision, allocatable :: edges(:, :), halos(:, :)

contains

  subroutine make_halo(doubles)
    integer, intent(in) :: doubles
    length = doubles
    left = MPI_PROC_NULL
    right = MPI_PROC_NULL
    if (rank > 0) left = rank - 1
    if (rank < ranks - 1) right = rank + 1
    allocate (edges(length, 2), halos(length, 2))
    edges = rank
  end subroutine

  subroutine exchange_with(neighbour, side)
    integer, intent(in) :: neighbour, side
    call MPI_Sendrecv(edges(:, side), length, MPI_DOUBLE_PRECISION, neighbour, 1, & ! place begin
                      halos(:, side), length, MPI_DOUBLE_PRECISION, neighbour, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE, ierr) ! place end
  end subroutine

  subroutine one_by_one()
    call exchange_with(left, 1) ! place begin
    call exchange_with(right, 2) ! place end
  end subroutine

  subroutine at_once()
    integer :: side, neighbours(2), requests(4)
    neighbours = [left, right]
    do side = 1, 2
      call MPI_Irecv(halos(:, side), length, MPI_DOUBLE_PRECISION, neighbours(side), 1, MPI_COMM_WORLD, requests(side), ierr)
      call MPI_Isend(edges(:, side), length, MPI_DOUBLE_PRECISION, neighbours(side), 1, MPI_COMM_WORLD, requests(2 + side), ierr)
    end do
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierr)
  end subroutine
end module

program line_f
  use halo
  implicit none
  integer :: steps, step
  double precision :: us, mine, all
  call truth_begin()
  steps = truth_number(1, 60)
  us = truth_number(2, 2500)
  call make_halo(truth_number(3, 6000))
  mine = 1
  do step = 1, steps
    call work_us(us)
    if (mode == sick) then
      call one_by_one()
    else
      call at_once()
    end if
    call MPI_Allreduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr)
  end do
  call truth_end()
end program
