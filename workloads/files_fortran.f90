! files_fortran: writes a file of its own on each rank and reads it back, by Fortran's own statements.
!
!     files_fortran
!
! Each rank writes 100 records of 1,000 numbers, 800,000 bytes without a form, to files.RANK.fortran, and 100 lines of
! text of 11 bytes each to files.RANK.text; it reads the numbers back and deletes both.
!
! How many calls of `write` and `read` that takes is the business of Fortran's library; their bytes are not: 801,100 out
! and 800,000 in. Files are opened three times and closed as often.
program files_fortran
  use mpi
  implicit none
  integer, parameter :: numbers = 1000, records = 100
  integer :: rank, ierr, unit, i, wrong, all_wrong
  double precision :: out(numbers), in(numbers)
  character(len=32) :: name

  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  wrong = 0
  write (name, '(a,i0)') 'files.', rank
  open (newunit=unit, file=trim(name)//'.fortran', access='stream', form='unformatted', status='replace')
  do i = 1, records
    out = rank + i
    write (unit) out
  end do
  close (unit)
  open (newunit=unit, file=trim(name)//'.fortran', access='stream', form='unformatted', status='old')
  do i = 1, records
    read (unit) in
    if (any(in /= rank + i)) wrong = wrong + 1
  end do
  close (unit, status='delete')
  open (newunit=unit, file=trim(name)//'.text', status='replace')
  do i = 1, records
    write (unit, '(i10)') i
  end do
  close (unit, status='delete')
  call MPI_Allreduce(wrong, all_wrong, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierr)
  if (rank == 0) print '(a,i0,a)', 'files_fortran: ', all_wrong, ' wrong'
  call MPI_Finalize(ierr)
  if (all_wrong /= 0) error stop
end program files_fortran
