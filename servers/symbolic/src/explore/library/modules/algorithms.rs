//! `heapq`, `bisect` and `copy`.

use crate::explore::calls::Keywords;
use crate::explore::machine::{Machine, OrTrap, Trap};
use crate::values::{Dict, Object, ObjectId, Value};

impl Machine {
    pub(super) fn call_algorithm(
        &mut self,
        name: &'static str,
        args: Vec<Value>,
        keywords: Keywords,
    ) -> OrTrap<Value> {
        match (name, args.as_slice()) {
            ("copy.copy", [value]) => self.copy(value),
            ("copy.deepcopy", [value]) => self.deep_copy(value, &mut Vec::new()),
            ("heapq.heappush", [heap, item]) => {
                let (id, mut items) = self.heap(heap)?;
                items.push(item.clone());
                let last = items.len() - 1;
                self.sift_down(&mut items, 0, last)?;
                self.put(id, items)
            }
            ("heapq.heappop", [heap]) => {
                let (id, mut items) = self.heap(heap)?;
                let Some(last) = items.pop() else { return self.raise("IndexError", "index out of range") };
                let result = match items.first_mut() {
                    Some(first) => std::mem::replace(first, last),
                    None => last,
                };
                if !items.is_empty() {
                    self.sift_up(&mut items, 0)?;
                }
                self.put(id, items)?;
                Ok(result)
            }
            ("heapq.heapify", [heap]) => {
                let (id, mut items) = self.heap(heap)?;
                for at in (0..items.len() / 2).rev() {
                    self.sift_up(&mut items, at)?;
                }
                self.put(id, items)
            }
            ("heapq.heappushpop" | "heapq.heapreplace", [heap, item]) => {
                let (id, mut items) = self.heap(heap)?;
                let Some(first) = items.first().cloned() else {
                    if name == "heapq.heappushpop" {
                        return Ok(item.clone());
                    }
                    return self.raise("IndexError", "index out of range");
                };
                if name == "heapq.heappushpop" && !self.is_less(&first, item)? {
                    return Ok(item.clone());
                }
                if let Some(place) = items.first_mut() {
                    *place = item.clone();
                }
                self.sift_up(&mut items, 0)?;
                self.put(id, items)?;
                Ok(first)
            }
            ("heapq.nlargest" | "heapq.nsmallest", [count, items]) => {
                let count = self.small_count(count)?.unwrap_or(0);
                let items = self.collect_unordered(items)?;
                let mut options = keywords;
                if name == "heapq.nlargest" {
                    options.push(("reverse".into(), Value::bool(true)));
                }
                let sorted = self.sort(items, &options)?;
                let taken = sorted.into_iter().take(count).collect();
                Ok(self.list(taken))
            }
            ("bisect.bisect_left" | "bisect.bisect_right" | "bisect.bisect", [list, item])
                if keywords.is_empty() =>
            {
                self.bisect(list, item, name == "bisect.bisect_left").map(Value::int)
            }
            ("bisect.insort" | "bisect.insort_left" | "bisect.insort_right", [list, item])
                if keywords.is_empty() =>
            {
                let place = self.bisect(list, item, name == "bisect.insort_left")?;
                let (id, mut items) = self.heap(list)?;
                items.insert(place.min(items.len()), item.clone());
                self.put(id, items)
            }
            _ => self.unsupported(format!("this call of {name}")),
        }
    }

    fn heap(&mut self, value: &Value) -> OrTrap<(ObjectId, Vec<Value>)> {
        match value {
            Value::Object(id) if matches!(self.state.get(*id), Object::List(_) | Object::OpenList(_)) => {
                let items = self.collect(value)?;
                Ok((*id, items))
            }
            _ => self.raise("TypeError", "heap argument must be a list"),
        }
    }

    fn put(&mut self, id: ObjectId, items: Vec<Value>) -> OrTrap<Value> {
        self.state.set(id, Object::List(items));
        Ok(Value::None)
    }

    /// As `heapq._siftdown`: moves the item at `at` towards the root.
    fn sift_down(&mut self, items: &mut [Value], start: usize, mut at: usize) -> OrTrap<()> {
        while at > start {
            let parent = (at - 1) / 2;
            let (Some(item), Some(above)) = (items.get(at).cloned(), items.get(parent).cloned()) else {
                return Err(Trap::Bug("no item"));
            };
            if !self.is_less(&item, &above)? {
                break;
            }
            items.swap(at, parent);
            at = parent;
        }
        Ok(())
    }

