//! Types and values, and how values lie in columns: docs/language.md, "Types", and docs/files.md,
//! "Column names".

/// A type.
#[derive(Clone, Debug, PartialEq)]
pub enum Ty {
    /// `f32`
    F32,
    /// `i32`
    I32,
    /// `u32`
    U32,
    /// `bool`
    Bool,
    /// `vec2` to `vec4`
    Vector(usize),
    /// `[T; N]`
    Array(Box<Ty>, usize),
    /// `[T]`
    Open(Box<Ty>),
    /// By its number.
    Struct(usize),
    /// By its number.
    Enum(usize),
    /// An agent of the world; its value is its place there.
    Agent,
    /// An integer without a machine type.
    Whole,
    /// A float without a machine type.
    Real,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `f32`
    F(f32),
    /// `i32`
    I(i32),
    /// `u32`
    U(u32),
    /// `bool`
    B(bool),
    /// A vector.
    V(Vec<f32>),
    /// An array.
    A(Vec<Value>),
    /// A struct.
    S(Vec<Value>),
    /// An enum.
    E(u32),
    /// An abstract integer.
    Whole(i64),
    /// An abstract float.
    Real(f64),
}

impl Ty {
    /// Has it no machine type yet?
    pub fn is_abstract(&self) -> bool {
        match self {
            Ty::Whole | Ty::Real => true,
            Ty::Array(element, _) => element.is_abstract(),
            _ => false,
        }
    }

    /// What it becomes where nothing asks.
    pub fn concrete(&self) -> Ty {
        match self {
            Ty::Whole => Ty::I32,
            Ty::Real => Ty::F32,
            Ty::Array(element, length) => Ty::Array(Box::new(element.concrete()), *length),
            other => other.clone(),
        }
    }

    /// Is it an integer, of a machine type or not?
    pub fn is_whole(&self) -> bool {
        matches!(self, Ty::I32 | Ty::U32 | Ty::Whole)
    }
}

/// A column: the path of fields behind a name, and what its scalars are.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Such as `.price`; empty for a value that is no struct.
    pub suffix: String,
    /// The fields' numbers.
    pub path: Vec<usize>,
    /// The type of the scalars.
    pub scalar: Ty,
}

/// Fields of structs by the struct's number.
pub type Structs = Vec<(String, Vec<(String, Ty)>)>;

/// The columns of a type.
pub fn leaves(ty: &Ty, structs: &Structs) -> Vec<Leaf> {
    match ty {
        Ty::Array(element, _) | Ty::Open(element) => leaves(element, structs),
        Ty::Struct(number) => {
            let mut all = Vec::new();
            for (k, (name, ty)) in structs[*number].1.iter().enumerate() {
                for leaf in leaves(ty, structs) {
                    let mut path = vec![k];
                    path.extend(leaf.path);
                    all.push(Leaf {
                        suffix: format!(".{name}{}", leaf.suffix),
                        path,
                        scalar: leaf.scalar,
                    });
                }
            }
            all
        }
        Ty::Vector(_) => leaf(Ty::F32),
        scalar => leaf(scalar.clone()),
    }
}

fn leaf(scalar: Ty) -> Vec<Leaf> {
    vec![Leaf {
        suffix: String::new(),
        path: Vec::new(),
        scalar,
    }]
}

/// The dimensions of a column: lengths of arrays, and the components of a vector.
pub fn dimensions(ty: &Ty, path: &[usize], structs: &Structs) -> Vec<usize> {
    match ty {
        Ty::Array(element, length) => {
            let mut all = vec![*length];
            all.extend(dimensions(element, path, structs));
            all
        }
        Ty::Struct(number) => dimensions(&structs[*number].1[path[0]].1, &path[1..], structs),
        Ty::Vector(count) => vec![*count],
        _ => Vec::new(),
    }
}

/// The words of a column, row-major.
pub fn words(value: &Value, path: &[usize], out: &mut Vec<u32>) {
    match value {
        Value::A(elements) => elements
            .iter()
            .for_each(|element| words(element, path, out)),
        Value::S(fields) => words(&fields[path[0]], &path[1..], out),
        Value::V(components) => out.extend(components.iter().map(|x| x.to_bits())),
        Value::F(x) => out.push(x.to_bits()),
        Value::I(x) => out.push(*x as u32),
        Value::U(x) | Value::E(x) => out.push(*x),
        Value::B(x) => out.push(u32::from(*x)),
        Value::Whole(_) | Value::Real(_) => {}
    }
}

/// Sets the scalars of a column from words, row-major.
pub fn set_words(value: &mut Value, path: &[usize], from: &mut impl Iterator<Item = u32>) {
    match value {
        Value::A(elements) => {
            for element in elements {
                set_words(element, path, from);
            }
        }
        Value::S(fields) => set_words(&mut fields[path[0]], &path[1..], from),
        Value::V(components) => {
            for x in components {
                *x = f32::from_bits(from.next().unwrap_or_default());
            }
        }
        Value::F(x) => *x = f32::from_bits(from.next().unwrap_or_default()),
        Value::I(x) => *x = from.next().unwrap_or_default() as i32,
        Value::U(x) | Value::E(x) => *x = from.next().unwrap_or_default(),
        Value::B(x) => *x = from.next().unwrap_or_default() != 0,
        Value::Whole(_) | Value::Real(_) => {}
    }
}

/// A value of zeros.
pub fn zero(ty: &Ty, structs: &Structs) -> Value {
    match ty {
        Ty::F32 => Value::F(0.0),
        Ty::I32 | Ty::Agent => Value::I(0),
        Ty::U32 => Value::U(0),
        Ty::Bool => Value::B(false),
        Ty::Vector(count) => Value::V(vec![0.0; *count]),
        Ty::Array(element, length) => Value::A(vec![zero(element, structs); *length]),
        Ty::Open(element) => Value::A(vec![zero(element, structs)]),
        Ty::Struct(number) => {
            let fields = structs[*number].1.iter();
            Value::S(fields.map(|(_, ty)| zero(ty, structs)).collect())
        }
        Ty::Enum(_) => Value::E(0),
        Ty::Whole => Value::Whole(0),
        Ty::Real => Value::Real(0.0),
    }
}
