! `use mpi` for flang: MPI's own modules are made for other compilers. What is
! declared is that of the MPI's mpif.h; buffers that stay in use after a call
! may be asynchronous, which needs an interface.
module mpi
  include 'mpif.h'
  interface
    subroutine mpi_isend(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_irecv(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_ibsend(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_issend(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_irsend(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_send_init(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_recv_init(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_bsend_init(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_ssend_init(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_rsend_init(buf, count, datatype, peer, tag, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, peer, tag, comm, request, ierror
    end subroutine
    subroutine mpi_ibcast(buf, count, datatype, root, comm, request, ierror)
      integer, asynchronous :: buf(*)
      !dir$ ignore_tkr(tkr) buf
      integer :: count, datatype, root, comm, request, ierror
    end subroutine
  end interface
end module mpi
