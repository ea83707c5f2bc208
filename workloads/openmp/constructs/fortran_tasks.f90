! fortran_tasks: tasks in a recursion, a taskgroup, an undeferred task.
!
! 2 parallel regions; 2 (fib(13) - 1) = 464 tasks for fib(12), then 2 + 1.
module fortran_tasks_recursion
  implicit none
contains
  recursive integer function fib(n) result(value)
    integer, intent(in) :: n
    integer :: a, b
    if (n < 2) then
      value = n
      return
    end if
    !$omp task shared(a) firstprivate(n)
    a = fib(n - 1)
    !$omp end task
    !$omp task shared(b) firstprivate(n)
    b = fib(n - 2)
    !$omp end task
    !$omp taskwait
    value = a + b
  end function fib
end module fortran_tasks_recursion

program fortran_tasks
  use, intrinsic :: iso_fortran_env, only: error_unit
  use fortran_tasks_recursion, only: fib
  implicit none
  integer :: wrong = 0
  integer :: value, grouped, seen

  value = 0
  !$omp parallel
  !$omp single
  value = fib(12)
  !$omp end single
  !$omp end parallel
  call check('fib', value, 144)

  grouped = 0
  seen = 0
  !$omp parallel
  !$omp single
  !$omp taskgroup
  !$omp task shared(grouped)
  !$omp atomic
  grouped = grouped + 1
  !$omp end task
  !$omp task shared(grouped)
  !$omp atomic
  grouped = grouped + 20
  !$omp end task
  !$omp end taskgroup
  seen = grouped
  !$omp task if(.false.) shared(seen)
  seen = seen + 1
  !$omp end task
  seen = seen * 2
  !$omp end single
  !$omp end parallel
  call check('sum of a taskgroup', seen, 44)

  call checked('fortran_tasks', 2, 464 + 3)
contains
  include 'fortran_check.inc'
end program fortran_tasks
