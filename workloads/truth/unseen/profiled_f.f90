! A model with five parts of physics, whose regions are timed by a small library. When a region ends the library has all ranks wait for
! each other, so that its author got times that were easy to compare. What a part costs differs by rank (there are
! clouds here, plants there), but its sum is nearly the same everywhere, and nothing is exchanged but at the end of the step. The
! fix leaves the barrier out.
!
! arguments: steps, mean work of each rank on a part (us), by how much a part differs at most (%)
! disease: needless-barrier needless-collective
! run: 15 smpi=15 args="60 1300 50"
module regions
  use truth
  implicit none
  integer, parameter :: most = 8
  character(len=12) :: names(most)
  double precision :: spent(most) = 0, entered(most) = 0

contains

  integer function region_begin(name)
    character(len=*), intent(in) :: name
    integer :: known
    region_begin = most
    do known = 1, most
      if (names(known) == name .or. names(known) == " ") then
        region_begin = known
        exit
      end if
    end do
    names(region_begin) = name
    entered(region_begin) = MPI_Wtime()
  end function

  subroutine region_end(region)
    integer, intent(in) :: region
    if (mode == sick) then
      call MPI_Barrier(MPI_COMM_WORLD, ierr) ! the place
    end if
    spent(region) = spent(region) + MPI_Wtime() - entered(region)
  end subroutine
end module

module physics
  use regions
  implicit none
  integer, parameter :: parts = 5
  character(len=12), parameter :: part_names(parts) = [character(len=12) :: "radiation", "clouds", "soil", "plants", "turbulence"]

contains

  ! Differs from part to part, by a wave over ranks whose sum over parts is nothing.
  double precision function part_us(mean_us, percent, part, step)
    double precision, intent(in) :: mean_us
    integer, intent(in) :: percent, part, step
    double precision :: wave
    wave = sin(6.2831853d0*(dble(part)/parts + dble(rank)/ranks))
    part_us = mean_us*(1 + percent/100d0*wave)*(0.985d0 + 0.03d0*chance(51, parts*step + part, rank))
  end function

  subroutine all_parts(mean_us, percent, step)
    double precision, intent(in) :: mean_us
    integer, intent(in) :: percent, step
    integer :: part, region
    do part = 1, parts
      region = region_begin(part_names(part))
      call work_us(part_us(mean_us, percent, part, step)) ! place begin
      call region_end(region) ! place end
    end do
  end subroutine

  subroutine swap_edges()
    double precision :: edge(200), halo(200)
    edge = rank
    call MPI_Sendrecv(edge, 200, MPI_DOUBLE_PRECISION, modulo(rank + 1, ranks), 0, halo, 200, MPI_DOUBLE_PRECISION, &
                      modulo(rank - 1, ranks), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, ierr)
  end subroutine
end module

program profiled_f
  use physics
  implicit none
  integer :: steps, step, percent
  double precision :: mean_us
  call truth_begin()
  names = " "
  steps = truth_number(1, 60)
  mean_us = truth_number(2, 1300)
  percent = truth_number(3, 50)
  do step = 1, steps
    call all_parts(mean_us, percent, step)
    call swap_edges()
  end do
  call truth_end()
end program
