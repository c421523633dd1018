//! The long texts behind the codes of launch and device errors, for `simc explain`.

/// `(code, slug, text)` of every launch and device error, by code.
pub fn explanations() -> &'static [(&'static str, &'static str, &'static str)] {
    EXPLANATIONS
}

const EXPLANATIONS: &[(&str, &str, &str)] = &[
    (
        "E0701",
        "unknown_border_name",
        "A param, data table, input, output or state was given or asked for by a name that the model does \
         not declare. Names are case-sensitive. The fields of a struct have names of their own, such as \
         `order.price`.",
    ),
    (
        "E0702",
        "wrong_scalar_type",
        "Values were given, or results asked for, in another scalar type than the model's. Nothing is \
         converted silently where that could lose something: a table of f32 takes no integers that a \
         float cannot hold, and an i32 takes no floats. An enum is a u32: the number of its variant, \
         counted from 0.",
    ),
    (
        "E0703",
        "number_not_representable",
        "A number cannot be held by the declared type: a negative number for a u32, or an integer that no \
         f32 equals.",
    ),
    (
        "E0704",
        "wrong_shape",
        "Another number of values was given than the declaration needs. Values lie row by row (the last \
         dimension varies fastest). A table whose outermost length is open takes any whole number of \
         rows, at least one. An input takes one row per agent of this run.",
    ),
    (
        "E0705",
        "param_out_of_range",
        "The model declares a range, `param rate = 0.05 in 0.0..0.2`, and the value lies outside. Both \
         ends belong to the range. Every element of an array must lie within.",
    ),
    (
        "E0706",
        "param_not_a_number",
        "A param is NaN. Every result that depends on it would be NaN, so the launch refuses. Data tables \
         and inputs may hold NaN, for missing values.",
    ),
    (
        "E0707",
        "unknown_variant",
        "An enum's values are the numbers of its variants, counted from 0, and this number is none of \
         them.",
    ),
    (
        "E0708",
        "value_not_given",
        "A data table always comes from the launch, and so does a param or input that the model declares \
         without a default or distribution.",
    ),
    (
        "E0709",
        "count_not_given",
        "The model has no `agents` (or `steps`) line, and the launch gives none either.",
    ),
    (
        "E0710",
        "count_out_of_range",
        "A run has at least one agent. `agent` and `agents` are i32 values in the model, so there are at \
         most 2,147,483,647 agents in the whole population; steps are counted in 30 bits, so there are at \
         most 1,073,741,823. The population is at least `first_agent` plus the agents of this run.",
    ),
    (
        "E0711",
        "table_too_short",
        "The model indexes a data table by the step or the agent, so that the table needs a row for each \
         of them; this one has too few. The check is made once, before the run, instead of clamping \
         silently in every step.",
    ),
    (
        "E0712",
        "states_not_kept",
        "The run was set up to leave the final states on the device, which saves the time of reading them \
         back.",
    ),
    (
        "E0713",
        "memory_short",
        "Before anything is computed, the bytes that the run needs are added up (inputs, outputs and final states \
         of all agents at 4 bytes a value, step counts, statistics, buffers on the way from a device, and work \
         space of each thread) and compared with what there is: what the machine has available, what is left of \
         the limits of control groups (containers) and of `ulimit`, where the system tells. Without this the system \
         ends the process later, without a word. A run of agents n to m (`first_agent`) gives the same numbers as \
         those agents have in a run of all, and statistics alone need no room for outputs on the CPU.",
    ),
    (
        "E0714",
        "cancelled",
        "The program that started the run cancelled it. A cancelled run has no results.",
    ),
    (
        "E0715",
        "no_such_instructions",
        "The CPU backend has its loops compiled for several instruction sets (AVX-512, AVX2 with fused \
         multiply-add, and what every processor of the kind has). A caller may ask for one of them, and this \
         processor does not have it. The results are the same on all.",
    ),
    (
        "E0716",
        "outputs_not_kept",
        "The run was set up to keep statistics of the outputs and not the outputs themselves, nor the step \
         counts of each agent: a GPU then computes the statistics where the results lie, which saves the time \
         of fetching them. Statistics, the steps of all agents together and the number of agents that stopped \
         are known.",
    ),
    (
        "E0717",
        "no_distribution",
        "A draw that every agent makes has arguments that follow from params and the numbers of agents and steps, and \
         for these there is no such distribution: a negative mean of `poisson`, a chance above 1, an empty range of \
         `randint`. Draws under conditions, in loops and in functions are not looked at; docs/random.md says what a \
         draw gives for such arguments there.",
    ),
    (
        "E0801",
        "no_adapter",
        "The GPU backend found no adapter, or none whose name contains what was asked for. On Linux an \
         adapter needs a Vulkan driver (for software, Mesa's llvmpipe). `auto` never takes a software \
         adapter: the CPU backend is what it falls back to.",
    ),
    (
        "E0802",
        "device_refused",
        "The driver lists the adapter but opens no device on it. Often another process holds it, or the \
         driver and its kernel module differ in version.",
    ),
    (
        "E0803",
        "adapter_limit",
        "The model is too large for this adapter: too many tables, too large a table, or too large a \
         workgroup. The number of agents is no matter here: populations too large for one buffer run in \
         chunks.",
    ),
    (
        "E0804",
        "gpu_out_of_memory",
        "The device's memory does not hold the tables and at least a small chunk of agents. Large \
         populations are split into smaller chunks first; this is said only when even these do not fit.",
    ),
    (
        "E0805",
        "kernel_refused",
        "The shader validator or the driver refused the kernel that the compiler wrote, or a command that \
         the runtime gave. Whatever the compiler accepts must be valid, so this is a bug of ours. Please \
         report it with the model, the message and the adapter's name.",
    ),
    (
        "E0806",
        "device_lost",
        "The driver gave up on the device: it hung, was reset or unplugged, or a watchdog found that one \
         command took too long. Long runs are split so that no command takes more than a fraction of a \
         second, as far as that can be known from the ones before.",
    ),
    (
        "E0807",
        "wrong_step_count",
        "Every agent reports how many steps it really ran, and one reports too few or too many. Some \
         software drivers end loops silently after 65,535 rounds; the runtime splits the time loop to \
         stay below that, and this check says where that did not suffice. The results would be wrong, so \
         none are given.",
    ),
    (
        "E0808",
        "loop_cut_short",
        "The kernel guards its inner loops against drivers that end them silently (software drivers do \
         after 65,535 rounds within a dispatch). With a single step per dispatch the guard still trips: \
         one step of the model has too many rounds for this driver.",
    ),
    (
        "E0809",
        "device_failed",
        "The driver reported a failure that has no name of its own; its words are in the message.",
    ),
    (
        "E0810",
        "no_gpu_support",
        "The GPU backend is the feature `gpu` of the crate `sim-runtime` and of `simc`. It is on by default; \
         this program was built without it, and has the CPU backend only.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_that_is_ever_given_is_explained_once() {
        // The one `match` that gives codes, read as text: a new variant cannot be forgotten here.
        let given: Vec<&str> = include_str!("../error.rs")
            .lines()
            .filter(|line| line.contains("=> \"E0"))
            .filter_map(|line| line.split('"').nth(1))
            .collect();
        let explained: Vec<&str> = EXPLANATIONS.iter().map(|(code, _, _)| *code).collect();
        assert_eq!(given, explained);
        assert!(EXPLANATIONS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
