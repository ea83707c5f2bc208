! fortran_depend_grid: tasks in order by depend on elements of an array.
! Needs: gfortran 5, flang none
!
! 1 parallel region, 36 tasks.
program fortran_depend_grid
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, parameter :: n = 6
  integer :: wrong = 0
  integer :: i, j, ways(0:n, 0:n)

  ways = 0
  ways(0, 1) = 1
  !$omp parallel
  !$omp single
  do j = 1, n
    do i = 1, n
      !$omp task depend(in: ways(i - 1, j), ways(i, j - 1)) depend(out: ways(i, j)) firstprivate(i, j) shared(ways)
      ways(i, j) = ways(i - 1, j) + ways(i, j - 1)
      !$omp end task
    end do
  end do
  !$omp end single
  !$omp end parallel
  call check('ways', ways(n, n), 252)

  call checked('fortran_depend_grid', 1, n * n)
contains
  include 'fortran_check.inc'
end program fortran_depend_grid
