//! Functions of the model.

use super::{Writer, literal};
use crate::ir::{Function, FunctionId};

impl Writer<'_> {
    /// Writes the functions of the model that are called.
    pub(super) fn functions(&mut self) {
        let program = self.program;
        for id in program.function_ids() {
            if self.usage.called[id] {
                self.blank();
                self.function(id, &program[id]);
            }
        }
    }

    fn function(&mut self, id: FunctionId, function: &Function) {
        self.own.agent = self.own.function_agent.clone();
        self.in_function = true;
        self.doc(&function.doc);
        self.names.enter();
        self.begin();
        self.push("fn ");
        let name = &self.function_names[id];
        self.out.push_str(name);
        self.push("(");
        for (k, &param) in function.params.iter().enumerate() {
            if k > 0 {
                self.push(", ");
            }
            self.declare(param);
            self.push_name(param);
            self.push(": ");
            self.push(literal::type_name(self.program[param].ty));
        }
        let result = literal::type_name(function.result);
        self.end(&format!(") -> {result} {{"));
        self.indent += 1;
        self.chain_cut = false;
        self.block(&function.body);
        if self.chain_cut {
            // Unreachable, but WGSL does not see that through a chain that was cut.
            self.line(&format!("return {result}();"));
        }
        self.close("}");
        self.names.leave();
        self.in_function = false;
    }
}
