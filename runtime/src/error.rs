//! Every error between a compiled model and its results. An error is one entry below: explanation, code,
//! variant, message, help line.

mod catalog;
mod device;
mod of_fault;
mod role;
mod search;
mod split;
mod words;

pub use role::Role;

use crate::fault::Fault;
use catalog::{After, errors};
use device::with_device_errors;
use search::with_search_errors;
use sim_compiler::{diagnostic::Diagnostic, manifest::Scalar, span::Span, value::Shown};
use split::with_split_errors;
use words::{
    all_messages, also_missing, and_others, host_memory, is_or_are, known_names, less_memory,
    no_adapter, numbered, other_arguments, quoted, role_options, snapshot_differs, unknown_name,
    what_fits,
};

/// What [`Error::OnlySingle`] says of a GPU.
pub(crate) const ON_GPU: &str = "a run on a GPU";

impl Error {
    /// Whether the backend that returned the error may be broken.
    pub(crate) fn drops_backend(&self) -> bool {
        matches!(self.after(), After::DropBackend)
    }

    /// The text of `simc explain` for the error's code. Empty for a diagnostic of the compiler, whose catalog
    /// has it.
    pub fn explanation(&self) -> &'static str {
        let code = self.code();
        explanations()
            .iter()
            .find(|(known, _, _)| *known == code)
            .map_or("", |(_, _, text)| text)
    }
}

