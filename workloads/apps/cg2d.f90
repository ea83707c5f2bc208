! cg2d: conjugate gradients on a sparse matrix that is cut in both dimensions,
! with sums along rows of ranks and exchanges across the diagonal, by hand.
!
!     cg2d [N=512] [ITERATIONS=15]
!
! Ranks: a power of two. They are R rows and C columns, C = R or C = 2 R, and C
! must divide N. Rank (i, j) = i x C + j has the rows of block i (N/R rows) and
! the columns of block j (N/C columns) of the matrix, and block j of all vectors.
!
! Calls of each rank:
!     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Finalize: 1 each
!     MPI_Irecv, MPI_Send, MPI_Wait: as often as there are messages:
!   for each product (ITERATIONS of them)
!     tag 1  log2(C) times 8 x N/R bytes: sums along the row of ranks, with the
!            rank whose column differs in one bit
!     tag 2  8 x N/C bytes: the exchange, with rank (j/2, 2 i + mod(j, 2)), or
!            (j, i) where C = R; a rank does not send to itself
!   for each of 2 x ITERATIONS + 1 scalar products, and two at the end
!     tag 3  log2(C) times 8 bytes, along the row
!
! The right side is made from the solution that must come out. All eigenvalues of
! the matrix are between 1 and 41, so the error is no larger than the residual,
! and falls at least as fast as theory says: both checked.
program cg2d
  use counted_calls
  implicit none
  include 'mpif.h'

  integer, parameter :: real_bytes = 8, sum_tag = 1, exchange_tag = 2, scalar_tag = 3
  ! How far from the diagonal a row has entries, on both sides (periodic).
  integer, parameter :: far(5) = [1, 7, 30, 101, 211]
  integer :: ierr, rank, ranks, n, iterations, status
  integer :: rows, columns, my_row, my_column, high, wide, partner, half
  ! The block of the matrix: entries of each row, one row after the other.
  integer, allocatable :: first(:), column(:)
  double precision, allocatable :: entry(:)
  double precision, allocatable :: x(:), residual(:), p(:), product(:), w(:), other(:)
  double precision :: rho, error, left
  logical :: wrong

  call counted('MPI_Init')
  call MPI_Init(ierr)
  call counted('MPI_Comm_rank')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call counted('MPI_Comm_size')
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = argument(1, 512)
  iterations = argument(2, 15)

  call arrange(status)
  wrong = .false.
  if (status == 0) then
    call make_matrix
    call make_right_side
    call solve
    error = sqrt(squared(x - solution()))
    left = sqrt(rho)
    wrong = .not. (error <= (1 + 1d-6)*left + 1d-9 .and. error <= promised(sqrt(squared(solution()))))
    if (rank == 0) then
      if (wrong) write (0, '(a, 2es10.3)') 'cg2d: residual, error: ', left, error
      print '(a, i0, a, i0, a, i0, a, i0, a, a)', 'cg2d ', n, ' rows on ', rows, 'x', columns, &
        ' ranks, ', iterations, ' iterations: ', merge('WRONG ', 'solved', wrong)
    end if
  else if (rank == 0) then
    write (0, '(a)') 'cg2d: needs a power of two ranks, and N above 430 that their columns divide'
  end if
  call counted('MPI_Finalize')
  call MPI_Finalize(ierr)
  call write_counts(rank)
  if (status /= 0) stop 2
  if (wrong) stop 1

