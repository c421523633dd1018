//! What a run is asked for, from an object of JavaScript.

use crate::failure::Failure;
use js_sys::{
    BigInt, Float32Array, Float64Array, Int8Array, Int16Array, Int32Array, Object, Reflect,
    Uint8Array, Uint8ClampedArray, Uint16Array, Uint32Array,
};
use sim_runtime::{Array, Backend, Field, Manifest, Scalar, Simulation, Tuning};
use std::{iter, sync::Arc};
use wasm_bindgen::{JsCast, JsValue};

/// The code of mistakes in the call.
const CODE: &str = "argument";

/// What a run is asked for.
pub(crate) struct Asked {
    agents: Option<u32>,
    steps: Option<u32>,
    world: Option<u32>,
    first_agent: u32,
    population: Option<u32>,
    seed: u64,
    backend: Backend,
    steps_per_dispatch: Option<u32>,
    keep_states: bool,
    keep_outputs: bool,
    /// Whether the results have statistics.
    pub(crate) statistics: bool,
    params: Vec<(String, Array)>,
    data: Vec<(String, Array)>,
    inputs: Vec<(String, Array)>,
}

impl Asked {
    /// Reads an object. Names and types of params, tables and inputs are checked when they are set.
    #[cfg_attr(sim_web, optimize(size))]
    pub(crate) fn of(asked: &Object, manifest: &Manifest) -> Result<Asked, Failure> {
        let world = manifest.world_rows();
        let steps_per_dispatch = count(asked, "stepsPerDispatch")?;
        if steps_per_dispatch == Some(0) {
            return Err(wrong("stepsPerDispatch", "a whole number, 1 or more"));
        }
        let inputs = manifest.inputs.iter().chain(&world.inputs);
        let params = manifest.params.iter().map(|it| &it.field);
        let data = manifest.data.iter().map(|it| &it.field);
        Ok(Asked {
            agents: count(asked, "agents")?,
            steps: count(asked, "steps")?,
            world: count(asked, "world")?,
            first_agent: count(asked, "firstAgent")?.unwrap_or(0),
            population: count(asked, "population")?,
            seed: seed(asked)?,
            backend: backend(asked)?,
            steps_per_dispatch,
            keep_states: flag(asked, "keepStates", true)?,
            keep_outputs: flag(asked, "keepOutputs", true)?,
            statistics: flag(asked, "statistics", true)?,
            params: values(asked, "params", params.collect())?,
            data: values(asked, "data", data.collect())?,
            inputs: values(asked, "inputs", inputs.map(|it| &it.field).collect())?,
        })
    }

    /// The same on the CPU, if it is not for the interpreter.
    #[cfg_attr(sim_web, optimize(size))]
    pub(crate) fn without_gpu(mut self) -> Asked {
        if self.backend != Backend::Reference {
            self.backend = Backend::Cpu;
        }
        self
    }

    /// Sets all of it, and nothing that was set before.
    #[cfg_attr(sim_web, optimize(size))]
    pub(crate) fn set(self, simulation: &mut Simulation) -> Result<(), Failure> {
        simulation.forget_settings();
        if let Some(agents) = self.agents {
            simulation.set_agents(agents);
        }
        if let Some(steps) = self.steps {
            simulation.set_steps(steps);
        }
        if let Some(world) = self.world {
            simulation.set_world(world);
        }
        simulation.set_first_agent(self.first_agent);
        if let Some(population) = self.population {
            simulation.set_population(population);
        }
        simulation.set_seed(self.seed);
        if simulation.current_backend() != self.backend {
            simulation.set_backend(self.backend);
        }
        let tuning = Tuning {
            steps_per_dispatch: self.steps_per_dispatch,
            ..Tuning::AUTO
        };
        if *simulation.current_tuning() != tuning {
            simulation.set_tuning(tuning);
        }
        simulation.set_keep_states(self.keep_states);
        simulation.set_keep_outputs(self.keep_outputs);
        for (name, value) in self.params {
            simulation.set_param(&name, value).map_err(Failure::of)?;
        }
        for (name, value) in self.data {
            simulation.set_data(&name, value).map_err(Failure::of)?;
        }
        for (name, value) in self.inputs {
            simulation.set_input(&name, value).map_err(Failure::of)?;
        }
        Ok(())
    }
}

#[cfg_attr(sim_web, optimize(size))]
fn get(object: &Object, name: &str) -> Option<JsValue> {
    let value = Reflect::get(object, &name.into()).ok()?;
    (!value.is_undefined() && !value.is_null()).then_some(value)
}

#[cfg_attr(sim_web, optimize(size))]
fn wrong(name: &str, expected: &str) -> Failure {
    Failure::new(CODE, format!("`{name}` must be {expected}"), None)
}

