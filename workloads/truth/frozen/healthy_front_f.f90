! Nothing is wrong: sweeps along a line of ranks, in fine blocks, each of which goes on to the next rank as soon as it is done.
! The next sweep follows at once, so only the first one fills the line, which takes a few blocks of a thousand.
!
! arguments: sweeps, blocks of a sweep, work of each rank on a block (us), doubles of a plane
! run: 8 smpi=8 args="30 30 1000 100"
! run: 4 real=4 args="20 12 5000 100"
module front
  use truth
  implicit none
  integer :: length
  double precision, allocatable :: plane(:)

contains

  subroutine take_plane()
    if (rank == 0) return
    call MPI_Recv(plane, length, MPI_DOUBLE_PRECISION, rank - 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine

  subroutine give_plane()
    if (rank == ranks - 1) return
    call MPI_Send(plane, length, MPI_DOUBLE_PRECISION, rank + 1, 3, MPI_COMM_WORLD, ierr)
  end subroutine

  subroutine sweep(blocks, us)
    integer, intent(in) :: blocks
    double precision, intent(in) :: us
    integer :: block
    do block = 1, blocks
      call take_plane()
      call work_us(us)
      call give_plane()
    end do
  end subroutine
end module

program healthy_front_f
  use front
  implicit none
  integer :: sweeps, number, blocks
  double precision :: us
  call truth_begin()
  sweeps = truth_number(1, 30)
  blocks = truth_number(2, 30)
  us = truth_number(3, 1000)
  length = truth_number(4, 100)
  allocate (plane(length))
  plane = 0
  do number = 1, sweeps
    call sweep(blocks, us)
  end do
  call truth_end()
end program
