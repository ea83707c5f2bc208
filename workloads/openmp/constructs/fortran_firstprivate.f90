! fortran_firstprivate: tasks that each get a copy of a loop's variable and of an array.
! Needs: gfortran 5, flang 21
!
! 1 parallel region, 2 x 20 tasks. (Before 21, flang's tasks copy when they begin to run, not when they are created.)
program fortran_firstprivate
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: wrong = 0
  integer :: i, total, of_arrays, numbers(4)

  total = 0
  of_arrays = 0
  !$omp parallel
  !$omp single
  do i = 1, 20
    numbers = i
    !$omp task firstprivate(numbers) shared(of_arrays)
    !$omp atomic
    of_arrays = of_arrays + numbers(4)
    !$omp end task
    !$omp task firstprivate(i) shared(total)
    !$omp atomic
    total = total + i
    !$omp end task
  end do
  !$omp end single
  !$omp end parallel
  call check('sum', total, 210)
  call check('sum of arrays', of_arrays, 210)

  call checked('fortran_firstprivate', 1, 40)
contains
  include 'fortran_check.inc'
end program fortran_firstprivate
