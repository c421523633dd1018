//! Complaints about models' files, arguments and what is to be written (E0901–E0922).

use super::{Problem, catalog, reason};
use std::{io, path::Path};

catalog! {
    /// A file that was named on the command line does not exist.
    ///
    /// Relative paths start at the directory in which `simc` was called.
    E0901 no_such_file(path: &Path) {
        Problem::new(format!("there is no file `{}`", path.display()))
            .help("check the spelling, and the directory that you are in")
    }

    /// A directory was named where a file is needed.
    E0902 directory_for_file(path: &Path) {
        Problem::new(format!("`{}` is a directory, not a file", path.display()))
            .help("name a file in it")
    }

    /// A file exists but cannot be read; the operating system's reason is part of the message.
    E0903 unreadable_file(path: &Path, error: &io::Error) {
        Problem::new(format!("cannot read `{}`: {}", path.display(), reason(error)))
    }

    /// A model is no UTF-8 text.
    ///
    /// Models are UTF-8. The message names the first byte that is not, by its offset from the beginning of
    /// the file (counted from 0) and its line (counted from 1). Text that an editor saved as Latin-1 or
    /// UTF-16 must be saved again as UTF-8; a compiled program or an image is no model at all.
    E0904 not_utf8(path: &Path, offset: usize, line: usize, byte: u8) {
        Problem::new(format!("byte 0x{byte:02x} at offset {offset} is no UTF-8 text"))
            .at(format!("{}:{line}", path.display()))
            .help("save the file as UTF-8")
    }

    /// A model is far larger than a model can be.
    ///
    /// `simc` reads models of at most 256 MiB, so that a device file or a wrong path cannot fill the memory.
    E0905 source_too_large(path: &Path, most: u64) {
        Problem::new(format!("`{}` has more than {} MiB", path.display(), most >> 20))
            .help("is this a model? tables belong in separate files, `--data NAME=FILE`")
    }

    /// The same param, table or input was given twice on one command line.
    E0906 given_twice(role: &str, name: &str) {
        Problem::new(format!("{role} `{name}` was given twice"))
            .help(format!("leave out one `--{role} {name}=…`"))
    }

    /// The value of a `--param` cannot be read.
    ///
    /// A float may be written `0.25`, `1e-3` or `1_000.5`; an integer `7`, `1_000` or `1e6`; a bool `true` or
    /// `false`; an enum by the name of its variant. An array or vector is a list with commas, row by row:
    /// `--param w=0.1,0.2,0.3`.
    E0907 bad_param(name: &str, text: &str, why: &str, accepts: &str) {
        Problem::new(format!("param `{name}` cannot be `{text}`: {why}")).help(accepts)
    }

    /// A `--param` has another number of values than the model declares.
    ///
    /// An array or vector needs all of its values, row by row (the last dimension varies fastest).
    E0908 param_count(name: &str, expected: &str, found: usize) {
        Problem::new(format!(
            "param `{name}` needs {expected}, but was given {}",
            if found == 1 { "one".to_owned() } else { found.to_string() }
        ))
        .help("write the values with commas, row by row: `--param w=0.1,0.2,0.3`")
    }

    /// `simc explain` was given a code that no message has.
    E0909 unknown_code(code: &str) {
        Problem::new(format!("no message has the code `{code}`"))
            .help("`simc explain` without a code lists them all")
    }

    /// A binary file would have gone to a terminal.
    ///
    /// SPIR-V is binary. Write it into a file, or pipe it into another program.
    E0910 binary_to_terminal() {
        Problem::new("SPIR-V is binary, and standard output is a terminal")
            .help("write it into a file: `-o DIR`, or `> FILE.spv`")
    }

    /// The shader validator refuses the kernel that the compiler wrote.
    ///
    /// Whatever the compiler accepts must give a valid kernel, so this is a bug of the compiler. Please
    /// report it with the model and the message.
    E0911 kernel_invalid(message: &str) {
        Problem::new(format!("the kernel is not valid: {message}"))
            .help("this is a bug of the compiler, not of the model: please report it with the model")
    }

    /// The kernel cannot be expressed in the language that was asked for.
    ///
    /// SPIR-V, MSL, HLSL and GLSL are translated from the WGSL kernel, and each has limits of its own.
    E0912 untranslatable(language: &str, message: &str) {
        Problem::new(format!("the kernel cannot be written as {language}: {message}"))
            .help("`--emit wgsl` always works")
    }

    /// The ending of an output file says no known form.
    ///
    /// `--output` takes the form from the ending: `.csv`, `.parquet`, `.arrow`, `.feather`, `.npy`, `.npz` or
    /// `.json`. `--format` says it for other names. A name that ends with `/` is a directory, which gets a
    /// file for each table.
    E0913 unknown_output_form(path: &Path) {
        Problem::new(format!("`{}` ends with no known form of output", path.display()))
            .help(
                "write to a file that ends with .csv, .parquet, .arrow, .npy, .npz or .json, or to a \
                 directory, `DIR/`",
            )
    }

    /// The directory of an output file does not exist.
    ///
    /// It is looked for before the run, so that no work is lost.
    E0914 no_output_directory(path: &Path, directory: &Path) {
        Problem::new(format!(
            "there is no directory `{}` for `{}`",
            directory.display(),
            path.display()
        ))
        .help("make it first")
    }

    /// A file cannot be written; the operating system's reason is part of the message.
    ///
    /// Files are written under another name beside their place, and renamed when they are complete: an
    /// older file of that name stays as it was when something goes wrong. `simc run` tries the directory
    /// before the run, and prints its summary even when the results cannot be written after it.
    E0915 unwritable(path: &Path, error: &io::Error) {
        Problem::new(format!("cannot write `{}`: {}", path.display(), reason(error)))
    }

    /// `--output` was given, but the model has no output.
    E0916 no_outputs() {
        Problem::new("the model has no output to write")
            .help("declare one, such as `output price`, or leave out `--output`")
    }

    /// Standard output cannot be written, for instance because its disk is full.
    E0917 standard_output(error: &io::Error) {
        Problem::new(format!("cannot write to standard output: {}", reason(error)))
    }

    /// `simc fmt` would have damaged a file, and left it as it was.
    ///
    /// Before a file is written, the formatter compares words, comments and meaning with what it read. A
    /// difference is a bug of the formatter. Please report it with the model and the message.
    E0918 formatter_damages(name: &str, what: &str) {
        Problem::new(format!("`{name}` was left alone: formatting would damage it, {what}"))
            .help("this is a bug of the formatter, not of the model: please report it with the model")
    }

    /// `simc fmt` was given a directory without models.
    ///
    /// It takes the files that end with `.sim`, in the directory and those below it. Directories whose names
    /// begin with a dot are left out, and so are links to directories.
    E0919 no_models(directory: &Path) {
        Problem::new(format!("there is no `.sim` file in `{}`", directory.display()))
            .help("name a file, or another directory")
    }

    /// `simc bench` measures only what is right.
    ///
    /// Before anything is timed, the results of a sample of agents are compared with those of another
    /// backend; `simc bench --help` gives the bounds. A model that differs has no rate. Either a kernel is
    /// wrong, which is a bug of the compiler, or the model turns the smallest differences of rounding into
    /// other results within a few steps, as a hash of a float's bits does.
    E0920 not_verified(name: &str, why: &str) {
        Problem::new(format!("`{name}` has no rate, since it is not verified: {why}"))
            .help("if the model does not amplify rounding errors, report it as a bug of the compiler")
    }

    /// The arguments of a command are not understood, or do not go together.
    ///
    /// `simc --help` lists the commands, and `simc run --help` the arguments of `run`; the other commands
    /// have such lists, too. The exit code is 2.
    E0921 bad_arguments(message: String, help: String) {
        Problem::new(message).help(help)
    }

    /// The name of `--adapter` is a part of the names of several adapters.
    ///
    /// `--adapter list` prints all adapters. A part of a name that only one of them has is enough, in any
    /// case of letters; a whole name always means that adapter.
    E0922 ambiguous_adapter(wanted: &str, names: &[&str]) {
        Problem::new(format!("several adapters have `{wanted}` in their names"))
            .help(format!("choose one of `{}`", names.join("`, `")))
    }

    /// An adapter draws other numbers than the CPU.
    ///
    /// `simc doctor` runs a small model on both. Its draws are integers, which have the same bits on every
    /// device. A difference is a fault of the driver, or a bug of `simc`: results of that adapter cannot be
    /// trusted.
    E0929 adapter_disagrees(name: &str) {
        Problem::new(format!("`{name}` computes other integers than the CPU"))
            .help("update its driver; until then use `--backend cpu`")
    }

    /// `simc new` writes no file over another one.
    E0987 new_exists(path: &Path) {
        Problem::new(format!("`{}` is there already", path.display()))
            .help("choose another name, or remove the file")
    }

    /// The name of `simc new` must end with the name of a file.
    E0988 new_without_name(path: &Path) {
        Problem::new(format!("`{}` names no file", path.display()))
            .help("name the model, such as `simc new walk`")
    }

    /// `simc man` was given the name of no command.
    E0989 no_such_page(name: &str, known: &[&str]) {
        Problem::new(format!("there is no command `{name}`"))
            .help(format!("the pages are those of {}", known.join(", ")))
    }
}
