! Boundary data just above the size up to which sends do not wait, in a ring in which everybody sends to the right by a
! plain send but the last, which receives first: the ring unwinds rank by rank. In halves nobody waits.
!
! arguments: steps, work of each rank (us), bytes
! disease: protocol-cliff pipeline-fill late-receiver
! run: 8-70kB smpi=8 args="40 1000 70000"
! run: 24-66kB smpi=24 args="30 2000 66000"
program cliff_f
  use truth
  implicit none
  integer :: steps, step, bytes, pieces, piece, right, left, half
  double precision :: us
  character, allocatable :: data(:)
  call truth_begin()
  steps = truth_number(1, 40)
  us = truth_number(2, 1000)
  bytes = truth_number(3, 70000)
  allocate (data(bytes))
  data = 'x'
  pieces = 1
  if (mode == fix) pieces = 2
  piece = bytes/pieces
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  do step = 1, steps
    call work_us(us)
    if (rank == ranks - 1) call take()
    do half = 1, pieces
      call MPI_Send(data, piece, MPI_CHARACTER, right, 1, MPI_COMM_WORLD, ierr) ! the place
    end do
    if (rank < ranks - 1) call take()
  end do
  call truth_end()

contains

  subroutine take()
    integer :: part
    do part = 1, pieces
      call MPI_Recv(data, piece, MPI_CHARACTER, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr) ! the place
    end do
  end subroutine
end program
