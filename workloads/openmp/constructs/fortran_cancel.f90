! fortran_cancel: a search that is cancelled when one thread has found. Run with OMP_CANCELLATION=true.
! Needs: gfortran 5, flang none
!
! 1 parallel region, no tasks.
program fortran_cancel
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: wrong = 0
  integer :: i, found

  found = 0
  !$omp parallel
  !$omp do schedule(dynamic)
  do i = 1, 1000
    !$omp cancellation point do
    if (i * i == 2401) then
      !$omp atomic write
      found = i
      !$omp cancel do
    end if
  end do
  !$omp end do
  !$omp end parallel
  call check('found', found, 49)

  call checked('fortran_cancel', 1, 0)
contains
  include 'fortran_check.inc'
end program fortran_cancel
