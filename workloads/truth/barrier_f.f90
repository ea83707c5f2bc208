! Steps of random length with a barrier behind each "to be sure", though neighbours exchange only every so many steps. In
! between short steps make up for long ones, unless a barrier makes everybody wait for the longest each time.
!
! arguments: steps, least work of a step (us), what chance adds at most (us), steps between exchanges, seed
! disease: needless-barrier
! run: 12 smpi=12 args="160 1000 3000 20 seed"
! run: 48 smpi=48 args="96 1000 2000 16 seed"
! run: 4 real=4 args="80 2000 8000 20 seed"
program barrier_f
  use truth
  implicit none
  integer, parameter :: length = 100
  integer :: steps, step, seed, between, right, left
  double precision :: us, more_us, drawn, out(length), in(length)
  call truth_begin()
  steps = truth_number(1, 160)
  us = truth_number(2, 1000)
  more_us = truth_number(3, 3000)
  between = truth_number(4, 20)
  seed = truth_number(5, 1)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = rank
  do step = 0, steps - 1
    drawn = chance(seed, step/2, rank)
    if (mod(step, 2) == 1) drawn = 1 - drawn
    call work_us(us + more_us*drawn) ! place begin
    if (mode == sick) call MPI_Barrier(MPI_COMM_WORLD, ierr) ! place end
    if (mod(step, between) == between - 1) then
      call MPI_Sendrecv(out, length, MPI_DOUBLE_PRECISION, right, 1, in, length, MPI_DOUBLE_PRECISION, left, 1, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      call MPI_Sendrecv(out, length, MPI_DOUBLE_PRECISION, left, 2, in, length, MPI_DOUBLE_PRECISION, right, 2, &
                        MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
    end if
  end do
  call truth_end()
end program
