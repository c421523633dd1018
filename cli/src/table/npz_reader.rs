//! Reading NPZ archives, NumPy's form of several arrays: a ZIP archive with an NPY file for each.

use super::{
    Loaded,
    columns::{Wanted, known},
    npy,
    rules::Rules,
};
use crate::{
    open::open,
    problem::{self, Problem},
};
use std::{
    io::BufReader,
    path::{Path, PathBuf},
};
use zip::{CompressionMethod, ZipArchive};

/// Reads an array for each field: the one that the command line names, that has the field's name, or that is
/// the only one.
///
/// # Errors
/// What is wrong with the file, or that no array can be meant.
pub(super) fn read(path: &Path, wanted: Wanted<'_>, rules: Rules) -> Result<Vec<Loaded>, Problem> {
    let opened = open(path).map_err(|error| problem::unreadable(path, &error))?;
    match opened.length {
        Some(0) => return Err(problem::table_empty(path, "content")),
        Some(_) => {}
        None => return Err(problem::needs_plain_file(path)),
    }
    let archive = ZipArchive::new(BufReader::new(opened.file));
    let mut archive = archive.map_err(|error| problem::columns_malformed(path, "NPZ", &error))?;
    let names: Vec<String> = (archive.file_names())
        .filter_map(|name| Some(name.ok()?.strip_suffix(".npy")?.to_owned()))
        .collect();
    let members = members(path, wanted, &names)?;
    let mut loaded = Vec::new();
    for (field, member) in wanted.fields.iter().zip(members) {
        let label = PathBuf::from(format!("{}:{member}", path.display()));
        let entry = archive.by_name(&format!("{member}.npy"));
        let entry = entry.map_err(|error| match error {
            zip::result::ZipError::UnsupportedArchive(why) => problem::codec(path, why),
            other => problem::columns_malformed(path, "NPZ", &other),
        })?;
        let length = match entry.compression() {
            CompressionMethod::Stored => Some(entry.size()),
            // A broken archive may claim any length.
            _ => None,
        };
        let reader = BufReader::new(entry);
        loaded.push(npy::read_array(
            &label,
            (reader, length),
            wanted.role,
            field,
            rules,
        )?);
    }
    Ok(loaded)
}

/// The name of the array for each field.
fn members(path: &Path, wanted: Wanted<'_>, names: &[String]) -> Result<Vec<String>, Problem> {
    let missing = |name: &str| {
        let all: Vec<&str> = names.iter().map(String::as_str).collect();
        problem::npz_member(path, &format!("no array `{name}`"), &known(name, &all))
    };
    if let Some(picked) = wanted.picked {
        if picked.len() != wanted.fields.len() {
            let [found, needed] = [picked.len(), wanted.fields.len()].map(arrays);
            return Err(problem::npz_member(
                path,
                &format!(
                    "{found} to be read, but {} `{}` takes {needed}",
                    wanted.role, wanted.name
                ),
                "an array holds all values of a table, an input, or a field of a struct",
            ));
        }
        return match picked.iter().find(|name| !names.contains(name)) {
            Some(name) => Err(missing(name)),
            None => Ok(picked.to_vec()),
        };
    }
    let mut members = Vec::new();
    for field in wanted.fields {
        let short = field
            .name
            .split_once('.')
            .map(|(_, short)| short.to_owned());
        let own = [Some(field.name.clone()), short].into_iter().flatten();
        let found = own.into_iter().find(|name| names.contains(name));
        members.push(match (found, names) {
            (Some(name), _) => name,
            (None, [only]) if wanted.fields.len() == 1 => only.clone(),
            (None, _) => return Err(missing(&field.name)),
        });
    }
    Ok(members)
}

fn arrays(count: usize) -> String {
    match count {
        1 => "1 array".to_owned(),
        _ => format!("{count} arrays"),
    }
}
