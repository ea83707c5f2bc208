! fortran_threadprivate: variables of threads, of a module and of a common block, that outlive parallel regions.
!
! 2 parallel regions, no tasks.
module fortran_threadprivate_own
  implicit none
  integer :: own = 5
  !$omp threadprivate(own)
end module fortran_threadprivate_own

program fortran_threadprivate
  use, intrinsic :: iso_fortran_env, only: error_unit
  use fortran_threadprivate_own, only: own
  use omp_lib, only: omp_get_thread_num, omp_set_dynamic
  implicit none
  integer :: wrong = 0
  integer :: shared_one, threads, copied, kept
  common /block/ shared_one
  !$omp threadprivate(/block/)

  call omp_set_dynamic(.false.)
  own = 8
  shared_one = 9
  threads = 0
  copied = 0
  kept = 0
  !$omp parallel copyin(own, /block/) reduction(+: threads, copied)
  threads = threads + 1
  if (own == 8 .and. shared_one == 9) copied = copied + 1
  own = 100 + omp_get_thread_num()
  !$omp end parallel
  call check('threads that got a copy', copied, threads)
  !$omp parallel reduction(+: kept)
  if (own == 100 + omp_get_thread_num()) kept = kept + 1
  !$omp end parallel
  call check('threads that kept theirs', kept, threads)

  call checked('fortran_threadprivate', 2, 0)
contains
  include 'fortran_check.inc'
end program fortran_threadprivate
