//! The values that tests give, field by field as a launch takes them.

use super::{Lowerer, place::leaves};
use crate::{
    hir::GivenValue,
    testing::{Given, Test},
};

impl Lowerer<'_> {
    /// The tests of the model.
    pub(super) fn tests(&self) -> Vec<Test> {
        let tests = self.model.tests.iter().map(|written| {
            let given = written.given.iter().flat_map(|given| self.given(given));
            Test {
                given: given.collect(),
                ..written.test.clone()
            }
        });
        tests.collect()
    }

    fn given(&self, given: &GivenValue) -> Vec<Given> {
        let values = self.leaf_values(&given.value, &given.ty);
        let fields = leaves(self.model, &given.ty).into_iter().zip(values);
        let fields = fields.map(|(leaf, values)| {
            let path = std::iter::once(given.name.as_str());
            let path: Vec<&str> = path.chain(leaf.path.iter().map(String::as_str)).collect();
            let mut shape = leaf.dims;
            let components = leaf.ty.components() as u32;
            shape.extend((components > 1).then_some(components));
            Given {
                role: given.role,
                name: path.join("."),
                scalar: leaf.ty.stored(self.model.real),
                shape,
                words: (values.iter())
                    .flat_map(|value| value.words_of(self.model.real))
                    .collect(),
            }
        });
        fields.collect()
    }
}
