! fortran_workshare: array statements whose parts go to the threads of a team.
!
! 2 parallel regions, no tasks.
program fortran_workshare
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, parameter :: n = 1000
  integer :: wrong = 0
  integer :: i, first(n), second(n), third(n)

  first = [(i, i = 1, n)]
  !$omp parallel
  !$omp workshare
  second = 2 * first
  third = second + first
  where (mod(third, 2) == 0) third = 0
  !$omp end workshare
  !$omp end parallel
  call check('sum', sum(third), 3 * 250000)

  !$omp parallel workshare
  first(:) = third(n:1:-1)
  second(:) = first + 1
  !$omp end parallel workshare
  call check('sum of the second', sum(second), 3 * 250000 + n)
  call check('the last', first(n), 3)

  call checked('fortran_workshare', 2, 0)
contains
  include 'fortran_check.inc'
end program fortran_workshare
