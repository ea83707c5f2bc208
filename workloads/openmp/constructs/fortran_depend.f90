! fortran_depend: tasks in order by depend: a chain, and two that read at once.
!
! 1 parallel region, 6 tasks.
program fortran_depend
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer :: wrong = 0
  integer :: value, first, second, both

  value = 0
  first = 0
  second = 0
  both = 0
  !$omp parallel
  !$omp single
  !$omp task depend(out: value) shared(value)
  value = 3
  !$omp end task
  !$omp task depend(inout: value) shared(value)
  value = value * 5 + 1
  !$omp end task
  !$omp task depend(in: value) depend(out: first) shared(value, first)
  first = value + 1
  !$omp end task
  !$omp task depend(in: value) depend(out: second) shared(value, second)
  second = value + 2
  !$omp end task
  !$omp task depend(in: first, second) depend(out: both) shared(first, second, both)
  both = 100 * first + second
  !$omp end task
  !$omp task depend(inout: value) shared(value)
  value = 0
  !$omp end task
  !$omp end single
  !$omp end parallel
  call check('what both read', both, 1718)
  call check('value at last', value, 0)

  call checked('fortran_depend', 1, 6)
contains
  include 'fortran_check.inc'
end program fortran_depend
