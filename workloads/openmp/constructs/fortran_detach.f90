! fortran_detach: a task that is complete when another one says so.
! Needs: gfortran 11, flang none
!
! 1 parallel region, 2 tasks.
program fortran_detach
  use, intrinsic :: iso_fortran_env, only: error_unit
  use omp_lib, only: omp_event_handle_kind, omp_fulfill_event
  implicit none
  integer :: wrong = 0
  integer :: value
  integer(omp_event_handle_kind) :: event

  value = 0
  !$omp parallel
  !$omp single
  !$omp task detach(event) shared(value)
  !$omp atomic
  value = value + 1
  !$omp end task
  !$omp task firstprivate(event) shared(value)
  !$omp atomic
  value = value + 10
  call omp_fulfill_event(event)
  !$omp end task
  !$omp taskwait
  value = value * 2
  !$omp end single
  !$omp end parallel
  call check('value', value, 22)

  call checked('fortran_detach', 1, 2)
contains
  include 'fortran_check.inc'
end program fortran_detach
