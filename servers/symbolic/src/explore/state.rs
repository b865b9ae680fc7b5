//! A state of the interpreter: cheap to copy, so that it can be forked.

use std::collections::HashMap;
use std::rc::Rc;

use super::induction::Mark;
use crate::ir::{Code, Name};
use crate::terms::Term;
use crate::values::{Object, ObjectId, Value};

/// Where exceptions go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Block {
    pub(crate) handler: usize,
    pub(crate) stack: usize,
    pub(crate) handled: usize,
}

/// One call in progress.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) code: Rc<Code>,
    pub(crate) pc: usize,
    pub(crate) stack: Vec<Value>,
    pub(crate) locals: Vec<Option<Value>>,
    pub(crate) cells: Vec<ObjectId>,
    pub(crate) blocks: Vec<Block>,
    /// Exceptions being handled, innermost last.
    pub(crate) handled: Vec<Value>,
    /// The class whose body the function was written in.
    pub(crate) owner: Option<ObjectId>,
    /// Names of a class body.
    pub(crate) names: Option<Vec<(Name, Value)>>,
}

impl Frame {
    pub(crate) fn new(code: Rc<Code>) -> Self {
        let locals = vec![None; code.locals.len()];
        Self {
            code,
            pc: 0,
            stack: Vec::new(),
            locals,
            cells: Vec::new(),
            blocks: Vec::new(),
            handled: Vec::new(),
            owner: None,
            names: None,
        }
    }

    pub(crate) fn line(&self) -> u32 {
        self.code.lines.get(self.pc).copied().unwrap_or(self.code.line)
    }
}

/// Everything a path depends on.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) frames: Vec<Rc<Frame>>,
    heap: Rc<Vec<Rc<Object>>>,
    pub(crate) globals: Rc<HashMap<Name, Value>>,
    /// Names of modules of the library. Code cannot change them, so that a loop that loads one changes nothing.
    pub(crate) library: Rc<HashMap<Name, Value>>,
    /// What was assumed on the way here, in order.
    pub(crate) path: Rc<Vec<Term>>,
    /// What follows from it.
    pub(crate) facts: Rc<Vec<Term>>,
    /// Loops of which one round stands for all.
    pub(crate) marks: Rc<Vec<Mark>>,
    /// Inputs that can be changed, and whether one was.
    inputs: Rc<Vec<ObjectId>>,
    pub(crate) is_touched: bool,
    /// Decisions that could have gone both ways.
    pub(crate) forks: u32,
    pub(crate) steps: u64,
}

/// What a state looks like to a loop that must not change it.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    heap: Rc<Vec<Rc<Object>>>,
    globals: Rc<HashMap<Name, Value>>,
}

impl State {
    pub(crate) fn shape(&self) -> Shape {
        Shape { heap: self.heap.clone(), globals: self.globals.clone() }
    }

    /// Whether everything that was there then is as it was. Items of inputs that have been looked at since are no change.
    pub(crate) fn has_kept(&self, shape: &Shape) -> bool {
        let is_kept = |(before, now): (&Rc<Object>, &Rc<Object>)| {
            Rc::ptr_eq(before, now)
                || match (before.as_ref(), now.as_ref()) {
                    (Object::OpenList(before), Object::OpenList(now)) => {
                        before.name == now.name
                            && (before.prefix.len() == now.prefix.len() || now.element.is_plain())
                    }
                    _ => false,
                }
        };
        Rc::ptr_eq(&self.globals, &shape.globals)
            && shape.heap.len() <= self.heap.len()
            && shape.heap.iter().zip(self.heap.iter()).all(is_kept)
    }

    pub(crate) fn allocate(&mut self, object: Object) -> ObjectId {
        let heap = Rc::make_mut(&mut self.heap);
        heap.push(Rc::new(object));
        ObjectId(u32::try_from(heap.len() - 1).unwrap_or(u32::MAX))
    }

    pub(crate) fn get(&self, id: ObjectId) -> &Object {
        match self.heap.get(id.0 as usize) {
            Some(object) => object,
            None => nothing(),
        }
    }

    /// The object itself, shared.
    pub(crate) fn share(&self, id: ObjectId) -> Rc<Object> {
        self.heap.get(id.0 as usize).cloned().unwrap_or_else(|| Rc::new(Object::Cell(None)))
    }

    /// Remembers that an object came from the caller.
    pub(crate) fn note_input(&mut self, value: &Value) {
        if let Value::Object(id) = value {
            Rc::make_mut(&mut self.inputs).push(*id);
        }
    }

    pub(crate) fn is_input(&self, id: ObjectId) -> bool {
        self.inputs.contains(&id)
    }

    pub(crate) fn set(&mut self, id: ObjectId, object: Object) {
        self.is_touched |= self.is_input(id);
        self.settle(id, object);
    }

    /// As `set`, for an input that is only looked at more closely.
    pub(crate) fn settle(&mut self, id: ObjectId, object: Object) {
        if let Some(place) = Rc::make_mut(&mut self.heap).get_mut(id.0 as usize) {
            *place = Rc::new(object);
        }
    }

    pub(crate) fn change(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.is_touched |= self.is_input(id);
        self.look_into(id)
    }

    /// As `change`, for an input that is only looked at more closely.
    pub(crate) fn look_into(&mut self, id: ObjectId) -> Option<&mut Object> {
        Rc::make_mut(&mut self.heap).get_mut(id.0 as usize).map(Rc::make_mut)
    }
}

/// For reads of a place that is not there; a bug elsewhere must not become a panic here.
fn nothing() -> &'static Object {
    thread_local! {
        static EMPTY: &'static Object = Box::leak(Box::new(Object::Cell(None)));
    }
    EMPTY.with(|object| *object)
}
