//! The state of the interpreter. It is cheap to clone, because states fork.

use std::collections::HashMap;
use std::rc::Rc;

use super::loops::induction::LoopMark;
use crate::frontend::ir::{Code, Name};
use crate::terms::Term;
use crate::values::{Object, ObjectId, Value};

/// An active `try` block with its handler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExceptionHandler {
    pub(crate) handler: usize,
    pub(crate) stack: usize,
    pub(crate) handled: usize,
}

/// A call frame.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) code: Rc<Code>,
    pub(crate) pc: usize,
    pub(crate) stack: Vec<Value>,
    pub(crate) locals: Vec<Option<Value>>,
    pub(crate) cells: Vec<ObjectId>,
    pub(crate) blocks: Vec<ExceptionHandler>,
    /// The exceptions being handled, innermost last.
    pub(crate) handled: Vec<Value>,
    /// The class that the function was defined in.
    pub(crate) owner: Option<ObjectId>,
    /// The names of a class body.
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

/// The state of one path: frames, heap, globals and path condition.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    pub(crate) frames: Vec<Rc<Frame>>,
    heap: Rc<Vec<Rc<Object>>>,
    pub(crate) globals: Rc<HashMap<Name, Value>>,
    /// The names of library modules. Code cannot change them, so a loop that loads a module changes nothing.
    pub(crate) library: Rc<HashMap<Name, Value>>,
    /// The path condition, in order.
    pub(crate) path: Rc<Vec<Term>>,
    /// Bounds that follow from the path condition.
    pub(crate) facts: Rc<Vec<Term>>,
    /// Loops in which one round represents all.
    pub(crate) marks: Rc<Vec<LoopMark>>,
    /// The mutable inputs, and whether one was changed.
    inputs: Rc<Vec<ObjectId>>,
    pub(crate) is_touched: bool,
    /// The number of decisions with two possible outcomes.
    pub(crate) forks: u32,
    pub(crate) steps: u64,
}

/// Heap and globals before a loop that must not change them.
#[derive(Clone, Debug)]
pub(crate) struct HeapSnapshot {
    heap: Rc<Vec<Rc<Object>>>,
    globals: Rc<HashMap<Name, Value>>,
}

impl State {
    pub(crate) fn shape(&self) -> HeapSnapshot {
        HeapSnapshot { heap: self.heap.clone(), globals: self.globals.clone() }
    }

    /// Whether all earlier objects are unchanged. Items of inputs that were created on access do not count as
    /// changes.
    pub(crate) fn is_unchanged_since(&self, shape: &HeapSnapshot) -> bool {
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

    /// Records that an object came from the caller.
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

    /// Like `set`, for an input that is only refined.
    pub(crate) fn settle(&mut self, id: ObjectId, object: Object) {
        if let Some(place) = Rc::make_mut(&mut self.heap).get_mut(id.0 as usize) {
            *place = Rc::new(object);
        }
    }

    pub(crate) fn change(&mut self, id: ObjectId) -> Option<&mut Object> {
        self.is_touched |= self.is_input(id);
        self.look_into(id)
    }

    /// Like `change`, for an input that is only refined.
    pub(crate) fn look_into(&mut self, id: ObjectId) -> Option<&mut Object> {
        Rc::make_mut(&mut self.heap).get_mut(id.0 as usize).map(Rc::make_mut)
    }
}

/// The result of reading a missing object. A bug elsewhere must not cause a panic here.
fn nothing() -> &'static Object {
    thread_local! {
        static EMPTY: &'static Object = Box::leak(Box::new(Object::Cell(None)));
    }
    EMPTY.with(|object| *object)
}