contains

  integer function argument(number, default)
    integer, intent(in) :: number, default
    character(len=32) :: text
    argument = default
    if (command_argument_count() < number) return
    call get_command_argument(number, text)
    read (text, *) argument
  end function argument

  ! Which block is ours, and with whom blocks of vectors are exchanged.
  subroutine arrange(status)
    integer, intent(out) :: status
    rows = 1
    columns = 1
    do while (rows*columns < ranks)
      if (columns > rows) then
        rows = 2*rows
      else
        columns = 2*columns
      end if
    end do
    status = merge(0, 1, rows*columns == ranks .and. mod(n, columns) == 0 .and. n > 2*far(size(far)) + 8)
    if (status /= 0) return
    my_row = rank/columns
    my_column = mod(rank, columns)
    high = n/rows
    wide = n/columns
    half = 0
    if (columns == rows) then
      partner = my_column*columns + my_row
    else
      partner = my_column/2*columns + 2*my_row + mod(my_column, 2)
      half = mod(my_column, 2)*wide
    end if
    allocate (x(wide), residual(wide), p(wide), product(wide), w(high), other(high))
  end subroutine arrange

  ! An entry beside the diagonal, the same on both sides of it.
  double precision function beside(i, j)
    integer, intent(in) :: i, j
    beside = -(1 + mod(7*(i + j) + 3*abs(i - j), 11)/10d0)
  end function beside

  ! All entries of a row: columns (from 0) and values. The diagonal outweighs the others.
  subroutine make_row(i, columns_, values)
    integer, intent(in) :: i
    integer, intent(out) :: columns_(2*size(far) + 1)
    double precision, intent(out) :: values(2*size(far) + 1)
    integer :: k
    do k = 1, size(far)
      columns_(2*k - 1) = modulo(i - far(k), n)
      columns_(2*k) = modulo(i + far(k), n)
      values(2*k - 1) = beside(i, columns_(2*k - 1))
      values(2*k) = beside(i, columns_(2*k))
    end do
    columns_(2*size(far) + 1) = i
    values(2*size(far) + 1) = 1 - sum(values(:2*size(far)))
  end subroutine make_row

  subroutine make_matrix
    integer :: i, k, found, columns_(2*size(far) + 1)
    double precision :: values(2*size(far) + 1)
    allocate (first(high + 1), column(high*size(values)), entry(high*size(values)))
    found = 0
    do i = 1, high
      first(i) = found + 1
      call make_row(my_row*high + i - 1, columns_, values)
      do k = 1, size(values)
        if (columns_(k)/wide /= my_column) cycle
        found = found + 1
        column(found) = columns_(k) - my_column*wide + 1
        entry(found) = values(k)
      end do
    end do
    first(high + 1) = found + 1
  end subroutine make_matrix

  double precision function solution_at(i)
    integer, intent(in) :: i
    solution_at = 1 + mod(i, 7) - 0.5d0*mod(i, 3)
  end function solution_at

  function solution()
    double precision :: solution(wide)
    integer :: i
    solution = [(solution_at(my_column*wide + i), i=0, wide - 1)]
  end function solution

  ! From whole rows, without the products whose communication is to be checked.
  subroutine make_right_side
    integer :: i, k, columns_(2*size(far) + 1)
    double precision :: values(2*size(far) + 1)
    do i = 1, wide
      call make_row(my_column*wide + i - 1, columns_, values)
      residual(i) = 0
      do k = 1, size(values)
        residual(i) = residual(i) + values(k)*solution_at(columns_(k))
      end do
    end do
  end subroutine make_right_side

  ! Sends and receives as much with the same rank.
  subroutine trade(out, in, count, with, tag)
    integer, intent(in) :: count, with, tag
    double precision, intent(in) :: out(count)
    double precision, intent(out) :: in(count)
    integer :: request
    call counted('MPI_Irecv')
    call MPI_Irecv(in, count, MPI_DOUBLE_PRECISION, with, tag, MPI_COMM_WORLD, request, ierr)
    call note_receive(with, tag, real_bytes*count)
    call counted('MPI_Send')
    call MPI_Send(out, count, MPI_DOUBLE_PRECISION, with, tag, MPI_COMM_WORLD, ierr)
    call note_send(with, tag, real_bytes*count)
    call counted('MPI_Wait')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine trade

  ! Adds up over the ranks of a row, which all get the same bits.
  subroutine sum_along_row(values, scratch, tag)
    double precision, intent(inout) :: values(:)
    double precision, intent(out) :: scratch(:)
    integer, intent(in) :: tag
    integer :: bit
    bit = 1
    do while (bit < columns)
      call trade(values, scratch, size(values), my_row*columns + ieor(my_column, bit), tag)
      values = values + scratch
      bit = 2*bit
    end do
  end subroutine sum_along_row

  subroutine multiply
    integer :: i, k
    do i = 1, high
      w(i) = 0
      do k = first(i), first(i + 1) - 1
        w(i) = w(i) + entry(k)*p(column(k))
      end do
    end do
    call sum_along_row(w, other, sum_tag)
    if (partner == rank) then
      product = w(half + 1:half + wide)
    else
      call trade(w(half + 1:half + wide), product, wide, partner, exchange_tag)
    end if
  end subroutine multiply

  double precision function dot(a, b)
    double precision, intent(in) :: a(wide), b(wide)
    double precision :: sums(1), scratch(1)
    sums(1) = sum(a*b)
    call sum_along_row(sums, scratch, scalar_tag)
    dot = sums(1)
  end function dot

  double precision function squared(a)
    double precision, intent(in) :: a(wide)
    squared = dot(a, a)
  end function squared

  ! The largest error that conjugate gradients can leave of the first one.
  double precision function promised(first_error)
    double precision, intent(in) :: first_error
    double precision, parameter :: condition = sqrt(41d0)
    promised = first_error*(2*condition*((condition - 1)/(condition + 1))**iterations + 1d-10)
  end function promised

  subroutine solve
    double precision :: before, energy
    integer :: iteration
    x = 0
    p = residual
    rho = squared(residual)
    do iteration = 1, iterations
      call multiply
      energy = dot(p, product)
      if (energy > 0) then
        x = x + rho/energy*p
        residual = residual - rho/energy*product
      end if
      before = rho
      rho = squared(residual)
      if (before > 0) p = residual + rho/before*p
    end do
  end subroutine solve

end program cg2d
