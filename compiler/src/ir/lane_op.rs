//! Ways to combine values of several lanes or agents.

/// How the values of an agent's lanes, or of a world's agents, are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LaneOp {
    /// `+`, in the order of a balanced tree.
    Sum,
    /// `*`, likewise.
    Product,
    /// `min`
    Least,
    /// `max`
    Most,
    /// `||`
    Any,
    /// `&&`
    All,
}

impl LaneOp {
    /// What the functions that combine lanes are called after.
    pub fn name(self) -> &'static str {
        match self {
            LaneOp::Sum => "sum",
            LaneOp::Product => "product",
            LaneOp::Least => "min",
            LaneOp::Most => "max",
            LaneOp::Any => "any",
            LaneOp::All => "all",
        }
    }
}
