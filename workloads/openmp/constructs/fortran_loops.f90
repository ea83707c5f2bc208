! fortran_loops: loops in several schedules, sums, collapse, lastprivate and ordered parts.
!
! 6 parallel regions, no tasks.
program fortran_loops
  use, intrinsic :: iso_fortran_env, only: error_unit
  implicit none
  integer, parameter :: n = 1000
  integer :: wrong = 0
  integer :: i, j, total, largest, last, next, late, digit(10), times(n)

  times = 0
  !$omp parallel do schedule(static)
  do i = 1, n
    times(i) = times(i) + 1
  end do
  !$omp end parallel do
  !$omp parallel do schedule(dynamic, 7)
  do i = n, 1, -1
    times(i) = times(i) + 1
  end do
  !$omp end parallel do
  !$omp parallel
  !$omp do schedule(guided)
  do i = 1, n
    times(i) = times(i) + 1
  end do
  !$omp end do
  !$omp do schedule(runtime)
  do i = 1, n
    times(i) = times(i) + 1
  end do
  !$omp end do nowait
  !$omp end parallel
  call check('iterations', minval(times) * 10 + maxval(times), 44)

  total = 0
  largest = 0
  !$omp parallel do reduction(+: total) reduction(max: largest)
  do i = 1, n
    total = total + i
    largest = max(largest, mod(i * 37, 1000))
  end do
  !$omp end parallel do
  call check('sum', total, 500500)
  call check('largest', largest, 999)

  digit = 0
  last = 0
  !$omp parallel do collapse(2) reduction(+: digit) lastprivate(last)
  do i = 0, 9
    do j = 0, 9
      digit(j + 1) = digit(j + 1) + i
      last = 10 * i + j
    end do
  end do
  !$omp end parallel do
  call check('sums of an array', minval(digit) + maxval(digit), 90)
  call check('last', last, 99)

  next = 1
  late = 0
  !$omp parallel do ordered schedule(dynamic)
  do i = 1, 60
    !$omp ordered
    if (next /= i) late = late + 1
    next = next + 1
    !$omp end ordered
  end do
  !$omp end parallel do
  call check('parts out of order', late + 61 - next, 0)

  call checked('fortran_loops', 6, 0)
contains
  include 'fortran_check.inc'
end program fortran_loops
