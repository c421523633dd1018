//! Conditions and loops around the places where the values of the agents of a world are combined: all
//! invocations of a workgroup take the same way.

use crate::{
    emit::wgsl::Writer,
    ir::{Block, ExprId, VarId},
    kernel::worlds::{combines, jumps_out},
};

impl Writer<'_> {
    /// Writes an `if` around which the values of agents are combined, or one that leaves such a loop: all
    /// invocations take the same way. None if it is another one.
    pub(in crate::emit::wgsl) fn common_if(
        &mut self,
        condition: ExprId,
        accept: &Block,
        reject: &Block,
    ) -> Option<bool> {
        let program = self.program;
        let is_common =
            |block: &Block| combines(program, block) || self.in_common_loop && jumps_out(block);
        if !self.in_branches() || !(is_common(accept) || is_common(reject)) {
            return None;
        }
        self.cut(condition);
        let condition = self.common_value("u32", condition);
        self.open(&format!("if ({condition} != 0u) {{"));
        let mut falls = self.block(accept);
        if reject.is_empty() {
            falls = true;
        } else {
            self.close("} else {");
            self.indent += 1;
            falls |= self.block(reject);
        }
        self.close("}");
        Some(falls)
    }

    fn in_branches(&self) -> bool {
        self.world.is_some_and(|layout| layout.exchange.in_branches)
    }

    /// Names a value of the world in a way that shows shader compilers that all invocations have it.
    fn common_value(&mut self, convert: &str, value: ExprId) -> String {
        let (common, place) = (self.own.world.common.clone(), self.own.world.place.clone());
        let own = self.names.declare("own");
        self.begin();
        self.push(&format!("let {own} = {convert}("));
        self.shown(value);
        self.end(");");
        self.open(&format!("if ({place} == 0u) {{"));
        self.line(&format!("{common} = {own};"));
        self.close("}");
        let name = self.names.declare("common");
        self.line(&format!("let {name} = workgroupUniformLoad(&{common});"));
        name
    }

    /// Writes a loop in which the values of agents are combined. False if it is another one.
    pub(in crate::emit::wgsl) fn common_for(
        &mut self,
        index: VarId,
        start: ExprId,
        end: ExprId,
        body: &Block,
    ) -> bool {
        if !self.in_branches() || !combines(self.program, body) {
            return false;
        }
        self.cut(start);
        self.cut_also(end);
        let [start, end] = [start, end].map(|bound| self.common_value("bitcast<u32>", bound));
        self.names.enter();
        self.declare(index);
        self.share_name(index);
        let name = self.var_names[index].clone();
        self.open(&format!(
            "for (var {name} = bitcast<i32>({start}); {name} < bitcast<i32>({end}); {name}++) {{"
        ));
        let around = std::mem::replace(&mut self.in_common_loop, true);
        self.block(body);
        self.in_common_loop = around;
        self.close("}");
        self.names.leave();
        true
    }
}
