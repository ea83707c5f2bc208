! mg3d: multigrid V-cycles for Poisson's equation in a periodic cube.
!
!     mg3d [N=8] [CYCLES=3]
!
! Each rank has N x N x N points of the finest grid, N a power of two; coarser
! grids have half as many a side, down to 2. Ranks: a power of two, in a box of
! P x Q x R. Borders are exchanged axis by axis, with what earlier axes brought.
!
! Calls of each rank:
!     MPI_Init, MPI_Comm_rank, MPI_Comm_size, MPI_Dims_create, MPI_Cart_create,
!     MPI_Comm_free, MPI_Finalize: 1 each, MPI_Cart_shift 3
!     MPI_Allreduce 2 x CYCLES + 2 (8 bytes, SUM)
!     an exchange: for each axis MPI_Irecv 2, MPI_Send 2, MPI_Waitall 1; along an
!     axis with one rank none of these
! Exchanges in a cycle: 5 on each grid but the coarsest, 10 there, and 1 more on
! every grid: to refine, or on the finest for the residual, which is found once
! before the first cycle too. Messages of a grid with n points a side: 8 x n x n bytes along the first axis,
! 8 x n x (n + 2) along the second, 8 x (n + 2) x (n + 2) along the third; tags
! 2 x axis - 1 to the rank below, 2 x axis to the one above (axis 1, 2, 3).
!
! The solution is a wave that the operator only scales. The error can be no
! larger than the residual through the operator's smallest factor, and the
! residual must fall by half in each cycle: both checked.
program mg3d
  use mpi
  use counted_calls
  implicit none

  integer, parameter :: real_bytes = 8, coarse_sweeps = 10
  double precision, parameter :: pi = 3.14159265358979323846d0, damping = 6d0/7d0
  type grid
    integer :: n
    double precision :: width
    double precision, allocatable :: u(:, :, :), f(:, :, :), r(:, :, :)
  end type grid
  type(grid), allocatable, target :: grids(:)
  integer :: ierr, rank, ranks, box, n, cycles, cycle_, levels
  integer :: dims(3), at(3), below(3), above(3), total(3)
  logical :: periods(3), wrong
  double precision :: first, residual, before, mean, error, bound

  call counted('MPI_Init')
  call MPI_Init(ierr)
  call counted('MPI_Comm_rank')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call counted('MPI_Comm_size')
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierr)
  n = argument(1, 8)
  cycles = argument(2, 3)
  if (iand(ranks, ranks - 1) /= 0 .or. iand(n, n - 1) /= 0 .or. n < 4) then
    if (rank == 0) write (0, '(a)') 'mg3d: ranks and N must be powers of two, N 4 or more'
    call counted('MPI_Finalize')
    call MPI_Finalize(ierr)
    stop 2
  end if

  call arrange
  call set_up
  call find_residual(grids(1))
  first = sqrt(sum_up(sum(inner(grids(1)%r, n)**2)))
  before = first
  residual = first
  wrong = .false.
  do cycle_ = 1, cycles
    call solve(1)
    ! A constant can be added to any solution: take the one with the mean 0.
    mean = sum_up(sum(inner(grids(1)%u, n)))/product(dble(total))
    grids(1)%u = grids(1)%u - mean
    call find_residual(grids(1))
    residual = sqrt(sum_up(sum(inner(grids(1)%r, n)**2)))
    wrong = wrong .or. .not. (residual < before/2 .or. residual < 1d-10*first)
    before = residual
  end do
  error = sqrt(sum_up(squared_error()))
  bound = residual/smallest_factor()
  wrong = wrong .or. .not. (error <= bound*(1 + 1d-6) + 1d-9)
  if (rank == 0) then
    if (wrong) write (0, '(a, 3es10.3)') 'mg3d: residual, error, its bound: ', residual/first, error, bound
    print '(a, i0, a, i0, a, i0, a, i0, a, i0, a, i0, a, a)', 'mg3d ', dims(1), 'x', dims(2), 'x', dims(3), &
      ' ranks of ', n, '^3 points, ', levels, ' grids, ', cycles, ' cycles: ', merge('WRONG ', 'solved', wrong)
  end if
  call counted('MPI_Comm_free')
  call MPI_Comm_free(box, ierr)
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
    periods = .true.
    call counted('MPI_Dims_create')
    call MPI_Dims_create(ranks, 3, dims, ierr)
    call counted('MPI_Cart_create')
    call MPI_Cart_create(MPI_COMM_WORLD, 3, dims, periods, .false., box, ierr)
    do axis = 1, 3
      call counted('MPI_Cart_shift')
      call MPI_Cart_shift(box, axis - 1, 1, below(axis), above(axis), ierr)
    end do
    ! Ranks of a box are numbered with the last coordinate fastest.
    at = [rank/(dims(2)*dims(3)), mod(rank/dims(3), dims(2)), mod(rank, dims(3))]
    total = n*dims
  end subroutine arrange

  subroutine set_up
    integer :: level, side, i, j, k
    levels = 1
    do while (n/2**levels >= 2)
      levels = levels + 1
    end do
    allocate (grids(levels))
    side = n
    do level = 1, levels
      grids(level)%n = side
      grids(level)%width = dble(2**(level - 1))
      allocate (grids(level)%u(0:side + 1, 0:side + 1, 0:side + 1), source=0d0)
      allocate (grids(level)%f(0:side + 1, 0:side + 1, 0:side + 1), source=0d0)
      allocate (grids(level)%r(0:side + 1, 0:side + 1, 0:side + 1), source=0d0)
      side = side/2
    end do
    do k = 1, n
      do j = 1, n
        do i = 1, n
          grids(1)%f(i, j, k) = wave_factor()*wave(i, j, k)
        end do
      end do
    end do
  end subroutine set_up

  ! The solution: a wave that fits once into the cube along each axis.
  double precision function wave(i, j, k)
    integer, intent(in) :: i, j, k
    wave = sin(angle(1, i))*cos(angle(2, j))*sin(angle(3, k) + 0.3d0)
  end function wave

  double precision function angle(axis, i)
    integer, intent(in) :: axis, i
    angle = 2*pi*(at(axis)*n + i - 1)/total(axis)
  end function angle

  ! What the operator multiplies the wave with.
  double precision function wave_factor()
    wave_factor = sum(2 - 2*cos(2*pi/total))
  end function wave_factor

  ! The smallest factor of all waves but the constant.
  double precision function smallest_factor()
    smallest_factor = minval(2 - 2*cos(2*pi/total))
  end function smallest_factor

  function inner(a, side)
    integer, intent(in) :: side
    double precision, intent(in) :: a(0:side + 1, 0:side + 1, 0:side + 1)
    double precision :: inner(side, side, side)
    inner = a(1:side, 1:side, 1:side)
  end function inner

  double precision function squared_error()
    integer :: i, j, k
    squared_error = 0
    do k = 1, n
      do j = 1, n
        do i = 1, n
          squared_error = squared_error + (grids(1)%u(i, j, k) - wave(i, j, k))**2
        end do
      end do
    end do
  end function squared_error

  double precision function sum_up(mine)
    double precision, intent(in) :: mine
    double precision :: in(1), out(1)
    in(1) = mine
    call counted('MPI_Allreduce')
    call MPI_Allreduce(in, out, 1, MPI_DOUBLE_PRECISION, MPI_SUM, box, ierr)
    sum_up = out(1)
  end function sum_up

  ! Borders along one axis at a time: later axes pass on what earlier ones brought.
  subroutine exchange(a, side)
    integer, intent(in) :: side
    double precision, intent(inout) :: a(0:side + 1, 0:side + 1, 0:side + 1)
    double precision, asynchronous :: out((side + 2)**2, 2), in((side + 2)**2, 2)
    integer :: axis, count, requests(2), low(3), high(3)
    do axis = 1, 3
      low = merge(0, 1, [1, 2, 3] < axis)
      high = merge(side + 1, side, [1, 2, 3] < axis)
      count = product(high - low + 1)/side
      call pack_layer(a, side, axis, 1, low, high, out(:, 1))
      call pack_layer(a, side, axis, side, low, high, out(:, 2))
      if (dims(axis) == 1) then
        call unpack_layer(a, side, axis, 0, low, high, out(:, 2))
        call unpack_layer(a, side, axis, side + 1, low, high, out(:, 1))
        cycle
      end if
      ! What goes down (odd tags) comes from above.
      call receive(in(:, 1), count, above(axis), 2*axis - 1, requests(1))
      call receive(in(:, 2), count, below(axis), 2*axis, requests(2))
      call send(out(:, 1), count, below(axis), 2*axis - 1)
      call send(out(:, 2), count, above(axis), 2*axis)
      call counted('MPI_Waitall')
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierr)
      call unpack_layer(a, side, axis, side + 1, low, high, in(:, 1))
      call unpack_layer(a, side, axis, 0, low, high, in(:, 2))
    end do
  end subroutine exchange

  subroutine receive(in, count, from, tag, request)
    double precision, asynchronous, intent(inout) :: in(*)
    integer, intent(in) :: count, from, tag
    integer, intent(out) :: request
    call counted('MPI_Irecv')
    call MPI_Irecv(in, count, MPI_DOUBLE_PRECISION, from, tag, box, request, ierr)
    call note_receive(from, tag, real_bytes*count)
  end subroutine receive

  subroutine send(out, count, to, tag)
    double precision, intent(in) :: out(*)
    integer, intent(in) :: count, to, tag
    call counted('MPI_Send')
    call MPI_Send(out, count, MPI_DOUBLE_PRECISION, to, tag, box, ierr)
    call note_send(to, tag, real_bytes*count)
  end subroutine send

  subroutine pack_layer(a, side, axis, place, low, high, out)
    integer, intent(in) :: side, axis, place, low(3), high(3)
    double precision, intent(in) :: a(0:side + 1, 0:side + 1, 0:side + 1)
    double precision, intent(inout) :: out(:)
    integer :: first_(3), last(3), count
    call layer(axis, place, low, high, first_, last, count)
    out(:count) = reshape(a(first_(1):last(1), first_(2):last(2), first_(3):last(3)), [count])
  end subroutine pack_layer

  subroutine unpack_layer(a, side, axis, place, low, high, in)
    integer, intent(in) :: side, axis, place, low(3), high(3)
    double precision, intent(inout) :: a(0:side + 1, 0:side + 1, 0:side + 1)
    double precision, intent(in) :: in(:)
    integer :: first_(3), last(3), count
    call layer(axis, place, low, high, first_, last, count)
    a(first_(1):last(1), first_(2):last(2), first_(3):last(3)) = reshape(in(:count), last - first_ + 1)
  end subroutine unpack_layer

  subroutine layer(axis, place, low, high, first_, last, count)
    integer, intent(in) :: axis, place, low(3), high(3)
    integer, intent(out) :: first_(3), last(3), count
    first_ = low
    last = high
    first_(axis) = place
    last(axis) = place
    count = product(last - first_ + 1)
  end subroutine layer

  ! r = f - A u, where A u = (6 u - the six around) / width^2
  subroutine find_residual(g)
    type(grid), intent(inout) :: g
    integer :: i, j, k
    call exchange(g%u, g%n)
    do k = 1, g%n
      do j = 1, g%n
        do i = 1, g%n
          g%r(i, j, k) = g%f(i, j, k) - (6*g%u(i, j, k) - g%u(i - 1, j, k) - g%u(i + 1, j, k) &
            - g%u(i, j - 1, k) - g%u(i, j + 1, k) - g%u(i, j, k - 1) - g%u(i, j, k + 1))/g%width**2
        end do
      end do
    end do
  end subroutine find_residual

  subroutine smooth(g, sweeps)
    type(grid), intent(inout) :: g
    integer, intent(in) :: sweeps
    integer :: sweep
    do sweep = 1, sweeps
      call find_residual(g)
      g%u(1:g%n, 1:g%n, 1:g%n) = inner(g%u, g%n) + damping*g%width**2/6*inner(g%r, g%n)
    end do
  end subroutine smooth

  recursive subroutine solve(level)
    integer, intent(in) :: level
    integer :: i, j, k, m
    if (level == levels) then
      call smooth(grids(level), coarse_sweeps)
      return
    end if
    call smooth(grids(level), 2)
    call find_residual(grids(level))
    ! A coarse point stands for eight fine ones.
    m = grids(level + 1)%n
    do k = 1, m
      do j = 1, m
        do i = 1, m
          grids(level + 1)%f(i, j, k) = sum(grids(level)%r(2*i - 1:2*i, 2*j - 1:2*j, 2*k - 1:2*k))/8
        end do
      end do
    end do
    grids(level + 1)%u = 0
    call solve(level + 1)
    call refine(grids(level), grids(level + 1))
    call smooth(grids(level), 2)
  end subroutine solve

  ! Adds the coarse correction: each fine point takes 3/4 of its coarse point and
  ! 1/4 of the next one along each axis.
  subroutine refine(fine, coarse)
    type(grid), intent(inout) :: fine
    type(grid), intent(inout) :: coarse
    integer :: i, j, k, near(3), next(3)
    call exchange(coarse%u, coarse%n)
    do k = 1, fine%n
      do j = 1, fine%n
        do i = 1, fine%n
          near = ([i, j, k] + 1)/2
          next = near + merge(-1, 1, mod([i, j, k], 2) == 1)
          fine%u(i, j, k) = fine%u(i, j, k) + blend(coarse%u, coarse%n, near, next)
        end do
      end do
    end do
  end subroutine refine

  double precision function blend(u, side, a, b)
    integer, intent(in) :: side, a(3), b(3)
    double precision, intent(in) :: u(0:side + 1, 0:side + 1, 0:side + 1)
    blend = (27*u(a(1), a(2), a(3)) &
             + 9*(u(b(1), a(2), a(3)) + u(a(1), b(2), a(3)) + u(a(1), a(2), b(3))) &
             + 3*(u(b(1), b(2), a(3)) + u(b(1), a(2), b(3)) + u(a(1), b(2), b(3))) &
             + u(b(1), b(2), b(3)))/64
  end function blend

end program mg3d
