//! Operators between scalars and vectors, and how the sides' series are matched.

use super::super::ast::{Card, Expr, Link, Matching};
use super::super::token::Op;
use super::vector::{Key, Sample, Table, Tags, Vector};
use super::{Evaluator, Outcome, Value, failed};
use crate::metrics::{Labels, METRIC_NAME};

/// A result, and whether a comparison lets it through.
fn apply(op: Op, left: f64, right: f64) -> (f64, bool) {
    match op {
        Op::Add => (left + right, true),
        Op::Sub => (left - right, true),
        Op::Mul => (left * right, true),
        Op::Div => (left / right, true),
        Op::Mod => (left % right, true),
        Op::Pow => (left.powf(right), true),
        Op::Atan2 => (left.atan2(right), true),
        Op::Equal => (left, left == right),
        Op::NotEqual => (left, left != right),
        Op::Less => (left, left < right),
        Op::LessEqual => (left, left <= right),
        Op::Greater => (left, left > right),
        Op::GreaterEqual => (left, left >= right),
        // Not between values: the checker lets these through for vectors only.
        Op::And | Op::Or | Op::Unless => (left, true),
    }
}

fn truth(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// Series of the "one" side by what is matched, and who has met them.
struct OneSide<'c> {
    table: Table<'c>,
    values: Vec<f64>,
}