    /// As `heapq._siftup`: moves the item at `at` to a leaf, then back to its position.
    fn sift_up(&mut self, items: &mut [Value], start: usize) -> OrTrap<()> {
        let mut at = start;
        let mut child = 2 * at + 1;
        while child < items.len() {
            if let (Some(left), Some(right)) = (items.get(child).cloned(), items.get(child + 1).cloned())
                && !self.is_less(&left, &right)?
            {
                child += 1;
            }
            items.swap(at, child);
            at = child;
            child = 2 * at + 1;
        }
        self.sift_down(items, start, at)
    }

    fn bisect(&mut self, list: &Value, item: &Value, is_left: bool) -> OrTrap<usize> {
        let items = self.collect(list)?;
        let (mut low, mut high) = (0, items.len());
        while low < high {
            let middle = (low + high) / 2;
            let found = items.get(middle).cloned().ok_or(Trap::Bug("no item"))?;
            let goes_right =
                if is_left { self.is_less(&found, item)? } else { !self.is_less(item, &found)? };
            if goes_right {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn copy(&mut self, value: &Value) -> OrTrap<Value> {
        let Value::Object(id) = value else { return Ok(value.clone()) };
        if self.special(value, "__copy__")?.is_some() {
            return self.unsupported("__copy__");
        }
        if let Object::OpenList(_) = self.state.get(*id) {
            self.close_list(*id)?;
        }
        match self.state.get(*id).clone() {
            object @ (Object::List(_)
            | Object::Dict(_)
            | Object::Set(_)
            | Object::Deque(..)
            | Object::Instance(_)) => Ok(self.object(object)),
            _ => Ok(value.clone()),
        }
    }

    /// Copies all mutable objects and preserves sharing.
    pub(crate) fn deep_copy(&mut self, value: &Value, seen: &mut Vec<(ObjectId, Value)>) -> OrTrap<Value> {
        let id = match value {
            Value::Tuple(items) => {
                let mut copies = Vec::new();
                for item in items.iter() {
                    copies.push(self.deep_copy(item, seen)?);
                }
                return Ok(Value::tuple(copies));
            }
            Value::Object(id) => *id,
            value => return Ok(value.clone()),
        };
        if let Some((_, copy)) = seen.iter().find(|(known, _)| *known == id) {
            return Ok(copy.clone());
        }
        if self.special(value, "__deepcopy__")?.is_some() {
            return self.unsupported("__deepcopy__");
        }
        let object = self.state.get(id).clone();
        if self.enum_member(value) {
            return Ok(value.clone());
        }
        let copy = match &object {
            Object::Pending(..)
            | Object::List(_)
            | Object::OpenList(_)
            | Object::Dict(_)
            | Object::Set(_)
            | Object::Deque(..)
            | Object::Instance(_) => self.object(object.clone()),
            _ => return Ok(value.clone()),
        };
        seen.push((id, copy.clone()));
        let Value::Object(copy_id) = copy else { return Ok(copy) };
        let mut all = |machine: &mut Self, items: Vec<Value>| -> OrTrap<Vec<Value>> {
            items.iter().map(|item| machine.deep_copy(item, seen)).collect()
        };
        let copied = match object {
            Object::List(items) => Object::List(all(self, items)?),
            Object::OpenList(mut open) => {
                open.prefix = all(self, open.prefix)?;
                Object::OpenList(open)
            }
            Object::Set(items) => Object::Set(all(self, items)?),
            Object::Deque(items, most) => Object::Deque(all(self, items)?, most),
            Object::Dict(dict) => {
                let (keys, values): (Vec<Value>, Vec<Value>) = dict.entries.into_iter().unzip();
                let entries = all(self, keys)?.into_iter().zip(all(self, values)?).collect();
                Object::Dict(Dict { entries, kind: dict.kind })
            }
            Object::Instance(mut instance) => {
                let (names, values): (Vec<_>, Vec<Value>) = instance.attributes.into_iter().unzip();
                instance.attributes = names.into_iter().zip(all(self, values)?).collect();
                Object::Instance(instance)
            }
            other => other,
        };
        self.state.set(copy_id, copied);
        Ok(Value::Object(copy_id))
    }

    fn enum_member(&self, value: &Value) -> bool {
        match self.type_of(value) {
            crate::values::Type::User(id) => self.enum_members(id).is_some(),
            crate::values::Type::Builtin(_) => false,
        }
    }
}