#[cfg_attr(sim_web, optimize(size))]
fn count(asked: &Object, name: &str) -> Result<Option<u32>, Failure> {
    let Some(value) = get(asked, name) else {
        return Ok(None);
    };
    let number = value.as_f64();
    let whole = number.filter(|it| it.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(it));
    match whole {
        Some(number) => Ok(Some(number as u32)),
        None => Err(wrong(name, "a whole number, 0 or more")),
    }
}

#[cfg_attr(sim_web, optimize(size))]
fn flag(asked: &Object, name: &str, or: bool) -> Result<bool, Failure> {
    match get(asked, name) {
        None => Ok(or),
        Some(value) => (value.as_bool()).ok_or_else(|| wrong(name, "true or false")),
    }
}

/// A seed has 64 bits: a number is exact up to 2^53, a BigInt always.
#[cfg_attr(sim_web, optimize(size))]
fn seed(asked: &Object) -> Result<u64, Failure> {
    const MOST_EXACT: f64 = 9_007_199_254_740_991.0;
    let Some(value) = get(asked, "seed") else {
        return Ok(0);
    };
    let expected = "a whole number from 0 to 2^53 - 1, or a BigInt from 0 to 2^64 - 1";
    if let Some(number) = value.as_f64() {
        return match number.fract() == 0.0 && (0.0..=MOST_EXACT).contains(&number) {
            true => Ok(number as u64),
            false => Err(wrong("seed", expected)),
        };
    }
    let big: BigInt = value.dyn_into().map_err(|_| wrong("seed", expected))?;
    u64::try_from(big).map_err(|_| wrong("seed", expected))
}

#[cfg_attr(sim_web, optimize(size))]
fn backend(asked: &Object) -> Result<Backend, Failure> {
    let Some(value) = get(asked, "backend") else {
        return Ok(Backend::Auto);
    };
    match value.as_string().as_deref() {
        Some("auto") => Ok(Backend::Auto),
        Some("cpu") => Ok(Backend::Cpu),
        Some("gpu") => Ok(Backend::Gpu),
        Some("reference") => Ok(Backend::Reference),
        Some(_) | None => Err(wrong(
            "backend",
            "\"auto\", \"gpu\", \"cpu\" or \"reference\"",
        )),
    }
}

/// The values of one kind, by name.
#[cfg_attr(sim_web, optimize(size))]
fn values(
    asked: &Object,
    kind: &str,
    fields: Vec<&Field>,
) -> Result<Vec<(String, Array)>, Failure> {
    let Some(object) = get(asked, kind) else {
        return Ok(Vec::new());
    };
    let object: Object = object
        .dyn_into()
        .map_err(|_| wrong(kind, "an object with a value for each name"))?;
    let mut found = Vec::new();
    for key in Object::keys(&object).iter() {
        let name = key.as_string().unwrap_or_default();
        let Some(value) = get(&object, &name) else {
            continue;
        };
        let field = fields.iter().find(|field| field.name == name);
        let scalar = field.map_or(Scalar::F32, |field| field.scalar);
        let variants = field.map_or(&[][..], |field| &field.variants);
        let array = array(&value, scalar, variants).ok_or_else(|| unreadable(&name, scalar))?;
        found.push((name, array));
    }
    Ok(found)
}

#[cfg_attr(sim_web, optimize(size))]
fn unreadable(name: &str, scalar: Scalar) -> Failure {
    let message = format!(
        "the value of `{name}` cannot be read as {}",
        match scalar {
            Scalar::Bool => "true or false",
            Scalar::F32 | Scalar::F64 => "numbers",
            Scalar::I32 | Scalar::U32 => "integers",
        }
    );
    let help = "give a number, true or false, the name of an enum's variant, an array (nested or flat), or \
        a typed array";
    Failure::new(CODE, message, Some(help.to_owned()))
}

/// The values of a number, a truth, a name, an array or a typed array.
#[cfg_attr(sim_web, optimize(size))]
fn array(value: &JsValue, scalar: Scalar, variants: &[String]) -> Option<Array> {
    if let Some(array) = typed(value, scalar) {
        return Some(array);
    }
    if js_sys::Array::is_array(value) {
        let mut flat = Vec::new();
        flatten(value, variants, &mut flat)?;
        return numbers(flat, scalar, None);
    }
    let single = number(value, variants)?;
    numbers(vec![single], scalar, Some(Vec::new()))
}

#[cfg_attr(sim_web, optimize(size))]
fn number(value: &JsValue, variants: &[String]) -> Option<f64> {
    if let Some(name) = value.as_string() {
        let at = variants.iter().position(|variant| *variant == name)?;
        return Some(at as f64);
    }
    let truth = value.as_bool().map(|truth| f64::from(u8::from(truth)));
    value.as_f64().or(truth)
}

