! counted_calls: a Fortran program's own account of its MPI calls and messages,
! as counted_calls.h for C. Write `call counted('MPI_Send')` before a call, and
! note_send or note_receive beside each message; after MPI_Finalize, call
! write_counts. Files are written only where WORKLOAD_COUNTS names a directory.
! Not for several threads.
module counted_calls
  implicit none
  private
  public :: counted, note_send, note_receive, write_counts

  integer, parameter :: most_functions = 64, most_messages = 4096, name_length = 32
  ! In the order of their first use.
  character(len=name_length) :: functions(most_functions)
  integer :: calls(most_functions) = 0, known_functions = 0
  ! Columns: 1 sent or 2 received, peer, tag, bytes, count.
  integer(kind=8) :: messages(5, most_messages) = 0
  integer :: known_messages = 0

contains

  subroutine counted(name)
    character(len=*), intent(in) :: name
    integer :: i
    do i = 1, known_functions
      if (functions(i) == name) exit
    end do
    if (i > most_functions) error stop 'counted_calls.f90: too many functions'
    if (i > known_functions) then
      known_functions = i
      functions(i) = name
    end if
    calls(i) = calls(i) + 1
  end subroutine counted

  subroutine note_send(peer, tag, bytes)
    integer, intent(in) :: peer, tag, bytes
    call note(1, peer, tag, bytes)
  end subroutine note_send

  subroutine note_receive(peer, tag, bytes)
    integer, intent(in) :: peer, tag, bytes
    call note(2, peer, tag, bytes)
  end subroutine note_receive

  ! A peer below 0 is MPI_PROC_NULL: no message.
  subroutine note(way, peer, tag, bytes)
    integer, intent(in) :: way, peer, tag, bytes
    integer(kind=8) :: key(4)
    integer :: i
    if (peer < 0) return
    key = [way, peer, tag, bytes]
    do i = 1, known_messages
      if (all(messages(1:4, i) == key)) exit
    end do
    if (i > most_messages) error stop 'counted_calls.f90: too many kinds of message'
    if (i > known_messages) then
      known_messages = i
      messages(1:4, i) = key
    end if
    messages(5, i) = messages(5, i) + 1
  end subroutine note

  subroutine write_counts(rank)
    integer, intent(in) :: rank
    character(len=4096) :: folder
    integer :: unit, i, status
    character(len=4), parameter :: way(2) = ['send', 'recv']
    call get_environment_variable('WORKLOAD_COUNTS', folder, status=status)
    if (status /= 0) return
    unit = open_for(folder, rank, 'counts')
    do i = 1, known_functions
      write (unit, '(a, 1x, i0)') trim(functions(i)), calls(i)
    end do
    close (unit)
    if (known_messages == 0) return
    unit = open_for(folder, rank, 'messages')
    do i = 1, known_messages
      write (unit, '(a, 4(1x, i0))') way(messages(1, i)), messages(2:5, i)
    end do
    close (unit)
  end subroutine write_counts

  integer function open_for(folder, rank, ending)
    character(len=*), intent(in) :: folder, ending
    integer, intent(in) :: rank
    character(len=16) :: number
    write (number, '(i0)') rank
    open (newunit=open_for, status='replace', action='write', &
          file=trim(folder)//'/'//trim(number)//'.'//ending)
  end function open_for

end module counted_calls
