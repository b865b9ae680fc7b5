//! Methods of lists and deques.

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap, fits};
use crate::values::{Object, Value};

impl Machine {
    pub(super) fn list_method(
        &mut self,
        list: &Value,
        name: &str,
        args: Vec<Value>,
        keywords: &Keywords,
    ) -> OrTrap<Value> {
        let Value::Object(id) = list else { return Err(Trap::Bug("no list")) };
        let items = self.collect(list)?;
        if name != "sort" && !keywords.is_empty() {
            return self.raise("TypeError", format!("list.{name}() takes no keyword arguments"));
        }
        match (name, args.as_slice()) {
            ("append", [value]) => {
                self.list_append(list, value.clone())?;
                Ok(Value::None)
            }
            ("extend", [more]) => {
                let more = self.collect(more)?;
                self.list_extend(list, more)?;
                Ok(Value::None)
            }
            ("insert", [at, value]) => {
                let at = self.insertion_place(at, items.len())?;
                if let Some(Object::List(items)) = self.state.change(*id) {
                    items.insert(at, value.clone());
                }
                Ok(Value::None)
            }
            ("pop", args @ ([] | [_])) => {
                if items.is_empty() {
                    return self.raise("IndexError", "pop from empty list");
                }
                let place = match args.first() {
                    None => items.len() - 1,
                    Some(at) => self.place(items.len(), at, "pop")?,
                };
                match self.state.change(*id) {
                    Some(Object::List(items)) if place < items.len() => Ok(items.remove(place)),
                    _ => Err(Trap::Bug("no item")),
                }
            }
            ("remove", [value]) => match self.position(&items, value)? {
                Some(place) => {
                    if let Some(Object::List(items)) = self.state.change(*id) {
                        items.remove(place);
                    }
                    Ok(Value::None)
                }
                None => self.raise("ValueError", "list.remove(x): x not in list"),
            },
            ("clear", []) => self.put_list(*id, Vec::new()),
            ("copy", []) => Ok(self.list(items)),
            ("reverse", []) => {
                let reversed = items.into_iter().rev().collect();
                self.put_list(*id, reversed)
            }
            ("sort", []) => {
                let sorted = self.sort(items, keywords)?;
                self.put_list(*id, sorted)
            }
            ("count" | "index", _) => self.sequence_search(&items, name, &args, "list"),
            _ => self.wrong_arguments(name),
        }
    }

    fn put_list(&mut self, id: crate::values::ObjectId, items: Vec<Value>) -> OrTrap<Value> {
        self.state.set(id, Object::List(items));
        Ok(Value::None)
    }

    fn insertion_place(&mut self, at: &Value, length: usize) -> OrTrap<usize> {
        let Some(at) = self.as_index(at) else {
            let name = self.type_name(at);
            return self.raise("TypeError", format!("'{name}' object cannot be interpreted as an integer"));
        };
        let at = self.choose_small(&at)?;
        let length = i64::try_from(length).unwrap_or(i64::MAX);
        let at = if at < 0 { (at + length).max(0) } else { at.min(length) };
        Ok(usize::try_from(at).unwrap_or(0))
    }

    pub(super) fn deque_method(&mut self, deque: &Value, name: &str, args: Vec<Value>) -> OrTrap<Value> {
        let Value::Object(id) = deque else { return Err(Trap::Bug("no deque")) };
        let Object::Deque(mut items, most) = self.state.get(*id).clone() else {
            return Err(Trap::Bug("no deque"));
        };
        let mut result = Value::None;
        match (name, args.as_slice()) {
            ("append", [value]) => items.push(value.clone()),
            ("appendleft", [value]) => {
                items.insert(0, value.clone());
                if let Some(most) = most {
                    items.truncate(most);
                }
            }
            ("extend", [more]) => {
                let more = self.collect(more)?;
                fits(items.len() + more.len())?;
                items.extend(more);
            }
            ("insert", [at, value]) => {
                if most.is_some_and(|most| items.len() >= most) {
                    return self.raise("IndexError", "deque already at its maximum size");
                }
                let at = self.insertion_place(at, items.len())?;
                items.insert(at, value.clone());
            }
            ("extendleft", [more]) => {
                for value in self.collect(more)? {
                    items.insert(0, value);
                    if let Some(most) = most {
                        items.truncate(most);
                    }
                }
            }
            ("pop", []) => match items.pop() {
                Some(value) => result = value,
                None => return self.raise("IndexError", "pop from an empty deque"),
            },
            ("popleft", []) => {
                if items.is_empty() {
                    return self.raise("IndexError", "pop from an empty deque");
                }
                result = items.remove(0);
            }
            ("clear", []) => items.clear(),
            ("copy", []) => return Ok(self.object(Object::Deque(items, most))),
            ("reverse", []) => items.reverse(),
            ("rotate", args @ ([] | [_])) => {
                let count = match args.first().map(|value| self.as_index(value)) {
                    None => 1,
                    Some(Some(count)) => self.choose_small(&count)?,
                    Some(None) => return self.wrong_arguments("rotate"),
                };
                if !items.is_empty() {
                    let length = i64::try_from(items.len()).unwrap_or(1);
                    items.rotate_right(usize::try_from(count.rem_euclid(length)).unwrap_or(0));
                }
            }
            ("remove", [value]) => match self.position(&items, value)? {
                Some(place) => {
                    items.remove(place);
                }
                None => return self.raise("ValueError", "deque.remove(x): x not in deque"),
            },
            ("count" | "index", _) => return self.sequence_search(&items, name, &args, "deque"),
            _ => return self.wrong_arguments(name),
        }
        if let Some(most) = most
            && items.len() > most
        {
            items.drain(..items.len() - most);
        }
        self.state.set(*id, Object::Deque(items, most));
        Ok(result)
    }
}
