//! What a run may be told: costs, order, and limits.

/// What things cost, in units of virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Choosing a clause; also the whole of a goal that is there in the language itself.
    pub commit: u32,
    /// Making one goal of a body, or binding one variable there.
    pub goal: u32,
}

impl Default for Costs {
    fn default() -> Costs {
        Costs { commit: 1, goal: 1 }
    }
}

/// Which of the goals that can run runs next. No virtual time depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The one that could run first.
    #[default]
    Fifo,
    /// The one that could run last: it goes into depth, and needs the least memory as a rule.
    Lifo,
    /// Any, the same for the same seed.
    Random(u64),
}

/// How much of a term is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextLimits {
    /// How deep structures may stand in each other; what is deeper becomes `...`. At most 500 counts.
    pub depth: usize,
    /// How many numbers, atoms, variables and structures all in all, items of lists included.
    pub parts: usize,
}

impl Default for TextLimits {
    fn default() -> TextLimits {
        TextLimits { depth: 20, parts: 1000 }
    }
}

/// All that a run may be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What things cost.
    pub costs: Costs,
    /// Which goal runs next.
    pub order: Order,
    /// How many tasks may end before the run is given up.
    pub budget: u64,
    /// How many bytes terms and goals may take, about.
    pub memory: usize,
    /// How much of an answer is written.
    pub text: TextLimits,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            costs: Costs::default(),
            order: Order::default(),
            budget: 100_000_000,
            memory: 1 << 30,
            text: TextLimits::default(),
        }
    }
}
