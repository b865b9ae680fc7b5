//! The checks: their catalogue, the procedures behind them, and the judgement of what came back.

pub(crate) mod catalogue;
pub(crate) mod check;
pub(crate) mod judge;
pub(crate) mod leak;
pub(crate) mod procedure;
pub(crate) mod verdict;
