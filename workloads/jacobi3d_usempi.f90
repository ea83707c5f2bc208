! jacobi3d_usempi: the Jacobi solver of jacobi3d_common.inc with the module
! mpi. What it does, its arguments and its calls: see there.
program jacobi3d_usempi
  use mpi
  implicit none
  integer :: cube, request(12)
  character(len=*), parameter :: flavour = 'use mpi'
  include 'jacobi3d_common.inc'
end program jacobi3d_usempi
