! ssor: symmetric successive over-relaxation, whose sweeps run through the ranks
! as a wave: many small messages, each rank one plane behind the one before.
!
!     ssor [N=8] [PLANES=12] [ITERATIONS=8]
!
! Ranks: any; a grid of P x Q, each with N x N lines of PLANES points. In the lower
! sweep a rank waits, plane by plane, for the edges from below along both
! dimensions and sends its own above; the upper sweep runs back.
!
! Calls of each rank:
!     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Dims_create, MPI_Cart_create,
!     MPI_Comm_free, MPI_Finalize: 1 each, MPI_Cart_shift 2
!     MPI_Allreduce ITERATIONS + 2 (16 bytes, MAX)
!     with each of up to four neighbours (none where the box ends):
!   sweeps     MPI_Recv PLANES x ITERATIONS and MPI_Send as often: 8 x N bytes,
!              tag 1 in the lower, 2 in the upper sweep
!   residuals  MPI_Irecv, MPI_Send, MPI_Wait ITERATIONS + 1 each:
!              8 x N x PLANES bytes, tag 3 upwards, 4 downwards
!
! The right side is made from the solution that must come out. The operator
! outweighs what is beside its diagonal by `shift`, so no error can be larger
! than the largest residual / shift, and residuals must fall: checked.
program ssor
  use mpi
  use counted_calls
  implicit none

  integer, parameter :: real_bytes = 8, lower_tag = 1, upper_tag = 2, up_tag = 3, down_tag = 4
  double precision, parameter :: shift = 1, omega = 1.2d0, diagonal = 6 + shift
  integer :: ierr, rank, ranks, grid, n, planes, iterations, iteration
  integer :: dims(2), at(2), below(2), above(2)
  logical :: periods(2), wrong
  double precision, allocatable :: u(:, :, :), f(:, :, :), step(:, :, :)
  double precision :: first(2), before(2), now(2)

  call counted('MPI_Init')
  call MPI_Init(ierr)
  call counted('MPI_Comm_rank')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call counted('MPI_Comm_size')
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = argument(1, 8)
  planes = argument(2, 12)
  iterations = argument(3, 8)

  call arrange
  allocate (u(0:n + 1, 0:n + 1, 0:planes + 1), source=0d0)
  allocate (step(0:n + 1, 0:n + 1, 0:planes + 1), f(n, n, planes))
  call make_right_side
  call find_residual
  first = largest()
  before = first
  wrong = .false.
  do iteration = 1, iterations
    call lower_sweep
    call upper_sweep
    u(1:n, 1:n, 1:planes) = u(1:n, 1:n, 1:planes) + step(1:n, 1:n, 1:planes)
    call find_residual
    now = largest()
    wrong = wrong .or. .not. (now(1) < before(1) .or. now(1) < 1d-12*first(1))
    before = now
  end do
  now = largest()
  wrong = wrong .or. .not. (now(2) <= now(1)/shift + 1d-12)
  if (rank == 0) then
    if (wrong) write (0, '(a, 2es10.3)') 'ssor: residual, error: ', now
    print '(a, i0, a, i0, a, i0, a, i0, a, i0, a, i0, a, es9.2, a, a)', 'ssor ', dims(1), 'x', dims(2), &
      ' ranks of ', n, 'x', n, 'x', planes, ' points, ', iterations, ' iterations: error ', now(2), ', ', &
      merge('WRONG ', 'solved', wrong)
  end if
  call counted('MPI_Comm_free')
  call MPI_Comm_free(grid, ierr)
  call counted('MPI_Finalize')
  call MPI_Finalize(ierr)
  call write_counts(rank)
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

  subroutine arrange
    integer :: axis
    dims = 0
    periods = .false.
    call counted('MPI_Dims_create')
    call MPI_Dims_create(ranks, 2, dims, ierr)
    call counted('MPI_Cart_create')
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., grid, ierr)
    do axis = 1, 2
      call counted('MPI_Cart_shift')
      call MPI_Cart_shift(grid, axis - 1, 1, below(axis), above(axis), ierr)
    end do
    at = [rank/dims(2), mod(rank, dims(2))]
  end subroutine arrange

  ! The solution, and 0 outside the box.
  double precision function solution(i, j, k)
    integer, intent(in) :: i, j, k
    integer :: place(3), last(3)
    place = [at(1)*n + i, at(2)*n + j, k]
    last = [dims(1)*n, dims(2)*n, planes]
    solution = 0
    if (any(place < 1) .or. any(place > last)) return
    solution = 1 + mod(place(1) + 2*place(2) + 3*place(3), 5)
  end function solution

  subroutine make_right_side
    integer :: i, j, k
    do k = 1, planes
      do j = 1, n
        do i = 1, n
          f(i, j, k) = diagonal*solution(i, j, k) - solution(i - 1, j, k) - solution(i + 1, j, k) &
            - solution(i, j - 1, k) - solution(i, j + 1, k) - solution(i, j, k - 1) - solution(i, j, k + 1)
        end do
      end do
    end do
  end subroutine make_right_side

  subroutine send(out, count, to, tag)
    double precision, intent(in) :: out(*)
    integer, intent(in) :: count, to, tag
    if (to == MPI_PROC_NULL) return
    call counted('MPI_Send')
    call MPI_Send(out, count, MPI_DOUBLE_PRECISION, to, tag, grid, ierr)
    call note_send(to, tag, real_bytes*count)
  end subroutine send

  ! Edges of one plane from the ranks before us in a sweep.
  subroutine take(plane, from, place, tag)
    double precision, intent(inout) :: plane(0:n + 1, 0:n + 1)
    integer, intent(in) :: from(2), place, tag
    double precision :: edge(n)
    if (from(1) /= MPI_PROC_NULL) then
      call receive(edge, n, from(1), tag)
      plane(place, 1:n) = edge
    end if
    if (from(2) /= MPI_PROC_NULL) then
      call receive(edge, n, from(2), tag)
      plane(1:n, place) = edge
    end if
  end subroutine take

  subroutine receive(in, count, from, tag)
    double precision, intent(inout) :: in(*)
    integer, intent(in) :: count, from, tag
    call counted('MPI_Recv')
    call MPI_Recv(in, count, MPI_DOUBLE_PRECISION, from, tag, grid, MPI_STATUS_IGNORE, ierr)
    call note_receive(from, tag, real_bytes*count)
  end subroutine receive

  ! Edges of one plane to the ranks behind us in a sweep.
  subroutine give(plane, to, place, tag)
    double precision, intent(in) :: plane(0:n + 1, 0:n + 1)
    integer, intent(in) :: to(2), place, tag
    double precision :: edge(n)
    edge = plane(place, 1:n)
    call send(edge, n, to(1), tag)
    edge = plane(1:n, place)
    call send(edge, n, to(2), tag)
  end subroutine give

  ! (D - omega L) step = omega (2 - omega) residual; the residual lies in step.
  subroutine lower_sweep
    integer :: i, j, k
    do k = 1, planes
      call take(step(:, :, k), below, 0, lower_tag)
      do j = 1, n
        do i = 1, n
          step(i, j, k) = (omega*(2 - omega)*step(i, j, k) &
            + omega*(step(i - 1, j, k) + step(i, j - 1, k) + step(i, j, k - 1)))/diagonal
        end do
      end do
      call give(step(:, :, k), above, n, lower_tag)
    end do
  end subroutine lower_sweep

  ! (D - omega U) step = D step
  subroutine upper_sweep
    integer :: i, j, k
    do k = planes, 1, -1
      call take(step(:, :, k), above, n + 1, upper_tag)
      do j = n, 1, -1
        do i = n, 1, -1
          step(i, j, k) = step(i, j, k) &
            + omega*(step(i + 1, j, k) + step(i, j + 1, k) + step(i, j, k + 1))/diagonal
        end do
      end do
      call give(step(:, :, k), below, 1, upper_tag)
    end do
  end subroutine upper_sweep

  ! Sides of u from all neighbours. Each axis: upwards, then downwards.
  subroutine exchange
    double precision, asynchronous :: out(n*planes, 2), in(n*planes, 2)
    integer :: axis, requests(2), count
    count = n*planes
    do axis = 1, 2
      if (axis == 1) then
        out(:, 1) = reshape(u(n, 1:n, 1:planes), [count])
        out(:, 2) = reshape(u(1, 1:n, 1:planes), [count])
      else
        out(:, 1) = reshape(u(1:n, n, 1:planes), [count])
        out(:, 2) = reshape(u(1:n, 1, 1:planes), [count])
      end if
      in = 0
      call expect(in(:, 1), count, below(axis), up_tag, requests(1))
      call expect(in(:, 2), count, above(axis), down_tag, requests(2))
      call send(out(:, 1), count, above(axis), up_tag)
      call send(out(:, 2), count, below(axis), down_tag)
      call await(below(axis), requests(1))
      call await(above(axis), requests(2))
      if (axis == 1) then
        u(0, 1:n, 1:planes) = reshape(in(:, 1), [n, planes])
        u(n + 1, 1:n, 1:planes) = reshape(in(:, 2), [n, planes])
      else
        u(1:n, 0, 1:planes) = reshape(in(:, 1), [n, planes])
        u(1:n, n + 1, 1:planes) = reshape(in(:, 2), [n, planes])
      end if
    end do
  end subroutine exchange

  subroutine expect(in, count, from, tag, request)
    double precision, asynchronous, intent(inout) :: in(*)
    integer, intent(in) :: count, from, tag
    integer, intent(out) :: request
    request = MPI_REQUEST_NULL
    if (from == MPI_PROC_NULL) return
    call counted('MPI_Irecv')
    call MPI_Irecv(in, count, MPI_DOUBLE_PRECISION, from, tag, grid, request, ierr)
    call note_receive(from, tag, real_bytes*count)
  end subroutine expect

  subroutine await(from, request)
    integer, intent(in) :: from
    integer, intent(inout) :: request
    if (from == MPI_PROC_NULL) return
    call counted('MPI_Wait')
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierr)
  end subroutine await

  ! step = f - A u, and 0 around it
  subroutine find_residual
    integer :: i, j, k
    call exchange
    step = 0
    do k = 1, planes
      do j = 1, n
        do i = 1, n
          step(i, j, k) = f(i, j, k) - (diagonal*u(i, j, k) - u(i - 1, j, k) - u(i + 1, j, k) &
            - u(i, j - 1, k) - u(i, j + 1, k) - u(i, j, k - 1) - u(i, j, k + 1))
        end do
      end do
    end do
  end subroutine find_residual

  ! The largest residual and the largest error of all ranks.
  function largest()
    double precision :: largest(2), mine(2)
    integer :: i, j, k
    mine = 0
    do k = 1, planes
      do j = 1, n
        do i = 1, n
          mine(1) = max(mine(1), abs(step(i, j, k)))
          mine(2) = max(mine(2), abs(u(i, j, k) - solution(i, j, k)))
        end do
      end do
    end do
    call counted('MPI_Allreduce')
    call MPI_Allreduce(mine, largest, 2, MPI_DOUBLE_PRECISION, MPI_MAX, grid, ierr)
  end function largest

end program ssor
