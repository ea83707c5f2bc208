! fortran_taskloop: taskloops, one with a sum.
! Needs: gfortran 7, flang none
!
! 1 parallel region, 8 + 5 tasks (num_tasks).
program fortran_taskloop
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: wrong = 0
  integer :: i, total, values(100)

  total = 0
  !$omp parallel
  !$omp single
  !$omp taskloop num_tasks(8) shared(values)
  do i = 1, 100
    values(i) = i
  end do
  !$omp end taskloop
  !$omp taskloop num_tasks(5) shared(values) reduction(+: total)
  do i = 1, 100
    total = total + values(i)
  end do
  !$omp end taskloop
  !$omp end single
  !$omp end parallel
  call check('sum', total, 5050)

  call checked('fortran_taskloop', 1, 13)
contains
  include 'fortran_check.inc'
end program fortran_taskloop
