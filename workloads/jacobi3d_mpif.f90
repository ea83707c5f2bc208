! jacobi3d_mpif: the Jacobi solver of jacobi3d_common.inc with the oldest
! binding, mpif.h. What it does, its arguments and its calls: see there.
program jacobi3d_mpif
  implicit none
  include 'mpif.h'
  integer :: cube, request(12)
  character(len=*), parameter :: flavour = 'mpif.h'
  include 'jacobi3d_common.inc'
end program jacobi3d_mpif