with_search_errors! {
    /// A param, data table, input, output or state was given or asked for by a name that the model does not
    /// declare. Names are case-sensitive. The fields of a struct have names of their own, such as
    /// `order.price`.
    E0701 unknown_border_name UnknownName {
        /// The kind of name.
        role: Role,
        /// The name as given.
        name: String,
        /// What the model declares by this name, if it is something else that a launch sets.
        meant: Option<Role>,
        /// The most similar legal name.
        nearest: Option<String>,
        /// Every legal name.
        known: Vec<String>,
    }
        says("{}", unknown_name(*role, name, *meant))
        help(Some(match meant {
            Some(meant) => role_options(*meant, name),
            None => known_names(*role, nearest.as_deref(), known),
        }))
        after(KeepBackend)

    /// Values were given, or results asked for, in another scalar type than the model's. Nothing is converted
    /// silently where that could lose something: a table of f32 takes no integers that a float cannot hold,
    /// and an i32 takes no floats. An enum is a u32: the number of its variant, counted from 0.
    E0702 wrong_scalar_type WrongType {
        /// The kind of value.
        role: Role,
        /// The name.
        name: String,
        /// The model's type.
        expected: Scalar,
        /// The type that was given or asked for.
        found: Scalar,
    }
        says("{role} `{name}` holds {}, not {}", expected.name(), found.name())
        help(Some(format!("give or ask for {}", expected.name())))
        after(KeepBackend)

    /// A number cannot be held by the declared type: a negative number for a u32, or an integer that no f32
    /// equals.
    E0703 number_not_representable NotRepresentable {
        /// The kind of value.
        role: Role,
        /// The name.
        name: String,
        /// The model's type.
        expected: Scalar,
        /// The number.
        value: f64,
    }
        says("{role} `{name}` holds {}, and {} is none", expected.name(), Shown(*value))
        help(Some(what_fits(*expected).to_owned()))
        after(KeepBackend)

    /// Another number of values was given than the declaration needs. Values lie row by row (the last
    /// dimension varies fastest). A table whose outermost length is open takes any whole number of rows, at
    /// least one. An input takes one row per agent of this run.
    E0704 wrong_shape WrongShape {
        /// The kind of value.
        role: Role,
        /// The name.
        name: String,
        /// The shape that the model needs, in words.
        expected: String,
        /// The shape that was given, in words.
        found: String,
    }
        says("{role} `{name}` needs {expected}, but was given {found}")
        help(Some("values lie row by row: the last dimension varies fastest".into()))
        after(KeepBackend)

    /// The model declares a range, `param rate = 0.05 in 0.0..0.2`, and the value lies outside. Both ends
    /// belong to the range. Every element of an array must lie within.
    E0705 param_out_of_range OutOfRange {
        /// The name.
        name: String,
        /// The offending element.
        value: f64,
        /// Smallest legal value.
        first: f64,
        /// Largest legal value.
        last: f64,
    }
        says("param `{name}` must lie in {}..{}, but is {}", Shown(*first), Shown(*last), Shown(*value))
        help(Some(format!("give another value, or widen the range of `{name}` in the model")))
        after(KeepBackend)

    /// A param is NaN. Every result that depends on it would be NaN, so the launch refuses. Data tables and
    /// inputs may hold NaN, for missing values.
    E0706 param_not_a_number NotANumber {
        /// The name.
        name: String,
    }
        says("param `{name}` is not a number (NaN)")
        help(Some(format!("give `{name}` a number")))
        after(KeepBackend)

    /// An enum's values are the numbers of its variants, counted from 0, and this number is none of them.
    E0707 unknown_variant UnknownVariant {
        /// The kind of value.
        role: Role,
        /// The name.
        name: String,
        /// The number.
        value: u32,
        /// The variants' names; variant `k` is number `k`.
        variants: Vec<String>,
    }
        says("{role} `{name}` has no variant number {value}")
        help(Some(format!("the variants are {}, numbered from 0", quoted(variants))))
        after(KeepBackend)

    /// A data table always comes from the launch, and so does a param or input that the model declares
    /// without a default or distribution.
    E0708 value_not_given Missing {
        /// The kind of value.
        role: Role,
        /// The name.
        name: String,
        /// Its type and shape, in words.
        needs: String,
        /// What else has no default and was not given.
        others: Vec<(Role, String)>,
    }
        says("{role} `{name}` has no default and was not given{}", also_missing(others))
        help(Some(format!("give it {needs}")))
        after(KeepBackend)

    /// The model has no `agents` (or `steps`, or `world`) line, and the launch gives none either.
    E0709 count_not_given MissingCount {
        /// `agents`, `steps` or `world`.
        what: &'static str,
    }
        says("neither the model nor the launch says what `{what}` is")
        help(Some(format!("give it a number, or write `{what} 1_000` into the model")))
        after(KeepBackend)

    /// A run has at least one agent. `agent` and `agents` are i32 values in the model, so there are at most
    /// 2,147,483,647 agents in the whole population; steps are counted in 30 bits, so there are at most
    /// 1,073,741,823. The population is at least `first_agent` plus the agents of this run.
    E0710 count_out_of_range CountOutOfRange {
        /// `agents`, `steps`, `population`, `world`, or `the agent` that is to be shown.
        what: &'static str,
        /// The number that was asked for.
        value: u64,
        /// Smallest legal number.
        least: u64,
        /// Largest legal number.
        most: u64,
    }
        says("{what} must lie in {least}..={most}, but {} {value}", is_or_are(what))
        help(None)
        after(KeepBackend)

    /// The model indexes a data table by the step or the agent, so that the table needs a row for each of
    /// them; this one has too few. The check is made once, before the run, instead of clamping silently in
    /// every step.
    E0711 table_too_short TableTooShort {
        /// The table's name.
        data: String,
        /// Rows that it has.
        rows: u64,
        /// The row that is read; negative ones lie before the first.
        index: i64,
        /// The number that leads there, in words.
        why: String,
    }
        says("the model reads row {index} of data `{data}`, which has {rows} rows: {why}")
        help(Some("give a longer table, or run fewer steps or agents".into()))
        after(KeepBackend)

    /// The run was set up to leave the final states on the device, which saves the time of reading them back.
    E0712 states_not_kept StatesNotKept {
        /// The state's name.
        name: String,
    }
        says("the final states were not read back, so state `{name}` is not known")
        help(Some("leave out `keep_states(false)`, or make the state an output".into()))
        after(KeepBackend)

    /// Before a run, the memory that it needs is added up: inputs, outputs and final states of all agents at
    /// 4 bytes a value, all samples of what is recorded (of each agent) and observed, step counts,
    /// statistics, staging buffers, and the work space of each thread. The sum is compared with what the
    /// machine has available and what the limits of control groups (containers) and of `ulimit` leave, where
    /// the system tells. Without this check the system would kill the process later, without a message. A run
    /// of agents n to m (`first_agent`) gives these agents the same results as a run of all, and on the CPU
    /// statistics alone need no memory for outputs. A larger `every` of `record` takes fewer samples; `var`,
    /// `sd`, `quantiles` and `histogram` take as much as a record of their value.
    E0713 memory_short HostMemory {
        /// Bytes that it needs.
        bytes: u64,
        /// Bytes that are available, if that is known.
        available: Option<u64>,
        /// The parts of the sum: what they are for, and their bytes.
        parts: Vec<(&'static str, u64)>,
        /// Agents that would fit.
        most_agents: Option<u32>,
        /// Whether most of it is for what is recorded or observed.
        samples: bool,
        /// Whether the outputs of each agent are kept.
        keeps_outputs: bool,
    }
        says("{}", host_memory(*bytes, *available, parts))
        help(Some(less_memory(*most_agents, *samples, *keeps_outputs)))
        after(DropBackend)

    /// The program that started the run cancelled it. A cancelled run has no results.
    E0714 cancelled Cancelled
        says("the run was cancelled")
        help(None)
        after(KeepBackend)

    /// The CPU backend is compiled for several instruction sets (AVX-512, AVX2 with fused multiply-add, and
    /// the baseline of the target). A caller may ask for one of them, and this processor does not have it.
    /// The results are the same on all.
    E0715 no_such_instructions NoSuchInstructions {
        /// The instruction set.
        name: &'static str,
    }
        says("this processor has no {name} instructions")
        help(Some("leave the choice to the runtime".into()))
        after(KeepBackend)

    /// The run was set up to keep statistics of the outputs, and neither the outputs nor the step counts of
    /// each agent: a GPU then computes the statistics on the device, which saves the time of reading the
    /// outputs back. Statistics, the total number of steps and the number of agents that stopped are
    /// available.
    E0716 outputs_not_kept OutputsNotKept {
        /// What was asked for, in words.
        what: String,
    }
        says("the results of each agent were not kept, and {what} is one of them")
        help(Some("ask for `statistics`, or keep outputs".into()))
        after(KeepBackend)

    /// A draw that every agent makes has arguments that follow from params and the numbers of agents and
    /// steps, and no distribution exists for them: a negative mean of `poisson`, a probability above 1, an
    /// empty range of `randint`. Draws under conditions, in loops and in functions are not checked;
    /// docs/random.md has their results for such arguments.
    E0717 no_distribution NoDistribution {
        /// The draw's name.
        draw: &'static str,
        /// What it needs, in words.
        needs: &'static str,
        /// What it was given, in words.
        found: String,
        /// The params that this follows from.
        params: Vec<String>,
    }
        says("`{draw}` needs {needs}; here {found}")
        help(Some(other_arguments(params)))
        after(KeepBackend)

    /// The model has worlds of N agents each (`world N`, `--world N`), so a population, and each part of it
    /// that is run alone, consists of whole worlds.
    E0718 world_cut WorldCut {
        /// What does not consist of whole worlds.
        what: &'static str,
        /// How many there are.
        count: u32,
        /// The size of a world.
        members: u32,
        /// The next multiple below.
        below: u32,
        /// The next multiple above.
        above: u64,
    }
        says("worlds of {members} agents do not divide {what}: {count}")
        help(Some(match below {
            0 => format!("the nearest number that they divide is {above}"),
            _ => format!("the nearest numbers that they divide are {below} and {above}"),
        }))
        after(KeepBackend)

    /// A launch gives the size of a world (`--world N`), but agents of the model do not see one another.
    E0719 no_worlds NoWorlds
        says("the model has no worlds")
        help(Some("leave the size of a world out, or write `world N` into the model".into()))
        after(KeepBackend)

    /// A run that was cut between two steps goes on only with the model and the values with which it began,
    /// since its states follow from them. The model's number is right, but one of the values is not: a number
    /// of agents or steps, the seed, a param, a table or an input. (Tables and inputs are compared by their
    /// values, wherever they are read from.)
    E0720 snapshot_differs SnapshotDiffers {
        /// What is different.
        what: String,
        /// The value here and that in the snapshot, if they can be shown.
        values: Option<[String; 2]>,
    }
        says("{}", snapshot_differs(what, values.as_ref()))
        help(Some("go on with the values with which the run began, or begin a new one".into()))
        after(KeepBackend)

    /// A snapshot begins with a mark and ends with a checksum (BLAKE3) of all of its bytes. This one is
    /// another file, was cut short, has damaged bytes, or was written in another version of the form.
    E0721 snapshot_broken SnapshotBroken {
        /// What is wrong.
        why: String,
    }
        says("this is no complete snapshot: {why}")
        help(Some("go on from an older one, or begin the run again".into()))
        after(KeepBackend)

    /// A snapshot belongs to a model: to its program and to the version of the compiler. Comments and layout
    /// do not count. Its states mean nothing to another model.
    E0722 snapshot_model SnapshotModel
        says("the snapshot is of another model, or of this one as it was before")
        help(Some("go on with the model, and the version of the compiler, with which the run \
            began".into()))
        after(KeepBackend)

    /// A run is cut before its last step: that one and `finish` belong together. And it never goes back.
    E0723 cut_out_of_range CutOutOfRange {
        /// The step at which it was to be cut.
        until: u32,
        /// The step that it has reached.
        step: u32,
        /// The steps of the run.
        steps: u32,
    }
        says("a run of {steps} steps that has done {step} cannot be cut after {until}")
        help(Some("cut it later, and before its last step; `finish` runs to the end".into()))
        after(KeepBackend)

    /// A run that was cut goes on on the device on which it began: another one may round otherwise, and the
    /// results would be those of neither. The CPU backend and the reference interpreter give the same bits
    /// and count as one device; a GPU is known by its name and by the kernel that was chosen for it.
    E0724 snapshot_device SnapshotDevice {
        /// What computed the snapshot.
        there: String,
        /// What is to go on.
        here: String,
    }
        says("the snapshot was computed on {there}, and this run is on {here}")
        help(Some("go on on the same device".into()))
        after(KeepBackend)

    /// The initial values of states are computed with the first steps. Until then a run that is cut has none.
    E0725 run_not_begun NotBegun
        says("the run has not begun, so its states are not known")
        help(Some("advance it first, by no step if you want the initial states".into()))
        after(KeepBackend)

    /// What a model observes or records at a step is of all agents together, so that they cannot be run in
    /// batches, one after the other.
    E0726 not_in_batches NotInBatches {
        /// The first series of the model.
        name: String,
    }
        says("`{name}` is sampled from all agents at once, so they cannot be run in batches")
        help(Some("run them together, or leave out what is observed and recorded".into()))
        after(KeepBackend)

    /// A session takes the steps of its run, as many as were asked for, and may stop before the last one.
    /// After it, the agents can only begin anew.
    E0727 session_over SessionOver {
        /// The steps that were to be taken.
        count: u32,
        /// The steps that are done.
        step: u32,
        /// The steps of the run.
        steps: u32,
    }
        says("a session of {steps} steps that has done {step} cannot take {count} more")
        help(Some("give the session more `steps`, or let all agents begin anew with `reset`".into()))
        after(KeepBackend)

    /// Agents of a session begin anew by a mask of one truth value per agent. Agents of a world begin
    /// together. Kernels that keep values between steps beside the states of agents, those of worlds that
    /// take several dispatches a step, can only let all agents begin anew.
    E0728 session_mask SessionMask {
        /// What is wrong with it.
        why: String,
    }
        says("these agents cannot begin anew: {why}")
        help(Some("give one truth value per agent, the same for all agents of a world".into()))
        after(KeepBackend)

    /// A session on a GPU keeps the states of its agents in the memory of the device. They are lost with it.
    E0729 session_lost SessionLost
        says("the device was lost, and with it the states of the session")
        help(Some("let all agents begin anew with `reset`".into()))
        after(KeepBackend)

    /// A run with `--check` found an agent, or a world, for which the condition of an `assert` is false. The
    /// message has the values of both sides, where the condition is a comparison, and otherwise those of the
    /// first names in it.
    ///
    /// Of all faults of a run, of any kind, it is the one that comes first: at the earliest moment, of that
    /// in the lowest agent, and there the first that the agent came to. The run has no results. Without
    /// `--check` nothing is checked, at no cost, and the numbers are the same.
    E0730 assertion_failed AssertionFailed {
        /// What was found.
        fault: Box<Fault>,
    }
        says("{}: {}", fault.message(), fault.occasion())
        help(None)
        after(KeepBackend)

    /// A run with `--check` used an index that is negative, or not below the length of its array: `a[i]` in a
    /// value or an assignment, or `world[k]`. Without `--check` the nearest element is meant, so `a[-1]` is
    /// `a[0]`.
    E0731 index_outside IndexOutside {
        /// What was found.
        fault: Box<Fault>,
    }
        says("{}: {}", fault.message(), fault.occasion())
        help(Some("keep the index within the array, or write `clamp(i, 0, len(a) - 1)`".into()))
        after(KeepBackend)

    /// A run with `--check` divided an integer by zero, by `/` or `%`, or the least i32 by -1. Without
    /// `--check` these have results, which `docs/language.md` names: `x / 0` is `x`, and `x % 0` is 0.
    E0732 integer_division IntegerDivision {
        /// What was found.
        fault: Box<Fault>,
    }
        says("{}: {}", fault.message(), fault.occasion())
        help(Some("guard the division by an `if`, or divide by `max(n, 1)`".into()))
        after(KeepBackend)

    /// A run with `--check` found an operation with a float that is NaN although no operand is, or infinite
    /// although all operands are finite: `x / 0.0`, `log(-1.0)`, a sum beyond 3.4e38. What follows from such
    /// a value is not reported again, and neither are an infinity or NaN that the model writes as a literal
    /// or reads from data, inputs or params, nor an infinity that follows from those.
    E0733 not_finite NotFinite {
        /// What was found.
        fault: Box<Fault>,
    }
        says("{}: {}", fault.message(), fault.occasion())
        help(Some("guard the operation by an `if`, or keep its operands where it has a number".into()))
        after(KeepBackend)

    /// A run with `--check` found a `while` that its limit ended, though its condition still held. Without
    /// `--check` the model goes on after the loop.
    E0734 limit_met LimitMet {
        /// What was found.
        fault: Box<Fault>,
    }
        says("{}: {}", fault.message(), fault.occasion())
        help(Some("raise the limit, or `break` where enough is enough".into()))
        after(KeepBackend)

    /// A model that is compiled for floats of `f64` was to do what is done in `f32` only:
    ///
    /// * run on a GPU: kernels are written in WGSL, which has no `f64`, and none of its functions (`exp`,
    ///   `sin`, …) is one of doubles on any device, also where the device has the feature `SHADER_F64`;
    /// * `--check`, also that of `simc grad`, and `--shadow` and traces.
    E0735 only_in_f32 OnlySingle {
        /// What it was to do.
        what: &'static str,
    }
        says("{what} is done in `f32` only, and floats are `f64` here")
        help(Some(match *what {
            ON_GPU => "run it on the CPU, by `--backend cpu`, or in `f32`, without `--real f64`",
            _ => "leave out `--real f64`",
        }.to_owned()))
        after(KeepBackend)

    /// A derivative was asked for that does not exist, is zero by construction, or is not computed:
    ///
    /// * of a draw whose result is no smooth function of its arguments, such as `bernoulli(p)`, `poisson(m)`,
    ///   `randint`, `categorical` or `gamma(a, b)`, if an argument depends on what the derivative is taken
    ///   by, and the output on the draw;
    /// * of an output that cannot depend on the param or input: no operation leads from one to the other, or
    ///   only comparisons, `floor` and conversions to integers, whose derivatives are zero;
    /// * through an input whose default the host computes from a param before the run;
    /// * by an input, through agents that read one another; through `min` or `max` over a world;
    /// * of an output of a world.
    ///
    /// Methods without derivatives, such as `simc fit --method nelder-mead`, need none.
    E0740 no_derivative NoDerivative {
        /// What does not exist, and why.
        message: String,
        /// Where in the model, if at a place.
        span: Option<Span>,
        /// What helps.
        help: &'static str,
    }
        says("{message}")
        help(Some((*help).to_owned()))
        after(KeepBackend)

    /// A derivative is taken of floats, with respect to floats. An integer, a truth value or an enum has no
    /// value near another one.
    E0741 derivative_of_no_float DerivativeOfNoFloat {
        /// The kind of value.
        role: Role,
        /// The name.
        name: String,
        /// Its type.
        scalar: Scalar,
    }
        says("{role} `{name}` holds {}, and derivatives are of floats by floats", scalar.name())
        help(Some(match role {
            Role::Output => "name an output of floats",
            _ => "name a param or an input of floats, or declare it as `f32`",
        }.to_owned()))
        after(KeepBackend)

    /// A loss is one number per run: `mean(payoff)` or `sum(payoff)` over all agents. Of an output with
    /// several values one is named: `mean(path[3])`, `mean(place.x)`.
    E0742 not_a_loss NotALoss {
        /// What was given.
        text: String,
        /// What is wrong with it.
        why: String,
    }
        says("`{text}` is no loss: {why}")
        help(Some("write `mean(OUTPUT)` or `sum(OUTPUT)`".into()))
        after(KeepBackend)

    /// A value or a derivative of one agent is NaN or infinite, so the mean or sum over all agents is none.
    /// Of those agents the one with the lowest number is named. Often the value is fine, and the derivative
    /// is not: `sqrt(x)` at 0, `pow(x, y)` and `log(x)` at 0, `x / x` at 0, or a state that grows without
    /// bounds.
    E0743 derivative_not_finite DerivativeNotFinite {
        /// What is not finite: the output, or its derivative as `d(payoff)/d(sigma)`.
        what: String,
        /// The agent.
        agent: u32,
        /// Its value.
        value: f64,
        /// How many agents have such a value.
        count: u64,
    }
        says("{what} of agent {agent} is {}{}", Shown(*value), and_others(*count))
        help(Some(format!("`simc trace FILE --agent {agent} --lets` shows its values step by step; guard \
            the operation, as in `sqrt(max(x, 1e-12))`")))
        after(KeepBackend)
}

#[cfg(test)]
mod tests;
