! Conjugate gradients on nodes whose system has not been kept quiet: now and then a rank is interrupted for longer than its
! work takes, by chance any one, and there is a dot product behind each half of an iteration, so that all wait for it.
!
! arguments: iterations, work of each rank on each half (us), an interruption (us), how many halves come on one of them, seed
! disease: system-noise random-imbalance moving-imbalance
! run: 16 smpi=16 args="120 1500 1800 60 seed"
! run: 4 real=4 args="80 3000 12000 16 seed"
module krylov
  use truth
  implicit none
  integer :: halves_done = 0, apart, seed
  double precision :: interruption_us

contains

  double precision function dot(mine)
    double precision, intent(in) :: mine
    call MPI_Allreduce(mine, dot, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD, ierr) ! the place
  end function

  ! Work, and what comes in between.
  subroutine compute(us)
    double precision, intent(in) :: us
    double precision :: drawn
    halves_done = halves_done + 1
    drawn = chance(seed, halves_done, rank)
    call work_us(us) ! place begin
    if (mode == sick .and. drawn < 1d0/apart) call work_us(interruption_us) ! place end
  end subroutine

  subroutine iterate(us)
    double precision, intent(in) :: us
    double precision :: alpha, beta
    call compute(us) ! place begin
    alpha = dot(1d0)
    call compute(us)
    beta = dot(1d0/alpha) ! place end
    if (beta < 0) print *, "not positive"
  end subroutine
end module

program noise_f
  use krylov
  implicit none
  integer :: iterations, iteration
  double precision :: us
  call truth_begin()
  iterations = truth_number(1, 120)
  us = truth_number(2, 1500)
  interruption_us = truth_number(3, 2500)
  apart = truth_number(4, 40)
  seed = truth_number(5, 1)
  do iteration = 1, iterations
    call iterate(us)
  end do
  call truth_end()
end program
