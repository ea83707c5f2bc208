! jacobi3d_f08: the Jacobi solver of jacobi3d_common.inc with the module
! mpi_f08. What it does, its arguments and its calls: see there.
program jacobi3d_f08
  use mpi_f08
  implicit none
  type(MPI_Comm) :: cube
  type(MPI_Request) :: request(12)
  character(len=*), parameter :: flavour = 'use mpi_f08'
  include 'jacobi3d_common.inc'
end program jacobi3d_f08
