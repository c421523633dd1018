use sim_runtime::cpu::{
    Control,
    vector::{self, Isa, Machine, Values},
};
fn main() {
    let source = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let a = sim_compiler::compile(&source).unwrap();
    let isa = if std::env::args().nth(2).is_some() {
        Isa::Portable
    } else {
        Isa::best()
    };
    let t = std::time::Instant::now();
    let p = vector::compile(&a.program, &a.manifest, a.generator, isa).unwrap();
    println!(
        "compile {:?}, {} instructions",
        t.elapsed(),
        p.instructions()
    );
    let data: Vec<Vec<u32>> = a
        .manifest
        .data
        .iter()
        .map(|d| vec![1056964608; 2000 * d.field.words().max(36) as usize])
        .collect();
    let data: Vec<&[u32]> = data.iter().map(|d| &d[..]).collect();
    let u = vec![1056964608; a.manifest.uniform_words as usize];
    let c = Control::default();
    let mut m = Machine::new(
        &p,
        &Values {
            seed: 1,
            population: 256,
            steps: 100,
            uniform: &u,
            data: &data,
        },
        &c,
    );
    m.begin(0, 256);
    for n in 0..a.program.input_defaults.len() {
        m.default_input(n).unwrap();
    }
    m.run(0..10).unwrap();
    m.profile();
}
