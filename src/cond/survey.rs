//! What an expression names and how deep its loops are.

use cel::common::ast::{EntryExpr, Expr, IdedExpr, LiteralValue};
use std::collections::BTreeSet;

/// Functions that a condition may call; operators and macros come besides. Types are functions too.
pub const FUNCTIONS: &[&str] =
    &["size", "contains", "startsWith", "endsWith", "int", "uint", "double", "string", "bool", "bytes", "type", "dyn"];

/// Names of types: not variables, though they stand where one could.
const TYPES: &[&str] = &["int", "uint", "double", "string", "bool", "bytes", "list", "map", "null_type", "type"];

/// Whether `name` can be called. Operators are written `_+_`, `!_`, `@in` and the like.
pub fn is_function(name: &str) -> bool {
    FUNCTIONS.contains(&name) || name.starts_with(['_', '!', '-', '@'])
}

/// Whether an expression is a comparison or a junction of them, so that it is true or false whatever its parts are.
pub fn gives_truth(expression: &IdedExpr) -> bool {
    const TRUTHS: [&str; 13] =
        ["_<_", "_<=_", "_>_", "_>=_", "_==_", "_!=_", "_&&_", "_||_", "!_", "@in", "contains", "startsWith", "endsWith"];
    matches!(&expression.expr, Expr::Call(call) if TRUTHS.contains(&call.func_name.as_str()))
}

#[derive(Debug, Default)]
pub struct Survey<'e> {
    /// Names that no loop binds.
    pub variables: BTreeSet<&'e str>,
    pub functions: BTreeSet<&'e str>,
    /// Fields that are asked of a name: `run.state`.
    pub fields: BTreeSet<(&'e str, &'e str)>,
    /// Names that are compared with a text: `kind == 'StepTaken'`.
    pub compared: BTreeSet<(&'e str, &'e str)>,
    /// Most loops inside each other.
    pub loop_depth: usize,
}

impl<'e> Survey<'e> {
    pub fn of(expression: &'e IdedExpr) -> Self {
        let mut survey = Self::default();
        survey.visit(expression, &mut Vec::new(), 0);
        survey
    }

    fn visit(&mut self, node: &'e IdedExpr, bound: &mut Vec<&'e str>, depth: usize) {
        match &node.expr {
            Expr::Unspecified | Expr::Literal(_) => {}
            Expr::Ident(name) => {
                let name = name.trim_start_matches('.');
                if !name.starts_with('@') && !bound.contains(&name) && !TYPES.contains(&name) {
                    self.variables.insert(name);
                }
            }
            Expr::Select(select) => {
                if let Expr::Ident(name) = &select.operand.expr
                    && !bound.contains(&name.as_str())
                {
                    self.fields.insert((name, &select.field));
                }
                self.visit(&select.operand, bound, depth);
            }
            Expr::Call(call) => {
                self.functions.insert(&call.func_name);
                if let ("_==_" | "_!=_" | "@in", [left, right]) = (call.func_name.as_str(), &call.args[..]) {
                    self.compare(left, right, bound);
                    self.compare(right, left, bound);
                }
                call.target.iter().for_each(|target| self.visit(target, bound, depth));
                call.args.iter().for_each(|arg| self.visit(arg, bound, depth));
            }
            Expr::List(list) => list.elements.iter().for_each(|element| self.visit(element, bound, depth)),
            Expr::Map(map) => map.entries.iter().for_each(|entry| self.visit_entry(&entry.expr, bound, depth)),
            Expr::Struct(record) => {
                // No types of records are declared.
                self.functions.insert(&record.type_name);
                record.entries.iter().for_each(|entry| self.visit_entry(&entry.expr, bound, depth));
            }
            Expr::Comprehension(it) => {
                self.loop_depth = self.loop_depth.max(depth + 1);
                self.visit(&it.iter_range, bound, depth);
                self.visit(&it.accu_init, bound, depth);
                let outer = bound.len();
                bound.extend([it.iter_var.as_str(), it.accu_var.as_str()]);
                bound.extend(it.iter_var2.as_deref());
                for part in [&it.loop_cond, &it.loop_step, &it.result] {
                    self.visit(part, bound, depth + 1);
                }
                bound.truncate(outer);
            }
        }
    }

    /// Notes the texts that a name is compared with, if they are written out.
    fn compare(&mut self, name: &'e IdedExpr, with: &'e IdedExpr, bound: &[&'e str]) {
        let Expr::Ident(name) = &name.expr else { return };
        if bound.contains(&name.as_str()) {
            return;
        }
        let texts = if let Expr::List(list) = &with.expr { &list.elements[..] } else { std::slice::from_ref(with) };
        for text in texts {
            if let Expr::Literal(LiteralValue::String(text)) = &text.expr {
                self.compared.insert((name, text.inner()));
            }
        }
    }

    fn visit_entry(&mut self, entry: &'e EntryExpr, bound: &mut Vec<&'e str>, depth: usize) {
        match entry {
            EntryExpr::StructField(field) => self.visit(&field.value, bound, depth),
            EntryExpr::MapEntry(pair) => {
                self.visit(&pair.key, bound, depth);
                self.visit(&pair.value, bound, depth);
            }
        }
    }
}
