! The same as truth.h for Fortran programs.
module truth
  use mpi
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: sick = 0, fix = 1, balance = 2
  integer :: mode, rank, ranks, ierr
  double precision :: began

  interface
    subroutine work_us(us) bind(c, name="truth_work_us")
      import
      real(c_double), value :: us
    end subroutine
    function chance(seed, step, which) bind(c, name="truth_chance") result(drawn)
      import
      integer(c_int), value :: seed, step, which
      real(c_double) :: drawn
    end function
  end interface

contains

  subroutine truth_begin()
    character(len=16) :: word
    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
    call get_command_argument(1, word)
    select case (word)
    case ("fix")
      mode = fix
    case ("balance")
      mode = balance
    case default
      mode = sick
    end select
    began = MPI_Wtime()
  end subroutine

  ! The number that follows the mode, or the one after it, and so on.
  integer function truth_number(which, otherwise)
    integer, intent(in) :: which, otherwise
    character(len=16) :: word
    truth_number = otherwise
    if (command_argument_count() > which) then
      call get_command_argument(which + 1, word)
      read (word, *) truth_number
    end if
  end function

  subroutine truth_end()
    double precision :: took
    ! Apart from what prints it: under SimGrid other ranks run meanwhile, and find the output locked.
    took = MPI_Wtime() - began
    print '(a,f0.9)', "loop ", took
    flush (6)
    call MPI_Finalize(ierr)
  end subroutine
end module
