! Stages of a pipeline, a rank each: an image goes through all of them, in strips. Strips are too few, so the last stages
! have nothing to do for long.
!
! arguments: images, work of a stage on an image (us), strips, strips of the fixed run
! disease: pipeline-fill
! run: 6 smpi=6 args="30 9000 2 18"
! run: 12 smpi=12 args="25 12000 3 36"
! run: 4 real=4 args="20 30000 2 12"
program stages_f
  use truth
  implicit none
  integer, parameter :: length = 500
  integer :: images, image, strips, strip
  double precision :: us, x(length), mine, all
  call truth_begin()
  images = truth_number(1, 30)
  us = truth_number(2, 9000)
  strips = truth_number(3, 2)
  if (mode == fix) strips = truth_number(4, 18)
  x = rank
  mine = 1
  do image = 1, images
    do strip = 1, strips
      if (rank > 0) then ! place begin
        call MPI_Recv(x, length, MPI_DOUBLE_PRECISION, rank - 1, strip, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
      end if
      call work_us(us/strips)
      if (rank < ranks - 1) then
        call MPI_Send(x, length, MPI_DOUBLE_PRECISION, rank + 1, strip, MPI_COMM_WORLD, ierr)
      end if ! place end
    end do
    ! The next image depends on what became of this one.
    call MPI_Bcast(mine, 1, MPI_DOUBLE_PRECISION, ranks - 1, MPI_COMM_WORLD, ierr)
  end do
  call MPI_Reduce(mine, all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, 0, MPI_COMM_WORLD, ierr)
  call truth_end()
end program