impl<'c> Evaluator<'c> {
    pub(super) fn chain(&self, first: &'c Expr, links: &'c [Link], t_ms: i64) -> Outcome<Value<'c>> {
        let mut left = self.eval(first, t_ms)?;
        for link in links {
            self.budget.spend(1)?;
            let right = self.eval(&link.right, t_ms)?;
            left = self.link(left, link, right)?;
        }
        Ok(left)
    }

    fn link(&self, left: Value<'c>, link: &'c Link, right: Value<'c>) -> Outcome<Value<'c>> {
        Ok(match (left, right) {
            (Value::Scalar(left), Value::Scalar(right)) => {
                let (value, holds) = apply(link.op, left, right);
                Value::Scalar(if link.op.is_comparison() { truth(holds) } else { value })
            }
            (Value::Vector(left), Value::Scalar(right)) => Value::Vector(self.with_scalar(left, link, right, false)?),
            (Value::Scalar(left), Value::Vector(right)) => Value::Vector(self.with_scalar(right, link, left, true)?),
            (Value::Vector(left), Value::Vector(right)) => Value::Vector(self.vectors(left, link, right)?),
            (Value::Text(_), _) | (_, Value::Text(_)) => return failed("strings have no operators"),
        })
    }

    fn with_scalar(&self, mut vector: Vector<'c>, link: &Link, scalar: f64, swapped: bool) -> Outcome<Vector<'c>> {
        let drops_name = link.return_bool || !link.op.is_comparison();
        vector.samples.retain_mut(|sample| {
            let own = sample.value;
            let (value, holds) = if swapped { apply(link.op, scalar, own) } else { apply(link.op, own, scalar) };
            sample.value = match () {
                () if link.return_bool => truth(holds),
                // A comparison keeps the vector's value, on whichever side it stands.
                () if link.op.is_comparison() => own,
                () => value,
            };
            if drops_name {
                sample.tags.drop_name(self.delayed);
            }
            holds || link.return_bool
        });
        if drops_name { self.unique(vector) } else { Ok(vector) }
    }

    fn vectors(&self, left: Vector<'c>, link: &'c Link, right: Vector<'c>) -> Outcome<Vector<'c>> {
        self.budget.spend(left.samples.len() + right.samples.len())?;
        match link.op {
            Op::And => Ok(filtered(left, &link.matching, &right, true)),
            Op::Unless => Ok(filtered(left, &link.matching, &right, false)),
            Op::Or => Ok(either(left, &link.matching, right)),
            _ => self.matched(left, link, right),
        }
    }

    fn matched(&self, left: Vector<'c>, link: &'c Link, right: Vector<'c>) -> Outcome<Vector<'c>> {
        let matching = &link.matching;
        let key = Key::of_matching(matching.on, &matching.labels);
        let swapped = matching.card == Card::OneToMany;
        let (many, one) = if swapped { (right, left) } else { (left, right) };
        let (fill_many, fill_one) =
            if swapped { (matching.fill_right, matching.fill_left) } else { (matching.fill_left, matching.fill_right) };
        let (no_many, no_one) = (many.samples.is_empty(), one.samples.is_empty());
        if (no_many && no_one) || ((no_many || no_one) && fill_many.is_none() && fill_one.is_none()) {
            return Ok(Vector::empty());
        }
        let one = one_side(&key, one, swapped)?;
        let mut join = Join {
            link,
            swapped,
            delayed: self.delayed,
            key,
            seen: Seen::new(matching.card, one.table.len()),
            out: Vec::with_capacity(many.samples.len()),
        };
        // A filled "one" side has a place of its own behind those that are there, for each match group.
        let mut missing = Table::with_capacity(0);
        for sample in many.samples {
            match (one.table.find(&key, &sample.tags), fill_one) {
                (Some(at), _) => join.pair(sample, Some(one.table.founder(at)), one.values[at], at)?,
                (None, Some(fill)) => {
                    let at = one.table.len() + missing.place(&key, &sample.tags).index;
                    join.pair(sample, None, fill, at)?;
                }
                (None, None) => {}
            }
        }
        if let Some(fill) = fill_many {
            for at in 0..one.table.len() {
                if !join.seen.is_met(at) {
                    let tags = one.table.founder(at);
                    let sample = Sample { tags: Tags::own(key.labels_of(tags)), value: fill };
                    join.pair(sample, Some(tags), one.values[at], at)?;
                }
            }
        }
        let names_count = matching.on && matching.labels.iter().any(|label| label == METRIC_NAME);
        let distinct = matching.card == Card::OneToOne && !names_count;
        self.unique(Vector { samples: join.out, distinct })
    }
}

fn one_side<'c>(key: &Key<'_>, one: Vector<'c>, swapped: bool) -> Outcome<OneSide<'c>> {
    let mut side = OneSide { table: Table::with_capacity(one.samples.len()), values: Vec::with_capacity(one.samples.len()) };
    for sample in one.samples {
        let place = side.table.place(key, &sample.tags);
        if !place.is_new {
            let hand = if swapped { "left" } else { "right" };
            let group = Tags::own(key.labels_of(&sample.tags)).print();
            // In the order of labels, so that the message does not hang on the order in which series came.
            let mut both = [sample.tags.print(), side.table.founder(place.index).print()];
            both.sort_unstable();
            let [first, second] = both;
            return failed(format!(
                "found duplicate series for the match group {group} on the {hand} hand-side of the operation: [{first}, {second}];\
                 many-to-many matching not allowed: matching labels must be unique on one side"
            ));
        }
        side.values.push(sample.value);
    }
    Ok(side)
}

/// Which match groups have found a partner; where many meet one, also with which labels.
enum Seen<'c> {
    Once(Vec<bool>),
    Many(Vec<Option<Table<'c>>>),
}

impl<'c> Seen<'c> {
    fn new(card: Card, count: usize) -> Self {
        match card {
            Card::OneToOne => Self::Once(vec![false; count]),
            Card::ManyToOne | Card::OneToMany => Self::Many((0..count).map(|_| None).collect()),
        }
    }

    fn is_met(&self, at: usize) -> bool {
        match self {
            Self::Once(met) => met.get(at).copied().unwrap_or(false),
            Self::Many(tables) => tables.get(at).is_some_and(Option::is_some),
        }
    }

    fn meet(&mut self, at: usize, tags: &Tags<'c>) -> Outcome<()> {
        match self {
            Self::Once(met) => {
                if met.len() <= at {
                    met.resize(at + 1, false);
                }
                if std::mem::replace(&mut met[at], true) {
                    return failed("multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)");
                }
            }
            Self::Many(tables) => {
                if tables.len() <= at {
                    tables.resize_with(at + 1, || None);
                }
                let table = tables[at].get_or_insert_with(|| Table::with_capacity(1));
                if !table.place(&Key::all(), tags).is_new {
                    return failed("multiple matches for labels: grouping labels must ensure unique matches");
                }
            }
        }
        Ok(())
    }
}

struct Join<'c, 'l> {
    link: &'l Link,
    swapped: bool,
    delayed: bool,
    key: Key<'l>,
    seen: Seen<'c>,
    out: Vec<Sample<'c>>,
}

impl<'c> Join<'c, '_> {
    /// `many` is of the side that keeps its labels; `one` is `None` where it was filled in.
    fn pair(&mut self, many: Sample<'c>, one: Option<&Tags<'c>>, one_value: f64, at: usize) -> Outcome<()> {
        let (left, right) = if self.swapped { (one_value, many.value) } else { (many.value, one_value) };
        let (value, holds) = apply(self.link.op, left, right);
        let tags = self.result_tags(many.tags, one);
        self.seen.meet(at, &tags)?;
        if holds || self.link.return_bool {
            self.out.push(Sample { tags, value: if self.link.return_bool { truth(holds) } else { value } });
        }
        Ok(())
    }

    fn result_tags(&self, many: Tags<'c>, one: Option<&Tags<'c>>) -> Tags<'c> {
        let matching = &self.link.matching;
        let drops_name = self.link.return_bool || !self.link.op.is_comparison();
        let mut tags = match matching.card {
            Card::OneToOne if matching.on => Tags::own(self.key.labels_of(&many)),
            Card::OneToOne if !matching.labels.is_empty() => {
                let counted = |name: &str| !matching.labels.iter().any(|label| label == name);
                Tags::own(Labels::from_pairs(many.iter().filter(|(name, _)| counted(name))))
            }
            Card::OneToOne | Card::ManyToOne | Card::OneToMany => many,
        };
        if drops_name {
            tags.drop_name(self.delayed && self.link.return_bool);
        }
        if !matching.include.is_empty() {
            // A side that was filled in has the labels that are matched.
            let filled = if one.is_none() { Tags::own(self.key.labels_of(&tags)) } else { Tags::none() };
            let mut labels = tags.to_labels();
            for name in &matching.include {
                labels = labels.with(name, one.unwrap_or(&filled).get(name));
            }
            tags = Tags::own(labels);
            // A name that was included goes like any other.
            if self.link.return_bool && !self.delayed {
                tags.drop_name(false);
            }
        }
        tags
    }
}

/// `and`, and `unless` where `wanted` is false.
fn filtered<'c>(mut left: Vector<'c>, matching: &Matching, right: &Vector<'c>, wanted: bool) -> Vector<'c> {
    let key = Key::of_matching(matching.on, &matching.labels);
    let mut table = Table::with_capacity(right.samples.len());
    for sample in &right.samples {
        table.place(&key, &sample.tags);
    }
    left.samples.retain(|sample| table.find(&key, &sample.tags).is_some() == wanted);
    left
}

fn either<'c>(mut left: Vector<'c>, matching: &Matching, right: Vector<'c>) -> Vector<'c> {
    let key = Key::of_matching(matching.on, &matching.labels);
    let mut table = Table::with_capacity(left.samples.len());
    for sample in &left.samples {
        table.place(&key, &sample.tags);
    }
    left.distinct = left.distinct && right.distinct && key.is_whole();
    left.samples.extend(right.samples.into_iter().filter(|sample| table.find(&key, &sample.tags).is_none()));
    left
}
