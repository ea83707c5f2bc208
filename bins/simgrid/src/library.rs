//! SimGrid, loaded at run time: the functions of its engine and of its MPI that playing a run needs.
//!
//! Nothing is linked, so this program runs, and says what is missing, where SimGrid is not installed. Functions are looked
//! up once by name; one that a version does not have is told by that name.

use anyhow::{Result, anyhow};
use libloading::os::unix::Library;
use std::ffi::{c_char, c_double, c_int, c_long, c_void};
use std::mem::ManuallyDrop;

/// A communicator, request, datatype or operation of SimGrid's MPI: a pointer to something of its own.
pub type Handle = *mut c_void;

/// What no handle is.
pub const NULL: Handle = std::ptr::null_mut();

/// What `MPI_Comm_split` takes for a rank that wants no part.
pub const UNDEFINED: c_int = -333;

/// Names under which the library may be found.
const NAMES: [&str; 3] = ["libsimgrid.so", "libsimgrid.so.3.32", "libsimgrid.so.4.1"];

/// What an actor runs.
pub type Main = extern "C-unwind" fn(c_int, *mut *mut c_char);
/// What an operation of a reduction does.
pub type Combine = extern "C-unwind" fn(*mut c_void, *mut c_void, *mut c_int, *mut Handle);

type Buffer = *mut c_void;
type Counts = *const c_int;