#[cfg_attr(sim_web, optimize(size))]
fn flatten(value: &JsValue, variants: &[String], into: &mut Vec<f64>) -> Option<()> {
    // Deeper nesting than this has no model.
    #[cfg_attr(sim_web, optimize(size))]
    fn inner(
        value: &JsValue,
        variants: &[String],
        into: &mut Vec<f64>,
        depth: usize,
    ) -> Option<()> {
        if depth > 16 {
            return None;
        }
        if !js_sys::Array::is_array(value) {
            into.push(number(value, variants)?);
            return Some(());
        }
        let array: &js_sys::Array = value.unchecked_ref();
        array
            .iter()
            .try_for_each(|value| inner(&value, variants, into, depth + 1))
    }
    inner(value, variants, into, 0)
}

/// Numbers of JavaScript as values of a scalar type. Those that the type cannot hold are left as floats, of
/// which the runtime says so.
#[cfg_attr(sim_web, optimize(size))]
fn numbers(values: Vec<f64>, scalar: Scalar, shape: Option<Vec<u32>>) -> Option<Array> {
    let fits = |least: f64, most: f64| {
        let fits = |it: &f64| it.fract() == 0.0 && (least..=most).contains(it);
        values.iter().all(fits)
    };
    let single = shape.is_some() && values.len() == 1;
    Some(match scalar {
        Scalar::Bool if fits(0.0, 1.0) => {
            let words: Vec<u32> = values.iter().map(|it| *it as u32).collect();
            shaped(Scalar::Bool, words, shape)
        }
        Scalar::I32 if fits(i32::MIN.into(), i32::MAX.into()) => {
            let words: Vec<u32> = values.iter().map(|it| *it as i32 as u32).collect();
            shaped(Scalar::I32, words, shape)
        }
        Scalar::U32 if fits(0.0, u32::MAX.into()) => {
            let words: Vec<u32> = values.iter().map(|it| *it as u32).collect();
            shaped(Scalar::U32, words, shape)
        }
        // The runtime says that a finite number is beyond the range of `f32`.
        Scalar::F32 | Scalar::F64 if single => Array::from(values[0]),
        Scalar::F32 | Scalar::F64 => Array::from(values),
        Scalar::Bool | Scalar::I32 | Scalar::U32 => return None,
    })
}

#[cfg_attr(sim_web, optimize(size))]
fn shaped(scalar: Scalar, words: Vec<u32>, shape: Option<Vec<u32>>) -> Array {
    match (shape, scalar) {
        (Some(shape), _) => Array::shaped(scalar, words, shape),
        (None, Scalar::Bool) => Array::from(words.iter().map(|&it| it != 0).collect::<Vec<_>>()),
        (None, Scalar::I32) => Array::from(words.iter().map(|&it| it as i32).collect::<Vec<_>>()),
        (None, _) => Array::from(words),
    }
}

/// The values of a typed array; those of 32 bits are copied once.
#[cfg_attr(sim_web, optimize(size))]
fn typed(value: &JsValue, scalar: Scalar) -> Option<Array> {
    if let Some(array) = value.dyn_ref::<Float32Array>() {
        let (buffer, start) = (array.buffer(), array.byte_offset());
        let view = Uint32Array::new_with_byte_offset_and_length(&buffer, start, array.length());
        return Some(Array::flat(Scalar::F32, copied(&view)));
    }
    if let Some(array) = value.dyn_ref::<Float64Array>() {
        return numbers(array.to_vec(), scalar, None);
    }
    if let Some(array) = value.dyn_ref::<Int32Array>() {
        let (buffer, start) = (array.buffer(), array.byte_offset());
        let view = Uint32Array::new_with_byte_offset_and_length(&buffer, start, array.length());
        return Some(Array::flat(Scalar::I32, copied(&view)));
    }
    if let Some(array) = value.dyn_ref::<Uint32Array>() {
        return Some(Array::flat(Scalar::U32, copied(array)));
    }
    let small: Vec<f64> = if let Some(array) = value.dyn_ref::<Uint8Array>() {
        array.to_vec().into_iter().map(f64::from).collect()
    } else if let Some(array) = value.dyn_ref::<Uint8ClampedArray>() {
        array.to_vec().into_iter().map(f64::from).collect()
    } else if let Some(array) = value.dyn_ref::<Int8Array>() {
        array.to_vec().into_iter().map(f64::from).collect()
    } else if let Some(array) = value.dyn_ref::<Int16Array>() {
        array.to_vec().into_iter().map(f64::from).collect()
    } else if let Some(array) = value.dyn_ref::<Uint16Array>() {
        array.to_vec().into_iter().map(f64::from).collect()
    } else {
        return None;
    };
    numbers(small, scalar, None)
}

/// The words of an array, copied once: a `Vec` would be copied again.
#[cfg_attr(sim_web, optimize(size))]
fn copied(array: &Uint32Array) -> Arc<[u32]> {
    let mut words: Arc<[u32]> = iter::repeat_n(0, array.length() as usize).collect();
    array.copy_to(Arc::make_mut(&mut words));
    words
}
