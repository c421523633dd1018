//! Sessions: runs whose caller takes the steps.

use crate::{
    arrays::array,
    errors::{self, Source, run_error},
    interrupt::{self, Watched, refuse_fork},
    launch::{Borders, Call},
    model::{Native, SHORT},
    values::For,
};
use numpy::{PyArray1, PyReadonlyArray1, PyUntypedArray};
use pyo3::{prelude::*, types::PyTuple};
use sim_runtime::{Column, Device, Error, Role, Session};
use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

/// A run whose caller takes the steps.
#[pyclass(frozen, module = "simc._simc")]
pub(crate) struct NativeSession {
    source: Source,
    borders: Borders,
    /// Nothing once it is closed.
    session: Mutex<Option<Session>>,
    /// What a step took the last time, in nanoseconds.
    step_nanoseconds: AtomicU64,
}

#[pymethods]
impl NativeSession {
    /// Begins a session of a model.
    #[new]
    fn new(py: Python<'_>, model: &Native, call: Call<'_>, seed: u64) -> PyResult<NativeSession> {
        let (source, session) = model.session(py, &call, seed)?;
        Ok(NativeSession {
            source,
            borders: Borders::of(session.manifest()),
            session: Mutex::new(Some(session)),
            step_nanoseconds: AtomicU64::new(u64::MAX),
        })
    }

    /// Takes steps.
    fn step(&self, py: Python<'_>, count: u32, handles_signals: bool) -> PyResult<()> {
        let each = self.step_nanoseconds.load(Ordering::Relaxed);
        let expected = u128::from(each) * u128::from(count);
        let watched = Watched {
            handles_signals,
            is_short: expected < SHORT.as_nanos(),
            progress: None,
        };
        let done = interrupt::run(py, &watched, |control| {
            let started = Instant::now();
            let result = self.with(|session| session.step(count, control))?;
            let taken = started.elapsed().as_nanos() / u128::from(count.max(1));
            let taken = u64::try_from(taken).unwrap_or(u64::MAX);
            self.step_nanoseconds.store(taken, Ordering::Relaxed);
            Some(result)
        })?;
        self.said(done)
    }

    /// Sets an input or a param.
    fn set(
        &self,
        py: Python<'_>,
        role: &str,
        name: &str,
        value: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        refuse_fork()?;
        let (is_param, (found, field)) = (role == "param", self.borders.get(name)?);
        let wanted = if is_param { Role::Param } else { Role::Input };
        if *found != wanted {
            let message = format!("the model has no {wanted} `{name}`");
            return Err(run_error("E0701", &message, None));
        }
        let given = For {
            source: &self.source,
            role: wanted,
            field,
        };
        let given = given.read(value)?;
        let done = py.detach(|| {
            self.with(|session| match is_param {
                true => session.set_param(name, given.clone()),
                false => session.set_input(name, given.clone()),
            })
        });
        self.said(done)
    }

    /// Outputs of agents and worlds, by name.
    fn outputs<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyTuple>> {
        refuse_fork()?;
        let found = py.detach(|| {
            self.with(|session| {
                let output = |name: &String| session.output(name).cloned();
                names.iter().map(output).collect::<Result<Vec<_>, _>>()
            })
        });
        let columns = self.said(found)?;
        let arrays = columns.into_iter().map(|column| array(py, column));
        PyTuple::new(py, arrays.collect::<PyResult<Vec<_>>>()?)
    }

    /// A state of agents or worlds.
    fn state(&self, py: Python<'_>, name: &str) -> PyResult<Py<PyUntypedArray>> {
        refuse_fork()?;
        let found: Option<Result<Column, Error>> =
            py.detach(|| self.with(|session| session.state(name)));
        array(py, self.said(found)?)
    }

    /// Whether each agent has stopped.
    fn stopped<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        refuse_fork()?;
        let stopped = py.detach(|| self.with(|session| Ok(session.stopped())));
        Ok(PyArray1::from_vec(py, self.said(stopped)?))
    }

    /// Lets all agents begin anew.
    #[pyo3(signature = (seed))]
    fn reset(&self, py: Python<'_>, seed: Option<u64>) -> PyResult<()> {
        refuse_fork()?;
        let done = py.detach(|| self.with(|session| session.reset(seed)));
        self.said(done)
    }

    /// Lets some agents begin anew.
    fn reset_agents(&self, py: Python<'_>, mask: PyReadonlyArray1<'_, bool>) -> PyResult<()> {
        refuse_fork()?;
        let mask: Vec<bool> = mask.as_array().to_vec();
        let done = py.detach(|| self.with(|session| session.reset_agents(&mask)));
        self.said(done)
    }

    /// The number of agents, of steps that are done, of steps that it can take, and the seed.
    fn counts(&self, py: Python<'_>) -> PyResult<(u32, u32, u32, u64)> {
        refuse_fork()?;
        let counts =
            py.detach(|| self.with(|it| Ok((it.agents(), it.at(), it.steps(), it.seed()))));
        self.said(counts)
    }

    /// The backend, and the adapter of a GPU.
    fn device(&self, py: Python<'_>) -> PyResult<(&'static str, Option<String>)> {
        refuse_fork()?;
        let device = py.detach(|| self.with(Session::device));
        Ok(match self.said(device)? {
            Device::Cpu(_) => ("cpu", None),
            Device::Reference => ("reference", None),
            Device::Gpu(adapter) => ("gpu", Some(adapter.name)),
        })
    }

    /// Frees its memory. A child that was forked leaves it to the parent.
    fn close(&self, py: Python<'_>) {
        if refuse_fork().is_ok() {
            py.detach(|| *self.session.lock().unwrap_or_else(PoisonError::into_inner) = None);
        }
    }

    /// Whether it is closed.
    fn closed(&self, py: Python<'_>) -> PyResult<bool> {
        refuse_fork()?;
        Ok(py.detach(|| self.with(|_| Ok(()))).is_none())
    }
}

impl NativeSession {
    /// What `work` gives, or nothing if the session is closed. The interpreter lock must not be held: a
    /// thread that takes steps may wait for it.
    fn with<T>(
        &self,
        work: impl FnOnce(&mut Session) -> Result<T, Error>,
    ) -> Option<Result<T, Error>> {
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        session.as_mut().map(work)
    }

    /// What it gave, or the exception.
    fn said<T>(&self, given: Option<Result<T, Error>>) -> PyResult<T> {
        match given {
            Some(result) => result.map_err(|error| errors::of(&self.source, &error)),
            None => Err(run_error(
                "closed",
                "the session is closed",
                Some("begin another one by `model.session()`"),
            )),
        }
    }
}