macro_rules! functions {
    ($($field:ident = $name:literal : fn($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// The functions, by what they do.
        #[derive(Debug)]
        pub struct SimGrid {
            $(pub $field: unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,)+
            /// Where each rank finds the communicator of all.
            world: *const Handle,
            /// The datatype of single bytes.
            pub byte: Handle,
            /// Never closed: it has handlers that run when the process ends.
            _library: ManuallyDrop<Library>,
        }

        impl SimGrid {
            fn of(library: Library) -> Result<SimGrid> {
                let address = |name: &str| {
                    // SAFETY: only the address is taken here.
                    let symbol = unsafe { library.get::<*mut c_void>(name) };
                    symbol.map(|symbol| symbol.as_raw_ptr())
                        .map_err(|_| anyhow!("this SimGrid lacks {name}; install version 3.32 or later"))
                };
                Ok(SimGrid {
                    $(
                        // SAFETY: the type is that of the function of this name in SimGrid's headers.
                        $field: unsafe {
                            std::mem::transmute::<
                                *mut c_void,
                                unsafe extern "C-unwind" fn($($argument),*) $(-> $result)?,
                            >(address($name)?)
                        },
                    )+
                    world: address("MPI_COMM_WORLD")?.cast_const().cast(),
                    byte: address("smpi_MPI_BYTE")?,
                    _library: ManuallyDrop::new(library),
                })
            }
        }
    };
}

functions! {
    init_options = "smpi_init_options": fn();
    init_engine = "simgrid_init": fn(*mut c_int, *mut *mut c_char);
    init_mpi = "SMPI_init": fn();
    load_platform = "simgrid_load_platform": fn(*const c_char);
    register_program = "SMPI_app_instance_register": fn(*const c_char, Main, c_int);
    load_deployment = "simgrid_load_deployment": fn(*const c_char);
    run = "simgrid_run": fn();
    clock = "simgrid_get_clock": fn() -> c_double;
    host_count = "sg_host_count": fn() -> usize;
    hosts = "sg_host_list": fn() -> *mut Handle;
    host_name = "sg_host_get_name": fn(Handle) -> *const c_char;
    host_speed = "sg_host_get_speed": fn(Handle) -> c_double;
    own_host = "sg_host_self": fn() -> Handle;
    link_count = "sg_link_count": fn() -> usize;
    links = "sg_link_list": fn() -> *mut Handle;
    link_name = "sg_link_get_name": fn(Handle) -> *const c_char;
    link_bandwidth = "sg_link_get_bandwidth": fn(Handle) -> c_double;
    route_to = "_ZNK7simgrid3s4u4Host8route_toEPKS1_RSt6vectorIPNS0_4LinkESaIS6_EEPd": fn(Handle, Handle, *mut [*mut Handle; 3], *mut c_double);
    link_use = "_ZNK7simgrid3s4u4Link9get_usageEv": fn(Handle) -> c_double;
    new_actor = "sg_actor_create_": fn(*const c_char, Handle, Main, c_int, *const *const c_char) -> Handle;
    leave_alone = "sg_actor_daemonize": fn(Handle);
    execute = "sg_actor_execute": fn(c_double);
    sleep_for = "sg_actor_sleep_for": fn(c_double);

    init = "MPI_Init": fn(*mut c_int, *mut *mut *mut c_char) -> c_int;
    finalize = "MPI_Finalize": fn() -> c_int;
    comm_rank = "MPI_Comm_rank": fn(Handle, *mut c_int) -> c_int;
    comm_group = "MPI_Comm_group": fn(Handle, *mut Handle) -> c_int;
    group_incl = "MPI_Group_incl": fn(Handle, c_int, *const c_int, *mut Handle) -> c_int;
    comm_create = "MPI_Comm_create": fn(Handle, Handle, *mut Handle) -> c_int;
    comm_dup = "MPI_Comm_dup": fn(Handle, *mut Handle) -> c_int;
    comm_split = "MPI_Comm_split": fn(Handle, c_int, c_int, *mut Handle) -> c_int;
    cart_create = "MPI_Cart_create": fn(Handle, c_int, Counts, Counts, c_int, *mut Handle) -> c_int;
    op_create = "MPI_Op_create": fn(Combine, c_int, *mut Handle) -> c_int;

    send = "MPI_Send": fn(Buffer, c_int, Handle, c_int, c_int, Handle) -> c_int;
    ssend = "MPI_Ssend": fn(Buffer, c_int, Handle, c_int, c_int, Handle) -> c_int;
    isend = "MPI_Isend": fn(Buffer, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
    issend = "MPI_Issend": fn(Buffer, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
    recv = "MPI_Recv": fn(Buffer, c_int, Handle, c_int, c_int, Handle, *mut c_void) -> c_int;
    irecv = "MPI_Irecv": fn(Buffer, c_int, Handle, c_int, c_int, Handle, *mut Handle) -> c_int;
    sendrecv = "MPI_Sendrecv": fn(Buffer, c_int, Handle, c_int, c_int, Buffer, c_int, Handle, c_int, c_int, Handle, *mut c_void) -> c_int;
    probe = "MPI_Probe": fn(c_int, c_int, Handle, *mut c_void) -> c_int;
    wait = "MPI_Wait": fn(*mut Handle, *mut c_void) -> c_int;
    waitall = "MPI_Waitall": fn(c_int, *mut Handle, *mut c_void) -> c_int;

    barrier = "MPI_Barrier": fn(Handle) -> c_int;
    bcast = "MPI_Bcast": fn(Buffer, c_int, Handle, c_int, Handle) -> c_int;
    gather = "MPI_Gather": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, Handle) -> c_int;
    gatherv = "MPI_Gatherv": fn(Buffer, c_int, Handle, Buffer, Counts, Counts, Handle, c_int, Handle) -> c_int;
    scatter = "MPI_Scatter": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, Handle) -> c_int;
    scatterv = "MPI_Scatterv": fn(Buffer, Counts, Counts, Handle, Buffer, c_int, Handle, c_int, Handle) -> c_int;
    allgather = "MPI_Allgather": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, Handle) -> c_int;
    allgatherv = "MPI_Allgatherv": fn(Buffer, c_int, Handle, Buffer, Counts, Counts, Handle, Handle) -> c_int;
    alltoall = "MPI_Alltoall": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, Handle) -> c_int;
    alltoallv = "MPI_Alltoallv": fn(Buffer, Counts, Counts, Handle, Buffer, Counts, Counts, Handle, Handle) -> c_int;
    reduce = "MPI_Reduce": fn(Buffer, Buffer, c_int, Handle, Handle, c_int, Handle) -> c_int;
    allreduce = "MPI_Allreduce": fn(Buffer, Buffer, c_int, Handle, Handle, Handle) -> c_int;
    reduce_scatter = "MPI_Reduce_scatter": fn(Buffer, Buffer, Counts, Handle, Handle, Handle) -> c_int;
    reduce_scatter_block = "MPI_Reduce_scatter_block": fn(Buffer, Buffer, c_int, Handle, Handle, Handle) -> c_int;
    scan = "MPI_Scan": fn(Buffer, Buffer, c_int, Handle, Handle, Handle) -> c_int;
    exscan = "MPI_Exscan": fn(Buffer, Buffer, c_int, Handle, Handle, Handle) -> c_int;

    win_create = "MPI_Win_create": fn(Buffer, c_long, c_int, Handle, Handle, *mut Handle) -> c_int;
    win_free = "MPI_Win_free": fn(*mut Handle) -> c_int;
    win_fence = "MPI_Win_fence": fn(c_int, Handle) -> c_int;
    win_lock = "MPI_Win_lock": fn(c_int, c_int, c_int, Handle) -> c_int;
    win_lock_all = "MPI_Win_lock_all": fn(c_int, Handle) -> c_int;
    win_unlock = "MPI_Win_unlock": fn(c_int, Handle) -> c_int;
    win_unlock_all = "MPI_Win_unlock_all": fn(Handle) -> c_int;
    win_flush = "MPI_Win_flush": fn(c_int, Handle) -> c_int;
    win_flush_all = "MPI_Win_flush_all": fn(Handle) -> c_int;
    win_flush_local = "MPI_Win_flush_local": fn(c_int, Handle) -> c_int;
    win_flush_local_all = "MPI_Win_flush_local_all": fn(Handle) -> c_int;
    put = "MPI_Put": fn(Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle) -> c_int;
    rput = "MPI_Rput": fn(Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle, *mut Handle) -> c_int;
    get = "MPI_Get": fn(Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle) -> c_int;
    rget = "MPI_Rget": fn(Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle, *mut Handle) -> c_int;
    accumulate = "MPI_Accumulate": fn(Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle, Handle) -> c_int;
    raccumulate = "MPI_Raccumulate": fn(Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle, Handle, *mut Handle) -> c_int;
    get_accumulate = "MPI_Get_accumulate": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle, Handle) -> c_int;
    rget_accumulate = "MPI_Rget_accumulate": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, c_long, c_int, Handle, Handle, Handle, *mut Handle) -> c_int;
    compare_and_swap = "MPI_Compare_and_swap": fn(Buffer, Buffer, Buffer, Handle, c_int, c_long, Handle) -> c_int;

    ibarrier = "MPI_Ibarrier": fn(Handle, *mut Handle) -> c_int;
    ibcast = "MPI_Ibcast": fn(Buffer, c_int, Handle, c_int, Handle, *mut Handle) -> c_int;
    igather = "MPI_Igather": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, Handle, *mut Handle) -> c_int;
    igatherv = "MPI_Igatherv": fn(Buffer, c_int, Handle, Buffer, Counts, Counts, Handle, c_int, Handle, *mut Handle) -> c_int;
    iscatter = "MPI_Iscatter": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, c_int, Handle, *mut Handle) -> c_int;
    iscatterv = "MPI_Iscatterv": fn(Buffer, Counts, Counts, Handle, Buffer, c_int, Handle, c_int, Handle, *mut Handle) -> c_int;
    iallgather = "MPI_Iallgather": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, Handle, *mut Handle) -> c_int;
    iallgatherv = "MPI_Iallgatherv": fn(Buffer, c_int, Handle, Buffer, Counts, Counts, Handle, Handle, *mut Handle) -> c_int;
    ialltoall = "MPI_Ialltoall": fn(Buffer, c_int, Handle, Buffer, c_int, Handle, Handle, *mut Handle) -> c_int;
    ialltoallv = "MPI_Ialltoallv": fn(Buffer, Counts, Counts, Handle, Buffer, Counts, Counts, Handle, Handle, *mut Handle) -> c_int;
    ireduce = "MPI_Ireduce": fn(Buffer, Buffer, c_int, Handle, Handle, c_int, Handle, *mut Handle) -> c_int;
    iallreduce = "MPI_Iallreduce": fn(Buffer, Buffer, c_int, Handle, Handle, Handle, *mut Handle) -> c_int;
    ireduce_scatter = "MPI_Ireduce_scatter": fn(Buffer, Buffer, Counts, Handle, Handle, Handle, *mut Handle) -> c_int;
    ireduce_scatter_block = "MPI_Ireduce_scatter_block": fn(Buffer, Buffer, c_int, Handle, Handle, Handle, *mut Handle) -> c_int;
    iscan = "MPI_Iscan": fn(Buffer, Buffer, c_int, Handle, Handle, Handle, *mut Handle) -> c_int;
    iexscan = "MPI_Iexscan": fn(Buffer, Buffer, c_int, Handle, Handle, Handle, *mut Handle) -> c_int;
}

