! fortran_sections: sections, single with copyprivate, master, critical, atomic, barriers and locks.
!
! 2 parallel regions, no tasks.
program fortran_sections
  use, intrinsic :: iso_fortran_env, only: error_unit
  use omp_lib, only: omp_lock_kind, omp_init_lock, omp_set_lock, omp_unset_lock, omp_destroy_lock
  implicit none
  integer :: wrong = 0
  integer :: first, second, third, threads, agreed, key, locked, named, masters
  integer(omp_lock_kind) :: lock

  first = 0
  second = 0
  third = 0
  !$omp parallel sections
  !$omp section
  first = 1
  !$omp section
  second = 2
  !$omp section
  third = 3
  !$omp end parallel sections
  call check('sections', first * 100 + second * 10 + third, 123)

  threads = 0
  agreed = 0
  locked = 0
  named = 0
  masters = 0
  call omp_init_lock(lock)
  !$omp parallel private(key)
  key = 0
  !$omp single
  key = 7
  !$omp end single copyprivate(key)
  !$omp atomic
  threads = threads + 1
  if (key == 7) then
    !$omp critical
    agreed = agreed + 1
    !$omp end critical
  end if
  !$omp critical (of_a_name)
  named = named + 1
  !$omp end critical (of_a_name)
  call omp_set_lock(lock)
  locked = locked + 1
  call omp_unset_lock(lock)
  !$omp barrier
  !$omp master
  masters = masters + 1
  !$omp end master
  !$omp end parallel
  call omp_destroy_lock(lock)
  call check('threads that got what one read', agreed, threads)
  call check('critical', named, threads)
  call check('lock', locked, threads)
  call check('masters', masters, 1)

  call checked('fortran_sections', 2, 0)
contains
  include 'fortran_check.inc'
end program fortran_sections
