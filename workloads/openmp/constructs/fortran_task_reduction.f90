! fortran_task_reduction: a sum of the tasks of a taskgroup.
! Needs: gfortran 9, flang none
!
! 1 parallel region, 30 tasks.
program fortran_task_reduction
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: wrong = 0
  integer :: i, total

  total = 0
  !$omp parallel
  !$omp single
  !$omp taskgroup task_reduction(+: total)
  do i = 1, 30
    !$omp task in_reduction(+: total) firstprivate(i)
    total = total + i
    !$omp end task
  end do
  !$omp end taskgroup
  !$omp end single
  !$omp end parallel
  call check('sum', total, 465)

  call checked('fortran_task_reduction', 1, 30)
contains
  include 'fortran_check.inc'
end program fortran_task_reduction