impl SimGrid {
    /// Finds the library and its functions. `named` overrules where it is looked for.
    pub fn load(named: Option<&str>) -> Result<SimGrid> {
        let names: Vec<&str> = named.map_or(NAMES.to_vec(), |name| vec![name]);
        let mut last = String::new();
        for name in names {
            // SAFETY: SimGrid does nothing of note when it is opened; its work begins with simgrid_init. Its own parts look
            // for its functions among all that are open.
            match unsafe { Library::open(Some(name), libc::RTLD_NOW | libc::RTLD_GLOBAL) } {
                Ok(library) => return SimGrid::of(library),
                Err(error) => last = error.to_string(),
            }
        }
        Err(anyhow!(
            "cannot load SimGrid ({last}); install libsimgrid-dev (Debian, Ubuntu), or set KIZAMI_SIMGRID to the path \
             of the library"
        ))
    }

    /// The links from one host to another.
    pub fn route(&self, from: Handle, to: Handle) -> Vec<Handle> {
        // A vector of C++: where it begins, where it ends, where its memory ends.
        let mut found: [*mut Handle; 3] = [std::ptr::null_mut(); 3];
        let mut latency_s = 0.0;
        // SAFETY: an empty vector of C++ is three null pointers, and the library fills it with memory of malloc's, which is
        // given back here.
        unsafe {
            (self.route_to)(from, to, &mut found, &mut latency_s);
            let [begin, end, _] = found;
            let links = (!begin.is_null())
                .then(|| std::slice::from_raw_parts(begin, end.offset_from(begin) as usize).to_vec());
            libc::free(begin.cast());
            links.unwrap_or_default()
        }
    }

    /// The communicator of all ranks, for the actor that asks.
    pub fn world(&self) -> Handle {
        // SAFETY: a variable of the library, which is never closed.
        unsafe { *self.world }
    }
}
